"""
PostgreSQL through psycopg. This module is imported when a database of it is opened, for the driver is an extra.

Nothing is set for a session, and every statement that needs the one before it is in a transaction with it: so it works
behind a pooler that gives each transaction another connection.

Writers hold one advisory lock from the beginning of their transaction until it is committed. So they come one after the
other, each sees what the one before committed, and data versions become visible in order. The lock is one for each schema:
writers of the data and of the accounts do not wait for each other. The table `change_token` counts for each schema the
transactions that wrote something; by it a reader knows that nobody has.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper, NumericBinaryLoader

from almanac.store.engine import citus, data_schema, errors
from almanac.store.engine.deadline import Deadline, add_database_time, check_deadline, current_deadline
from almanac.store.engine.errors import DatabaseError, StoreError, UnavailableError, faults
from almanac.store.engine.protocol import Database

if TYPE_CHECKING:
    from almanac.store.engine.opening import Server

#: What libpq is told unless the address says otherwise: a host that has gone is noticed within ten seconds.
_PARAMETERS = {
    "application_name": "almanac", "client_encoding": "UTF8", "connect_timeout": "5", "tcp_user_timeout": "10000",
    "keepalives_idle": "5", "keepalives_interval": "2", "keepalives_count": "3",
}  # fmt: skip
#: The parameter of an address that says of a pooler that it gives each transaction another connection.
_POOLER = "pooler=transaction"
#: The name of the data among the schemas of a server.
DATA = "data"
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('almanac {} ' || current_schema(), 0))"
#: For a server that is set to answer before a commit is on its disk.
_DURABLE = "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';"
#: How long a server is tried to be told that a statement is to end, and how long until it is told again.
_CANCEL_SECONDS, _CANCEL_PAUSE = 5.0, 0.05
#: Rows fetched at a time by `scan`.
_ROWS_AT_ONCE = 1_000
#: By the first characters of SQLSTATE, the longest that fits.
_STATES: dict[type[DatabaseError], str] = {
    # The connection; read-only (a replica); not let in; no such database, schema, table; not allowed; shutting down.
    UnavailableError: "08 25006 28 3D 3F 42P01 42501 53 57 58",
    errors.BusyError: "40 55P03 55006",  # serialization, deadlock; a lock could not be had in time
    errors.ConflictError: "23 P0001",  # P0001: a trigger said no
    errors.UnfitError: "22 54000",  # a character or number that no column takes; a value too long for its index
    errors.FullError: "53100 53200",
    errors.StoppedError: "57014",
    errors.DamagedError: "XX001 XX002",
}
_ERRORS = {state: error for error, states in _STATES.items() for state in states.split()}


def _translate(error: BaseException) -> DatabaseError | None:
    if not isinstance(error, psycopg.Error):
        return None
    # The driver's own have no state: it cannot send a value, or has lost the connection.
    driver = {psycopg.DataError: "22", psycopg.OperationalError: "08", psycopg.InterfaceError: "08"}
    state = error.sqlstate or next((state for kind, state in driver.items() if isinstance(error, kind)), "")
    kind = _ERRORS.get(state) or _ERRORS.get(state[:2], DatabaseError)
    return kind(str(error).strip() or type(error).__name__)


errors.translators.append(_translate)


class Statement(NamedTuple):
    """A statement in PostgreSQL's words. `places`: which of the given values are `$1`, `$2`, …"""

    sql: str
    places: tuple[int, ...]
    reads: bool

    def bind(self, values: Sequence[Any]) -> Sequence[Any] | None:
        """Return the values that the statement mentions, in the order in which it does; None if it mentions none."""
        return [values[place] for place in self.places] or None


@lru_cache(maxsize=4_096)
def translate(sql: str, distributed: bool = False) -> Statement:
    """Write `?` and `?1` as `$1`, leave hints to SQLite's planner out, and read lists of numbers by PostgreSQL's function."""
    pieces = sql.split("'")  # every other one is a text
    numbers: dict[int, int] = {}
    for place in range(0, len(pieces), 2):
        plain, *hinted = pieces[place].split(" INDEXED BY ")
        plain = "".join([plain, *(" " + rest.partition(" ")[2] for rest in hinted)])
        plain = plain.replace("CROSS JOIN", "JOIN").replace("++", "").replace("json_each(", "json_array_elements_text(")
        plain, *marked = (citus.adapt(plain) if distributed else plain).split("?")
        for part in marked:
            rest = part.lstrip("0123456789")
            # A mark without a number has the next one.
            number = int(part[: len(part) - len(rest)] or max(numbers, default=0) + 1)
            plain += f"${numbers.setdefault(number, len(numbers) + 1)}{rest}"
        pieces[place] = plain
    text = "'".join(pieces)
    return Statement(text, tuple(number - 1 for number in numbers), text.split(None, 1)[0].upper() in _READING)


_READING = {"SELECT", "WITH", "VALUES", "EXPLAIN", "SHOW"}


class Rows(psycopg.RawCursor[Any]):
    """psycopg's cursor as the store's `Rows`."""

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        return iter(self.fetchall())  # much faster than row by row

    @property
    def get(self) -> Any:
        row = self.fetchone() if self.description else None
        return row if row is None or len(row) > 1 else row[0]


class _Number(NumericBinaryLoader):
    """Reads sums of whole numbers, which are of a type without bounds, as whole numbers."""

    def load(self, data: Any) -> Any:
        number = super().load(data)
        return int(number) if number == number.to_integral_value() else float(number)


class Link(psycopg.Connection[Any]):
    """psycopg's connection, closed without a warning when nobody holds it any more, as a file is: each thread has one."""

    def __del__(self, *_: Any) -> None:
        with contextlib.suppress(psycopg.Error, AttributeError):
            self.close()


def open_link(at: Server) -> psycopg.Connection[Any]:
    """
    Connect. Raises UnavailableError if the server cannot be reached, StoppedError if the deadline has passed.

    The address is never repeated in a message, for it has a password in it.
    """
    check_deadline()
    # Cut out as it stands: libpq reads an address by rules of its own, in which `+` is no space and a host may be left out.
    address, mark, query = at.url.partition("?")
    settings = query.split("&")
    plain = f"{address}{mark}{'&'.join(setting for setting in settings if setting != _POOLER)}"
    try:
        parameters: dict[str, Any] = {**_PARAMETERS, **conninfo_to_dict(plain)}
    except psycopg.Error:
        raise UnavailableError("the address of the database is none that PostgreSQL understands") from None
    deadline = current_deadline()
    if deadline is not None:
        parameters["connect_timeout"] = min(int(parameters["connect_timeout"]), math.ceil(deadline.left))
    # A pooler that gives each transaction another connection may not keep what is prepared.
    threshold = None if _POOLER in settings else 2
    link = Link.connect(**parameters, autocommit=True, prepare_threshold=threshold, cursor_factory=Rows)
    link.prepared_max = 500
    # Every number has one type whatever its size, so that a statement is prepared once; truth is a number, as in SQLite.
    for kind, dumper in itertools.product((int, bool), (Int8Dumper, Int8BinaryDumper)):
        link.adapters.register_dumper(kind, dumper)
    link.adapters.register_loader("numeric", _Number)
    return link


def _cancel(link: psycopg.Connection[Any], deadline: Deadline) -> None:
    """Have the server end the statement that runs, until it has: a word that comes before the statement ends nothing."""
    while deadline.interrupt is not None:
        with contextlib.suppress(psycopg.Error):
            link.cancel_safe(timeout=_CANCEL_SECONDS)
        time.sleep(_CANCEL_PAUSE)


class Connection(Database):
    """The engine's `Database` on PostgreSQL."""

    def __init__(
        self, opened: Callable[[], psycopg.Connection[Any]], area: str, *, busy_seconds: float, read_only: bool,
        durable: bool,
    ) -> None:  # fmt: skip
        self._open, self._area, self._read_only, self._durable = opened, area, read_only, durable
        self._busy = max(1, int(busy_seconds * 1000))
        self._token = f"SELECT n FROM change_token WHERE area = '{area}'"
        self._counted = f"UPDATE change_token SET n = n + 1 WHERE area = '{area}' AND pg_current_xact_id_if_assigned() IS NOT NULL RETURNING n"
        self._written = False
        #: Whether the tables are distributed by Citus, and the token up to which all machines were seen to be.
        self._distributed, self._complete = False, -1
        self._scans = itertools.count()
        self.link: Any = opened()
        self.closed = False

    # -- statements -------------------------------------------------------------------------------------------------

    @property
    def in_transaction(self) -> bool:
        """Return whether a transaction is open, for reading or writing."""
        return not self.link.closed and self.link.info.transaction_status != TransactionStatus.IDLE

    def _within(self, *, reads: bool = False) -> contextlib.AbstractContextManager[None]:
        """Return the transaction that is open, or one of its own; none for a statement that reads and has no deadline."""
        if self.in_transaction:
            return contextlib.nullcontext()
        if not reads:
            return self.transaction()
        if current_deadline() is not None:
            return self.snapshot()
        self._ready()
        return contextlib.nullcontext()

    def execute(self, sql: str, values: Sequence[Any] | None = None, /) -> Rows:
        statement = translate(sql, self._distributed)
        with self._within(reads=statement.reads):
            return self._run(statement, values or ())

    def _run(self, statement: Statement, values: Sequence[Any]) -> Rows:
        check_deadline()
        deadline, began = current_deadline(), time.perf_counter()
        if statement.reads:
            # No text that is stored has a NUL, so one that is none of them either finds the same: nothing.
            values = [value.replace("\0", "\U0010ffff") if isinstance(value, str) else value for value in values]
        try:
            if deadline is not None:
                # Whoever cancels may not wait for the server.
                deadline.interrupt = threading.Thread(target=_cancel, args=(self.link, deadline), daemon=True).start
                check_deadline()  # who cancelled before had nothing to interrupt
            rows: Rows = self.link.execute(statement.sql, statement.bind(values), binary=True)
            return rows
        finally:
            add_database_time(time.perf_counter() - began)
            if deadline is not None:
                deadline.interrupt = None
                if deadline.cancelled:  # a word that is still on its way to the server must not end another's statement
                    self.link.close()

    def _ask(self, sql: str) -> list[Any]:
        """Run a statement in PostgreSQL's own words and return its rows."""
        rows = self.link.execute(sql)
        return list(rows) if rows.description else []

    def _ready(self) -> None:
        """Connect again if the connection was lost; what was under way failed then, and nothing of it stays."""
        if self.link.closed and not self.closed:
            self.link = self._open()

    def scan(self, sql: str, values: Sequence[Any] | None = None, /) -> Iterator[Any]:
        if not self.in_transaction:
            return iter(self.execute(sql, values))
        statement, name = translate(sql, self._distributed), f"scan_{next(self._scans)}"
        self._run(statement._replace(sql=f"DECLARE {name} NO SCROLL CURSOR FOR {statement.sql}"), values or ())
        fetch = Statement(f"FETCH {_ROWS_AT_ONCE} FROM {name}", (), reads=True)
        return itertools.chain.from_iterable(iter(lambda: self._run(fetch, ()).fetchall(), []))

    def seek(self, sql: str, keys: Sequence[Sequence[Any]], /) -> Iterator[Any]:
        if not keys:
            return
        check_deadline()
        sql = sql.replace("{keys}", "")
        for number in range(len(keys[0]), 0, -1):
            sql = sql.replace(f"k.column{number}", f"?{number}")
        statement, cursor = translate(sql, self._distributed), self.link.cursor()
        cursor.executemany(statement.sql, map(statement.bind, keys), returning=True)
        while True:
            yield from cursor.fetchall()
            if not cursor.nextset():
                return

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> None:
        with self._within():
            statement = translate(sql, self._distributed)
            self.link.cursor().executemany(statement.sql, map(statement.bind, rows))

    def insert(self, table: str, rows: Sequence[Sequence[Any]], /) -> None:
        if rows:
            with self._within(), self.link.cursor().copy(f"COPY {table} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)

    def script(self, sql: str, /) -> None:
        with self._within():
            self.link.execute(schema_in_postgres(sql))

    # -- transactions -----------------------------------------------------------------------------------------------

    def _begin(self, kind: str, more: str = "") -> int:
        """
        Begin a transaction of a kind, run `more` in it, and return its change token, once all machines have what was
        written up to that.

        The server ends what is late at this thread's deadline. Reading the token takes the snapshot.
        """
        deadline = current_deadline()
        late = "" if deadline is None else f"SET LOCAL statement_timeout = {math.ceil(deadline.left * 1000) + 1};"
        begin = f"BEGIN ISOLATION LEVEL {kind}; SET LOCAL jit = off; {late} {more} {self._token}"
        try:
            for _ in citus.attempts(self._busy):
                token = self._last(begin)
                if token != self._complete:
                    self._distributed = self._area == DATA and citus.is_distributed(self._ask)
                if token == self._complete or not self._distributed or citus.is_complete(self._ask, token):
                    self._complete = token
                    return token
                self.link.rollback()
        except BaseException:  # whatever ended it, a signal too
            self._rollback()
            raise
        raise UnavailableError(citus.INCOMPLETE)

    def _last(self, sql: str) -> int:
        """Run some statements at once and return the number that the last one gives, over a new connection if it was lost."""
        self._ready()
        try:
            cursor = self.link.execute(sql, prepare=False)
        except psycopg.OperationalError:
            if not self.link.closed:
                raise
            # It was lost while nobody used it, and nothing can have happened yet.
            self.link = self._open()
            cursor = self.link.execute(sql, prepare=False)
        while cursor.nextset():
            pass
        number: int | None = cursor.get
        if number is None:
            raise UnavailableError("nobody has made the tables yet")
        return number

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        with faults():
            if self.in_transaction:
                raise DatabaseError("there is a transaction within this one")
            if self._read_only:
                raise UnavailableError("attempt to write a readonly database")
            durable = _DURABLE if self._durable else ""
            # A writer without a deadline may take long, whatever the server allows readers.
            unlimited = "SET LOCAL statement_timeout = 0;" if current_deadline() is None else ""
            limits = f"{unlimited} SET LOCAL lock_timeout = {self._busy};"
            self._begin("READ COMMITTED READ WRITE", f"{limits} {durable} {_LOCK.format(self._area)};")
            try:
                if self._distributed:
                    self.link.execute(citus.ONE_BY_ONE)
                yield
                # Only a transaction that wrote something has a number. One that failed is not committed: this raises.
                token = self.link.execute(self._counted).get
                if token is not None:
                    self._written = True
                    if self._distributed:
                        self.link.execute(citus.mark(token))
                self.link.commit()
            except BaseException:  # whatever ended it, a signal too
                self._rollback()
                raise

    def _rollback(self) -> None:
        with contextlib.suppress(psycopg.Error):  # lost meanwhile: the server undoes it
            self.link.rollback()
        if self.in_transaction:
            self.link.close()

    def begin_snapshot(self) -> int:
        with faults():
            return self._begin("REPEATABLE READ READ ONLY")

    def end_snapshot(self) -> bool:
        if self.in_transaction:
            # Where it was lost, with what was read, the next use opens another.
            with contextlib.suppress(psycopg.OperationalError):
                self.link.commit()
        return True

    def change_token(self) -> int:
        with faults():
            return int(self._ask(self._token)[0][0]) if self.in_transaction else self._last(self._token)

    # -- the database -----------------------------------------------------------------------------------------------

    def tables(self) -> list[str]:
        sql = "SELECT tablename::text FROM pg_catalog.pg_tables WHERE schemaname = current_schema() ORDER BY 1"
        return [name for (name,) in self.execute(sql)]

    def damages(self) -> Iterator[str]:
        """Read all tables: the server looks after its pages itself, and fails to read one whose checksum is wrong."""
        for name in self.tables():
            try:
                self.execute(f"SELECT count(*) FROM {name}")
            except psycopg.errors.DataCorrupted as error:
                yield f"table {name}: {error}"
                return  # the transaction reads nothing more

    def written(self) -> bool:
        return self._written

    def truncate_log(self, seconds: float) -> None:
        """Count what is there after a load, so that plans fit: in these tables, for a database may hold others."""
        with contextlib.suppress(psycopg.Error):
            self.link.execute(f"ANALYZE {', '.join(self.tables())}")

    def close(self, force: bool = False, /) -> None:
        self.closed = True
        self.link.close()

    def recreate(self) -> None:
        present = set(self.tables())
        tables = [name for part in data_schema.statements() for name in data_schema.tables_of(part)]
        anew = data_schema.recreate(self, [name for name in tables if name in present])
        if anew and (parts := citus.drop_marks(self._ask)):
            citus.distribute(self._ask, parts)
            self._distributed = True

    def empty(self, table: str) -> None:
        try:
            with self.link.transaction():
                self.link.execute(f"DELETE FROM {table}")
        except (psycopg.errors.DataCorrupted, psycopg.errors.IndexCorrupted):
            self.link.execute(f"TRUNCATE {table}")  # which reads nothing of it

    def distribute(self, parts: int) -> bool:
        """Distribute the data over the machines that Citus knows of. Returns False if that was done before."""
        with self.transaction():
            done = self._distributed
            if not done:
                citus.distribute(self._ask, parts)
                self._distributed = True
        citus.reclaim(self._ask)
        return not done

    def schema_number(self) -> int:
        return int(self.execute("SELECT schema_number FROM change_token WHERE area = ?", (self._area,)).get)

    def set_schema_number(self, number: int) -> None:
        self.execute("UPDATE change_token SET schema_number = ? WHERE area = ?", (number, self._area))

    def prepare(self, at: Server) -> None:
        """Make sure that transactions of the area are counted. Raises StoreError for a database that cannot be used."""
        ((encoding, current, counted),) = self._ask(
            "SELECT current_setting('server_encoding'), current_schema()::text,"
            " to_regclass(quote_ident(current_schema()) || '.change_token') IS NOT NULL"
        )
        if encoding != "UTF8":
            raise StoreError(f"{at} keeps texts as {encoding}: make one with ENCODING 'UTF8'")
        if current is None:
            raise StoreError(f"{at} has no schema where its search_path leads: make it, or set another search_path")
        if counted and self._ask(self._token):
            return
        with self.link.transaction():
            self.link.execute(f"SET LOCAL lock_timeout = {self._busy}")
            self.link.execute(_LOCK.format("areas"))  # whoever prepares another one waits: the table is one for all
            self.link.execute(
                "CREATE TABLE IF NOT EXISTS change_token("
                "area text PRIMARY KEY, n bigint NOT NULL, schema_number bigint NOT NULL DEFAULT 0)"
            )
            # It begins anywhere: of two databases that come to stand at one address, one after the other, no two counts agree.
            self.link.execute(
                f"INSERT INTO change_token(area, n) VALUES('{self._area}', {secrets.randbits(48)}) ON CONFLICT DO NOTHING"
            )


@faults()
def connect(
    at: Server, *, read_only: bool = False, busy_seconds: float = 30.0, area: str = DATA, durable: bool = False
) -> Connection:
    """Connect to a database. Raises UnavailableError if it cannot be reached, StoreError if it cannot be written to."""
    db = Connection(lambda: open_link(at), area, busy_seconds=busy_seconds, read_only=read_only, durable=durable)
    try:
        if not read_only:
            db.prepare(at)
    except BaseException:
        db.close()
        raise
    return db


@faults()
def ask(at: Server, sql: str) -> list[Any]:
    """Return the rows that a statement in PostgreSQL's own words gives over a connection of its own."""
    with contextlib.closing(open_link(at)) as link:
        return link.execute(sql).fetchall()


#: SQLite's words in a schema file, and PostgreSQL's for them. Text compares by bytes, whatever the database's own order is.
_SCHEMA_WORDS = (
    (" INTEGER", " bigint"), (" REAL", " double precision"), (" TEXT", ' text COLLATE "C"'), (" BLOB", " bytea"),
    (" WITHOUT ROWID, STRICT", ""), (" STRICT", ""), ("randomblob(16)", "uuid_send(gen_random_uuid())"),
)  # fmt: skip


def schema_in_postgres(script: str) -> str:
    """Write the statements of a schema file, each of which ends a line, in PostgreSQL's words."""
    text = "\n".join(line.partition("--")[0].rstrip() for line in script.splitlines())
    for word, other in _SCHEMA_WORDS:
        text = text.replace(word, other)
    return ";\n".join(_trigger(statement.strip()) for statement in f"{text}\n".split(";\n"))


def _trigger(statement: str) -> str:
    """Write a statement about a trigger in PostgreSQL's words: it calls a function of its name, once for each statement."""
    if statement.startswith("DROP TRIGGER "):
        return f"DROP FUNCTION {statement.removeprefix('DROP TRIGGER ')}() CASCADE"
    if not statement.startswith("CREATE TRIGGER "):
        return statement
    head, _, body = statement.removeprefix("CREATE TRIGGER ").partition("BEGIN ")
    name, _, when = head.strip().partition(" ")
    return (
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT"
        f" AS $body$ BEGIN {body.removesuffix('END')} RETURN NULL; END $body$;"
        f" CREATE TRIGGER {name} {when} FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
    )
