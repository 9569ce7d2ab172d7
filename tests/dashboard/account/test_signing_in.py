"""Signing in and out: nothing tells whether an address is known, and what was planted before is worth nothing after."""

from __future__ import annotations

import structlog
from prometheus_client import REGISTRY

from .conftest import PASSWORD, House


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
