"""A policy rate that nobody changes is no stale one: it is judged by the source's last successful fetch."""

from datetime import date
from pathlib import Path
from unittest import mock

import msgspec
import pytest

from almanac.catalog.load import shipped
from almanac.config import Settings
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.store.observations.reading.reader import Reader
from tests.support.treasury_home import FIRST, SOURCE, TEN_YEARS, url

DAY = 86_400
JAN_6 = 1_767_679_200  # 2026-01-06T06:00:00Z


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path, now="2026-03-01T00:00:00Z")


def fetch(settings: Settings, fetched_at: int, *, judged: bool = True) -> int:
    """Take the same answer in as fetched at a time; returns the data version after."""
    catalog = shipped()
    natives = {
        native: msgspec.structs.replace(spec, judged_by_fetch=judged) for native, spec in catalog.series[SOURCE].items()
    }
    told = msgspec.structs.replace(catalog, series={**catalog.series, SOURCE: natives})
    with mock.patch("almanac.pipeline.context.shipped", return_value=told), PipelineContext(settings) as world:
        source = world.catalog.sources[SOURCE]
        Ingest(world, source, lambda _: None).run([Arrival(url(2026), FIRST, "application/xml", fetched_at)])
        return int(world.db.execute("SELECT v FROM meta WHERE k = 'version'").get)


def freshness(settings: Settings, today: date, as_of: int | None = None, series_id: str = TEN_YEARS) -> str:
    reader = Reader(settings.home / "data.db")
    with reader.view() as view:
        series = view.directory.series_by_id(series_id)
        assert series is not None
        return view.freshness(series, view.version, as_of, today)


def test_it_is_fresh_while_the_source_answers(settings: Settings) -> None:
    """The newest day in the answer is 5 January; what counts is that the answer is of 1 February."""
    first = fetch(settings, JAN_6)
    assert freshness(settings, date(2026, 1, 16)) == "fresh"
    assert freshness(settings, date(2026, 1, 17)) == "stale"
    second = fetch(settings, JAN_6 + 26 * DAY)
    assert second == first + 1  # the same rows, another answer about them: clients must not be told 304
    assert freshness(settings, date(2026, 2, 11)) == "fresh"
    assert freshness(settings, date(2026, 2, 12)) == "stale"


@pytest.mark.parametrize("judged", [True, False])
def test_what_is_made_of_it_is_as_fresh(settings: Settings, judged: bool) -> None:
    """One rule for a row and for what is computed from it: by the same fetch, or by the newest period of both."""
    fetch(settings, JAN_6, judged=judged)
    fetch(settings, JAN_6 + 26 * DAY, judged=judged)
    made = TEN_YEARS.replace("gov_yield_10y", "yield_slope_2s10s")
    for today in (date(2026, 1, 10), date(2026, 1, 16), date(2026, 2, 11), date(2026, 2, 12)):
        assert freshness(settings, today, series_id=made) == freshness(settings, today), today
    assert freshness(settings, date(2026, 2, 11)) == ("fresh" if judged else "stale")


def test_an_older_answer_taken_in_later_changes_nothing(settings: Settings) -> None:
    fetch(settings, JAN_6 + 26 * DAY)
    version = fetch(settings, JAN_6)
    assert freshness(settings, date(2026, 2, 11)) == "fresh"
    assert fetch(settings, JAN_6 + 1) == version


def test_in_the_past_it_is_judged_by_what_was_fetched_then(settings: Settings) -> None:
    fetch(settings, JAN_6)
    fetch(settings, JAN_6 + 26 * DAY)
    assert freshness(settings, date(2026, 1, 16), as_of=JAN_6 + 10 * DAY) == "fresh"
    assert freshness(settings, date(2026, 1, 20), as_of=JAN_6 + 14 * DAY) == "stale"


def test_other_series_are_judged_by_their_newest_period(settings: Settings) -> None:
    fetch(settings, JAN_6, judged=False)
    version = fetch(settings, JAN_6 + 26 * DAY, judged=False)
    assert freshness(settings, date(2026, 2, 1)) == "stale"
    assert fetch(settings, JAN_6 + 40 * DAY, judged=False) == version
