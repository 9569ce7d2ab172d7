"""The data database's own list of payloads and runs, with the outcome of every kept response and of each source."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from almanac.domain.health import Tried
from almanac.domain.plain_text import kept as kept_text
from almanac.domain.times import DAY_SECONDS
from almanac.store.engine.protocol import Database, Queryable
from almanac.store.engine.sql_compat import greatest, next_id
from almanac.store.raw.captures import Capture

#: States a kept payload can be in.
FOLDED, IGNORED, QUARANTINED = "folded", "ignored", "quarantined"
#: Prefix of the reason of quarantined payloads that are readable but would withdraw much.
HELD = "shrunk: "
#: Characters kept of a reason and of a stated media type.
_TOLD = 1_000
#: Kinds of unread names in payloads that were read.
UNKNOWN, MISSING = "unknown", "missing"


class PayloadRef(NamedTuple):
    """A kept payload as the writer knows it. `order` is the key by which payloads are folded."""

    number: int
    ingested_at: int
    order: tuple[int, str]


class PayloadRow(NamedTuple):
    """A kept payload and its outcome."""

    number: int
    capture: str
    source: str
    url: str
    sha256: str
    media_type: str
    bytes: int
    fetched_at: int
    ingested_at: int
    run: str
    state: str
    reason: str | None

    @property
    def kept(self) -> Capture:
        """The capture it came from, with the fields that the database keeps."""
        times = self.fetched_at, self.ingested_at
        return Capture(self.capture, self.source, self.url, self.sha256, *times, self.media_type, self.bytes)

    @property
    def ref(self) -> PayloadRef:
        return PayloadRef(self.number, self.ingested_at, (self.fetched_at, self.sha256))

    @property
    def held(self) -> bool:
        """True if it is in quarantine because of what it would withdraw."""
        return self.state == QUARANTINED and (self.reason or "").startswith(HELD)


_NAMES = "payload, capture, source, url, sha256, media_type, bytes, fetched_at, ingested_at, run, state, reason"
_COLUMNS = f"{_NAMES} FROM payload"


def find(db: Database, capture: str) -> PayloadRow | None:
    row = db.execute(f"SELECT {_COLUMNS} WHERE capture = ?", (capture,)).fetchone()
    return PayloadRow(*row) if row else None


def by_number(db: Queryable, number: int) -> PayloadRow | None:
    row = db.execute(f"SELECT {_COLUMNS} WHERE payload = ?", (number,)).fetchone()
    return PayloadRow(*row) if row else None


def folded(db: Queryable) -> set[int]:
    """Return the numbers of the folded payloads."""
    return {number for (number,) in db.execute("SELECT payload FROM payload WHERE state = ?", (FOLDED,))}


def quarantined(db: Queryable) -> list[PayloadRow]:
    """Return the quarantined payloads, by source, address and time."""
    sql = f"SELECT {_COLUMNS} WHERE state = ? ORDER BY source, url, fetched_at"
    return [PayloadRow(*row) for row in db.execute(sql, (QUARANTINED,))]


def every(db: Queryable, after: int = 0, limit: int = 2_147_483_647) -> list[PayloadRow]:
    """Return payloads in any state, sorted by number, after the number `after`."""
    sql = f"SELECT {_COLUMNS} WHERE payload > ? ORDER BY payload LIMIT ?"
    return [PayloadRow(*row) for row in db.execute(sql, (after, limit))]


def put(db: Database, capture: Capture, run: str, state: str, reason: str | None = None) -> PayloadRow:
    """Insert a capture, or update its outcome. Returns its row."""
    row = db.execute(
        f"INSERT INTO payload VALUES({next_id('payload', 'payload')}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT(capture) DO UPDATE SET run = excluded.run, state = excluded.state, reason = excluded.reason"
        f" RETURNING {_NAMES}",
        (
            capture.id, capture.source, capture.url, capture.sha256, kept_text(capture.media_type, _TOLD), capture.bytes,
            capture.fetched_at, capture.ingested_at, run, state, None if reason is None else kept_text(reason, _TOLD),
        ),
    ).get  # fmt: skip
    return PayloadRow._make(row)


def newest(db: Queryable, source: str) -> tuple[int | None, int | None]:
    """Return the newest knowledge time of a source's payloads, and of all payloads (unix seconds, None if there are none)."""
    sql = "SELECT max(CASE WHEN source = ? THEN ingested_at END), max(ingested_at) FROM payload"
    of_source, of_all = db.execute(sql, (source,)).fetchone() or (None, None)
    return of_source, of_all


def judge(db: Database, number: int, state: str, reason: str | None) -> None:
    """Set the outcome of a payload."""
    told = None if reason is None else kept_text(reason, _TOLD)
    db.execute("UPDATE payload SET state = ?, reason = ? WHERE payload = ?", (state, told, number))


def spoken(db: Queryable, source: str) -> list[tuple[int, int]]:
    """Return pairs of numbers (series, payload): the payloads of a source that contained each series."""
    sql = (
        "SELECT p.series, p.payload FROM series s CROSS JOIN series_payload p ON p.series = s.series WHERE s.source = ?"
    )
    return [(series, payload) for series, payload in db.execute(sql, (source,))]


def start_run(db: Database, run: str, source: str, connector: str, version: int, now: int) -> None:
    db.execute("INSERT INTO run VALUES(?, ?, ?, ?, ?, NULL, NULL)", (run, source, connector, version, now))


def finish_run(db: Database, run: str, outcome: str, now: int) -> None:
    db.execute("UPDATE run SET finished_at = ?, outcome = ? WHERE run = ?", (now, outcome, run))


def note_attempt(
    db: Database,
    source: str,
    now: int,
    *,
    succeeded: bool,
    kept: bool,
    error: str | None,
    fetched_at: int | None = None,
) -> bool:
    """
    Record an attempt in a source's health: when it was last tried, last answered, and last brought something new.

    `fetched_at` is the time of the newest answer, even if it equals the one before. Returns whether that is of a later
    UTC day than the one recorded.
    """
    db.execute("INSERT INTO source_state VALUES(?, NULL, NULL, NULL, 0, NULL, NULL) ON CONFLICT DO NOTHING", (source,))
    held: int | None = db.execute("SELECT fetched_at FROM source_state WHERE source = ?", (source,)).get
    db.execute(
        "UPDATE source_state SET last_attempt_at = ?1, last_error = ?2,"
        " last_success_at = CASE WHEN ?3 = 1 THEN ?1 ELSE last_success_at END,"
        " last_ingested_at = CASE WHEN ?4 = 1 THEN ?1 ELSE last_ingested_at END,"
        " failures = CASE WHEN ?3 = 1 THEN 0 ELSE failures + 1 END,"
        " fetched_at = CASE WHEN fetched_at > ?6 THEN fetched_at ELSE coalesce(?6, fetched_at) END WHERE source = ?5",
        (now, None if error is None else kept_text(error, _TOLD), succeeded, kept, source, fetched_at),
    )
    return fetched_at is not None and (held is None or fetched_at // DAY_SECONDS > held // DAY_SECONDS)


def is_well(db: Queryable, source: str) -> bool:
    """Return whether a source's last attempt succeeded."""
    told = "SELECT 1 FROM source_state WHERE source = ? AND last_success_at IS NOT NULL AND last_error IS NULL"
    return bool(db.execute(told, (source,)).get)


def was_tried(db: Queryable, source: str) -> bool:
    """Return whether a source was ever asked."""
    return bool(db.execute("SELECT 1 FROM source_state WHERE source = ?", (source,)).get)


class UnmappedRow(NamedTuple):
    """A native series without a mapping in the catalogue, and the most rows that one payload had of it."""

    source: str
    native: str
    rows: int


def unmapped(db: Queryable) -> list[UnmappedRow]:
    """Return the native series without a mapping, by source and native id."""
    return [
        UnmappedRow(*row) for row in db.execute("SELECT source, native, rows FROM unmapped ORDER BY source, native")
    ]


def note_unmapped(db: Database, source: str, native: str, rows: int, now: int) -> None:
    """Record a native series without a mapping, keeping the highest row count."""
    db.execute(
        "INSERT INTO unmapped VALUES(?1, ?2, ?3, ?4)"
        f" ON CONFLICT(source, native) DO UPDATE SET rows = {greatest('unmapped.rows', 'excluded.rows')}, seen_at = excluded.seen_at",
        (source, native, rows, now),
    )


class UnreadRow(NamedTuple):
    """
    A name that the reader doesn't know, with the most times one payload had it, or a mapped series that was
    missing (0 times).
    """

    source: str
    kind: str
    name: str
    met: int
    seen_at: int


def unread(db: Queryable) -> list[UnreadRow]:
    """Return the unread parts of folded payloads, by source, kind and name."""
    return [
        UnreadRow(*row) for row in db.execute("SELECT source, kind, name, met, seen_at FROM unread ORDER BY 1, 2, 3")
    ]


def note_unread(db: Database, row: PayloadRow, unknown: Mapping[str, int], missing: Collection[str]) -> None:
    """Record the unknown names and missing series of a payload that was read."""
    found = [(UNKNOWN, name, met) for name, met in unknown.items()] + [(MISSING, name, 0) for name in missing]
    db.executemany(
        "INSERT INTO unread VALUES(?, ?, ?, ?, ?) ON CONFLICT(source, kind, name) DO UPDATE SET"
        f" met = {greatest('unread.met', 'excluded.met')}, seen_at = {greatest('unread.seen_at', 'excluded.seen_at')}",
        [(row.source, kind, name, met, row.ingested_at) for kind, name, met in found],
    )


def note_read(db: Database, row: PayloadRow, natives: Iterable[str]) -> None:
    """Remove native series that a payload had from the missing ones, unless a later payload lacked them."""
    db.executemany(
        f"DELETE FROM unread WHERE source = ? AND kind = '{MISSING}' AND name = ? AND seen_at <= ?",
        [(row.source, native, row.ingested_at) for native in natives],
    )


def note_release_date(db: Database, source: str, native: str, day: int, payload: PayloadRef) -> None:
    """Record the date of a release (a proleptic ordinal). It is known from the first payload that stated it."""
    db.execute(
        "INSERT INTO release_date VALUES(?, ?, ?, ?, ?)"
        " ON CONFLICT(source, native, day) DO UPDATE SET known_at = excluded.known_at, payload = excluded.payload"
        " WHERE excluded.known_at < release_date.known_at",
        (source, native, day, payload.ingested_at, payload.number),
    )


class RunRow(NamedTuple):
    """
    One run of a connector. Times are unix seconds. `finished_at` and `outcome` are None while it runs, or if it was
    killed.
    """

    run: str
    source: str
    connector: str
    version: int
    started_at: int
    finished_at: int | None
    outcome: str | None


def runs(db: Queryable, limit: int, *, source: str | None = None, before: int | None = None) -> list[RunRow]:
    """Return the latest runs, newest first, optionally of one source or started before a moment (unix seconds)."""
    sql = (
        "SELECT run, source, connector, connector_version, started_at, finished_at, outcome FROM run"
        " WHERE source = coalesce(?1, source) AND started_at < coalesce(?2, started_at + 1)"
        " ORDER BY started_at DESC, source, run LIMIT ?3"
    )
    return [RunRow(*row) for row in db.execute(sql, (source, before, limit))]


def tried(db: Queryable) -> dict[str, Tried]:
    """Return the outcome of each source's runs, by source. A source that was never asked is absent."""
    unreadable = {source: (count, held) for source, count, held in db.execute(_UNREADABLE)}
    rows = db.execute(
        "SELECT source, last_attempt_at, last_success_at, last_ingested_at, failures, last_error FROM source_state",
    )
    return {
        source: Tried(attempt, success, ingested, failures, error, *unreadable.get(source, (0, 0)))
        for source, attempt, success, ingested, failures, error in rows
    }


def begun(db: Queryable) -> dict[str, Tried]:
    """Return the sources whose newest run has no end, for operators' views. It reads the whole log of runs."""
    return {source: Tried(unended=began) for source, began in db.execute(_UNENDED)}


_UNREADABLE = (
    f"SELECT source, count(DISTINCT url), count(DISTINCT CASE WHEN substr(reason, 1, {len(HELD)}) = '{HELD}' THEN url END)"
    " FROM payload p WHERE state = 'quarantined' AND NOT EXISTS"
    " (SELECT 1 FROM payload q WHERE q.source = p.source AND q.state = 'folded' AND q.url = p.url"
    " AND (q.fetched_at, q.sha256) > (p.fetched_at, p.sha256)) GROUP BY source"
)
#: The newest run of each source, if it has no end.
_UNENDED = (
    "SELECT r.source, r.started_at FROM run r WHERE r.finished_at IS NULL AND NOT EXISTS"
    " (SELECT 1 FROM run q WHERE q.source = r.source AND q.started_at > r.started_at)"
)
