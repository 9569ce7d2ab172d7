"""Official events: writing and reading their states. A state that is replaced is closed, never lost."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, NamedTuple

import msgspec

from almanac.domain.companies import cik_of, is_company
from almanac.domain.events import EventState, settle
from almanac.domain.filings import page_of
from almanac.store.engine.data_schema import meta, set_meta
from almanac.store.engine.protocol import Database, Queryable
from almanac.store.engine.sql_compat import in_list
from almanac.store.engine.sqlite import OPEN


def body_of(entity: str | None, fields: Mapping[str, Any]) -> bytes:
    """
    Encode the fields of an entity's event that have no column of their own.

    A filing's address repeats its company and accession number, so only the document's name is stored.
    """
    folder, url = _folder(entity, fields), fields.get("url")
    if folder is not None and url is not None and url.startswith(folder):
        fields = {**fields, "url": None, "document": url.removeprefix(folder)}
    return msgspec.json.encode({name: value for name, value in fields.items() if value not in {None, ()}})


def fields_of(entity: str | None, stored: bytes) -> dict[str, Any]:
    """Decode the fields of a stored body."""
    fields: dict[str, Any] = msgspec.json.decode(stored)
    document = fields.pop("document", None)
    if document is not None:
        fields["url"] = f"{_folder(entity, fields)}{document}"
    fields["data"] = tuple(fields.get("data", ()))
    return fields


def _folder(entity: str | None, fields: Mapping[str, Any]) -> str | None:
    """Return the address of a filing's folder, or None for an event that isn't a company's filing."""
    accession = fields.get("accession")
    if entity is None or accession is None or not (is_company(entity) and entity.removeprefix("company_").isdigit()):
        return None
    return page_of(cik_of(entity), accession, "-")[:-1]


#: Fields with a column of their own; the others are in `body`.
_COLUMNS = (
    "event",
    "known_at",
    "occurred_at",
    "category",
    "type",
    "status",
    "source",
    "entity",
    "country",
    "indicator",
    "period",
)
_SELECTED = ", ".join(f"x.{name}" for name in (*_COLUMNS, "body"))
#: Key of the stored number of events, because counting them would read them all.
_COUNT = "events"
_BODY = tuple(name for name in EventState.__struct_fields__ if name not in _COLUMNS)


# -- writing --------------------------------------------------------------------------------------------------------------


def put(db: Database, version: int, states: Iterable[EventState]) -> bool:
    """
    Add states of events, in order of arrival, as part of a data version. Returns whether anything served changed.

    A state equal to the one known before it is not stored.
    """
    stated: dict[str, list[EventState]] = defaultdict(list)
    for state in states:
        stated[state.event].append(state)
    stored = _stored(db, stated)
    return replace(db, version, {event: settle([*stored[event], *new]) for event, new in stated.items()})


def replace(db: Database, version: int, target: Mapping[str, Sequence[EventState]]) -> bool:
    """Set the states of these events; an empty list removes them all. Returns whether anything served changed."""
    closed: list[tuple[str, int]] = []
    added: list[tuple[Any, ...]] = []
    more = 0
    stored = _stored(db, target)
    for event, after in target.items():
        before = stored[event]
        closed += [(event, state.known_at) for state in before if state not in after]
        added += [_row(state, version) for state in after if state not in before]
        more += bool(after) - bool(before)
    if closed:
        # A row made in this transaction was never visible to anyone.
        db.executemany(f"DELETE FROM event {_THIS} AND from_version = {version:d}", closed)
        db.executemany(f"UPDATE event SET to_version = {version:d} {_THIS} AND to_version = {OPEN}", closed)
    db.insert("event", added)
    if more:
        set_meta(db, _COUNT, str(count(db) + more))
    return bool(closed or added)


def count(db: Queryable) -> int:
    """Return the number of events."""
    return int(meta(db, _COUNT) or 0)


def read_states(db: Database, event: str) -> list[EventState]:
    """Return the open states of one event, ascending by knowledge time."""
    return _stored(db, [event])[event]


def _stored(db: Database, wanted: Iterable[str]) -> dict[str, list[EventState]]:
    """Return the open states of events, ascending by knowledge time, by event."""
    states: dict[str, list[EventState]] = {event: [] for event in wanted}
    for row in db.seek(_OPEN_STATES, [(event,) for event in states]):
        states[row[0]].append(_state(row))
    for several in states.values():
        several.sort(key=attrgetter("known_at"))
    return states


def _row(state: EventState, version: int) -> tuple[Any, ...]:
    body = body_of(state.entity, {name: getattr(state, name) for name in _BODY})
    return (state.event, state.known_at, version, OPEN, *(getattr(state, name) for name in _COLUMNS[2:]), body)


def _state(row: Sequence[Any]) -> EventState:
    held = dict(zip(_COLUMNS, row, strict=False))
    return EventState(**held, **fields_of(held["entity"], row[-1]))


_THIS = "WHERE event = ? AND known_at = ?"
_OPEN_STATES = f"SELECT {_SELECTED} FROM {{keys}}event x WHERE x.event = k.column1 AND x.to_version = {OPEN}"


# -- reading --------------------------------------------------------------------------------------------------------------


class Wanted(NamedTuple):
    """
    A filter for events. None means no restriction; an empty tuple or set matches nothing. Times are unix seconds,
    inclusive.
    """

    category: str | None = None
    types: tuple[str, ...] | None = None
    statuses: tuple[str, ...] | None = None
    indicators: tuple[str, ...] | None = None
    entities: tuple[str, ...] | None = None
    #: Entity ids of places: events of the place itself, and of companies that have their domicile there.
    countries: tuple[str, ...] | None = None
    sources: frozenset[str] | None = None
    occurred_from: int | None = None
    occurred_to: int | None = None

    def since(self, moment: int) -> Wanted:
        """Narrow the filter to events at or after a moment."""
        return self._replace(occurred_from=moment if self.occurred_from is None else max(moment, self.occurred_from))

    def until(self, moment: int) -> Wanted:
        """Narrow the filter to events at or before a moment."""
        return self._replace(occurred_to=moment if self.occurred_to is None else min(moment, self.occurred_to))


def page(
    db: Queryable,
    wanted: Wanted,
    *,
    version: int,
    known_by: int,
    descending: bool,
    after: Sequence[Any] | None,
    limit: int,
) -> tuple[list[EventState], list[Any] | None]:
    """
    Return a page of events sorted by (occurred_at, event), each in its latest state known at `known_by`, and the key to
    continue after (None at the end).

    Filters test that state, never an older one.
    """
    walk = Walk((KNOWN,), (version, known_by), descending, limit)
    if after is not None:
        walk = walk.test(f"(++x.occurred_at, x.event) {'<' if descending else '>'} (?, ?)", *after)
        # The bound at which the index starts; SQLite picks any one of several on a column.
        wanted = wanted.until(after[0]) if descending else wanted.since(after[0])
    rows = heapq.merge(*_walks(db, wanted, walk, known_by), key=_place, reverse=descending)
    return cut_page(islice(rows, limit + 1), limit)


def cut_page(rows: Iterable[Sequence[Any]], limit: int) -> tuple[list[EventState], list[Any] | None]:
    """Return the events of a page's rows, of which there is one too many if more follow, and the key to continue after."""
    states = list(map(_state, rows))
    if len(states) <= limit:
        return states, None
    last = states[limit - 1]
    return states[:limit], [last.occurred_at, last.event]


def coming(
    db: Queryable,
    country: str,
    since: int,
    *,
    categories: Iterable[str],
    statuses: Iterable[str],
    version: int,
    known_by: int,
    limit: int,
) -> list[EventState]:
    """
    Return the next events of a country or region itself, not of its companies, at or after `since` (unix seconds),
    soonest first.

    Each is in its latest state known at `known_by`, as in `page`, but it takes only one walk.
    """
    walk = Walk((KNOWN,), (version, known_by), descending=False, limit=limit)
    walk = walk.test("x.country = ? AND x.occurred_at >= ?", country, since)
    walk = walk.test("(x.entity IS NULL OR x.entity = x.country)")
    walk = walk.among("x.category", categories).among("x.status", statuses)
    return [_state(row) for row in walk.rows(db)[:limit]]


def _place(row: Sequence[Any]) -> tuple[Any, Any]:
    return row[_OCCURRED], row[0]


class Walk(NamedTuple):
    """One ordered walk over events: its conditions and, in the same order, their values; `hint`: which index to use."""

    where: tuple[str, ...]
    values: tuple[Any, ...]
    descending: bool
    limit: int
    hint: str = ""

    def test(self, condition: str, *values: Any) -> Walk:
        """Add one condition."""
        return self._replace(where=(*self.where, condition), values=(*self.values, *values))

    def within(self, wanted: Wanted) -> Walk:
        """Add the filter's time bounds as conditions, at most one each way, so that the index can start and end there."""
        walk = self
        if wanted.occurred_from is not None:
            walk = walk.test("x.occurred_at >= ?", wanted.occurred_from)
        if wanted.occurred_to is not None:
            walk = walk.test("x.occurred_at <= ?", wanted.occurred_to)
        return walk

    def among(self, column: str, values: Iterable[Any] | None) -> Walk:
        """Add a condition on a column, written so that the column's index is not used."""
        if values is None:
            return self
        listed = sorted(values)
        return self.test(in_list(f"++{column}", listed), *listed)

    def rows(self, db: Queryable) -> list[tuple[Any, ...]]:
        """Read, in order, as many rows as a page can need."""
        way = "DESC" if self.descending else "ASC"
        sql = (
            f"SELECT {_SELECTED} FROM event x{self.hint} WHERE {' AND '.join(self.where)}"
            f" ORDER BY x.occurred_at {way}, x.event {way} LIMIT {self.limit + 1:d}"
        )
        return list(db.execute(sql, self.values))


def _walks(db: Queryable, wanted: Wanted, walk: Walk, known_by: int) -> Iterator[list[tuple[Any, ...]]]:
    """
    Yield ordered lists that together contain the wanted events, each read by the index of the most selective filter in
    use.

    Events after `known_by` were known before they happened, and an index holds just those. The rest is read from
    `known_by` backwards, however far.
    """
    filters: dict[str, Iterable[str] | None] = {
        "x.entity": wanted.entities,
        "x.indicator": wanted.indicators,
        "x.status": wanted.statuses,
        _PLACE: wanted.countries,
        "x.source": wanted.sources,
        "x.category": None if wanted.category is None else (wanted.category,),
    }
    walk = walk.among("x.type", wanted.types)
    lead = next((name for name, values in filters.items() if values is not None and (name, values) != _MOST), None)
    for name, values in filters.items():
        if name != lead:
            walk = walk.among(name, values)
    past = walk.within(wanted.until(known_by))
    ahead = walk.within(wanted.since(known_by + 1)).test("x.known_at < x.occurred_at")
    if lead is None:
        yield ahead.rows(db)
        yield past.rows(db)
        return
    yield ahead.among(lead, filters[lead]).rows(db)
    for value in sorted(filters[lead] or ()):
        if lead == _PLACE:
            yield past.test("x.country = ?", value).rows(db)
            yield from _domiciled(db, past.test("++x.country IS NULL"), value)
        else:
            # All states but the most common are indexed, in a partial index that this condition makes usable.
            more = " AND x.status <> 'released'" if lead == "x.status" and value not in _MOST[1] else ""
            yield past.test(f"{lead} = ?{more}", value).rows(db)


def _domiciled(db: Queryable, walk: Walk, country: str) -> Iterator[list[tuple[Any, ...]]]:
    """Yield events of companies domiciled in a country: company by company if there are few, or else in one walk by time."""
    few = [row[0] for row in db.execute(f"SELECT entity FROM company WHERE country = ? LIMIT {_FEW + 1}", (country,))]
    if len(few) > _FEW:
        yield walk.test("(SELECT c.country FROM company c WHERE c.entity = x.entity) = ?", country).rows(db)
    else:
        for entity in few:
            yield walk.test("x.entity = ?", entity).rows(db)


_OCCURRED = _COLUMNS.index("occurred_at")
#: The most common state, which has no index.
_MOST = ("x.status", ("released",))
#: Up to this many companies of a country are walked one by one. With more, a walk by time meets their events often enough.
_FEW = 60
#: Open at the version and known by then, without a later state of the event known by then.
KNOWN = (
    "x.from_version <= ?1 AND x.to_version > ?1 AND ++x.known_at <= ?2"
    " AND NOT EXISTS (SELECT 1 FROM event y WHERE y.event = x.event AND y.known_at > x.known_at AND y.known_at <= ?2"
    " AND y.from_version <= ?1 AND y.to_version > ?1)"
)
#: The place of an event: its own country, or else its company's domicile.
_PLACE = "coalesce(x.country, (SELECT c.country FROM company c WHERE c.entity = x.entity))"
