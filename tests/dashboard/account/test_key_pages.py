"""Keys: shown once, rotated with a grace, revoked at once."""

import csv
import io
import re
from datetime import UTC, datetime, timedelta

import pytest

from almanac.store.accounts.keytext import KEY_SHAPE
from almanac.store.accounts.records import Refused
from almanac.store.usage.counts import CountedUse
from tests.support.page_visitor import NOW

from .conftest import House

NUMBER = re.compile(r'name="number" value="([^"]+)"')


def create(house: House, browser, **fields: object):
    browser.get("/keys")
    number = NUMBER.search(browser.text)[1]
    return number, browser.post(
        "/keys/new", {"name": "Rates monitor", "may": "all", "ends": "never", "number": number, **fields}
    )


def test_a_key_is_made_shown_once_answers_and_ends(house: House) -> None:
    browser = house.browser()
    number, answer = create(house, browser)
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    text = KEY_SHAPE.search(answer.text)[0]
    assert house.service.get("/coverage", text).status_code == 200
    assert text not in browser.get("/keys").text
    # The same form again: nothing is made, and it says why.
    again = browser.post("/keys/new", {"name": "Rates monitor", "may": "all", "ends": "never", "number": number})
    assert again.status_code == 409
    assert "was shown once and cannot be shown again" in again.text
    assert KEY_SHAPE.search(again.text) is None
    (key,) = [one for one in house.service.accounts.list_keys("pro@example.org") if one.name == "Rates monitor"]
    browser.get(f"/keys/{key.id}/revoke")
    assert browser.post(f"/keys/{key.id}/revoke").status_code == 303
    assert house.service.get("/coverage", text).status_code == 401
    assert "Rates monitor" not in browser.get("/keys").text
    assert "Rates monitor" in browser.get("/keys", revoked="all").text


def test_a_key_says_when_its_first_request_was_received(house: House) -> None:
    browser = house.browser()
    _, answer = create(house, browser, name="Waiting")
    text = KEY_SHAPE.search(answer.text)[0]
    (address,) = re.findall(r'data-used="([^"]+)"', answer.text)
    assert browser.get(address).json() == {"used": False}
    assert house.service.get("/coverage", text).status_code == 200
    # A worker writes uses down every few seconds.
    house.service.accounts.flush()
    assert browser.get(address).json() == {"used": True}
    for language, words in (
        ("curl", "$ALMANAC_API_KEY"),
        ("Python", "reads ALMANAC_API_KEY"),
        ("JavaScript", "process.env.ALMANAC_API_KEY"),
    ):
        assert f"<summary>{language}</summary>" in answer.text
        assert words in answer.text
    assert house.browser("free@example.org").get(address).status_code == 404


def test_a_key_may_be_narrowed_and_end(house: House) -> None:
    browser = house.browser()
    _, answer = create(house, browser, may="some", scope=["macro:read", "events:read"], ends="on", on="2027-06-30")
    assert answer.status_code == 200
    key = house.service.accounts.list_keys("pro@example.org")[-1]
    assert key.scopes == ("macro:read", "events:read")
    assert key.expires == 1_814_399_999  # the last second of that day, UTC


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": ""}, "Enter a name"),
        ({"name": "x" * 81}, "at most 80 characters"),
        ({"may": "some"}, "Choose at least one"),
        ({"may": "some", "scope": "nothing:read"}, "There is no scope"),
        ({"ends": "on", "on": "31.4.27"}, "is not a date. Write year, month, day"),
        ({"ends": "on", "on": "2020-01-01"}, "Expiry must be after today"),
    ],
)
def test_what_is_wrong_is_told_at_its_field_and_nothing_is_made(
    house: House, fields: dict[str, str], said: str
) -> None:
    browser, before = house.browser(), len(house.service.accounts.list_keys())
    _, answer = create(house, browser, **fields)
    assert answer.status_code == 400
    assert answer.text.count(said) == 2  # in the summary and at the field
    assert "<title>Error: " in answer.text
    assert len(house.service.accounts.list_keys()) == before


@pytest.mark.parametrize(("grace", "old"), [("24h", 200), ("0", 401)])
def test_a_rotated_key_lives_on_as_long_as_was_chosen(house: House, grace: str, old: int) -> None:
    browser = house.browser()
    text, key = house.service.accounts.create_key("pro@example.org", name="Old one", now=1)
    browser.get(f"/keys/{key.id}/rotate")
    number = NUMBER.search(browser.text)[1]
    answer = browser.post(f"/keys/{key.id}/rotate", {"grace": grace, "number": number})
    fresh = KEY_SHAPE.search(answer.text)[0]
    assert fresh != text
    assert house.service.get("/coverage", fresh).status_code == 200
    assert house.service.get("/coverage", text).status_code == old


def test_very_many_keys_come_a_hundred_to_a_page(house: House) -> None:
    browser = house.browser()
    accounts = house.service.accounts
    held = len(accounts.list_keys("pro@example.org"))
    for number in range(230 - held):
        accounts.create_key("pro@example.org", name=f"Worker {number}", now=1)
    pages = [browser.get("/keys", **asked).text for asked in ({}, {"page": "2"}, {"page": "3"}, {"page": "99"})]
    names = [re.findall(r"Worker \d+(?=<small>)", text) for text in pages]
    assert [len(page) for page in names[:2]] == [100, 100]
    assert len({name for page in names[:3] for name in page}) == 230 - held
    assert pages[2].count("Worker") == pages[3].count("Worker")
    assert "101–200 of 230" in pages[1]
    assert 'href="/keys?page=3" rel="next"' in pages[1]


@pytest.mark.sqlite  # of a server accounts are away with the data
def test_with_the_data_away_a_key_is_revoked_all_the_same(house: House) -> None:
    """Somebody who is not signed in yet may have lost a key too."""
    text, key = house.service.accounts.create_key("pro@example.org", now=NOW)
    data = house.service.settings.home / "data.db"
    house.service.reader.close()
    data.rename(data.with_name("away"))
    browser = house.browser()
    assert browser.get("/countries").status_code == 503
    assert key.prefix in browser.get("/keys").text
    assert browser.get(f"/keys/{key.id}/revoke").status_code == 200
    assert browser.post(f"/keys/{key.id}/revoke").status_code == 303
    assert browser.get("/keys", done="revoked", revoked=key.id).status_code == 200
    assert isinstance(house.service.accounts.verify(text, NOW), Refused)


def test_the_description_is_the_interfaces(house: House) -> None:
    answer = house.browser().get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    assert answer.content == house.service.get("/openapi.json").content


# -- usage: the page, its four views and the CSV tell what was counted, and nothing of others -------------------------


DAY = NOW // 86_400


@pytest.fixture
def used(house: House) -> House:
    mine = house.service.accounts.account("pro@example.org").id
    theirs = house.service.accounts.account("free@example.org").id
    key = house.service.accounts.list_keys("pro@example.org")[0].prefix
    house.usage.add(
        [
            CountedUse(DAY, mine, key, "/rates/{scope}", 200, 40, 40 * 2_000),
            CountedUse(DAY, mine, key, "/observations", 404, 3, 3 * 2_000),
            CountedUse(DAY - 1, mine, "alm_gonegone", "/observations", 429, 7, 7 * 2_000),
            CountedUse(DAY, theirs, "alm_theirs00", "/coverage", 200, 9_999, 9_999 * 2_000),
        ]
    )
    return house


def test_all_views_add_up_to_what_was_counted(used: House) -> None:
    browser = used.browser()
    for by in ("day", "key", "endpoint", "status"):
        text = browser.get("/usage", by=by).text
        assert ">50<" in text
        assert "9,999" not in text
        assert "20.0%" in text  # 10 of 50 were refused
    assert "deleted key" in browser.get("/usage", by="key").text
    assert "/rates/{scope}" in browser.get("/usage", by="endpoint").text


def test_the_csv_has_every_counter(used: House) -> None:
    answer = used.browser().get("/usage.csv")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["content-disposition"].startswith('attachment; filename="usage-')
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert sorted(int(row["requests"]) for row in rows) == [3, 7, 40]
    assert {row["mean_ms"] for row in rows} == {"2.0"}


def test_days_may_be_chosen_and_wrong_ones_are_told(used: House) -> None:
    browser = used.browser()
    yesterday = (datetime.fromtimestamp(NOW, UTC) - timedelta(days=1)).date().isoformat()
    assert ">7<" in browser.get("/usage", **{"from": yesterday, "to": yesterday}).text
    answer = browser.get("/usage", **{"from": "31.4.27"})
    assert answer.status_code == 400
    assert "is not a date" in answer.text
