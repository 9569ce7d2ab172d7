"""The state of the service: figures of the store, sources and disks, the status report, and a check for monitoring plug-ins."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import msgspec

from almanac.config import Settings
from almanac.domain.cadence import Cadence, Turn
from almanac.domain.health import Feed, Health, Tried, Word, health
from almanac.domain.periods import end_of
from almanac.domain.reference import Source
from almanac.domain.times import end_of_day, wire_day, wire_time
from almanac.store.engine.data_schema import meta
from almanac.store.engine.protocol import Database
from almanac.store.log import payloads, schedule
from almanac.store.observations.reading.metadata import MetadataCache, SeriesInfo
from almanac.store.observations.reading.reader import View
from almanac.store.summary import feeds
from almanac.store.summary.coverage import Coverage, coverage, written_at
from almanac.store.summary.figures import Figures, by_source

#: Free shares of a disk below which there is a warning, or a critical finding.
_SCARCE, _GONE = 0.10, 0.03
#: A longer log was not truncated after a load, or a reader has kept it open for very long.
_LONG_LOG = 1 << 30


class SourceVitals(msgspec.Struct, frozen=True):
    """
    One source: the outcome of its runs, its data and its health.

    `newest` is the end of its newest period that isn't a forecast, in unix seconds, or None if it has none.
    """

    source: Source
    health: Health
    tried: Tried
    feed: Feed
    turn: Turn
    newest: int | None


class Vitals(msgspec.Struct, frozen=True):
    """
    The store at one moment. Times are unix seconds. `quarantined` counts stored but unserved responses by source,
    `shrunk` those of them that would withdraw much.
    """

    version: int
    version_at: int | None
    sources: list[SourceVitals]
    quarantined: Counter[str]
    shrunk: Counter[str]


class Room(msgspec.Struct, frozen=True):
    """
    Disk space in bytes. `databases` and `logs` have the sizes of the database files and their logs, without those on a
    server.

    `free` and `total` describe the disks of the folders `home`, `data` and `raw`, each disk once.
    """

    databases: dict[str, int]
    logs: dict[str, int]
    free: dict[str, int]
    total: dict[str, int]


def vitals(view: View, now: int) -> Vitals:
    """Read the figures from one state of the store, at `now` (unix seconds)."""
    quarantined = payloads.quarantined(view)
    return Vitals(
        version=view.version,
        version_at=written_at(view, view.version),
        sources=sources(view, now),
        quarantined=Counter(row.source for row in quarantined),
        shrunk=Counter(row.source for row in quarantined if row.held),
    )


def sources(
    view: View, now: int, stale: Callable[[SeriesInfo, int | None], object] = lambda _, __: None
) -> list[SourceVitals]:
    """
    Return all sources that are asked, by id. The service's own computed source has no connector and is left out.

    `stale` is called for each series whose newest period (its key) is older than its data set allows.
    """
    today = datetime.fromtimestamp(now, UTC).date()
    feed_of: dict[str, Feed] = {}
    newest = feeds.newest_of_companies(view)
    for series in feeds.observed(view):
        word = view.freshness(series, view.version, None, today)
        last = view.newest_period(series, view.version, None)
        feed_of.setdefault(series.source.id, Feed()).count(series.spec, word)
        if last is not None:
            newest[series.source.id] = max(newest.get(series.source.id, last), last)
        if word == "stale" and not series.spec.discontinued:
            stale(series, last)
    # The result of an attempt says more than the start of a run.
    asked, waiting = payloads.begun(view) | payloads.tried(view), schedule.read(view)
    every = sorted(view.directory.sources.values(), key=lambda source: source.id)
    return [
        SourceVitals(
            source=source,
            health=health(source, asked.get(source.id, Tried()), feed_of.get(source.id, Feed()), now),
            tried=asked.get(source.id, Tried()),
            feed=feed_of.get(source.id, Feed()),
            turn=waiting[source.id].turn if source.id in waiting else Turn(),
            newest=end_of_day(end_of(newest[source.id])) if source.id in newest else None,
        )
        for source in every
        if source.connector
    ]


def room(settings: Settings) -> Room:
    """Measure the disk space. A missing file counts zero bytes, and a missing folder as the one above it."""
    places = {"data": settings.data_place, "accounts": settings.accounts_place}
    files = {name: path for name, path in places.items() if isinstance(path, Path)}
    used = {name: shutil.disk_usage(path) for name, path in _disks(settings).items()}
    return Room(
        databases={name: _bytes(path) for name, path in files.items()},
        logs={name: _bytes(path.with_name(f"{path.name}-wal")) for name, path in files.items()},
        free={name: disk.free for name, disk in used.items()},
        total={name: disk.total for name, disk in used.items()},
    )


def _disks(settings: Settings) -> dict[str, Path]:
    folders = {"home": settings.home}
    if isinstance(settings.data_place, Path):
        folders["data"] = settings.data_place.parent
    if settings.raw_path is not None:
        folders["raw"] = settings.raw_path
    disks: dict[int, tuple[str, Path]] = {}
    for name, path in folders.items():
        path = path.resolve()
        there = next(parent for parent in (path, *path.parents) if parent.exists())
        disks.setdefault(there.stat().st_dev, (name, there))
    return dict(disks.values())


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


# -- the report of `almanac status` ----------------------------------------------------------------------------------------


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
        version, epoch, reference = (meta(db, key) or "" for key in ("version", "epoch", "reference"))
        every = sources(View(db, int(version), epoch, MetadataCache(db, int(reference)), {}), now, note)
        counted = by_source(db)
        return Status(
            coverage=coverage(db),
            sources=[_health(one, now, counted) for one in every],
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


def _health(state: SourceVitals, now: int, counted: Mapping[str, Figures]) -> SourceHealth:
    cadence, tried = state.source.cadence, state.tried
    due = None if cadence is None else state.turn.due_at(Cadence(cadence), now)
    times = (tried.last_attempt, tried.last_success, tried.last_ingested, due)
    attempt, success, ingested, next_due = (None if at is None else wire_time(at) for at in times)
    return SourceHealth(
        id=state.source.id,
        health=state.health.word,
        reason=state.health.reason,
        last_attempt_at=attempt,
        last_success_at=success,
        last_ingested_at=ingested,
        next_due_at=next_due,
        series=counted[state.source.id].series if state.source.id in counted else 0,
        judged_series=state.feed.series,
        stale_series=state.feed.stale,
        unreadable=tried.unreadable,
        last_error=tried.last_error,
    )


# -- the check of monitoring plug-ins -----------------------------------------------------------------------------------


class Finding(NamedTuple):
    """An exit code (0 OK, 1 WARNING, 2 CRITICAL) and the line to print."""

    code: int
    line: str


def checkup(state: Vitals, room: Room, now: int) -> Finding:
    """
    Judge the state of the service at `now` (unix seconds).

    Critical: almost no disk space, or every source that was ever asked is failing. Warning: a source is failing or
    late, a response cannot be read, disk space is scarce, or the database's log was not truncated.
    """
    words: Counter[str] = Counter(source.health.word for source in state.sources)
    asked = sum(words.values()) - words["never_run"]
    free = {name: room.free[name] / max(room.total[name], 1) for name in room.free}
    critical = [f"{share:.1%} of the disk of {name} is free" for name, share in free.items() if share < _GONE]
    if asked and words["failing"] == asked:
        critical.append("every source that was asked is failing")
    warning = [f"{share:.1%} of the disk of {name} is free" for name, share in free.items() if _GONE <= share < _SCARCE]
    for word in ("failing", "late"):
        names = [source.source.id for source in state.sources if source.health.word == word]
        warning += [f"{word}: {', '.join(names)}"] if names else []
    if state.quarantined:
        warning.append(f"{state.quarantined.total()} responses cannot be read")
    log = room.logs.get("data", 0)  # a server looks after its own
    if log > _LONG_LOG:
        warning.append(f"the database's log has {log >> 20} MiB")
    reasons = critical + warning
    code = 2 if critical else 1 if warning else 0
    summary = "; ".join(reasons) or f"{words['ok']} sources ok, data version {state.version}"
    return Finding(code, f"{('OK', 'WARNING', 'CRITICAL')[code]} - {summary} | {_figures(state, words, room, now)}")


def failed(reason: str) -> Finding:
    """Build the critical finding for a check that could not be made."""
    return Finding(2, f"CRITICAL - {' '.join(reason.split()).replace('|', '/')}")


def _figures(state: Vitals, words: Counter[str], room: Room, now: int) -> str:
    """Format performance data by the Monitoring Plugins guidelines: label=value[unit];warn;crit;min;max."""
    age = None if state.version_at is None else max(0, now - state.version_at)
    parts = [
        *(f"{word}={words[word]};;;0" for word in ("ok", "late", "failing", "never_run")),
        f"quarantined={state.quarantined.total()};;;0",
        f"version={state.version};;;0",
        *([] if age is None else [f"version_age={age}s;;;0"]),
        *(f"data={room.databases[name]}B;;;0" for name in room.databases if name == "data"),
        *(f"log={room.logs[name]}B;{_LONG_LOG};;0" for name in room.logs if name == "data"),
        *(
            f"free_{name}={free}B;{int(total * _SCARCE)}:;{int(total * _GONE)}:;0;{total}"
            for (name, free), total in zip(room.free.items(), room.total.values(), strict=True)
        ),
    ]
    return " ".join(parts)
