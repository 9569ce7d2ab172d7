"""
A walk by cursor over very many rows while they are written to, on each engine: no row twice, none missing, and each as it
stood when the walk began.

What is written meanwhile: days that are new, values revised, values withdrawn, states entered before those that are known,
and responses of a publisher taken in, the older ones after the newer. ALMANAC_TEST_WALK says over how many rows the deep one goes.
"""

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import date, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from almanac.domain.observations import DAY, ReportedValue, Vintage
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.pipeline.context import PipelineContext
from almanac.store.engine import opening
from almanac.store.engine.data_schema import meta
from almanac.store.engine.opening import Place, Server
from almanac.store.log.payloads import PayloadRef
from almanac.store.observations.writing.batch import Batch
from almanac.store.observations.writing.vintages import SeriesClaim
from tests.faults.mirrors import TREASURY_SOURCE, year_file, year_url
from tests.support.places import POSTGRES, SQLITE, place_for
from tests.support.service import Service, make_accounts, settings

MILLION = int(os.environ.get("ALMANAC_TEST_WALK", "1000000"))
#: 2026-11-01T00:00:00Z, when everything that is walked over is known; the service's own day is the twentieth.
KNOWN = 1_793_491_200
LAST = date(2026, 10, 31)
#: Series of each indicator, by country; the publisher whose responses come meanwhile speaks of another.
COUNTRIES = ("deu", "fra", "ita", "esp", "jpn", "gbr", "can", "aus", "che", "nor")
#: No formula asks for them: what is measured is the walk, not what follows from the rows.
INDICATORS = (
    "consumer_confidence", "housing_starts", "building_permits", "saving_rate", "personal_income", "economic_sentiment",
    "leading_indicator", "capacity_utilization", "zinc_price", "job_openings",
)  # fmt: skip


class Rows:
    """Invented series of so many days: what each row said when the walk began, and which have been seen."""

    def __init__(self, indicators: list[str], days: int) -> None:
        self.specs = [
            SeriesSpec(
                source=TREASURY_SOURCE, native=f"WALK {one} {country}", indicator=one, entity=f"country_{country}",
                frequency=Frequency.DAILY, unit="percent", name="Invented",
            )
            for one in indicators
            for country in COUNTRIES
        ]  # fmt: skip
        self.days = days
        self.keys = [Period.parse((LAST - timedelta(days - 1 - day)).isoformat()).key for day in range(days)]
        self._place = {(f"indicator_{one.indicator}", one.entity): place for place, one in enumerate(self.specs)}
        self._day = {f"{LAST - timedelta(days - 1 - day)}T00:00:00Z": day for day in range(days)}
        self._seen = [bytearray(days) for _ in self.specs]

    def value(self, series: int, day: int) -> float:
        return (series * 100_000 + day) / 8

    def put(self, world: PipelineContext) -> None:
        for first in range(0, len(self.specs), 10):
            with Batch(world.db, world.settings.clock(), "walk") as batch:
                for series in range(first, min(first + 10, len(self.specs))):
                    said = [ReportedValue(key, self.value(series, day)) for day, key in enumerate(self.keys)]
                    batch.append(payload(0), [SeriesClaim(batch.series(self.specs[series], "raw"), said)])

    def see(self, row: dict[str, Any]) -> bool:
        """Whether a row is one of these. Asserts that it comes for the first time, and as it was."""
        place = self._place.get((row["indicatorId"], row["entityId"]))
        if place is None:
            return False
        day = self._day[row["periodEnd"]]  # a day that came later is none of these
        assert not self._seen[place][day], f"twice: {row}"
        assert row["valueNumeric"] == self.value(place, day), f"not as it was: {row}"
        self._seen[place][day] = 1
        return True

    def missing(self) -> list[str]:
        return [
            f"{self.specs[place].id}: {seen.count(0)} of {self.days}"
            for place, seen in enumerate(self._seen)
            if 0 in seen
        ]


def payload(number: int) -> PayloadRef:
    """One that nobody kept: what it says is told of a moment after the rows were known."""
    return PayloadRef(number, KNOWN + number, (KNOWN + number, f"{number:064}"))


class Writer(threading.Thread):
    """Writes until it is told to stop. `turns`: how many data versions it has made; `failed`: what ended it before."""

    def __init__(self, service: Service, place: Place, rows: Rows) -> None:
        super().__init__(daemon=True)
        self._service, self._place, self._rows = service, place, rows
        self._chance = random.Random(17)
        self._stop_now = threading.Event()
        self.turns = 0
        self.failed: BaseException | None = None

    def run(self) -> None:
        try:
            with closing(opening.create(self._place)) as db:
                while not self._stop_now.wait(0.01):
                    with Batch(db, self._service.settings.clock(), "walk") as batch:
                        self._write(batch, self.turns + 1)
                    if self.turns % 8 == 0:
                        self._take_in(self.turns // 8 + 1)
                    self.turns += 1
        except BaseException as error:
            self.failed = error
            raise

    def reach(self, turns: int) -> None:
        """Wait until it has made so many."""
        while self.turns < turns and self.is_alive():
            time.sleep(0.002)

    def end(self) -> None:
        self._stop_now.set()
        self.join()
        if self.failed is not None:
            raise self.failed

    def _write(self, batch: Batch, turn: int) -> None:
        rows, some = self._rows, self._chance
        for spec in some.sample(rows.specs, 4):
            series = batch.series(spec, "raw")
            new = Period.parse((LAST + timedelta(turn)).isoformat()).key
            revised = [ReportedValue(key, -1.0 - turn) for key in some.sample(rows.keys, 12)]
            batch.append(payload(turn), [SeriesClaim(series, [ReportedValue(new, 1.0), *revised])])
            cells = sorted(some.sample(rows.keys, 6))
            held = batch.history(series, (cells[0], cells[-1]), only=cells)
            before = Vintage(KNOWN - 86_400 * DAY - turn, -0.5, None, 0, None, KNOWN, 0, None, 0)
            entered = {key: [before._replace(known=KNOWN - turn), *held[key]] for key in cells[:4]}
            batch.replace(series, {**entered, cells[4]: [], cells[5]: []})

    def _take_in(self, number: int) -> None:
        """A year of the publisher's, by turns newer than what is known of it and older."""
        changed = {date(2026, 3, 2): 7.0 + number, date(2026, 9, 1): 8.0 + number}
        at = KNOWN + (number if number % 2 else -number * 3_600)
        self._service.ingest(
            TREASURY_SOURCE, year_url(2026), year_file(2026, "2026-10-30", changed), at, "application/xml"
        )


@pytest.fixture(params=[SQLITE, POSTGRES])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    with place_for(request.param, tmp_path / "home" / "data.db") as found:
        yield found


def check(tmp_path: Path, place: Place, rows: Rows, limit: int, least: int) -> None:
    """`least`: how many data versions must have come while the walk went on."""
    home = tmp_path / "home"
    more = {"DATABASE_URL": place.url} if isinstance(place, Server) else {}
    with PipelineContext(settings(home, **more)) as world:
        rows.put(world)
    make_accounts(settings(home))
    service = Service(home, more)
    try:
        for year in (2025, 2026):
            service.ingest(TREASURY_SOURCE, year_url(year), year_file(year, "2026-10-30"), KNOWN, "application/xml")
        theirs = service.walk("/observations", "enterprise", country="USA", limit=limit)
        assert len(theirs) > 100
        whole, count, other = len(rows.specs) * rows.days + len(theirs), 0, []
        writer = Writer(service, place, rows)
        for page in pages(service, limit):
            if not writer.is_alive():
                assert count == 0, writer.failed
                writer.start()  # the first page has said of which version the walk is
            count += len(page)
            other += [row for row in page if not rows.see(row)]
            writer.reach(least * count // whole)
        writer.end()
        assert rows.missing() == []
        assert other == theirs
        assert count == whole
        assert writer.turns >= least
        with closing(opening.connect(place)) as db:
            assert int(meta(db, "version") or 0) > writer.turns
        # A walk that begins now has what was written.
        new = rows.specs[0]
        told = chain.from_iterable(pages(service, limit, indicator=new.indicator))
        assert any(row["valueNumeric"] < 0 for row in told)
    finally:
        service.close()


def pages(service: Service, limit: int, **asked: str) -> Iterator[list[dict[str, Any]]]:
    cursor: dict[str, str] = {}
    while True:
        answer = service.get("/observations", "enterprise", None, limit=limit, **asked, **cursor)
        assert answer.status_code == 200, answer.text
        body = answer.json()
        yield body["data"]
        following = body["meta"]["pagination"]["next_cursor"]
        if following is None:
            return
        cursor = {"cursor": following}


def test_a_walk_is_whole_while_its_rows_are_written(place: Place, tmp_path: Path) -> None:
    check(tmp_path, place, Rows(list(INDICATORS[:2]), days=300), limit=50, least=10)


@pytest.mark.deep
def test_a_walk_over_a_million_rows_is_whole_while_they_are_written(place: Place, tmp_path: Path) -> None:
    rows = Rows(list(INDICATORS), days=max(200, MILLION // (len(INDICATORS) * len(COUNTRIES))))
    check(tmp_path, place, rows, limit=500, least=100)
