"""Release calendars, read and written, and the vintages from which releases are derived."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from operator import itemgetter
from typing import Any

import msgspec

from almanac.domain.events import EventState
from almanac.domain.releases import HeadlineVintage, ReleaseCalendarEntry
from almanac.store.engine.protocol import Database, Queryable
from almanac.store.engine.sql_compat import in_list
from almanac.store.engine.sqlite import OPEN
from almanac.store.events.events import KNOWN, Walk, Wanted, cut_page
from almanac.store.log.payloads import PayloadRow
from almanac.store.observations.ids import found_by
from almanac.store.observations.reading.reader import View


def put_entries(db: Database, row: PayloadRow, entries: Iterable[tuple[str, ReleaseCalendarEntry]]) -> None:
    """
    Store a payload's calendar entries, each with its release. Of several with one knowledge time the later payload
    wins.
    """
    times = row.ingested_at, row.fetched_at, row.sha256
    db.executemany(
        "INSERT INTO calendar_entry VALUES(?, ?, ?, ?, ?, ?, ?) ON CONFLICT(source, native, uid, known_at)"
        " DO UPDATE SET fetched_at = excluded.fetched_at, sha256 = excluded.sha256, body = excluded.body"
        " WHERE (excluded.fetched_at, excluded.sha256) > (calendar_entry.fetched_at, calendar_entry.sha256)",
        [(row.source, native, entry.uid, *times, msgspec.json.encode(entry).decode()) for native, entry in entries],
    )


def entries(db: Database, source: str, native: str) -> list[tuple[int, ReleaseCalendarEntry]]:
    """Return all states of the entries of a release with their knowledge times, sorted by uid, then knowledge time."""
    found = db.execute(
        "SELECT known_at, body FROM calendar_entry WHERE source = ? AND native = ? ORDER BY uid, known_at",
        (source, native),
    )
    return [(known, msgspec.json.decode(body, type=ReleaseCalendarEntry)) for known, body in found]


def natives(db: Database, source: str) -> list[str]:
    """Return the names of the releases in a source's calendar, in byte order."""
    found = db.execute("SELECT DISTINCT native FROM calendar_entry WHERE source = ? ORDER BY native", (source,))
    return [row[0] for row in found]


def days(db: Database, source: str, native: str) -> list[tuple[int, int]]:
    """Return a release's days (ordinals) and when each became known, sorted by the latter."""
    sql = "SELECT day, known_at FROM release_date WHERE source = ? AND native = ? ORDER BY known_at, day"
    return [(row[0], row[1]) for row in db.execute(sql, (source, native))]


def stated(db: Database, series: str) -> list[HeadlineVintage]:
    """Return the open vintages of a series, by period and knowledge time. An unknown series has none."""
    found = db.execute(
        "SELECT v.period, v.known_at, v.released_at, v.flags, v.value FROM series s CROSS JOIN vintages v"
        f" ON v.topic = s.topic AND v.series = s.series WHERE s.hash = ? AND s.id = ? AND v.to_version = {OPEN} ORDER BY v.period, v.known_at",
        found_by(series),
    )
    return list(map(HeadlineVintage._make, found))


def messages(db: Database, series: str) -> dict[int, str]:
    """
    Return the publication time that messages state, by knowledge time, for a series and all its direct and indirect
    inputs.

    It is the `publishedAt` of the newest message then read, a day or an instant in UTC.
    """
    found: dict[int, str] = {}
    waiting, seen = [series], {series}
    while waiting:
        one = waiting.pop()
        for known, body in db.execute(_MESSAGES, found_by(one)):
            told = json.loads(body).get("publishedAt")
            if told is not None:
                found[known] = max(told, found.get(known, told))
        inputs = {name for (body,) in db.execute(_INPUTS, found_by(one)) for name in json.loads(body)}
        waiting += sorted(inputs - seen)
        seen |= inputs
    return found


_MESSAGES = (
    "SELECT DISTINCT v.known_at, n.body FROM series s CROSS JOIN vintages v ON v.topic = s.topic AND v.series = s.series"
    f" JOIN note n ON n.note = v.note WHERE s.hash = ? AND s.id = ? AND v.to_version = {OPEN}"
)
_INPUTS = (
    "SELECT l.inputs FROM series s JOIN lineage l ON l.lineage = s.lineage WHERE s.hash = ?1 AND s.id = ?2"
    " UNION SELECT l.inputs FROM series s CROSS JOIN vintages v ON v.topic = s.topic AND v.series = s.series"
    f" JOIN lineage l ON l.lineage = v.lineage WHERE s.hash = ?1 AND s.id = ?2 AND v.to_version = {OPEN}"
)

#: Period, knowledge time, value, flags and lineage of a vintage.
KnownVintage = tuple[int, int, float | None, int, int]


def known(db: View, asked: Sequence[tuple[int, int, int, int]], version: int, by: int) -> list[list[KnownVintage]]:
    """
    Return the vintages of several series that were open at a version and known at `by`, each sorted by period and knowledge
    time. Each item of `asked` is topic, series, first and last period key, inclusive.
    """
    found: list[list[KnownVintage]] = [[] for _ in asked]
    for place, *row in db.seek(_KNOWN_EACH, [(place, *one, version, by) for place, one in enumerate(asked)]):
        found[place].append((row[0], row[1], row[2], row[3], row[4]))
    for rows in found:
        rows.sort(key=_BY_PERIOD)
    return found


#: A series has only one value for a period and knowledge time.
_BY_PERIOD = itemgetter(0, 1)
_KNOWN_EACH = (
    "SELECT k.column1, x.period, x.known_at, x.value, x.flags, x.lineage FROM {keys}vintages x WHERE x.topic = k.column2"
    " AND x.series = k.column3 AND x.period BETWEEN k.column4 AND k.column5 AND x.from_version <= k.column6"
    " AND x.to_version > k.column6 AND x.known_at <= k.column7"
)


def events_of(db: Database, source: str | None, kind: str, country: str) -> list[str]:
    """Return the ids of a source's events (None: any source) of a type about a country."""
    sql = f"SELECT DISTINCT event FROM event WHERE country = ?1 AND source = coalesce(?2, source) AND type = ?3 AND to_version = {OPEN}"
    return [row[0] for row in db.execute(sql, (country, source, kind))]


def sources_of(db: Database, indicator: str, entity: str) -> list[str]:
    """Return the sources that have vintages of an indicator for an entity."""
    found = db.execute(
        "SELECT DISTINCT s.source FROM topic t JOIN series s USING(topic)"
        " WHERE t.indicator = ? AND t.entity = ? AND s.vintages > 0",
        (indicator, entity),
    )
    return [row[0] for row in found]


def series_of(db: Database, indicators: Iterable[str]) -> list[str]:
    """Return the ids of the series of these indicators that have vintages."""
    named = sorted(indicators)
    found = db.execute(
        f"SELECT s.id FROM topic t JOIN series s USING(topic) WHERE {in_list('t.indicator', named)} AND s.vintages > 0",
        named,
    )
    return [row[0] for row in found]


def page(
    db: Queryable,
    *,
    types: Collection[str] | None,
    countries: Collection[str] | None,
    span: tuple[int | None, int | None],
    version: int,
    known_by: int,
    descending: bool,
    after: Sequence[Any] | None,
    limit: int,
) -> tuple[list[EventState], list[Any] | None]:
    """
    Return a page of releases that were out by a moment, sorted by (occurred_at, event), and the key to continue after
    (None at the end).

    `types` and `countries` are unrestricted if None. `span` holds the bounds of `occurred_at`, inclusive.
    """
    if (types is not None and not types) or (countries is not None and not countries):
        return [], None
    # A single country has its own index, because most releases are of others.
    alone = countries is not None and len(countries) == 1
    hint = f" INDEXED BY {'event_country' if alone else 'event_out'}"
    walk = Walk((KNOWN, _OUT), (version, known_by), descending, limit, hint)
    for column, named in (("type", types), ("country", countries)):
        if named is not None:
            walk = walk.test(in_list(f"x.{column}", named), *sorted(named))
    walk = walk.within(Wanted(occurred_from=span[0], occurred_to=span[1]))
    if after is not None:
        walk = walk.test(f"(x.occurred_at, x.event) {'<' if descending else '>'} (?, ?)", *after)
    return cut_page(walk.rows(db), limit)


#: What the index `event_out` holds.
_OUT = "x.category = 'macro_release' AND x.status IN ('released', 'revised') AND x.period IS NOT NULL"
