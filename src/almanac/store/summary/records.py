"""Reference records and orders of preference, written from the catalogue. A change of either makes a data version."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import msgspec

from almanac.store.engine.data_schema import set_meta
from almanac.store.engine.protocol import Database
from almanac.store.observations.writing.batch import Batch
from almanac.store.observations.writing.dependents import of_sources


def differs(
    db: Database, records: Mapping[str, Mapping[str, msgspec.Struct]], orders: Mapping[str, Sequence[str]]
) -> bool:
    """Return whether `sync` would change anything, so that readers are not disturbed if it wouldn't."""
    return bool(_records_to_write(db, records)) or bool(_orders_to_write(db, orders))


def sync(
    db: Database,
    batch: Batch,
    records: Mapping[str, Mapping[str, msgspec.Struct]],
    orders: Mapping[str, Sequence[str]],
) -> None:
    """
    Replace the store's reference records and orders of preference. `records` maps kind to id to record; ids absent from
    a kind are deleted.
    """
    wanted = _records_to_write(db, records)
    moved = _orders_to_write(db, orders)
    if not wanted and not moved:
        return
    batch.restate(of_sources(db, _restated(db, wanted)))
    for kind, identifier, body in wanted:
        if body is None:
            db.execute("DELETE FROM record WHERE kind = ? AND id = ?", (kind, identifier))
        else:
            db.execute(
                "INSERT INTO record VALUES(?, ?, ?) ON CONFLICT(kind, id) DO UPDATE SET body = excluded.body",
                (kind, identifier, body),
            )
    for indicator, sources in moved:
        db.execute(
            "INSERT INTO preference VALUES(?, ?, ?)"
            " ON CONFLICT(indicator, from_version) DO UPDATE SET sources = excluded.sources",
            (indicator, batch.version, sources),
        )
    set_meta(db, "reference", str(batch.version))
    batch.touch()


def _records_to_write(
    db: Database, records: Mapping[str, Mapping[str, msgspec.Struct]]
) -> list[tuple[str, str, str | None]]:
    found: list[tuple[str, str, str | None]] = []
    for kind, wanted in records.items():
        held: dict[str, str] = dict(db.execute("SELECT id, body FROM record WHERE kind = ?", (kind,)))
        for identifier, record in wanted.items():
            body = msgspec.json.encode(record).decode()
            if held.pop(identifier, None) != body:
                found.append((kind, identifier, body))
        found.extend((kind, identifier, None) for identifier in held)
    return found


def _restated(db: Database, wanted: Sequence[tuple[str, str, str | None]]) -> set[str]:
    """Return the sources whose rows change once these records are written, because of their rights, provider or page."""
    found: set[str] = set()
    for kind, identifier, body in wanted:
        if kind == "consent":
            found.add(identifier)
        elif kind == "source":
            held: str | None = db.execute("SELECT body FROM record WHERE kind = 'source' AND id = ?", (identifier,)).get
            if held is None or body is None or _shown(held) != _shown(body):
                found.add(identifier)
    return found


def _shown(body: str) -> list[object]:
    """Return the fields of a source's record that its rows show. The name occurs in the reason of withheld rows."""
    # Not decoded as a `Source`, because another version may have written the stored one.
    record = msgspec.json.decode(body)
    return [record.get(name) for name in ("rights", "provider", "homepage", "name", "simulated")]


def _orders_to_write(db: Database, orders: Mapping[str, Sequence[str]]) -> list[tuple[str, str]]:
    in_order = db.execute("SELECT indicator, sources FROM preference ORDER BY indicator, from_version")
    held: dict[str, str] = {indicator: sources for indicator, sources in in_order}  # noqa: C416  (a cursor is no iterable of pairs to `dict`)
    texts = {indicator: json.dumps(list(sources)) for indicator, sources in orders.items()}
    return [(indicator, text) for indicator, text in texts.items() if held.get(indicator) != text]
