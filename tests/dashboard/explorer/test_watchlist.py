"""The watchlist: stars on pages, forms without script, what is withheld, files, bounds, and the morning page."""

import csv
import io
import json
import re
from collections.abc import Callable

import pytest

from almanac.dashboard import people
from almanac.dashboard.people import Person
from almanac.store.accounts.watchlist import MOST_WATCHED, Watchlist
from almanac.store.engine.errors import UnavailableError
from tests.support.browser import Browser
from tests.support.service import REAL_NOW, Service

from . import conftest
from .conftest import dashboard

SHUT, SHOWN = "fred:country_usa:high_yield_spread:D", "fred:country_usa:cpi_index_nsa:M"


@pytest.fixture
def person(own: Service, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Browser]:
    """Makes a browser in which the account of a plan is signed in: one that there is."""
    ids = {plan: own.accounts.account(f"{plan}@example.org").id for plan in ("free", "pro")}

    def signed_in(_: conftest.Plans, token: str) -> Person | None:
        return Person(ids[token], f"{token}@example.org", token, "user", "web_1") if token in ids else None

    monkeypatch.setattr(conftest.Plans, "person", signed_in)
    app = dashboard(own)

    def made(plan: str = "pro") -> Browser:
        one = Browser(app)
        one.cookies["almanac"] = plan
        return one

    return made


def account(own: Service, plan: str = "pro") -> str:
    return own.accounts.account(f"{plan}@example.org").id


def cells(text: str, table: str) -> list[list[str]]:
    """The cells of the rows of a table, as words."""
    body = text.split(f'id="{table}"')[1].split("</table>", maxsplit=1)[0].split("<tbody")[1]
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, re.DOTALL) for row in body.split("<tr")[1:]]
    return [[" ".join(re.sub(r"<[^>]+>", " ", cell).split()) for cell in row] for row in rows]


@pytest.mark.parametrize(
    ("page", "kind", "what", "title"),
    [
        (f"/series/{SHOWN}", "series", SHOWN, "Consumer price index, not seasonally adjusted: United States"),
        ("/companies/acme-widgets-inc", "company", "company_0000005001", "Acme Widgets"),
        ("/indicators/gov_yield_10y", "indicator", "gov_yield_10y", "10-year government yield"),
    ],
)
def test_a_star_puts_its_thing_on_the_list_and_takes_it_off(
    own: Service, person: Callable[..., Browser], page: str, kind: str, what: str, title: str
) -> None:
    one = person()
    assert 'name="deed" value="watch"' in one.get(page).text
    fields = dict(re.findall(r'name="(kind|what|to)" value="([^"]*)"', one.text))
    assert fields == {"kind": kind, "what": what, "to": page}
    answer = one.post("/watchlist", {**fields, "deed": "watch"})
    assert (answer.status_code, answer.headers["location"]) == (303, page)
    assert [(row.kind, row.what) for row in Watchlist(own.accounts).watched(account(own))] == [(kind, what)]
    assert 'name="deed" value="unwatch"' in one.get(page).text
    ((name, *_),) = cells(one.get("/watchlist").text, "watched")
    assert name.startswith(title)
    # Nobody else's list has it.
    assert "You watch nothing yet" in person("free").get("/watchlist").text
    one.get(page)
    one.post("/watchlist", {**fields, "deed": "unwatch"})
    assert Watchlist(own.accounts).watched(account(own)) == []


def test_the_list_has_what_the_interface_says(own: Service, person: Callable[..., Browser]) -> None:
    for what in (SHOWN, "us-treasury-par:country_usa:gov_yield_10y:D"):
        Watchlist(own.accounts).watch(account(own), "series", what, now=REAL_NOW)
    text = person().get("/watchlist").text
    newest, before = own.ok(
        "/observations", entity_id="country_usa", indicator_id="cpi_index_nsa", source_id="fred", sort="period_end",
        order="desc", limit=2,
    )  # fmt: skip
    shown = next(row for row in text.split("<tr") if f"/series/{SHOWN}" in row)
    assert f'data-value="{newest["valueNumeric"]}"' in shown
    assert '<svg class="spark"' in shown
    moved = cells(text, "watched")[1][3]
    assert float(moved.replace("−", "-").split()[0]) == pytest.approx(
        newest["valueNumeric"] - before["valueNumeric"], abs=0.06
    )


def test_a_withheld_series_is_watched_without_its_numbers(own: Service, person: Callable[..., Browser]) -> None:
    Watchlist(own.accounts).watch(account(own), "series", SHUT, now=REAL_NOW)
    one = person()
    for path in ("/watchlist", "/"):
        row = next(row for row in one.get(path).text.split("<tr") if f"/series/{SHUT}" in row)
        assert "Withheld" in row
        assert "data-value" not in row
        assert '<svg class="spark"' not in row
    (told,) = one.get("/watchlist.json").json()["watched"]
    assert (told["value"], told["withheld"]) == (None, True)
    assert told["reason"]


@pytest.mark.usefixtures("person")
def test_what_is_outside_the_plan_is_not_shown(own: Service) -> None:
    """A quarter that ended before a plan of one month begins is nobody's on that plan."""
    series = "fred:country_usa:real_gdp:Q"
    for plan in ("free", "pro"):
        Watchlist(own.accounts).watch(account(own, plan), "series", series, now=REAL_NOW)
    narrow = Service(own.home, more={"PLANS__FREE__HISTORY_MONTHS": "1", "PLANS__FREE__REQUESTS_PER_MINUTE": "100"})
    (newest,) = own.ok("/observations/latest", indicator_id="real_gdp", entity_id="country_usa")
    app = dashboard(narrow)
    for plan, there in (("pro", True), ("free", False)):
        one = Browser(app)
        one.cookies["almanac"] = plan
        text = one.get("/watchlist").text
        assert (f'data-value="{newest["valueNumeric"]}"' in text) == there
        assert ("No value is within your plan" in text) != there
        (told,) = one.get("/watchlist.json").json()["watched"]
        assert (told["value"], told["periodEnd"]) == (
            (newest["valueNumeric"], newest["periodEnd"]) if there else (None, None)
        )
    narrow.close()


def test_the_files_say_what_the_page_says(own: Service, person: Callable[..., Browser]) -> None:
    lists = Watchlist(own.accounts)
    lists.watch(account(own), "series", SHOWN, now=REAL_NOW)
    one = person()
    told = one.get("/watchlist.json").json()
    answer = one.get("/watchlist.csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="almanac-watchlist.csv"'
    (watched,) = csv.DictReader(io.StringIO(answer.text))
    assert watched == {
        name: "" if value is None else str(value).replace("False", "False")
        for name, value in told["watched"][0].items()
    }


@pytest.mark.parametrize(
    ("path", "fields", "said"),
    [
        ("/watchlist", {"deed": "watch", "kind": "planet", "what": "mars"}, "Only these can be watched: series, company, indicator."),
        ("/watchlist", {"deed": "watch", "kind": "indicator", "what": "no_such"}, "There is no indicator “no_such”."),
        ("/watchlist", {"kind": "series", "what": SHOWN}, "This form does not say what to do. Nothing was changed."),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said_and_nothing_is_changed(
    own: Service, person: Callable[..., Browser], path: str, fields: dict[str, str], said: str
) -> None:
    one = person()
    one.get("/watchlist")
    answer = one.post(path, fields)
    assert answer.status_code == 400
    assert said in answer.text
    lists = Watchlist(own.accounts)
    assert lists.watched(account(own)) == []


def test_a_full_list_says_so(own: Service, person: Callable[..., Browser]) -> None:
    lists, pro = Watchlist(own.accounts), account(own)
    for number in range(MOST_WATCHED):
        lists.watch(pro, "series", f"gone:country_usa:x{number}:M", now=REAL_NOW)
    one = person()
    text = one.get("/watchlist").text
    # Fifty to a page; what is gone says so.
    assert len(cells(text, "watched")) == 50
    assert "There is no series of this id any more." in text
    answer = one.post("/watchlist", {"deed": "watch", "kind": "indicator", "what": "policy_rate"})
    assert answer.status_code == 400
    assert f"The watchlist holds {MOST_WATCHED} things and is full: remove one first." in answer.text
    assert len(lists.watched(pro)) == MOST_WATCHED


@pytest.mark.parametrize("to", ["https://evil.example/", "//evil.example", "/\\evil.example", "/a b", ""])
def test_nobody_is_sent_elsewhere(person: Callable[..., Browser], to: str) -> None:
    one = person()
    one.get("/watchlist")
    answer = one.post("/watchlist", {"deed": "unwatch", "kind": "series", "what": SHOWN, "to": to})
    assert (answer.status_code, answer.headers["location"]) == (303, "/watchlist")


def test_pages_of_data_go_on_while_the_accounts_do_not_answer(
    person: Callable[..., Browser], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def away(*_: object) -> None:
        asked.append("")
        raise UnavailableError("the server does not answer")

    monkeypatch.setattr(people, "_REST_SECONDS", 600.0)
    for name in ("watches", "watched"):
        monkeypatch.setattr(Watchlist, name, away)
    one = person()
    for path in (f"/series/{SHOWN}", "/indicators/gov_yield_10y", "/"):
        answer = one.get(path)
        assert answer.status_code == 200
        assert 'value="watch"' not in answer.text
    # Asked once: each page would wait for it.
    assert len(asked) == 1
    assert json.loads(one.get("/search.json", q="yield").text)
