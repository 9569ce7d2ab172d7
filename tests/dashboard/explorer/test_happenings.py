"""Events under the axis of a series: none unless asked for, those of the interface, and none that was not known then."""

from __future__ import annotations

import html
import json
import re

import pytest

from almanac.dashboard.drawing.happenings import EventMark, event_lane
from almanac.dashboard.drawing.scales import value_axis
from almanac.dashboard.drawing.svg import SHEETS, plot
from almanac.dashboard.words.dates import day

INFLATION, YIELD = "fred:country_usa:cpi_inflation_yoy:M", "us-treasury-par:country_usa:gov_yield_10y:D"
SHUT = "fred:country_usa:high_yield_spread:D"


def sentence(text: str) -> str:
    found = re.search(r'<p class="note" id="events">(.*?)</p>', text)
    return "" if found is None else html.unescape(re.sub("<[^>]+>", "", found[1])).replace("\xa0", " ").strip()


def listed(text: str) -> list[str]:
    details = text.partition('<details class="marked">')[2].partition("</details>")[0]
    return [html.unescape(re.sub("<[^>]+>", "", one)) for one in re.findall(r"<li>(.*?)</li>", details)]


def read_along(text: str) -> list[list]:
    """The events in the data block that keys go through."""
    block = text.partition('id="chart-readout">')[2].partition("</script>")[0]
    return next((line["points"] for line in json.loads(block)["lines"] if line["name"] == "Events"), [])


def told(service, **asked) -> list[str]:
    rows = service.walk("/events", entity_id="country_usa", order="desc", limit=500, **asked)
    return [row["occurredAt"] for row in rows]


def test_a_chart_is_calm_until_it_is_asked(browser):
    text = browser().get(f"/series/{INFLATION}").text
    assert 'class="event"' not in text
    assert read_along(text) == listed(text) == []
    assert sentence(text) == "Mark releases of this series · Mark all events of the United States"


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


def test_the_choice_stays_with_the_range_the_day_and_the_part(browser):
    one = browser()
    text = one.get(f"/series/{INFLATION}", events="own").text
    assert '<input type="hidden" name="events" value="own">' in text
    ranges = re.findall(r'<a href="([^"]*)"[^>]*>(?:1Y|5Y|10Y)', text)
    assert len(ranges) == 3
    assert all("events=own" in href for href in ranges)
    part = one.get(f"/series/{INFLATION}/part", events="own").text
    assert listed(part) == listed(text)
    assert len(one.get(html.unescape(ranges[0])).text) < len(text)


def test_a_word_that_is_no_choice_is_named(browser):
    text = browser().get(f"/series/{INFLATION}", events="<b>").text
    assert "“<b>” in `events` is neither own nor all." in sentence(text)
    assert "<b>" not in text
    assert 'class="event"' not in text


def test_where_nothing_is_drawn_nothing_is_marked(browser):
    one = browser()
    for asked in ({"events": "all"}, {"events": "all", "as_of": "2020-01-01"}):
        text = one.get(f"/series/{SHUT}", **asked).text
        assert (sentence(text), listed(text)) == ("", [])
        assert 'class="event"' not in text


def test_a_drawing_with_events_is_not_covered_by_another(browser):
    """Many points are drawn over by what can be zoomed, which knows no events; what draws it is then not loaded either."""
    one = browser()
    loaded = {events: "uPlot" in one.get(f"/series/{YIELD}", events=events).text for events in ("", "own", "all")}
    assert loaded == {"": True, "own": False, "all": False}


# -- drawing ------------------------------------------------------------------------------------------------------------


def test_marks_that_would_touch_are_one_that_names_them():
    on = plot(SHEETS[0], (0, 1000), value_axis([0.0, 1.0]), right=14.0)
    marks = [
        EventMark(100, "one"),
        EventMark(101, "two & <three>"),
        EventMark(103, "four"),
        EventMark(104, "five"),
        EventMark(400, "six"),
    ]
    lane = event_lane(on, marks)
    assert re.findall(r"<title>(.*?)</title>", lane) == ["one; two &amp; &lt;three&gt;; four; 1 more", "six"]
    places = [tuple(map(float, place)) for place in re.findall(r'd="M([\d.]+),([\d.]+)', lane)]
    assert abs(places[0][0] - on.x(102)) < 0.06
    assert all(on.bottom + 20 < y < on.sheet.height for _, y in places)
    assert event_lane(on, []) == ""
