"""Joining by a link, forgetting a password, and one's own account: links work once, and nothing tells who has an account."""

from __future__ import annotations

import pytest

from .conftest import PASSWORD, House

OTHER = "another long password"


def main_of(text: str) -> str:
    return text[text.index("<main") : text.index("</main>")]


@pytest.mark.parametrize("how", ["invite", "closed"])
def test_where_not_everybody_may_join_the_page_says_how(open_house, how: str) -> None:
    house = open_house(SIGNUP=how)
    browser = house.browser(None)
    assert "<form" not in main_of(browser.get("/signup").text)
    browser.get("/signin")
    assert browser.post("/signup", {"email": "new@example.org"}).status_code == 403
    house.letters.close()
    assert house.said == []


def test_somebody_joins_by_a_letter(open_house) -> None:
    house = open_house(SIGNUP="open")
    browser = house.browser(None)
    browser.get("/signup")
    assert "A letter is on its way" in browser.post("/signup", {"email": "new@example.org"}).text
    link = house.link()
    browser.get(link)
    assert "at least 12 characters" in browser.post(link, {"password": "short"}).text.lower()
    browser.get(link)
    assert browser.post(link, {"password": OTHER}).headers["location"] == "/"
    assert "new@example.org" in browser.get("/account").text
    assert browser.get(link).status_code == 404  # once
    assert house.service.accounts.account("new@example.org").plan == "free"


@pytest.mark.parametrize("email", ["a,b2@evil.example", "root2<x@evil.example>", "victim@corp.example,x"])
def test_nobody_joins_under_two_addresses(open_house, email: str) -> None:
    house = open_house(SIGNUP="open")
    browser = house.browser(None)
    browser.get("/signup")
    answer = browser.post("/signup", {"email": email})
    assert (answer.status_code, "is not an e-mail address" in answer.text) == (400, True)
    house.letters.close()
    assert house.said == []


@pytest.mark.parametrize("path", ["/signup", "/forgot"])
def test_what_is_said_is_the_same_for_those_who_have_an_account(open_house, path: str) -> None:
    house = open_house(SIGNUP="open")
    said = []
    for email in ("pro@example.org", "nobody@example.org"):
        browser = house.browser(None)
        browser.get(path)
        answer = browser.post(path, {"email": email})
        assert answer.status_code == 200
        said.append(main_of(answer.text).replace(email, "…"))
    assert said[0] == said[1]
    browser.get(path)
    assert "is not an e-mail address" in browser.post(path, {"email": "no address"}).text


def test_a_forgotten_password_is_set_by_a_link_that_works_once_and_ends_all_sessions(house: House) -> None:
    before = house.browser()
    browser = house.browser(None)
    browser.get("/forgot")
    browser.post("/forgot", {"email": "pro@example.org"})
    link = house.link()
    assert link.startswith("/reset/")
    answer = browser.get(link)
    assert answer.headers["cache-control"] == "no-store"
    assert browser.post(link, {"password": OTHER}).headers["location"] == "/"
    assert browser.get("/account").status_code == 200
    assert before.get("/account").status_code == 303
    assert browser.get(link).status_code == 404


def test_a_password_is_changed_by_who_knows_it(house: House) -> None:
    browser, elsewhere = house.browser(), house.browser()
    browser.get("/account")
    assert "This is not your password" in browser.post("/account/password", {"password": "wrong", "new": OTHER}).text
    browser.get("/account")
    assert "12 characters" in browser.post("/account/password", {"password": PASSWORD, "new": "short"}).text
    browser.get("/account")
    assert browser.post("/account/password", {"password": PASSWORD, "new": OTHER}).status_code == 303
    assert browser.get("/account").status_code == 200
    assert elsewhere.get("/account").status_code == 303


def test_sessions_are_listed_and_ended(house: House) -> None:
    browser, elsewhere = house.browser(), house.browser()
    assert browser.get("/account").text.count("from 127.0.0.1") == 2
    assert browser.post("/account/sessions", {"session": "others"}).status_code == 303
    assert elsewhere.get("/account").status_code == 303
    assert browser.get("/account").status_code == 200


def test_a_theme_is_kept_in_the_browser(house: House) -> None:
    browser = house.browser()
    browser.get("/account")
    browser.post("/account/theme", {"theme": "dark"})
    assert 'data-theme="dark"' in browser.get("/account").text
    browser.post("/account/theme", {"theme": "system"})
    assert "data-theme" not in browser.get("/account").text
    assert browser.post("/account/theme", {"theme": "pink"}).status_code == 400


def test_an_account_is_deleted_by_who_knows_its_password(house: House) -> None:
    browser = house.browser()
    key = house.service.keys["pro"]
    browser.get("/account/delete")
    assert browser.post("/account/delete", {"password": "wrong"}).status_code == 403
    assert house.service.get("/coverage", key).status_code == 200
    browser.get("/account/delete")
    assert browser.post("/account/delete", {"password": PASSWORD}).headers["location"] == "/signin"
    assert house.service.get("/coverage", key).status_code == 401
    assert browser.get("/account").status_code == 303
