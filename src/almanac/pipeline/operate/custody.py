"""
Raw payloads and what the database says of them, in one routine: for `almanac verify` and
`almanac backup --verify`, so that both find the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from almanac.domain.progress import Meter, unmetered
from almanac.store.log.payloads import PayloadRow
from almanac.store.raw.captures import Capture, Corrupt, RawStore

#: What a payload row repeats of its capture.
_REPEATED = ("source", "url", "sha256", "media_type", "bytes", "fetched_at", "ingested_at")


def flaws(raw: RawStore, found: dict[str, Capture], meter: Meter = unmetered) -> Iterator[str]:
    """What is wrong with the raw store's own files. All are read; `found` grows by the captures, by id."""
    for looked in raw.checked(meter=meter):
        if looked.capture is not None:
            found[looked.capture.id] = looked.capture
        if looked.flaw is not None:
            yield f"raw store: {looked.flaw.name}: {looked.flaw.reason}"


def problems(rows: Iterable[PayloadRow], raw: RawStore, found: Mapping[str, Capture]) -> Iterator[str]:
    """
    Each payload row against its capture, which is looked for where it was not found before: it may have come since.

    A capture without a row is what a kill leaves: the next run folds it. One that cannot be read is among the `flaws`.
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
