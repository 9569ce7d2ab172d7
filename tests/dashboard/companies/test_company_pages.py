"""Pages of companies: each number is the interface's, restated ones with what they were, withheld ones nowhere."""

import html
import re
from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from typing import Any

import pytest

from almanac.dashboard.app import Dashboard
from almanac.dashboard.explorer import companies, statements
from almanac.dashboard.explorer import statements as restatements
from almanac.dashboard.explorer.companies import age, compared, unscored
from almanac.dashboard.explorer.statements import split, table
from almanac.domain.companies import company_id
from almanac.store.companies.merging import mark_reports, put_records
from almanac.store.companies.statements import INCOME, Key
from tests.contract import filed
from tests.contract.test_rights import COMPANY, filer
from tests.support.browser import Browser
from tests.support.page_visitor import dashboard, signed_in
from tests.support.service import Service

__all__ = ["filer"]

ACME, PAGE = company_id(filed.ACME), "/companies/acme-widgets-inc"
_CELL = re.compile(r'data-value="([^"]+)" data-line="(\w+)" data-end="([^"]+)"')
_CURL = re.compile(r"\$ALMANAC_API_KEY(?:&#34;|\") (?:&#34;|\")http://[^/]+([^\"&]+(?:&amp;[^\"&#]+)*)")
PLACES = {"income": "incomeStatements", "balance": "balanceSheets", "cash": "cashFlowStatements"}


@pytest.fixture(scope="module")
def app(service: Service) -> Dashboard:
    return dashboard(service)


@pytest.fixture
def browser(app: Dashboard) -> Iterator[Browser]:
    return signed_in(app)


def cells(text: str) -> dict[tuple[str, str], float]:
    return {(line, end): float(value) for value, line, end in _CELL.findall(text)}


def plain(text: str) -> str:
    """With spaces where days are held in one piece."""
    return text.replace("\xa0", " ")


def requests(text: str) -> list[str]:
    """The requests that a page shows, as a program sends them."""
    return [html.unescape(one) for one in _CURL.findall(text)]


def rows(statements: list[dict[str, Any]]) -> dict[tuple[str, str], float]:
    return {(key, one["periodEnd"]): value for one in statements for key, value in one["items"].items()}


@pytest.mark.parametrize("as_of", [None, "2026-03-01", "2026-05-05", "2026-06-01"])
@pytest.mark.parametrize("frequency", ["annual", "quarterly"])
@pytest.mark.parametrize("statement", PLACES)
def test_each_number_is_that_of_the_request_the_page_shows(
    browser: Browser, service: Service, statement: str, frequency: str, as_of: str | None
) -> None:
    query = {"statement": statement, "frequency": frequency} | ({"as_of": as_of} if as_of else {})
    answer = browser.get(PAGE, **query)
    assert answer.status_code == 200
    shown = next(one for one in requests(answer.text) if "/financials" in one)
    assert (f"as_of={as_of}" in shown) == (as_of is not None)
    told = service.get(shown).json()["data"][PLACES[statement]]
    assert cells(answer.text) == rows(told)
    assert told or "known" in answer.text


@pytest.mark.parametrize("scale", ["millions", "thousands", "units"])
def test_the_scale_is_for_the_eye(browser: Browser, service: Service, scale: str) -> None:
    answer = browser.get(PAGE, scale=scale)
    told = service.ok(f"/companies/{ACME}/financials", frequency="annual")["incomeStatements"]
    assert cells(answer.text) == rows(told)
    assert f"USD {scale}" in answer.text or scale == "units"


def test_a_restated_number_stands_beside_what_it_was_and_both_filings(browser: Browser) -> None:
    text = plain(browser.get(PAGE, scale="units").text)
    restated = text[text.index('id="restated"') : text.index('id="how"')]
    assert "10-K of 20 Feb 2026" in restated
    assert "10-K/A of 5 May 2026" in restated
    assert ">400<" in restated
    assert "revised down by 10" in restated
    assert "5 May 2026, 12:00" in restated
    assert "gross_profit" not in restated  # new in the amendment, not changed by it


def test_before_the_restatement_nothing_is_known_of_it(browser: Browser) -> None:
    text = plain(browser.get(PAGE, scale="units", as_of="2026-05-04").text)
    assert 'id="restated"' not in text
    assert ("revenue", "2025-12-31T00:00:00Z") in cells(text)
    assert 'data-value="390"' not in text
    assert "Statements as known on 4 May 2026" in text
    for today_only in ('id="scores"', 'id="peers"', 'id="filings"'):
        assert today_only not in text


def test_a_restatement_that_was_really_filed(filer: Service) -> None:
    """Facts of a company taken in as they come, derived as they are: the amendment lowered the year's income."""
    browser = signed_in(dashboard(filer))
    address = browser.get(COMPANY).headers["location"]
    text = plain(browser.get(address, scale="units").text)
    restated = text[text.index('id="restated"') :]
    assert re.search(r'data-label="Was" ?[^>]*><span class="v plain" data-value="47"', restated)
    assert "10-K of 20 Feb 2024" in restated
    assert "10-K/A of 2 Apr 2024" in restated
    year = ("net_income", "2023-12-31T00:00:00Z")
    assert cells(text)[year] == 44
    assert cells(browser.get(address, as_of="2024-04-01").text)[year] == 47


def test_a_computed_line_says_how_and_from_what(browser: Browser) -> None:
    text = browser.get(PAGE).text
    assert 'href="#how-gross_profit-1"' in text
    how = text[text.index('id="how-gross_profit-1"') :]
    assert "From other lines of the same period" in how[:400]
    assert f'href="/series/sec:{ACME}:us_gaap_revenues:A"' in how[:600]


@pytest.mark.parametrize(
    "name", ["ACW", "acw-b", "5001", "0000005001", "5493006MHB84DD0ZWV18", ACME, "ACME WIDGETS INC."]
)
def test_every_name_leads_to_the_one_address(browser: Browser, name: str) -> None:
    answer = browser.get(f"/companies/{name}", frequency="annual")
    assert (answer.status_code, answer.headers["location"]) == (301, f"{PAGE}?frequency=annual")


@pytest.mark.parametrize("as_of", ["", "2026-06-01"])
def test_a_company_leads_to_its_charts_with_its_reports_marked(browser: Browser, as_of: str) -> None:
    """On the day of the page; what may not be shown is drawn nowhere, and a line that it lacks is told as none."""
    text = browser.get(f"{PAGE}?as_of={as_of}" if as_of else PAGE).text
    links = [html.unescape(one) for one in re.findall(r'href="(/compare\?indicator=[^"]*)"', text)]
    assert len(links) == 4
    assert all(f"entities={ACME}&events=own" in one and ("as_of=" in one) == bool(as_of) for one in links)
    for link in links:
        assert browser.get(link).status_code == 200


def test_the_list_is_that_of_the_interface(browser: Browser, service: Service) -> None:
    for query in ({}, {"sort": "ticker"}, {"q": "acme"}, {"country": "JPN"}, {"sector": "Technology"}):
        answer = browser.get("/companies", **query)
        told = service.ok("/companies", **query)
        ids = re.findall(r'<th scope="row"[^>]*><a href="/companies/([^"]+)"', answer.text)
        assert ids == [one["entityId"] for one in told]


def test_a_sector_that_is_none_leads_to_the_one_that_was_meant(browser: Browser) -> None:
    text = browser.get("/companies", sector="Tecnology").text
    assert "“Tecnology” is the sector of no company" in text
    assert 'href="/companies?sector=Technology">Technology</a>' in text


def test_a_list_whose_cursor_is_no_good_starts_again(browser: Browser) -> None:
    answer = browser.get("/companies", cursor="nonsense")
    assert answer.status_code == 400
    assert "Start again" in answer.text


@pytest.fixture
def quarters_only(own: Service) -> Service:
    """With a company of which quarters are known and no year: most of a set that holds one quarter's filings."""
    zenith, quarter = company_id(filed.ZENITH), filed.QUARTER
    told = {
        Key(INCOME, "Q", quarter.key): [(filed.KNOWN[quarter], filed.body(INCOME, quarter, filed.KNOWN[quarter], {"revenue": 7}))]
    }  # fmt: skip
    with own.world() as world, world.batch("test") as batch:
        batch.touch()
        filed.write(world.db, batch.version, zenith, told)
        mark_reports(world.db, zenith)
    return own


def test_a_company_opens_on_the_frequency_that_there_is(quarters_only: Service) -> None:
    browser = signed_in(dashboard(quarters_only))
    address = browser.get("/companies/ZEN").headers["location"]
    opened = browser.get(address)
    assert cells(opened.text) == {("revenue", "2026-09-30T00:00:00Z"): 7}
    assert "Income, quarterly" in opened.text
    yearly = plain(browser.get(address, frequency="annual").text)
    assert "No annual statement of this kind is known. There is:" in yearly
    assert f'<a href="{address}?frequency=quarterly&amp;statement=income">Income, quarterly</a>' in yearly
    other = plain(browser.get(address, statement="balance").text)
    assert "No annual statement of this kind is known." in other
    before = plain(browser.get(address, as_of="2026-10-01").text)
    assert "No annual statement of this kind was known on 1 Oct 2026." in before
    then = plain(browser.get(address, as_of="2026-10-01", frequency="quarterly").text)
    assert f'<a href="{address}?frequency=quarterly">The newest</a>' in then


def test_those_without_a_value_come_last_from_a_on(own: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever way the values go, over all pages, each company once; the interface turns their names too."""
    monkeypatch.setattr(companies, "_PAGE", 1)
    monkeypatch.setattr(companies, "_ENOUGH", 1)
    browser = signed_in(dashboard(own))
    every = {one["entityId"]: one for one in own.ok("/companies", limit=500)}
    for sort in ("score", "ticker"):
        for order in ("asc", "desc"):
            walked: list[str] = []
            address, query = "/companies", {"sort": sort, "order": order}
            for _ in range(20):
                text = browser.get(address, **query).text
                walked += re.findall(r'<th scope="row"[^>]*><a href="/companies/([^"]+)"', text)
                onward = re.search(r'href="([^"]+)" rel="next"', text)
                if onward is None:
                    break
                address, query = html.unescape(onward[1]), {}
            none = [one for one in walked if every[one][sort] is None]
            there = [one for one in walked if every[one][sort] is not None]
            assert walked == there + none
            assert sorted(walked) == sorted(every)
            assert none == sorted(none, key=lambda one: every[one]["name"])
            if sort == "ticker":
                assert there == sorted(there, key=lambda one: every[one]["ticker"], reverse=order == "desc")


def test_companies_are_called_as_people_write_them_and_the_filed_name_is_kept(own: Service) -> None:
    from almanac.domain.companies import CompanyRecord

    with own.world() as world, world.batch("test") as batch:
        batch.touch()
        record = CompanyRecord(
            cik=filed.BOLT, part="submissions", name="BOLT & SONS CORP /DE/", sic="6022", country="BM"
        )
        put_records(world.db, [record], "sec", filed.at("2026-11-02T00:00:00"), "f" * 64, filed.classify)
    browser = signed_in(dashboard(own))
    for address in ("/companies", "/search?q=bolt+sons&all=1", "/screeners/equity?filter=sector:eq:Financials"):
        text = html.unescape(browser.get(address).text)
        assert "Bolt & Sons Corp" in text, address
        assert "BOLT & SONS" not in text, address
    page = html.unescape(browser.get(browser.get("/companies/BOLT").headers["location"]).text)
    assert "<h1>Bolt & Sons Corp</h1>" in page
    assert "<dd>BOLT & SONS CORP /DE/</dd>" in page
    # Its country has no data of its own: it is named all the same, and can be chosen.
    assert "<dd>Bermuda</dd>" in page
    listed = html.unescape(browser.get("/companies", country="BMU").text)
    assert "Bermuda</small>" in listed
    assert '<option value="BMU" selected>' in listed


def test_of_two_registrants_of_one_name_the_listed_one_is_first(own: Service) -> None:
    """A registrant that went on as another is still there, first by name, and is not what is looked for."""
    from almanac.domain.companies import CompanyRecord

    old, period = 5009, filed.EARLIER
    told = {
        Key(INCOME, "Q", period.key): [
            (filed.KNOWN[period], filed.body(INCOME, period, filed.KNOWN[period], {"revenue": 7}))
        ]
    }
    with own.world() as world, world.batch("test") as batch:
        batch.touch()
        record = CompanyRecord(cik=old, part="submissions", name="ACME WIDGETS CORP/", sic="3571")
        put_records(world.db, [record], "sec", filed.at("2026-11-02T00:00:00"), "f" * 64, filed.classify)
        filed.write(world.db, batch.version, company_id(old), told)
        mark_reports(world.db, company_id(old))
    assert [one["entityId"] for one in own.ok("/companies", q="acme")] == [company_id(old), ACME]
    text = signed_in(dashboard(own)).get("/search", q="acme", all="1").text
    assert re.findall(r'href="/companies/(company_\d+)"', text) == [ACME, company_id(old)]
    assert "Did you mean" not in text


# -- statements as tables: how precisely columns are told, and what a split makes of a restated line ------------------


def income(end: str, items: dict[str, float], computed: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    return {
        "frequency": "quarterly", "periodEnd": f"{end}T00:00:00Z", "items": items, "revisionStatus": "initial",
        "observedAt": f"{end}T00:00:00Z", "derivedItems": {key: {"method": "formula", "derivedFrom": []} for key in computed},
        "quality": {"status": "ok", "checks": []}, **more,
    }  # fmt: skip


def texts(*told: dict[str, Any]) -> list[str]:
    (line,) = table("income", told, {}, "millions")["lines"]
    return [cell.look.text for cell in line.cells]


def test_a_figure_per_share_is_told_as_precisely_as_it_was_filed() -> None:
    """What was computed between two filed ones has twelve digits, which are nobody's."""
    key = "earnings_per_share_basic"
    filed, made = income("2026-03-28", {key: 2.02}), income("2025-09-27", {key: 1.853893534160}, (key,))
    assert texts(filed, made) == ["2.02", "1.85"]
    assert texts(made) == ["1.85"]
    assert texts(income("2026-03-28", {key: 0.4975}), made) == ["0.4975", "1.8539"]
    assert texts(income("2026-03-28", {key: 0.123456789})) == ["0.1235"]
    # The whole number stays beside the short one.
    (line,) = table("income", [made], {}, "millions")["lines"]
    assert line.cells[0].look.full == "1.85389353416"


def test_a_line_that_a_split_changed_is_no_revision_up_or_down() -> None:
    before = income(
        "2019-09-28",
        {"revenue": 260e9, "earnings_per_share_basic": 11.97, "weighted_average_shares_basic": 4_617_834_000},
    )
    after = income(
        "2019-09-28",
        {"revenue": 261e9, "earnings_per_share_basic": 2.99, "weighted_average_shares_basic": 18_471_336_000},
        revisionStatus="revised",
        observedAt="2020-10-30T10:00:00Z",
    )
    was, _ = restatements.before([after], lambda _: [before])
    assert {key: one.split for (_, key), one in was.items()} == {
        "revenue": "",
        "earnings_per_share_basic": "4-for-1 split",
        "weighted_average_shares_basic": "4-for-1 split",
    }
    looks = {line.key: line.cells[0].look for line in table("income", [after], was, "millions")["lines"]}
    per_share = looks["earnings_per_share_basic"]
    assert (per_share.text, per_share.direction, per_share.note) == ("2.99", None, "4-for-1 split")
    assert per_share.spoken == "2.99, restated for a 4-for-1 split"
    assert looks["revenue"].direction == "up"


# -- what cells were before filings changed them, also where several filings changed one statement --------------------


def state(observed: str, status: str = "revised", end: str = "2024-12-31", **items: float) -> dict[str, Any]:
    return {"frequency": "annual", "periodEnd": end, "observedAt": observed, "revisionStatus": status, "items": items}


FIRST = state("2025-02-01T00:00:00Z", "initial", revenue=100, net_income=10)
SECOND = state("2025-06-01T00:00:00Z", revenue=100, net_income=9)
THIRD = state("2025-09-01T12:00:00Z", revenue=95, net_income=9)


def history(moment: str) -> list[dict[str, Any]]:
    known = [one for one in (FIRST, SECOND, THIRD) if one["observedAt"] <= moment]
    return known[-1:]


def test_each_cell_is_told_as_before_the_filing_that_changed_it_last() -> None:
    asked: list[str] = []

    def ask(moment: str) -> list[dict[str, Any]]:
        asked.append(moment)
        return history(moment)

    found, more = statements.before([THIRD], ask)
    assert asked == ["2025-09-01T11:59:59Z", "2025-05-31T23:59:59Z"]
    assert {key: (was.value, was.before, was.after) for (_, key), was in found.items()} == {
        "revenue": (100, SECOND, THIRD),
        "net_income": (10, FIRST, SECOND),
    }
    assert not more


def test_statements_changed_at_one_moment_are_asked_for_once() -> None:
    asked: list[str] = []
    other = state("2025-09-01T12:00:00Z", end="2023-12-31", revenue=7)
    before = [SECOND | {"revisionStatus": "initial"}, state("2024-02-01T00:00:00Z", "initial", "2023-12-31", revenue=8)]
    found, _ = statements.before([THIRD, other], lambda moment: asked.append(moment) or before)
    assert len(asked) == 1
    assert {place: was.value for place, was in found.items()} == {(0, "revenue"): 100, (1, "revenue"): 8}


def test_nothing_is_asked_where_nothing_changed() -> None:
    def never(_: str) -> list[dict[str, Any]]:
        raise AssertionError

    assert statements.before([FIRST], never) == ({}, False)


def test_there_is_an_end_to_asking() -> None:
    """A page costs a bounded number of requests, and says that there was more."""
    ends = [f"20{number:02d}-12-31" for number in range(statements.MOST + 3)]
    rows = [state(f"2025-01-{number + 1:02d}T00:00:00Z", end=end, revenue=1) for number, end in enumerate(ends)]
    asked: list[str] = []
    _, more = statements.before(rows, lambda moment: asked.append(moment) or [])
    assert len(asked) == statements.MOST
    assert more


def test_a_line_that_is_new_or_gone_was_not_changed() -> None:
    now = state("2025-06-01T00:00:00Z", revenue=1, ebitda=3)
    found, _ = statements.before([now], lambda _: [state("2025-01-01T00:00:00Z", "initial", revenue=1, net_income=2)])
    assert found == {}


# How current statements are, why there is no score, among whom there is one; and what a split is, and what is none.


TODAY = date(2026, 11, 1)


def held(*frequencies: str) -> dict[tuple[str, str], dict[str, Any]]:
    return {(one, "income"): {"frequency": one} for one in frequencies}


@pytest.mark.parametrize(
    ("frequencies", "end", "kind"),
    [
        (("annual", "quarterly"), "2026-06-30", "good"),
        (("annual", "quarterly"), "2025-12-31", "warn"),
        (("annual",), "2025-12-31", "good"),
        (("semiannual",), "2025-12-31", "good"),
        (("quarterly",), "2009-06-30", "warn"),
    ],
)
def test_statements_are_as_current_as_series_of_their_frequency(
    frequencies: tuple[str, ...], end: str, kind: str
) -> None:
    chip = age(f"{end}T00:00:00Z", held(*frequencies), TODAY)
    assert chip is not None
    assert chip["kind"] == kind
    assert ("stale" in chip["text"]) == (kind == "warn")


def test_without_statements_there_is_no_age() -> None:
    assert age(None, {}, TODAY) is None


def record(**more: Any) -> dict[str, Any]:
    pillars = dict.fromkeys(("profitability", "growth", "strength", "efficiency", "quality"))
    return {"score": None, "scores": pillars, "lastPeriodEnd": "2026-06-30T00:00:00Z", "sector": "Energy", **more}


def test_why_there_is_no_score() -> None:
    def said(**more: Any) -> str:
        return unscored(record(**more), TODAY).replace("\xa0", " ")

    assert said(score=50.0) == ""
    assert "ended on 30 Jun 2009" in said(lastPeriodEnd="2009-06-30T00:00:00Z")
    assert "last 18 months" in said(lastPeriodEnd="2025-04-30T00:00:00Z")
    assert "needs 3 of 5 pillars, and of none a measure is known" in said(lastPeriodEnd="2025-05-01T00:00:00Z")
    assert "of 2 of 5" in said(scores={**record()["scores"], "growth": 1.0, "quality": 2.0})
    assert said(lastPeriodEnd=None) == "Not scored: no statement is known."


def test_among_whom_a_score_is_taken_is_said_with_how_many() -> None:
    def said(sector: int, within: int, measures: int = 20) -> str:
        peers = {"sector": sector, "all": 14, "measures": measures, "measuresWithinSector": within}
        return compared(record(scorePeers=peers))

    assert compared(record(scorePeers=None)) == ""
    assert "the 12 companies of Energy" in said(12, 20)
    assert "all 14 companies" in said(2, 0)
    assert "of Energy" in said(2, 0)
    assert "5 of 20 measures compare with companies of Energy (11)" in said(11, 5)


@pytest.mark.parametrize(
    ("changed", "ratio"),
    [
        # A 4-for-1 split of 2020, restated in the next annual report.
        (
            {
                "earnings_per_share_diluted": (11.89, 2.97),
                "dividends_per_share": (3.00, 0.75),
                "weighted_average_shares_diluted": (4_648_913_000, 18_595_651_000),
            },
            Fraction(4),
        ),
        ({"weighted_average_shares_basic": (1_000_000, 1_500_000)}, Fraction(3, 2)),
        ({"earnings_per_share_basic": (-0.31, -3.1), "earnings_per_share_diluted": (-0.31, -3.1)}, Fraction(1, 10)),
        ({"weighted_average_shares_basic": (500_000_000, 10_000_000)}, Fraction(1, 50)),
        # A correction: the shares stay, or move by what is no split.
        ({"earnings_per_share_basic": (1.20, 1.12), "earnings_per_share_diluted": (1.19, 1.11)}, None),
        ({"earnings_per_share_basic": (2.00, 1.00)}, None),
        (
            {"earnings_per_share_basic": (2.00, 1.00), "weighted_average_shares_basic": (1_000_000, 1_010_000)},
            None,
        ),
        ({}, None),
    ],
)
def test_a_split_is_one_ratio_that_explains_all_lines(
    changed: dict[str, tuple[float, float]], ratio: Fraction | None
) -> None:
    assert split(changed) == ratio
