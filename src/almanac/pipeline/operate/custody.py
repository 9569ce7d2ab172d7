"""
Checks of raw payloads and of what the database records of them, shared by `almanac verify` and `almanac backup
--verify`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from almanac.domain.progress import Meter, unmetered
from almanac.store.log.payloads import PayloadRow
from almanac.store.raw.captures import Capture, Corrupt, RawStore

#: Fields that a payload row repeats from its capture.
_REPEATED = ("source", "url", "sha256", "media_type", "bytes", "fetched_at", "ingested_at")


def flaws(raw: RawStore, found: dict[str, Capture], meter: Meter = unmetered) -> Iterator[str]:
    """Read all files of the raw store and yield the faults found. Captures are added to `found`, by id."""
    for looked in raw.checked(meter=meter):
        if looked.capture is not None:
            found[looked.capture.id] = looked.capture
        if looked.flaw is not None:
            yield f"raw store: {looked.flaw.name}: {looked.flaw.reason}"


def problems(rows: Iterable[PayloadRow], raw: RawStore, found: Mapping[str, Capture]) -> Iterator[str]:
    """
    Compare each payload row with its capture and yield the differences. A capture missing from `found` is looked up,
    because it may be newer.

    A capture without a row is left by a killed run, and the next run folds it. An unreadable capture is reported by
    `flaws`.
    """
    for row in rows:
        try:
            capture = found.get(row.capture) or raw.capture(row.source, row.capture)
        except Corrupt:
            continue
        if capture is None:
            yield f"payload {row.number} ({row.url}): the raw store has no capture {row.capture}"
            continue
        for name in _REPEATED:
            held, kept = getattr(row, name), getattr(capture, name)
            if held != kept:
                yield f"payload {row.number} ({row.url}): {name} is {held!r}, its capture says {kept!r}"
