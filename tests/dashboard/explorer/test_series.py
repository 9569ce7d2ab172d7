"""The page of a series: on any day it says what the interface says of that day, and nothing of another."""

from __future__ import annotations

import csv
import html
import io
import random
import re
from datetime import date, timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest

from almanac.dashboard.formatting.numbers import full

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
