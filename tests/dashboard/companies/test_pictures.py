"""Small charts of a company with its peers behind: what was known on the day, of nothing that may not be shown."""

import html
import re
from collections.abc import Collection, Sequence
from datetime import date
from itertools import islice
from statistics import median
from types import SimpleNamespace
from typing import Any, cast

import pytest

from almanac.dashboard.explorer.companies import CompanyChart, charts
from almanac.dashboard.formatting.values import ChartPoint
from almanac.dashboard.visit import Visit
from almanac.domain.observations import FAILED
from almanac.domain.periods import Frequency
from tests.contract.invented_companies import QUARTERS, Made, known
from tests.contract.test_equity_screener import MADE, NOW, made_up, reading, screen, seconds
from tests.support.drawn import strokes
from tests.support.service import Service

__all__ = ["made_up", "screen"]

FIELDS = {"Revenue, 12 months": "revenue_ttm", "Net margin": "net_margin", "Debt to equity": "debt_to_equity"}
OWN = [one for one in MADE if len(one.quarters) == len(QUARTERS)][:12]


def drawn_of(
    service: Service,
    company: Made,
    peers: Sequence[Made],
    as_of: str | None = None,
    taken_back: Collection[str] = (),
) -> list[CompanyChart]:
    """The charts as a visitor with all of the archive has them; `taken_back`: whose newest values were withdrawn."""

    def follow(path: str, **params: Any) -> Any:
        given = {
            name: ",".join(value) if isinstance(value, list) else value
            for name, value in params.items()
            if value is not None
        }
        answer = service.get(path, "pro", None, **given)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        for row in body["data"] if path.endswith("/latest") else ():
            if row["entityId"] in taken_back:
                row["valueNumeric"] = None
        return SimpleNamespace(data=body["data"], next_cursor=body["meta"].get("pagination", {}).get("next_cursor"))

    visit = cast("Visit", SimpleNamespace(follow=follow, pages=lambda *args, **more: Visit.pages(visit, *args, **more)))
    return charts(visit, company.entity, [one.entity for one in peers], as_of)


def told(company: Made, field: str, at: int) -> list[float]:
    """What may be shown of each quarter at a moment, the oldest first."""
    if company.marks.get(field) == FAILED or (field == "net_margin" and company.shut):
        return []
    found = []
    for quarter in QUARTERS:
        values = company.values.get(field, {}).get(quarter, [])
        found += [value for n, value in enumerate(values) if known(quarter, n) <= at][-1:]
    return found


@pytest.mark.parametrize("as_of", [None, "2025-09-15"])
@pytest.mark.parametrize("company", OWN, ids=lambda one: str(one.cik))
def test_a_chart_is_what_was_known_then_and_its_words_are_of_the_same_numbers(
    screen: Service, company: Made, as_of: str | None
) -> None:
    at = NOW if as_of is None else seconds(as_of)
    found = {FIELDS[one.title]: one for one in drawn_of(screen, company, [], as_of)}
    assert found.keys() == {field for field in FIELDS.values() if len(told(company, field, at)) > 1}
    for field, chart in found.items():
        values = told(company, field, at)
        low, high = min(values), max(values)
        heights = [y for stroke in strokes(chart.drawing, "line c1") for _, y in stroke]
        assert heights == [pytest.approx(92 - 88 * (value - low) / (high - low), abs=0.06) for value in values]
        newest = reading(company, field, at, dollars=False)
        assert newest is not None
        assert float(chart.look.full or "nan") == newest[0] == values[-1]
        assert not strokes(chart.drawing, "past")
        assert "peers" not in chart.words
        assert f"indicator={field}&entities={company.entity}" in chart.href
        assert ("as_of" in chart.href) == (as_of is not None)
        if field == "net_margin":
            assert f"From {100 * low:.1f}% to {100 * high:.1f}%".replace("-", "−") in chart.words


@pytest.mark.parametrize("company", OWN, ids=lambda one: str(one.cik))
def test_peers_lie_behind_and_their_median_is_that_of_those_that_are_current(screen: Service, company: Made) -> None:
    peers = [one for one in MADE[40:] if one is not company][:5]
    compared = 0
    for chart in drawn_of(screen, company, peers):
        field = FIELDS[chart.title]
        behind = strokes(chart.drawing, "past")
        shown = [one for one in peers if len(told(one, field, NOW)) > 1]
        assert bool(behind) == bool(shown)
        assert chart.href.count("company_") == 6
        if field == "revenue_ttm":
            assert "&show=index" in chart.href
            assert "Median" not in chart.words
            continue
        now = []
        for one in peers:
            newest = reading(one, field, NOW, dollars=False)
            # Quarterly statements are stale 200 days after their quarter.
            if newest is not None and newest[1].end > date(2026, 5, 4):
                now.append(newest[0])
        said = re.search(r"Median of (\d+) peers: (.*?)\.$", html.unescape(chart.words))
        assert (said is not None) == (len(now) > 2), (now, chart.words)
        if said is not None:
            assert int(said[1]) == len(now)
            middle = median(now)
            assert said[2].replace("−", "-") == (f"{100 * middle:.1f}%" if field == "net_margin" else f"{middle:.2f}")
            compared += 1
    assert compared or company.shut or "net_margin" not in company.values or company.marks.get("net_margin") == FAILED


def test_a_peer_whose_newest_value_was_taken_back_is_none_of_the_median(screen: Service) -> None:
    """As one that fails a check is none: the words are of those that remain."""
    field = "debt_to_equity"
    company = next(one for one in OWN if len(told(one, field, NOW)) > 1)
    current = (
        one
        for one in MADE
        if one is not company and (found := reading(one, field, NOW, dollars=False)) and found[1] is QUARTERS[-1]
    )
    peers = list(islice(current, 5))
    charts_of = {one.title: one.words for one in drawn_of(screen, company, peers)}
    taken = {one.entity for one in peers}
    without = {one.title: one.words for one in drawn_of(screen, company, peers, taken_back=taken)}
    assert any("Median" in words for words in charts_of.values())
    assert without.keys() == charts_of.keys()
    assert not any("Median" in words for words in without.values())


def line(*values: float | None) -> list[ChartPoint]:
    first = date(2010, 12, 31)
    return [
        ChartPoint(
            end := first.replace(year=first.year + n).toordinal(),
            None,
            end,
            Frequency.ANNUAL,
            value,
            "none" if value is None else "shown",
        )
        for n, value in enumerate(values)
    ]
