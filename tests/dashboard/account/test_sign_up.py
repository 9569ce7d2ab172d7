"""Joining by a link, forgetting a password, and one's own account: links work once, and nothing tells who has an account."""

import pytest
import structlog
from prometheus_client import REGISTRY

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


# Signing in and out: nothing tells whether an address is known, and what was planted before is worth nothing after.


def test_who_signs_in_goes_on_where_they_were(house: House) -> None:
    browser = house.browser(None)
    assert browser.get("/keys").headers["location"] == "/signin?next=/keys"
    browser.get("/signin", next="/keys")
    answer = browser.post("/signin", {"email": "Pro@Example.org", "password": PASSWORD, "next": "/keys"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/keys")
    assert browser.get("/keys").status_code == 200
    assert browser.get("/signin").headers["location"] == "/"


def test_a_wrong_password_and_a_wrong_address_are_told_alike(house: House) -> None:
    said = []
    for email in ("pro@example.org", "nobody@example.org", "no address"):
        browser = house.browser(None)
        browser.get("/signin")
        answer = browser.post("/signin", {"email": email, "password": "not this one at all"})
        assert answer.status_code == 403
        said.append(answer.text[answer.text.index("<main") :].replace(email, "").split('name="csrf"')[0])
    assert said[0] == said[1] == said[2]
    assert "E-mail or password is wrong." in said[0]


def test_passwords_that_are_refused_are_counted_and_told(house: House) -> None:
    """By account and address, and never what was typed."""

    def counted(reason: str) -> float:
        return REGISTRY.get_sample_value("almanac_password_refusals_total", {"reason": reason}) or 0.0

    before = {reason: counted(reason) for reason in ("wrong", "wait", "disabled")}
    pro = house.people.accounts.account("pro@example.org").id
    browser, signed_in = house.browser(None), house.browser("free@example.org")
    with structlog.testing.capture_logs() as lines:
        browser.get("/signin")
        for email in ("pro@example.org", "a password typed here", *["pro@example.org"] * 6):
            browser.post("/signin", {"email": email, "password": "not this one at all"})
        signed_in.get("/account")
        signed_in.post("/account/password", {"password": "nor this one", "new": "correct horse battery two"})
        signed_in.get("/account/delete")
        signed_in.post("/account/delete", {"password": "nor that one"})
    lines = [one for one in lines if one["event"] != "a slow page"]  # on a busy machine it may be one
    assert {reason: counted(reason) - held for reason, held in before.items()} == {"wrong": 8, "wait": 2, "disabled": 0}
    assert [(one["page"], one["account"] == pro, one["address"]) for one in lines][:2] == [
        ("/signin", True, "127.0.0.1"), ("/signin", False, "127.0.0.1"),
    ]  # fmt: skip
    assert [one["page"] for one in lines][-2:] == ["/account/password", "/account/delete"]
    assert {one["event"] for one in lines} == {"a password was refused"}
    assert all(secret not in str(lines) for secret in ("not this one", "typed here", "nor th", "example.org"))


def test_a_session_planted_before_signing_in_ends(house: House) -> None:
    browser = house.browser()
    before = browser.cookies["almanac"]
    browser.cookies = {"almanac": before, "almanac-form": "x"}
    other = house.browser("free@example.org")
    other.cookies["almanac"] = before  # as if planted
    assert "pro@example.org" in other.get("/account").text
    other.cookies.pop("almanac")
    fresh = house.browser(None)
    fresh.get("/signin")
    fresh.cookies["almanac"] = before
    # Signed in already by what was planted: signing out ends it for both.
    fresh.get("/account")
    assert fresh.post("/signout").headers["location"] == "/signin"
    assert browser.get("/account").status_code == 303


def test_signing_in_gives_another_session_each_time(house: House) -> None:
    assert house.browser().cookies["almanac"] != house.browser().cookies["almanac"]


def test_guesses_from_one_address_wait_and_the_owner_elsewhere_does_not(house: House) -> None:
    owner = house.browser(address="192.0.2.7")
    assert owner.get("/").status_code == 200
    stranger = house.browser(None, address="198.51.100.9")
    stranger.get("/signin")
    for _ in range(5):
        stranger.post("/signin", {"email": "pro@example.org", "password": "a guess that is wrong"})
    answer = stranger.post("/signin", {"email": "pro@example.org", "password": PASSWORD})
    assert answer.status_code == 429
    assert "Wait 5 seconds" in answer.text
    assert house.browser(address="192.0.2.7").get("/").status_code == 200


def test_a_suspended_account_is_told_so_to_its_owner_alone(house: House) -> None:
    house.service.accounts.disable("pro@example.org", now=1)
    browser = house.browser(None)
    browser.get("/signin")
    assert "suspended" in browser.post("/signin", {"email": "pro@example.org", "password": PASSWORD}).text
    assert "suspended" not in browser.post("/signin", {"email": "pro@example.org", "password": "something else"}).text
