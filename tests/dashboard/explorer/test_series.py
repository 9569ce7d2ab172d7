"""The page of a series: on any day it says what the interface says of that day, and nothing of another."""

import csv
import html
import io
import random
import re
from collections.abc import Mapping
from datetime import date, timedelta
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

import pytest

from almanac.dashboard.explorer.histories import _PAGE, _PAGES, histories
from almanac.dashboard.explorer.one_series import Vintages
from almanac.dashboard.explorer.revisions import by_release, typical_change
from almanac.dashboard.explorer.series import line
from almanac.dashboard.formatting.numbers import full, unit
from almanac.dashboard.formatting.values import points, runs
from almanac.dashboard.visit import Visit
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from tests.support.browser import Browser
from tests.support.service import Service, make_accounts, settings

from .conftest import dashboard

#: One of each kind: monthly with revisions and a withdrawal, derived, daily with corrections, not preferred, weekly,
#: forecasts, of two sources, withheld.
SERIES = (
    "fred:country_usa:cpi_index_nsa:M", "fred:country_usa:cpi_inflation_yoy:M", "us-treasury-par:country_usa:gov_yield_10y:D",
    "fred:country_usa:gov_yield_10y:D", "fred:country_usa:initial_jobless_claims:W", "fred:country_usa:potential_gdp:Q",
    "almanac-derived:country_jpn:sovereign_spread_10y_usa:D", "fred:country_usa:high_yield_spread:D",
)  # fmt: skip
CPI, YIELD, SHUT = SERIES[0], SERIES[2], SERIES[7]
FIRST, TODAY = date(2023, 1, 1), date(2026, 11, 20)


def section(text: str, name: str) -> str:
    """The markup of one part of the page."""
    start = text.index(f'data-part="{name}"')
    following = text.find("data-part=", start + 10)
    return text[start : following if following > 0 else text.index("</main>")]


def table(text: str) -> list[tuple[str, str | None]]:
    """Rows of the table as id and whole value."""
    rows = re.findall(r'<tr><th scope="row"><a href="/observations/(\w+)">.*?</tr>', section(text, "table"))
    bodies = re.findall(r"<tr><th scope=\"row\"><a href=.*?</tr>", section(text, "table"), re.DOTALL)
    assert len(rows) == len(bodies)
    found = []
    for name, body in zip(rows, bodies, strict=True):
        cell = body.split("<td", 2)[1]
        value = re.search(r'data-value="([^"]*)"', cell)
        found.append((name, None if value is None else value[1]))
    return found


def requests(text: str) -> list[str]:
    """The requests that the page shows, as path and query."""
    found = re.findall(r'<code id="api-\d+">curl[^"]*(?:&#34;.*?&#34;) &#34;(.*?)&#34;</code>', text)
    return [re.sub(r"^https?://[^/]*", "", html.unescape(one)) for one in found]


def asked(service, text: str) -> list[dict]:
    """All rows of the page's first request."""
    parts = urlsplit(requests(text)[0])
    params = {name: value for name, value in parse_qsl(parts.query) if name != "limit"}
    return service.walk(parts.path, "pro", **params)


def days(seed: int, count: int) -> list[str]:
    chosen = random.Random(seed)
    span = (TODAY - FIRST).days
    return [(FIRST + timedelta(days=chosen.randrange(span))).isoformat() for _ in range(count)] + [
        "2026-11-16", "2026-11-18", "2026-11-19", TODAY.isoformat(),
    ]  # fmt: skip


@pytest.mark.parametrize("series", SERIES)
def test_the_table_of_any_day_is_what_the_shown_request_gives(service, browser, series):
    one = browser()
    filled = 0
    for day in days(len(series), 8):
        text = one.get(f"/series/{series}", as_of=day).text
        rows = [row for row in asked(service, text) if row["metadata"]["seriesId"] == series]
        wanted = [(row["id"], None if row["valueNumeric"] is None else full(row["valueNumeric"])) for row in rows]
        assert f"as_of={day}" in requests(text)[0]
        assert table(text) == wanted[: len(table(text))]
        assert len(table(text)) == min(len(wanted), 80)
        filled += bool(wanted)
    assert filled


def test_the_part_is_the_page_without_its_frame(browser):
    one = browser()
    for day in (None, "2025-06-30", "2026-11-18"):
        asked_for = {} if day is None else {"as_of": day}
        # What a form proves itself by is made anew for each page.
        whole, part = (
            re.sub(r'value="[0-9a-f]{16}\.[0-9a-f]{40}"', "", one.get(f"/series/{CPI}{end}", **asked_for).text)
            for end in ("", "/part")
        )
        for name in ("head", "asof", "steps", "known", "table", "revisions", "lineage", "about"):
            assert section(part, name) == section(whole, name)
        figure = re.compile(r'<figure class="panel figure" id="chart".*?</figure>', re.DOTALL)
        assert figure.search(part)[0] == figure.search(whole)[0]
        assert "<header" not in part.partition("<main")[0]


def test_each_part_names_the_day_and_none_knows_more(service, browser):
    day = "2025-06-30"
    text = browser().get(f"/series/{CPI}", as_of=day).text
    newest = service.ok("/observations", indicator="cpi_index_nsa", source_id="fred", as_of=day, order="desc", limit=1)[
        0
    ]
    assert f"/observations/{newest['id']}" in section(text, "lineage")
    assert "As known on 30\xa0Jun\xa02025" in section(text, "asof")
    # Nothing that became known later is in what follows the day. The ghost of the chart is today's, and says so.
    # (A raw response may have been fetched later than the day on which its value became known.)
    for name in ("head", "table", "revisions"):
        years = {int(year) for year in re.findall(r"\b[A-Z][a-z]{2}\xa0(20\d\d)", section(text, name))}
        assert max(years) == 2025
    assert "Known today" in text


def test_nothing_known_yet_names_the_first_release_and_leads_there(browser):
    text = browser().get(f"/series/{CPI}", as_of="2020-01-01").text
    assert "Nothing was known on 1\xa0Jan\xa02020. The first release was on" in text
    assert table(text) == []
    assert re.search(r'href="[^"]*as_of=20\d\d-\d\d-\d\d[^"]*">Show it', text)


def test_ids_written_otherwise_lead_on_and_unknown_ones_to_the_nearest(browser):
    one = browser()
    moved = one.get("/series/FRED:country_usa:CPI_index_nsa:m/part", as_of="2025-01-31")
    assert (moved.status_code, moved.headers["location"]) == (301, f"/series/{CPI}/part?as_of=2025-01-31")
    near = one.get("/series/fred:country_usa:cpi_index_ns:M")
    assert near.status_code == 404
    assert f'href="/series/{CPI}"' in near.text
    other = one.get("/series/nobody:country_usa:cpi_index_nsa:M")
    assert other.status_code == 404
    assert f'href="/series/{CPI}"' in other.text
    for name in ("nonsense", "a:b:c:", "<script>alert(1)</script>:b:c:M", "a:b:c:M" * 200):
        answer = one.get(f"/series/{name}")
        assert answer.status_code == 404
        assert "<script>alert" not in answer.text


@pytest.mark.parametrize("series", [CPI, YIELD, SERIES[1]])
def test_the_file_has_all_rows_as_the_interface_gives_them(service, browser, series):
    source, entity, slug, _ = series.split(":")
    path = "/derived-observations" if slug == "cpi_inflation_yoy" else "/observations"
    for day in (None, "2026-11-18"):
        more = {} if day is None else {"as_of": day}
        rows = service.walk(path, indicator=slug, entity_id=entity, source_id=source, order="desc", **more)
        answer = browser().get(f"/series/{series}.csv", **more)
        assert answer.headers["content-disposition"] == f'attachment; filename="{series.replace(":", ".")}.csv"'
        found = list(csv.DictReader(io.StringIO(answer.text)))
        assert [(row["id"], float(row["valueNumeric"]), row["observedAt"]) for row in found] == [
            (row["id"], row["valueNumeric"], row["observedAt"]) for row in rows
        ]


def test_forecasts_are_told_apart_and_never_the_newest_value(service, browser):
    text = browser().get(f"/series/{SERIES[5]}").text
    rows = service.ok("/observations", indicator="potential_gdp", order="desc")
    forecasts = [row for row in rows if row["metadata"].get("forecast")]
    newest = next(row for row in rows if not row["metadata"].get("forecast"))
    assert section(text, "table").count("</a> forecast</th>") == len(forecasts) > 0
    assert f'data-value="{full(newest["valueNumeric"])}"' in section(text, "head")


def test_the_slider_stands_on_releases_and_steps_lead_from_one_to_the_next(service, browser):
    one = browser()
    vintages = service.walk("/observations/vintages", indicator="cpi_index_nsa", source_id="fred")
    releases = sorted({row["observedAt"][:10] for row in vintages})
    text = one.get(f"/series/{CPI}", as_of=releases[10]).text
    slider = re.search(r'<input type="range"[^>]*>', text)[0]
    assert f'max="{len(releases) - 1}"' in slider
    assert 'value="10"' in slider
    assert re.search(r'aria-valuetext="Known on .*: newest month .* at .*\."', slider)
    assert f'as_of={releases[9]}" data-step="-1"' in text
    assert f'as_of={releases[11]}" data-step="1"' in text
    # The newest release is what is known today: it has no day in its address.
    last = one.get(f"/series/{CPI}", as_of=releases[-2]).text
    assert f'href="/series/{CPI}" data-step="1"' in last


def test_other_sources_are_named_with_their_newest_value_and_drawn_when_asked(service, browser):
    one = browser()
    text = one.get(f"/series/{YIELD}").text
    other = service.ok(
        "/observations", indicator="gov_yield_10y", source_id="fred", entity_id="country_usa", order="desc", limit=1
    )[0]
    assert f'data-value="{full(other["valueNumeric"])}"' in section(text, "about")
    drawn = one.get(f"/series/{YIELD}", sources="all").text
    assert 'class="line c2"' in drawn
    assert 'class="line c2"' not in text


# -- the points that a script draws over a chart: a gap of years is a gap there too -----------------------------------


def rows(*days: str, frequency: str = "daily", withheld: str = "") -> list[dict[str, Any]]:
    return [
        {
            "periodStart": None if frequency == "daily" else f"{day[:7]}-01T00:00:00Z", "periodEnd": f"{day}T00:00:00Z", "frequency": frequency,
            "valueNumeric": None if day == withheld else float(number), "unit": "percent", "indicatorId": "indicator_gov_yield_10y",
            "metadata": {}, "rights": {"valueWithheld": day == withheld},
        }
        for number, day in enumerate(days)
    ]  # fmt: skip


def drawn(told: dict[str, Any]) -> list[list[float]]:
    """What a script joins: neighbours with a value."""
    found: list[list[float]] = [[]]
    for value in told["values"]:
        if value is None:
            found.append([])
        else:
            found[-1].append(value)
    return [one for one in found if one]


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        (rows("1991-12-30", "1991-12-31", "1998-01-02", "1998-01-05"), [[0, 1], [2, 3]]),
        (rows("1998-01-02", "1998-01-05"), [[0, 1]]),
        (rows("1998-01-02", "1998-01-12", "1998-01-23"), [[0, 1], [2]]),
        (rows("2020-01-31", "2020-02-29", "2020-04-30", frequency="monthly"), [[0, 1], [2]]),
        (rows("1998-01-02", "1998-01-05", "1998-01-06", withheld="1998-01-05"), [[0], [2]]),
        ([], []),
    ],
)
def test_a_script_joins_what_the_drawing_joins(told: list[dict[str, Any]], expected: list[list[float]]) -> None:
    made = line(told)
    assert drawn(made) == expected == [[point.value for point in run] for run in runs(points(told))]
    assert len(made["days"]) == len(made["values"]) == len(made["told"])
    assert made["days"] == sorted(set(made["days"]))


def test_a_gap_says_between_which_days_it_lies() -> None:
    made = line(rows("1991-12-31", "1998-01-02"))
    assert made["told"][1].replace("\xa0", " ") == "No value between 31 Dec 1991 and 2 Jan 1998"


# -- where a value comes from: each step opens, down to the raw response ----------------------------------------------


def test_a_raw_value_leads_to_the_response_it_was_read_from(service, browser):
    row = service.ok("/observations", indicator="cpi_index_nsa", order="desc", limit=1)[0]
    told = service.ok(f"/observations/{row['id']}/provenance")
    text = html.unescape(browser().get(f"/observations/{row['id']}").text)
    payload = told["payload"]
    for wanted in (payload["sha256"], payload["url"], f"{payload['bytes']:,}", payload["mediaType"], told["run"]["id"]):
        assert wanted in text
    assert f'data-value="{full(row["valueNumeric"])}"' in text
    assert f'/observations/{row["id"]}/provenance"' in text


def test_a_computed_value_leads_to_its_inputs_and_says_whether_it_comes_out_equal(service, browser):
    one = browser()
    row = service.ok("/derived-observations", indicator="cpi_inflation_yoy", order="desc", limit=1)[0]
    told = service.ok(f"/observations/{row['id']}/provenance")
    text = one.get(f"/observations/{row['id']}").text
    assert told["verified"] is True
    assert "recomputed: equal" in text
    assert html.escape(told["formula"]) in text or told["formula"] in html.unescape(text)
    for given in told["inputs"]:
        assert f'href="/observations/{given["observationId"]}"' in text
        assert f'data-value="{full(given["valueNumeric"])}"' in text
        page = one.get(f"/observations/{given['observationId']}")
        assert page.status_code == 200
        assert "SHA-256" in page.text


def test_each_state_of_a_revised_value_is_listed_and_opens(service, browser):
    one = browser()
    vintages = service.walk("/observations/vintages", indicator="cpi_index_nsa", source_id="fred")
    cells: dict[str, list] = {}
    for row in vintages:
        cells.setdefault(row["periodEnd"], []).append(row)
    states = next(rows for rows in cells.values() if len(rows) > 1)
    text = one.get(f"/observations/{states[0]['id']}").text
    for row in states:
        assert f'href="/observations/{row["id"]}"' in text
        assert one.get(f"/observations/{row['id']}").status_code == 200


def test_a_chosen_period_has_its_own_lineage(service, browser):
    row = service.ok("/observations", indicator="cpi_index_nsa", source_id="fred", period="2025-03")[0]
    text = browser().get("/series/fred:country_usa:cpi_index_nsa:M", period="2025-03").text
    assert "Lineage of Mar\xa02025" in text
    assert f'href="/observations/{row["id"]}"' in text[text.index('data-part="lineage"') :]


def test_ids_that_are_nobodys_are_not_found_and_others_led_on(service, browser):
    one = browser()
    assert one.get("/observations/obs_none").status_code == 404
    row = service.ok("/observations", indicator="cpi_index_nsa", limit=1)[0]
    moved = one.get(f"/observations/{row['id'].upper()}")
    assert (moved.status_code, moved.headers["location"]) == (301, f"/observations/{row['id']}")


def test_the_links_of_a_page_lead_somewhere(browser):
    one = browser()
    text = one.get("/series/fred:country_usa:cpi_inflation_yoy:M", as_of="2026-11-18").text
    main = text[text.index("<main") : text.index("</main>")]
    found = {html.unescape(link).partition("#")[0] for link in re.findall(r'href="(/[^"]*)"', main)}
    seen = {link for link in found if not link.startswith("/keys")}
    chosen = sorted(seen, key=lambda link: (link.split("?")[0].count("/"), link))[:40]
    assert {link: one.get(link).status_code for link in chosen} == dict.fromkeys(chosen, 200)


# -- the triangle: each column is what was known on the day of that release -------------------------------------------


REVISED_SERIES = (
    ("fred:country_usa:cpi_index_nsa:M", "/observations"),
    ("fred:country_usa:cpi_inflation_yoy:M", "/derived-observations"),
    ("us-treasury-par:country_usa:gov_yield_10y:D", "/observations"),
)


@pytest.mark.parametrize(("series", "path"), REVISED_SERIES)
def test_a_column_is_what_the_interface_says_as_of_that_day(service, series, path):
    source, entity, slug, _ = series.split(":")
    asked = {"indicator": slug, "entity_id": entity, "source_id": source}
    rows = service.walk("/observations/vintages", **asked)
    held = Vintages(rows, complete=True)
    words = unit("index")._replace(computed=12)
    days = [release.day for release in held.releases]
    whole = by_release(held, days, list(held.cells), words, 12, rows[0]["frequency"])
    for place, day in list(enumerate(days))[-6:]:
        then = {
            (row["periodStart"], row["periodEnd"]): words.cell(row["valueNumeric"], 12)
            for row in service.walk(path, **asked, as_of=day)
        }
        column = [row["cells"][place] for row in whole.rows]
        shown = {
            cell: one["text"]
            for cell, one in zip(held.cells, column, strict=True)
            if one["state"] != "none" and one["text"] != "withdrawn"
        }
        assert shown == then


def test_what_changed_is_marked_with_its_direction(service, browser):
    rows = service.walk("/observations/vintages", indicator="cpi_index_nsa", source_id="fred")
    held = Vintages(rows, complete=True)
    changed = [states for states in held.cells.values() if len(states) > 1 and states[-1]["valueNumeric"] is not None]
    assert changed
    one = browser()
    text = one.get("/series/fred:country_usa:cpi_index_nsa:M/revisions").text
    pages = [text]
    while (older := re.search(r'href="([^"]+)" rel="next"', pages[-1])) is not None:
        pages.append(one.get(older[1].replace("&amp;", "&")).text)
    found = [word for page in pages for word in re.findall(r", revised (up|down)</span>", page)]
    wanted = sum(
        before["valueNumeric"] is not None and now["valueNumeric"] not in (None, before["valueNumeric"])
        for states in held.cells.values()
        for before, now in pairwise(states)
    )
    assert len(found) == wanted > 0


def test_a_source_without_vintages_says_since_when_changes_are_kept(browser):
    text = browser().get("/series/mof-japan:country_jpn:gov_yield_10y:D").text
    assert re.search(r"This source publishes no vintages\. We keep every change since \d", text)


# -- pictures -----------------------------------------------------------------------------------------------------------

REVISED = "fred:country_usa:cpi_index_nsa:M"


def _vintages(service, **asked):
    rows = service.walk("/observations/vintages", indicator="cpi_index_nsa", source_id="fred", **asked)
    return Vintages([row for row in rows if row["metadata"]["seriesId"] == REVISED], complete=True)


def test_the_life_of_a_figure_is_its_states(service, browser):
    cells = _vintages(service).cells
    cell, states = max(cells.items(), key=lambda item: len(item[1]))
    numbers = [row["valueNumeric"] for row in states if row["valueNumeric"] is not None]
    told = [now for before, now in zip([None, *numbers], numbers, strict=False) if now != before]
    assert len(told) > 1
    text = browser().get(f"/series/{REVISED}/revisions", period=cell[1][:7]).text
    table = text.partition('id="states"')[2].partition("</table>")[0]
    assert [float(one) for one in re.findall(r'data-value="([^"]+)"', table)] == told
    drawn = text.partition('id="life"')[2].partition("</figure>")[0]
    chart = drawn.partition('<svg class="chart wide"')[2].partition("</svg>")[0]
    assert chart.count("<circle") == len(told)
    for value in told:
        assert f"{value:,}" in drawn.partition("application/json")[2]


def test_no_picture_shows_what_was_not_known_on_its_day(service, browser):
    releases = [release.day for release in _vintages(service).releases]
    day = releases[len(releases) // 2]
    text = browser().get(f"/series/{REVISED}/revisions", as_of=day).text
    pictures = text.partition('id="fan"')[2].partition('aria-label="View"')[0]
    known = {row["valueNumeric"] for row in _vintages(service, as_of=day).rows}
    later = {row["valueNumeric"] for row in _vintages(service).rows if row["observedAt"][:10] > day} - known - {None}
    assert later
    shown = {float(one) for one in re.findall(r'data-value="([^"]+)"', pictures)}
    assert shown <= known
    lives = re.findall(r'<option value="([^"]+)"', pictures)
    assert lives
    assert max(lives) <= max(row["periodEnd"][:7] for row in _vintages(service, as_of=day).rows)


def test_the_histogram_counts_every_period_once(service, browser):
    words = unit("index")
    moves = typical_change(_vintages(service), words)
    text = browser().get(f"/series/{REVISED}/revisions").text
    table = text.partition('id="steps"')[2].partition("</table>")[0]
    rows = re.findall(r'<th scope="row">([^<]+)</th>\s*<td class="right(?: right)?">([\d,]+)</td>', table)
    assert sum(int(count) for _, count in rows) == len(moves) > 0
    assert dict(rows)["0"] == str(sum(not move for move in moves))
    caption = text.partition('id="sizes-caption">')[2].partition("</p>")[0]
    changed = [move for move in moves if move]
    assert f"{len(changed)} of {len(moves)} months differ from their first publication" in caption


# A series that has nothing but projections has no latest reading, and every answer and page about it says so. All is invented.


CONSENT = {
    f"SOURCES__IMF__CONSENT__{name}": value
    for name, value in {"BY": "someone", "ON": "2026-01-02", "REFERENCE": "an invented letter"}.items()
}
OUTLOOK = (
    "IMF.RES:WEO(9.0.0),DEU,LUR,A,{},{},2026-10-14T13:00:00Z,2025",
    "DATAFLOW,COUNTRY,INDICATOR,FREQUENCY,TIME_PERIOD,OBS_VALUE,PUBLICATION_DATE,LATEST_ACTUAL_ANNUAL_DATA",
)


@pytest.fixture(scope="module")
def ahead(tmp_path_factory):
    """A service that knows of Germany's unemployment in years that were not over alone."""
    made = settings(tmp_path_factory.mktemp("ahead") / "home", **CONSENT)
    line, head = OUTLOOK
    body = "\n".join([head, *(line.format(year, 3.0) for year in (2026, 2027, 2028))])
    with PipelineContext(made) as world:
        url = "https://api.imf.org/external/sdmx/2.1/data/IMF.RES,WEO/.LUR.A"
        outcome = Ingest(world, world.catalog.sources["imf"], lambda _: None).run(
            [Arrival(url, body.encode(), "", 1_792_000_000)]
        )
    assert (outcome.folded, outcome.quarantined) == (1, {})
    make_accounts(made)
    service = Service(made.home, more=CONSENT)
    yield service
    service.close()


@pytest.mark.parametrize("name", ["indicator", "country"])
def test_there_is_no_latest_reading(ahead, name):
    value = {"indicator": "unemployment_rate", "country": "DEU"}[name]
    assert ahead.ok("/observations/latest", **{name: value}) == []


@pytest.mark.parametrize(
    "path",
    [
        "/countries/germany", "/indicators/unemployment_rate", "/indicators/unemployment_change_12m", "/sources/imf",
        "/series/imf:country_deu:unemployment_rate:A",
    ],
)  # fmt: skip
def test_its_pages_are_shown(ahead, path):
    browser = Browser(dashboard(ahead))
    browser.cookies["almanac"] = "pro"
    assert browser.get(path).status_code == 200


# -- histories of many series at once: whole ones, in few requests, whatever else is asked for with them --------------


HISTORY_TODAY = date(2026, 11, 20)


def history_rows(
    entity: str, end: date, count: int, step: int, *, instant: bool = False, frequency: str = "daily"
) -> list[Mapping[str, Any]]:
    """The values of one series, the oldest first."""
    days = [end - timedelta(step * back) for back in reversed(range(count))]
    return [
        {
            "entityId": entity, "indicatorId": "indicator_x", "sourceId": "source", "frequency": frequency,
            "periodStart": None if instant else f"{day - timedelta(step - 1)}T00:00:00Z", "periodEnd": f"{day}T00:00:00Z",
            "valueNumeric": number, "valueText": None, "metadata": {"seriesId": f"source:{entity}:x:D"},
            "rights": {"valueWithheld": False},
        }
        for number, day in enumerate(days)
    ]  # fmt: skip


class Interface:
    """Lists of rows as the interface gives them: by entity, by period, by page."""

    def __init__(self, held: Mapping[str, list[Mapping[str, Any]]]) -> None:
        self.held = held
        self.asked: list[dict[str, Any]] = []

    pages = Visit.pages

    def follow(self, _: str, **params: Any) -> Any:
        self.asked.append(params)
        found = [row for entity in sorted(params["entity_id"]) for row in self.held[entity]]
        found = [row for row in found if row["periodEnd"][:10] <= params["period_end"]]
        if params["period_start"] is not None:
            found = [row for row in found if (row["periodStart"] or row["periodEnd"])[:10] >= params["period_start"]]
        begin = int(params["cursor"] or 0)
        more = begin + params["limit"] < len(found)
        return SimpleNamespace(
            data=found[begin : begin + params["limit"]], next_cursor=str(begin + params["limit"]) if more else None
        )


def drawn_history(held: Mapping[str, list[Mapping[str, Any]]]) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """How many points there are of each entity, and what was asked."""
    interface = Interface(held)
    found = histories(cast("Visit", interface), [one[-1] for one in held.values()], derived=(), as_of="2026-11-20")
    assert {asked["as_of"] for asked in interface.asked} == {"2026-11-20"}
    return {one.split(":")[1]: len(points) for one, points in found.items()}, interface.asked


def test_a_series_that_ended_long_ago_has_no_years_read_of_the_others() -> None:
    held = {f"e{n}": history_rows(f"e{n}", HISTORY_TODAY, 3_000, 1) for n in range(7)} | {
        "old": history_rows("old", date(2019, 1, 31), 900, 1)
    }
    found, asked = drawn_history(held)
    assert set(found) == set(held)
    assert all(360 <= count <= 366 for count in found.values())
    assert len(asked) < _PAGES
    assert {one["period_start"][:4] for one in asked} == {"2025", "2018"}


@pytest.mark.parametrize(("series", "days"), [(15, 365), (16, 91), (50, 91)])
def test_of_many_series_of_days_a_shorter_time_is_shown_and_of_each_all_of_it(series: int, days: int) -> None:
    """As many working days as there are in a year; what does not fit into the requests is left out, and here nothing is."""
    held = {}
    for n in range(series):
        every = history_rows(f"e{n:02}", HISTORY_TODAY, 1_000, 1)
        held[f"e{n:02}"] = [row for row in every if date.fromisoformat(row["periodEnd"][:10]).weekday() < 5]
    found, asked = drawn_history(held)
    assert set(found) == set(held)
    assert all(days * 5 / 7 - 2 <= count <= days * 5 / 7 + 2 for count in found.values())
    assert len(asked) <= _PAGES


def test_instants_are_read_with_all_else() -> None:
    held = {
        "balance": history_rows("balance", HISTORY_TODAY, 70, 91, instant=True, frequency="quarterly"),
        "income": history_rows("income", HISTORY_TODAY, 70, 91, frequency="quarterly"),
    }
    found, asked = drawn_history(held)
    assert set(found) == set(held)
    assert all(47 <= count <= 49 for count in found.values())
    assert len(asked) == 1


def test_what_is_not_told_to_its_end_is_left_out() -> None:
    held = {f"e{n:03}": history_rows(f"e{n:03}", HISTORY_TODAY, 2_000, 1) for n in range(100)}
    found, asked = drawn_history(held)
    assert len(asked) == _PAGES
    assert set(found.values()) == {92}
    assert len(found) == _PAGE * _PAGES // 92
