"""The status report: stored data, health of the sources, and everything unreadable or unmapped."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from almanac.domain.cadence import Cadence
from almanac.domain.health import Word
from almanac.domain.periods import end_of
from almanac.domain.times import wire_day, wire_time
from almanac.pipeline.operate.vitals import SourceVitals, sources
from almanac.store.engine.data_schema import meta
from almanac.store.engine.protocol import Database
from almanac.store.log import payloads
from almanac.store.observations.reading.metadata import MetadataCache, SeriesInfo
from almanac.store.observations.reading.reader import View
from almanac.store.summary.coverage import Coverage, coverage
from almanac.store.summary.figures import Figures, by_source


class SourceHealth(msgspec.Struct, frozen=True, rename="camel"):
    """
    One source. `health` is ok, late, failing or never_run, with a `reason` if it isn't ok.

    `next_due_at` is when its cadence wants it asked, in the past if it is waiting; None for a source without a cadence.
    `series` counts series with values, as `/sources` does. `judged_series` counts those whose age matters: it excludes
    discontinued series, companies' series and those computed here. `unreadable` counts addresses whose newest answer is
    quarantined.
    """

    id: str
    health: Word
    reason: str | None
    last_attempt_at: str | None
    last_success_at: str | None
    last_ingested_at: str | None
    next_due_at: str | None
    series: int
    judged_series: int
    stale_series: int
    unreadable: int
    last_error: str | None


class Stale(msgspec.Struct, frozen=True, rename="camel"):
    """A series whose newest period is older than its data set allows. `last_period` is that period's last day."""

    source: str
    series_id: str
    last_period: str | None


class Quarantined(msgspec.Struct, frozen=True, rename="camel"):
    """
    A stored response that is not served, and why.

    `kind` is `unread` if it could not be read or stored, `shrunk` if it would withdraw much of what is served; the
    latter is held back until `almanac ingest --accept` with its `sha256`.
    """

    source: str
    url: str
    fetched_at: str
    reason: str
    kind: str
    sha256: str


class Unmapped(msgspec.Struct, frozen=True, rename="camel"):
    """A native series without a mapping in the catalogue, and the most rows that one response had of it."""

    source: str
    native_id: str
    rows: int


class Unread(msgspec.Struct, frozen=True, rename="camel"):
    """
    An unread part of responses that were read.

    `kind` is `unknown` for a name that the reader doesn't know, with `met` its highest count in one response. It is
    `missing` for a mapped native series that a response lacked, until one has it again.
    """

    source: str
    kind: str
    name: str
    met: int
    seen_at: str


class Status(msgspec.Struct, frozen=True, rename="camel"):
    """
    The content of `almanac status`. Lists are sorted by source, then by series, address, native id, or kind and name.

    `raw_store` is a sentence if this host's raw store is not the one the data came from.
    """

    coverage: Coverage
    sources: list[SourceHealth]
    stale: list[Stale]
    quarantine: list[Quarantined]
    unmapped: list[Unmapped]
    unread: list[Unread]
    raw_store: str | None = None


def status(db: Database, now: int, raw_store: str | None = None) -> Status:
    """Read the status in one transaction. `now` is in unix seconds; `raw_store` is passed to `Status`."""
    stale: list[Stale] = []

    def note(series: SeriesInfo, newest: int | None) -> None:
        stale.append(Stale(series.source.id, series.id, None if newest is None else wire_day(end_of(newest))))

    with db.snapshot():
        found = sources(_view(db), now, note)
        counted = by_source(db)
        return Status(
            coverage=coverage(db),
            sources=[_health(one, now, counted) for one in found],
            stale=stale,
            quarantine=[
                Quarantined(
                    row.source,
                    row.url,
                    wire_time(row.fetched_at),
                    row.reason or "",
                    "shrunk" if row.held else "unread",
                    row.sha256,
                )
                for row in payloads.quarantined(db)
            ],
            unmapped=[Unmapped(*row) for row in payloads.unmapped(db)],
            unread=[
                Unread(row.source, row.kind, row.name, row.met, wire_time(row.seen_at)) for row in payloads.unread(db)
            ],
            raw_store=raw_store,
        )


def _view(db: Database) -> View:
    version, epoch, reference = (meta(db, key) or "" for key in ("version", "epoch", "reference"))
    return View(db, int(version), epoch, MetadataCache(db, int(reference)), {})


def _health(one: SourceVitals, now: int, counted: Mapping[str, Figures]) -> SourceHealth:
    cadence, tried = one.source.cadence, one.tried
    due = None if cadence is None else one.turn.due_at(Cadence(cadence), now)
    times = (tried.last_attempt, tried.last_success, tried.last_ingested, due)
    attempt, success, ingested, next_due = (None if at is None else wire_time(at) for at in times)
    return SourceHealth(
        id=one.source.id,
        health=one.health.word,
        reason=one.health.reason,
        last_attempt_at=attempt,
        last_success_at=success,
        last_ingested_at=ingested,
        next_due_at=next_due,
        series=counted[one.source.id].series if one.source.id in counted else 0,
        judged_series=one.feed.series,
        stale_series=one.feed.stale,
        unreadable=tried.unreadable,
        last_error=tried.last_error,
    )
