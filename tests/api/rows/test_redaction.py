"""Rows as they go out: what may be seen of each follows from its own lineage, in a page and alone, with `derivedFrom` and without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import msgspec
import pytest

from almanac.api.rows.redaction import Redaction
from almanac.domain.observations import FINAL, FORECAST, Vintage
from almanac.domain.periods import Period
from almanac.store.observations.reading.pages import read_page
from almanac.store.observations.reading.query import ObservationFilter, ObservationQuery
from almanac.store.observations.reading.reader import View
from tests.support.small_world import ALPHA, DAY_SECONDS, GAMMA, MIXED, START, SmallWorld, spec

#: Months of one series, each with the source of the series it was computed from and what it says: a number or a text.
MONTHS = {"2025-01": (ALPHA, 1.5), "2025-02": (GAMMA, 2.5), "2025-03": (ALPHA, 3.5), "2025-04": (GAMMA, "easing")}


@pytest.fixture
def view() -> Iterator[View]:
    with SmallWorld() as world:
        at = START + DAY_SECONDS
        with world.batch("test") as batch:
            for source in (ALPHA, GAMMA):
                batch.series(spec(source, "level"), "raw")
            target = {}
            for month, (source, value) in MONTHS.items():
                parts = (None, value) if isinstance(value, str) else (value, None)
                lineage = batch.lineage([spec(source, "level").id])
                target[Period.parse(month).key] = [Vintage(at, *parts, 0, None, at, 1, None, lineage)]
            batch.replace(batch.series(spec(MIXED, "level_yoy"), "derived"), target)
        held = world.view()
        yield held


def told(view: View, *, lineage: bool, whole: bool) -> list[dict[str, Any]]:
    """All rows, as one page or each alone."""
    rows, _ = read_page(
        view,
        ObservationQuery(ObservationFilter(), version=view.version, as_of=None, every=True, limit=9),
    )
    redaction = Redaction(view, view.version, None, date(2025, 4, 1))
    if whole:
        answer = redaction.answer([row.found for row in rows], None, lineage=lineage)
        observations: list[dict[str, Any]] = json.loads(msgspec.json.encode(answer.rows))
        return observations
    return [json.loads(msgspec.json.encode(redaction.observation(row, lineage=lineage))) for row in rows]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("lineage", [True, False])
def test_neighbours_of_one_series_are_masked_each_by_its_own_lineage(view: View, lineage: bool, whole: bool) -> None:
    rows = told(view, lineage=lineage, whole=whole)
    assert [(row["valueNumeric"], row["valueText"]) for row in rows] == [
        (1.5, None),
        (None, None),
        (3.5, None),
        (None, None),
    ]
    assert [row["rights"]["valueWithheld"] for row in rows] == [source == GAMMA for source, _ in MONTHS.values()]
    if lineage:
        assert [row["derivedFrom"] for row in rows] == [
            [f"{source}:country_aaa:level:M"] for source, _ in MONTHS.values()
        ]
    else:
        assert not any("derivedFrom" in row for row in rows)


def test_parts_differ_where_rows_do_and_nowhere_else(view: View) -> None:
    """They stand for the rows in the ETag: a withheld value is none of them, and all else that shows is."""
    query = ObservationQuery(ObservationFilter(), view.version, None, 9, every=True)
    first, withheld, *_ = read_page(view, query)[0]
    changes: list[dict[str, Any]] = [
        {},
        {"period": Period.parse("2025-05").key},
        {"known": first.known + 1},
        {"released": first.known},
        {"ingested": first.ingested + 1},
        {"flags": FINAL},
        {"flags": FORECAST},
        {"lineage": withheld.lineage},
        {"value": 9.5},
        {"value": None},
        {"value": None, "text": "easing"},
        {"note": '{"basis":"2015=100"}'},
    ]
    pages = [[row._replace(**change).found] for row in (first, withheld) for change in changes]
    pages += [[row.found for row in rows] for rows in ([], [first, withheld], [withheld, first], [first, first])]
    answers = [
        Redaction(view, view.version, None, day).answer(page, None, lineage=lineage)
        for page in pages
        for lineage in (True, False)
        for day in (date(2025, 4, 1), date(2035, 4, 1))
    ]
    written = [msgspec.json.encode(answer.rows) for answer in answers]
    for one, body in zip(answers, written, strict=True):
        for other, text in zip(answers, written, strict=True):
            assert (one.parts == other.parts) == (body == text) or not one.rows, (body, text)
