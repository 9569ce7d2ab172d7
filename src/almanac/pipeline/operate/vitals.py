"""The service's state in figures for monitoring: sources, data version and disk space."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from almanac.config import Settings
from almanac.domain.cadence import Turn
from almanac.domain.health import Feed, Health, Tried, health
from almanac.domain.periods import end_of
from almanac.domain.reference import Source
from almanac.domain.times import end_of_day
from almanac.store.log import payloads, schedule
from almanac.store.observations.reading.metadata import SeriesInfo
from almanac.store.observations.reading.reader import View
from almanac.store.summary import feeds
from almanac.store.summary.coverage import written_at


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
    found: dict[str, Feed] = {}
    newest = feeds.newest_of_companies(view)
    for series in feeds.observed(view):
        word = view.freshness(series, view.version, None, today)
        last = view.newest_period(series, view.version, None)
        found.setdefault(series.source.id, Feed()).count(series.spec, word)
        if last is not None:
            newest[series.source.id] = max(newest.get(series.source.id, last), last)
        if word == "stale" and not series.spec.discontinued:
            stale(series, last)
    # The result of an attempt says more than the start of a run.
    asked, waiting = feeds.begun(view) | feeds.tried(view), schedule.read(view)
    every = sorted(view.directory.sources.values(), key=lambda source: source.id)
    return [
        SourceVitals(
            source=source,
            health=health(source, asked.get(source.id, Tried()), found.get(source.id, Feed()), now),
            tried=asked.get(source.id, Tried()),
            feed=found.get(source.id, Feed()),
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
        free={name: one.free for name, one in used.items()},
        total={name: one.total for name, one in used.items()},
    )


def _disks(settings: Settings) -> dict[str, Path]:
    folders = {"home": settings.home}
    if isinstance(settings.data_place, Path):
        folders["data"] = settings.data_place.parent
    if settings.raw_path is not None:
        folders["raw"] = settings.raw_path
    found: dict[int, tuple[str, Path]] = {}
    for name, path in folders.items():
        there = _there(path)
        found.setdefault(there.stat().st_dev, (name, there))
    return dict(found.values())


def _there(path: Path) -> Path:
    path = path.resolve()
    return next(one for one in (path, *path.parents) if one.exists())


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
