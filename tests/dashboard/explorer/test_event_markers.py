"""Events under the axis of a chart: none unless asked for, those of the interface, and none that was not known then."""

import html
import json
import re
from datetime import date
from types import SimpleNamespace

import pytest

from almanac.dashboard.explorer.event_markers import REPORTS, EventSubject, marked
from almanac.dashboard.formatting.dates import day

INFLATION, YIELD = "fred:country_usa:cpi_inflation_yoy:M", "us-treasury-par:country_usa:gov_yield_10y:D"


def sentence(text: str) -> str:
    found = re.search(r'<p class="note" id="events">(.*?)</p>', text)
    return "" if found is None else html.unescape(re.sub("<[^>]+>", "", found[1])).replace("\xa0", " ").strip()


def listed(text: str) -> list[str]:
    details = text.partition('<details class="marked">')[2].partition("</details>")[0]
    return [html.unescape(re.sub("<[^>]+>", "", one)) for one in re.findall(r"<li>(.*?)</li>", details)]


def read_along(text: str, chart: str = "chart") -> list[list]:
    """The events in the data block that keys go through."""
    block = text.partition(f'id="{chart}-readout">')[2].partition("</script>")[0]
    return next((line["points"] for line in json.loads(block)["lines"] if line["name"] == "Events"), [])


def told(service, **asked) -> list[str]:
    rows = service.walk("/events", entity_id="country_usa", order="desc", limit=500, **asked)
    return [row["occurredAt"] for row in rows]


@pytest.mark.parametrize(
    ("series", "chosen", "asked"),
    [
        (INFLATION, "own", {"indicator_id": "cpi_inflation_yoy,cpi_index_nsa"}),
        (INFLATION, "all", {}),
        (YIELD, "all", {}),
        (YIELD, "own", {"indicator_id": "gov_yield_10y"}),
    ],
)
@pytest.mark.parametrize("as_of", [None, "2026-10-20"])
def test_what_is_marked_is_what_the_interface_tells_of_the_range(service, browser, series, chosen, asked, as_of):
    past = {} if as_of is None else {"as_of": as_of}
    text = browser().get(f"/series/{series}", events=chosen, **past, **{"from": "all"}).text
    path = "/derived-observations" if series == INFLATION else "/observations"
    source, _, slug, _ = series.split(":")
    rows = service.walk(
        path, indicator=slug, entity_id="country_usa", source_id=source, sources="all", limit=500, **past
    )
    first = min((row["periodStart"] or row["periodEnd"])[:10] for row in rows)
    wanted = told(service, start_date=first, end_date=as_of or "2026-11-20", **past, **asked)
    assert len(listed(text)) == len(wanted) <= 120
    assert [one.partition(":")[0] for one in listed(text)] == [day(at) for at in wanted]
    assert [point[2] for point in read_along(text)] == listed(text)[::-1]
    assert bool(wanted) == ('class="event"' in text)
    assert (f"{len(wanted)} " in sentence(text)) == bool(wanted)


def test_an_event_that_was_not_known_is_absent_and_one_to_come_is_not_drawn(browser):
    """The release of October came on 12 November: the day before it is not there, nor is a meeting of December ever."""
    one = browser()
    now, before = (
        listed(one.get(f"/series/{INFLATION}", events="all", as_of=as_of).text)
        for as_of in ("2026-11-12", "2026-11-11")
    )
    assert now[0] == "12\xa0Nov\xa02026: Consumer prices, October\xa02026"
    assert now[1:] == before
    assert not any("Dec\xa02026" in words for words in listed(one.get(f"/series/{INFLATION}", events="all").text))


def test_each_event_leads_somewhere_of_the_same_day(browser):
    one = browser()
    text = one.get(f"/series/{INFLATION}", events="all", as_of="2026-10-20").text
    details = text.partition('<details class="marked">')[2].partition("</details>")[0]
    hrefs = [html.unescape(found) for found in re.findall(r'href="([^"]*)"', details)]
    assert len(hrefs) == len(listed(text))
    for href in set(hrefs):
        assert href.endswith("?as_of=2026-10-20")
        assert one.get(href).status_code == 200, href


# -- what comes out together ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("slug", "headline"),
    [
        ("cpi_index_nsa", "cpi_inflation_yoy"),
        ("real_gdp", "gdp_growth_qoq_annualized"),
        ("gdp_growth_yoy", "gdp_growth_qoq_annualized"),
    ],
)
def test_an_event_that_names_another_number_of_the_release_is_marked_on_all_of_them(service, browser, slug, headline):
    """The release of consumer prices names their growth; the index came out with it."""
    series = service.walk(f"/indicators/{slug}/series", entity_id="country_usa")[0]["id"]
    text = browser().get(f"/series/{series}", events="own", **{"from": "all"}).text
    wanted = told(service, indicator_id=headline, end_date="2026-11-20")
    assert wanted
    assert [one.partition(":")[0] for one in listed(text)] == [day(at) for at in wanted][: len(listed(text))]
    assert len(listed(text)) >= len(wanted) - 2


class Formulas:
    """A visit that knows what is computed from what, and events of its making."""

    def __init__(self, rows=(), query=()):
        self.query, self.today, self.rows, self.asked = dict(query), date(2026, 11, 20), list(rows), []
        self.api = SimpleNamespace(remembered=lambda _: {})
        self.inputs = {"yoy": ["index"], "mom": ["index"], "real": ["rate", "yoy"], "gap": ["real"], "other": ["else"]}

    def look_up(self, path, **asked):
        rows = []
        if path == "/indicators":
            rows = [
                {"slug": name, "inputs": [f"indicator_{one}" for one in inputs]} for name, inputs in self.inputs.items()
            ]
        elif path == "/release-summaries" and asked["indicator"] == "jobless":
            rows = [{"readings": [{"indicatorId": "indicator_payrolls"}, {"indicatorId": "indicator_jobless"}]}]
        return SimpleNamespace(data=rows, next_cursor=None)

    def pages(self, path, **asked):
        yield self.look_up(path, **asked)

    def ask(self, path, **asked):
        assert path == "/events"
        self.asked.append(asked)
        found = [row for row in self.rows if row["entityId"] in asked["entity_id"]]
        return SimpleNamespace(
            data=found[: asked["limit"]], next_cursor="more" if len(found) > asked["limit"] else None
        )

    def here(self, **changes):
        return f"/compare?{changes}"


def event(number, entity="country_usa", indicator="indicator_yoy", title="United States: Prices, 2026-10", **more):
    return {
        "id": f"evt_{number:04}", "occurredAt": f"{date.fromordinal(739_000 - number)}T00:00:00Z", "status": "released", "url": None,
        "entityId": entity, "indicatorId": indicator, "title": title, **more,
    }  # fmt: skip


USA, JAPAN = (
    EventSubject("yoy", f"country_{code}", name) for code, name in (("usa", "United States"), ("jpn", "Japan"))
)
ACME = EventSubject("net_income", "company_1", "Acme Corp", company=True)


def test_a_company_has_its_reports_and_each_mark_says_whose_it_is():
    rows = [
        event(1),
        event(2, "company_1", None, "ACME CORP files its annual report (10-K)"),
        event(3, "country_jpn", title="Japan: Prices, 2026-10", status="tentative"),
        event(4, "country_jpn", title="Bank of Japan: monetary policy decision", status="canceled"),
    ]
    visit = Formulas(rows, {"events": "own"})
    found = marked(visit, [[USA, ACME, JAPAN]], date(2020, 1, 1), as_of="2026-10-01")
    asked = [{name: one[name] for name in ("entity_id", "indicator_id", "type") if name in one} for one in visit.asked]
    assert asked == [
        {"entity_id": ["country_usa", "country_jpn"], "indicator_id": ["yoy", "index", "mom"]},
        {"entity_id": ["company_1"], "type": list(REPORTS)},
    ]
    assert {(one["as_of"], one["end_date"]) for one in visit.asked} == {("2026-10-01", "2026-10-01")}
    assert [words.partition("2024")[2].replace("\xa0", " ") for words, _ in found.listed] == [
        ", United States: Prices, October 2026",
        ": ACME CORP files its annual report (10-K)",
        ", Japan: Prices, October 2026 (tentative)",
    ]
    assert found.words == "3 releases and reports of these series are marked under the axis."
    assert [words for words, _ in found.links] == [
        "Mark all events of the United States, Acme Corp and Japan",
        "Mark none",
    ]
    assert found.marks_of([ACME]) == [found.events[1].mark]


# -- comparisons --------------------------------------------------------------------------------------------------------

PRICES, YIELDS = "indicator=cpi_inflation_yoy&entities=usa", "indicator=gov_yield_10y&entities=usa,jpn"


@pytest.mark.parametrize("as_of", [None, "2026-10-20"])
@pytest.mark.parametrize(("chosen", "asked"), [("own", {"indicator_id": "cpi_inflation_yoy"}), ("all", {})])
def test_what_a_comparison_marks_is_what_the_interface_tells(service, browser, chosen, asked, as_of):
    past = {} if as_of is None else {"as_of": as_of}
    text = browser().get(f"/compare?{PRICES}&from=all&events={chosen}" + (f"&as_of={as_of}" if as_of else "")).text
    rows = service.walk("/derived-observations", indicator="cpi_inflation_yoy", entity_id="country_usa", **past)
    first = min((row["periodStart"] or row["periodEnd"])[:10] for row in rows)
    wanted = told(service, start_date=first, end_date=as_of or "2026-11-20", **past, **asked)
    assert wanted
    assert [one.partition(":")[0] for one in listed(text)] == [day(at) for at in wanted]
    assert [point[2] for point in read_along(text, "chart-1")] == listed(text)[::-1]
    assert 'class="event"' in text
    assert '<input type="hidden" name="events" value="' + chosen in text


def test_lines_of_past_days_alone_have_no_event_of_a_later_day(browser):
    """The release of October came on 12 November. A line of today beside them brings it back."""
    one = browser()
    query = "/compare?indicator=cpi_inflation_yoy&entities=usa,usa&events=own&known="
    past = listed(one.get(f"{query}1:2026-10-20,2:2026-11-11").text)
    assert past == listed(
        one.get("/compare?indicator=cpi_inflation_yoy&entities=usa,usa&events=own&as_of=2026-11-11").text
    )
    assert past[0].startswith("12\xa0Oct\xa02026")
    assert listed(one.get(f"{query}1:2026-10-20").text)[0].startswith("12\xa0Nov\xa02026")
    # First publications are those of the day of the page, and so are their events.
    first = one.get("/compare?indicator=cpi_index_nsa&entities=usa&events=own&firsts=1&as_of=2026-10-20").text
    assert listed(first)[0].startswith("12\xa0Oct\xa02026")


def test_first_publications_of_a_past_day_are_none_of_later_ones(browser):
    text = browser().get("/compare?indicator=cpi_index_nsa&entities=usa&firsts=1&as_of=2026-10-20").text
    periods = re.findall(r'<tr><th scope="row">(.*?)</th>', text)
    assert html.unescape(periods[0]) == "Sep\xa02026"


# -- drawing ------------------------------------------------------------------------------------------------------------
