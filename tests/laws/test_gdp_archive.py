"""FRED's archive of US GDP: on each of its 395 publication days, and the day before, exactly what the archive says."""

import functools
import json
from datetime import date, timedelta

import pytest

from almanac.config import Settings
from almanac.domain.periods import Period, add_months
from almanac.domain.times import end_of_day
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.sources import mirror
from almanac.store.observations.reading.pages import read_page
from almanac.store.observations.reading.query import ObservationFilter, ObservationQuery
from almanac.store.observations.reading.reader import Reader
from tests.support.paths import REAL_DATA

FOLDER = REAL_DATA
ARCHIVE, SNAPSHOTS = "alfred_gdp_all_vintages", "observations_gdp_"

pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="the publishers' own files are not beside the repository"),
]


def arrivals(*parts):
    rows = [row for row in mirror.rows(FOLDER) if any(part in str(row.path) for part in parts)]
    return [Arrival(row.url, row.read(1 << 30), row.media_type, row.fetched_at) for row in rows]


def archive():
    """(first day, last day, quarter's first day, value) of every number in the archive."""
    (row,) = [row for row in mirror.rows(FOLDER) if ARCHIVE in str(row.path)]
    return [
        (*(date.fromisoformat(line[name]) for name in ("realtime_start", "realtime_end", "date")), float(line["value"]))
        for line in json.loads(row.read(1 << 30))["observations"]
        if line["value"] != "."
    ]


def load(home, found):
    with PipelineContext(Settings(home=home, now="2026-11-20T00:00:00Z")) as world:
        world.raw.identify("0" * 32)  # ids follow from it, and it is by chance
        outcome = Ingest(world, world.catalog.sources["fred"], lambda _: None).run(found)
        assert (outcome.quarantined, outcome.failed) == ({}, {})


def served(reader, indicator, day):
    """Quarter's first day → value, as of the end of a day."""
    with reader.view() as view:
        rows, place = read_page(
            view,
            ObservationQuery(
                ObservationFilter(indicators=(indicator,), entities=("country_usa",)),
                version=view.version,
                as_of=end_of_day(day),
                every=True,
                sort="topic",
                descending=False,
                after=None,
                limit=10_000,
            ),
        )
    assert place is None
    return {first_day(row.period): row.value for row in rows}


@functools.cache
def first_day(period):
    return Period.from_key(period).start


def growth(levels):
    """Over four quarters, in percent to twelve digits, from the quarters that are there."""
    pairs = ((quarter, levels.get(add_months(quarter, -12))) for quarter in levels)
    return {
        quarter: float(f"{100.0 * (levels[quarter] / base - 1.0):.12g}") for quarter, base in pairs if base is not None
    }


@pytest.fixture(scope="module")
def numbers():
    return archive()


def check(home, numbers, days):
    reader = Reader(home / "data.db")
    for day in days:
        expected = {quarter: value for first, last, quarter, value in numbers if first <= day <= last}
        assert served(reader, "nominal_gdp", day) == expected, day
        assert served(reader, "nominal_gdp_growth_yoy", day) == growth(expected), day
    reader.close()


def publications(numbers):
    published = sorted({first for first, *_ in numbers})
    assert len(published) == 395
    return published


@pytest.mark.slow
def test_every_publication_day_serves_what_the_archive_says(tmp_path, numbers):
    load(tmp_path, arrivals(ARCHIVE))
    published = publications(numbers)
    check(tmp_path, numbers, published)
    # And nothing is known early: a day before still has the state before.
    check(tmp_path, numbers, [day - timedelta(days=1) for day in published[::13]])


@pytest.mark.slow
def test_so_does_every_day_before_with_the_snapshots_of_two_later_days(tmp_path, numbers):
    load(tmp_path, arrivals(ARCHIVE, SNAPSHOTS))
    published = publications(numbers)
    check(tmp_path, numbers, sorted({*published, *(day - timedelta(days=1) for day in published)}))


def test_an_archive_that_comes_last_ends_in_the_same_rows(tmp_path, numbers):
    """The snapshots were fetched before or with the archive; out of order, the series is replayed."""
    found = arrivals(ARCHIVE, SNAPSHOTS)
    found.sort(key=lambda one: (one.fetched_at, len(one.body)))
    load(tmp_path / "straight", found)
    load(tmp_path / "reversed", found[::-1])
    rows = []
    for name in ("straight", "reversed"):
        reader = Reader(tmp_path / name / "data.db")
        with reader.view() as view:
            listed, _ = read_page(
                view,
                ObservationQuery(
                    ObservationFilter(), version=view.version, as_of=1 << 40, every=True, limit=1 << 30, history=True
                ),
            )
            rows.append([(row.series.id, row.shown) for row in listed])
        reader.close()
    assert rows[0] == rows[1]
    assert len([row for row in rows[0] if row[0].endswith("nominal_gdp:Q")]) > 2_956
