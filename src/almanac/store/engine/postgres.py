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
from psycopg.adapt import Dumper
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.types.numeric import Int8BinaryDumper, Int8Dumper, NumericBinaryLoader

from almanac.store.engine import citus, data_schema, errors
from almanac.store.engine.data_schema import statements, tables_of
from almanac.store.engine.deadline import add_database_time, check_deadline, current_deadline
from almanac.store.engine.errors import (
    BusyError,
    ConflictError,
    DamagedError,
    DatabaseError,
    FullError,
    StoppedError,
    StoreError,
    UnavailableError,
    UnfitError,
    faults,
)

if TYPE_CHECKING:
    from almanac.store.engine.opening import Server
    from almanac.store.engine.schemas import AuxiliarySchema

#: What libpq is told unless the address says otherwise: a host that has gone is noticed within ten seconds.
_PARAMETERS = {
    "application_name": "almanac", "client_encoding": "UTF8", "connect_timeout": "5", "tcp_user_timeout": "10000",
    "keepalives_idle": "5", "keepalives_interval": "2", "keepalives_count": "3",
}  # fmt: skip
#: The name of the data among the schemas of a server.
DATA = "data"
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('almanac {} ' || current_schema(), 0))"
#: For a server that is set to answer before a commit is on its disk.
_DURABLE = "SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off';"
#: How long a server is tried to be told that a statement is to end.
_CANCEL_SECONDS = 5.0
#: Rows fetched at a time by `scan`: few at first, for often few are wanted.
_FIRST_ROWS, _MOST_ROWS = 128, 8_192
#: By the first characters of SQLSTATE, the longest that fits.
_STATES: dict[type[DatabaseError], str] = {
    # The connection; read-only (a replica); not let in; no such database, schema, table; not allowed; shutting down.
    UnavailableError: "08 25006 28 3D 3F 42P01 42501 53 57 58",
    BusyError: "40 55P03 55006",  # serialization, deadlock; a lock could not be had in time
    ConflictError: "23 P0001",  # P0001: a trigger said no
    UnfitError: "22 54000",  # a character or number that no column takes; a value too long for its index
    FullError: "53100 53200",
    StoppedError: "57014",
    DamagedError: "XX001 XX002",
}
_ERRORS = {state: error for error, states in _STATES.items() for state in states.split()}


def _translate(error: BaseException) -> DatabaseError | None:
    if not isinstance(error, psycopg.Error):
        return None
    message, state = str(error).strip() or type(error).__name__, error.sqlstate
    if state is not None:
        return (_ERRORS.get(state) or _ERRORS.get(state[:2], DatabaseError))(message)
    if isinstance(error, psycopg.DataError):  # the driver's own: it cannot send a value
        return UnfitError(message)
    lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return UnavailableError(message) if lost else DatabaseError(message)


errors.translators.append(_translate)


class Statement(NamedTuple):
    """A statement in PostgreSQL's words. `places`: which of the given values are `$1`, `$2`, …; None: all, in order."""

    sql: str
    places: tuple[int, ...] | None
    reads: bool

    def bind(self, values: Sequence[Any]) -> Sequence[Any]:
        """Return the values that the statement mentions, in the order in which it does."""
        return values if self.places is None else [values[place] for place in self.places]


@lru_cache(maxsize=4_096)
def translate(sql: str, distributed: bool = False) -> Statement:
    """Write `?` and `?1` as `$1`, leave hints to SQLite's planner out, and read lists of numbers by PostgreSQL's function."""
    pieces = sql.split("'")  # every other one is a text
    numbers: dict[int, int] = {}
    highest = 0
    for place in range(0, len(pieces), 2):
        said, *hinted = pieces[place].split(" INDEXED BY ")
        said = "".join([said, *(" " + rest.partition(" ")[2] for rest in hinted)])
        said = said.replace("CROSS JOIN", "JOIN").replace("++", "").replace("json_each(", "json_array_elements_text(")
        said, *marked = (citus.adapt(said) if distributed else said).split("?")
        for part in marked:
            rest = part.lstrip("0123456789")
            number = int(part[: len(part) - len(rest)] or highest + 1)  # a mark without a number has the next one
            highest = max(highest, number)
            said += f"${numbers.setdefault(number, len(numbers) + 1)}{rest}"
        pieces[place] = said
    places = tuple(number - 1 for number in numbers)
    text = "'".join(pieces)
    return Statement(
        text, None if places == tuple(range(highest)) else places, text.split(None, 1)[0].upper() in _READING
    )


_READING = {"SELECT", "WITH", "VALUES", "EXPLAIN", "SHOW"}


class Rows(psycopg.RawCursor[Any]):
    """psycopg's cursor as the store's `Rows`."""

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        return iter(self.fetchall())  # much faster than row by row

    @property
    def get(self) -> Any:
        row = self.fetchone() if self.description else None
        return row if row is None or len(row) > 1 else row[0]


class _Flag(Dumper):
    """Writes truth as a number, as it is in SQLite's tables."""

    oid = 20

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


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
    try:
        parameters: dict[str, Any] = {**_PARAMETERS, **conninfo_to_dict(at.url)}
    except psycopg.Error:
        raise UnavailableError("the address of the database is none that PostgreSQL understands") from None
    deadline = current_deadline()
    if deadline is not None:
        parameters["connect_timeout"] = min(int(parameters["connect_timeout"]), math.ceil(deadline.left))
    link = Link.connect(
        **parameters, autocommit=True, prepare_threshold=2 if at.prepared else None, cursor_factory=Rows
    )
    link.prepared_max = 500
    # Every number has one type whatever its size, so that a statement is prepared once.
    for kind, dumper in ((int, Int8Dumper), (int, Int8BinaryDumper), (bool, _Flag)):
        link.adapters.register_dumper(kind, dumper)
    link.adapters.register_loader("numeric", _Number)
    return link


def _time_limit() -> str:
    """Return the statement by which the server ends those after it at this thread's deadline; none if it has no deadline."""
    deadline = current_deadline()
    return "" if deadline is None else f"SET LOCAL statement_timeout = {math.ceil(deadline.left * 1000) + 1};"


class Connection:
    """The engine's `Database` on PostgreSQL."""

    def __init__(
        self, opened: Callable[[], psycopg.Connection[Any]], schema: str, *, busy_seconds: float, read_only: bool,
        durable: bool = False,
    ) -> None:  # fmt: skip
        self._open, self._schema, self._read_only = opened, schema, read_only
        self._busy = max(1, int(busy_seconds * 1000))
        self._begin_writing = (
            "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL jit = off; {}"
            f" SET LOCAL lock_timeout = {self._busy}; {_DURABLE if durable else ''} {_LOCK.format(schema)}"
        )
        self._token = f"SELECT n FROM change_token WHERE area = '{schema}'"
        self._written = False
        #: Whether the tables are distributed by Citus, and the token up to which all machines were seen to be.
        self._distributed, self._complete = False, -1
        self._scans = itertools.count()
        self.link = opened()
        self.closed = False

    # -- statements -------------------------------------------------------------------------------------------------

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open, for reading or writing."""
        return not self.link.closed and self.link.info.transaction_status != TransactionStatus.IDLE

    def execute(self, sql: str, values: Sequence[Any] | None = None, /) -> Rows:
        statement = translate(sql, self._distributed)
        if self.in_transaction or (statement.reads and current_deadline() is None):
            self._ready()
            return self._run(statement, values or ())
        with self._limited() if statement.reads else self.transaction():
            return self._run(statement, values or ())

    @contextlib.contextmanager
    def _limited(self) -> Iterator[None]:
        """Open a transaction for one statement that reads, so that the server ends it at the deadline."""
        self._last(f"BEGIN; {_time_limit()} SELECT 0")
        try:
            yield
        finally:
            self.end_snapshot()

    def _run(self, statement: Statement, values: Sequence[Any]) -> Rows:
        deadline, began = current_deadline(), time.perf_counter()
        if deadline is not None:
            deadline.interrupt = self._interrupt
        check_deadline()
        bound = statement.bind(values)
        try:
            return self._cursor().execute(statement.sql, bound or None, binary=True)
        except psycopg.DataError as error:
            if error.sqlstate is not None or not statement.reads:
                raise
            # No text that is stored has a NUL, so this one, which is none of them either, finds the same: nothing.
            bound = [each.replace("\0", "\U0010ffff") if isinstance(each, str) else each for each in bound]
            return self._cursor().execute(statement.sql, bound, binary=True)
        finally:
            add_database_time(time.perf_counter() - began)
            if deadline is not None:
                deadline.interrupt = None
                if deadline.cancelled:  # a word that is still on its way to the server must not end another's statement
                    self.link.close()

    def _interrupt(self) -> None:
        """Have the server end the statement that runs, without waiting for it: whoever calls this may not wait."""

        def cancel(link: psycopg.Connection[Any]) -> None:
            with contextlib.suppress(psycopg.Error):
                link.cancel_safe(timeout=_CANCEL_SECONDS)

        threading.Thread(target=cancel, args=(self.link,), daemon=True).start()

    def _cursor(self) -> Rows:
        cursor = self.link.cursor()
        assert isinstance(cursor, Rows)
        return cursor

    def _ask(self, sql: str) -> list[Any]:
        """Run a statement in PostgreSQL's own words and return its rows."""
        cursor = self.link.execute(sql)
        return cursor.fetchall() if cursor.description else []

    def _last(self, sql: str) -> Any:
        """Run some statements at once, the first of which begins something, and return the value that the last one gives."""
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
        row = cursor.fetchone()
        if row is None:
            raise UnavailableError("nobody has made the tables yet")
        return row[0]

    def _ready(self) -> None:
        """Connect again if the connection was lost; what was under way failed then, and nothing of it stays."""
        if self.link.closed and not self.closed:
            self.link = self._open()

    def scan(self, sql: str, values: Sequence[Any] | None = None, /) -> Iterator[Any]:
        if not self.in_transaction:
            return iter(self.execute(sql, values))
        statement, name = translate(sql, self._distributed), f"scan_{next(self._scans)}"
        self._run(statement._replace(sql=f"DECLARE {name} NO SCROLL CURSOR FOR {statement.sql}"), values or ())
        return self._fetched(name)

    def _fetched(self, name: str) -> Iterator[Any]:
        size = _FIRST_ROWS
        while True:
            rows = self._run(Statement(f"FETCH {size} FROM {name}", None, reads=True), ()).fetchall()
            yield from rows
            if len(rows) < size:
                return
            size = min(2 * size, _MOST_ROWS)

    def seek(self, sql: str, keys: Sequence[Sequence[Any]], /) -> Iterator[Any]:
        if not keys:
            return
        check_deadline()
        sql = sql.replace("{keys}", "")
        for number in range(len(keys[0]), 0, -1):
            sql = sql.replace(f"k.column{number}", f"?{number}")
        statement, cursor = translate(sql, self._distributed), self._cursor()
        cursor.executemany(statement.sql, map(statement.bind, keys), returning=True)
        while True:
            yield from cursor.fetchall()
            if not cursor.nextset():
                return

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> None:
        with self._writing():
            statement = translate(sql, self._distributed)
            self._cursor().executemany(statement.sql, map(statement.bind, rows))

    def insert(self, table: str, rows: Sequence[Sequence[Any]], /) -> None:
        if rows:
            with self._writing(), self._cursor().copy(f"COPY {table} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)

    def update(self, sql: str, values: Sequence[Any], /) -> int:
        return max(0, self.execute(sql, values).rowcount)

    def script(self, sql: str, /) -> None:
        with self._writing():
            self.link.execute(schema_in_postgres(sql))

    # -- transactions -----------------------------------------------------------------------------------------------

    def _writing(self) -> contextlib.AbstractContextManager[None]:
        """Return the transaction that is open, or one of its own."""
        return contextlib.nullcontext() if self.in_transaction else self.transaction()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        with faults():
            if self.in_transaction:
                raise DatabaseError("there is a transaction within this one")
            if self._read_only:
                raise UnavailableError("attempt to write a readonly database")
            try:
                self._begin()
                yield
                self._commit()
            except BaseException:  # whatever ended it, a signal too
                self._rollback()
                raise

    def _begin(self) -> None:
        begin = self._begin_writing.format(_time_limit() or "SET LOCAL statement_timeout = 0;")
        for _ in citus.attempts(self._busy):
            self._last(begin)
            self._distributed = self._schema == DATA and citus.is_distributed(self._ask)
            if not self._distributed:
                return
            if citus.is_complete(self._ask, self._ask(self._token)[0][0]):
                self.link.execute(citus.ONE_BY_ONE)
                return
            self.link.rollback()
        raise BusyError(citus.INCOMPLETE)

    def _commit(self) -> None:
        # Only a transaction that wrote something has a number. One that failed is not committed: this raises.
        counted = f"UPDATE change_token SET n = n + 1 WHERE area = '{self._schema}' AND pg_current_xact_id_if_assigned() IS NOT NULL"
        cursor = self.link.execute(f"{counted} RETURNING n")
        if (row := cursor.fetchone()) is not None:
            self._written = True
            if self._distributed:
                self.link.execute(citus.mark(row[0]))
        self.link.commit()

    def _rollback(self) -> None:
        with contextlib.suppress(psycopg.Error):  # lost meanwhile: the server undoes it
            self.link.rollback()
        if self.in_transaction:
            self.link.close()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        with faults():
            self.begin_snapshot()
            try:
                yield
            finally:
                self.end_snapshot()

    def begin_snapshot(self) -> int:
        begin = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL jit = off; {_time_limit()} {self._token}"
        with faults():
            try:
                for _ in citus.attempts(self._busy):
                    token: int = self._last(begin)  # reading it takes the snapshot
                    if self._is_complete(token):
                        return token
                    self.link.rollback()
            except BaseException:
                self._rollback()
                raise
        raise UnavailableError(citus.INCOMPLETE)

    def _is_complete(self, token: int) -> bool:
        """Return whether all that was written up to a token is there, on whatever machine."""
        if token != self._complete:
            self._distributed = self._schema == DATA and citus.is_distributed(self._ask)
            if self._distributed and not citus.is_complete(self._ask, token):
                return False
            self._complete = token
        return True

    def end_snapshot(self) -> bool:
        if self.in_transaction:
            # Where it was lost, with what was read, the next use opens another.
            with contextlib.suppress(psycopg.OperationalError):
                self.link.commit()
        return True

    def change_token(self) -> int:
        with faults():
            if self.in_transaction:
                return int(self._ask(self._token)[0][0])
            return int(self._last(f"{_time_limit()} {self._token}"))

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

    def standing(self) -> bool:
        return True

    def written(self) -> bool:
        return self._written

    def truncate_log(self, seconds: float) -> bool:
        """Count what is there after a load, so that plans fit: in these tables, for a database may hold others."""
        with contextlib.suppress(psycopg.Error):
            self.link.execute(f"ANALYZE {', '.join(self.tables())}")
        return True

    def close(self, force: bool = False, /) -> None:
        self.closed = True
        self.link.close()

    def recreate(self) -> None:
        """
        Empty the data database inside the caller's transaction, whatever schema it had; tables of others are left alone.

        Of this schema rows are deleted, tables are not dropped: readers would have to wait for the end of the transaction.
        """
        ours = {name for part in statements() for name in tables_of(part)}
        there = [name for name in self.tables() if name in ours]
        if ours == set(there) and self._cleared(there):
            return
        parts = citus.drop_marks(self._ask)
        data_schema.recreate(self, there)
        if parts:
            citus.distribute(self._ask, parts)
            self._distributed = True

    def _cleared(self, tables: list[str]) -> bool:
        """Return whether all rows could be deleted: not those of another schema, nor of a table that the server cannot read."""
        self.link.execute("SAVEPOINT clearing")
        try:
            return data_schema.clear(self, tables)
        except (psycopg.errors.DataCorrupted, psycopg.errors.IndexCorrupted):
            self.link.execute("ROLLBACK TO SAVEPOINT clearing")
            return False

    def distribute(self, parts: int) -> bool:
        """Distribute the data over the machines that Citus knows of. Returns False if that was done before."""
        with self.transaction():
            done = self._distributed
            if not done:
                citus.distribute(self._ask, parts)
                self._distributed = True
        citus.reclaim(self._ask)
        return not done


@faults()
def connect(
    at: Server, *, read_only: bool = False, busy_seconds: float = 30.0, schema: str = DATA, durable: bool = False
) -> Connection:
    """Connect to a database. Raises UnavailableError if it cannot be reached."""
    return Connection(lambda: open_link(at), schema, busy_seconds=busy_seconds, read_only=read_only, durable=durable)


@faults()
def open_data(at: Server, *, busy_seconds: float) -> Connection:
    """Connect to the data database for writing."""
    with _let_go_on_error(connect(at, busy_seconds=busy_seconds)) as connection:
        prepare(connection, at, DATA)
    return connection


@faults()
def open_auxiliary(at: Server, schema: AuxiliarySchema, *, busy_seconds: float = 30.0) -> Connection:
    """
    Connect to what is kept beside the data, making its tables if they are not there, and bring them to today's schema.

    Raises SchemaError for one of a later version.
    """
    link = connect(at, busy_seconds=busy_seconds, schema=schema.name, durable=schema.durable)
    with _let_go_on_error(link) as connection:
        prepare(connection, at, schema.name)
        sql = "SELECT schema_number FROM change_token WHERE area = ?"
        if connection.execute(sql, (schema.name,)).get != schema.number:
            with connection.transaction():  # whoever comes second finds it made
                if schema.upgrade(connection, connection.execute(sql, (schema.name,)).get, at):
                    connection.execute(
                        "UPDATE change_token SET schema_number = ? WHERE area = ?", (schema.number, schema.name)
                    )
    return connection


@contextlib.contextmanager
def _let_go_on_error(connection: Connection) -> Iterator[Connection]:
    try:
        yield connection
    except BaseException:
        connection.close()
        raise


def prepare(connection: Connection, at: Server, schema: str) -> None:
    """Make sure that transactions of a schema are counted in a database. Raises StoreError for one that cannot be used."""
    encoding, current = connection.execute(
        "SELECT current_setting('server_encoding'), current_schema()::text"
    ).fetchone() or ("", "")
    if encoding != "UTF8":
        raise StoreError(f"{at} keeps texts as {encoding}: make one with ENCODING 'UTF8'")
    if current is None:
        raise StoreError(f"{at} has no schema where its search_path leads: make it, or set another search_path")
    counted = "SELECT 1 FROM change_token WHERE area = ?"
    if "change_token" in connection.tables() and connection.execute(counted, (schema,)).get:
        return
    with connection.transaction():
        connection.execute(_LOCK.format("areas"))  # whoever prepares another one waits: the table is one for all
        connection.execute(
            "CREATE TABLE IF NOT EXISTS change_token("
            "area text PRIMARY KEY, n bigint NOT NULL, schema_number bigint NOT NULL DEFAULT 0)"
        )
        # It begins anywhere: of two databases that come to stand at one address, one after the other, no two counts agree.
        connection.execute(
            "INSERT INTO change_token(area, n) VALUES(?, ?) ON CONFLICT DO NOTHING", (schema, secrets.randbits(48))
        )


@faults()
def check_machines(at: Server) -> None:
    """Raise StoreError if the data cannot be distributed over several machines."""
    with contextlib.closing(open_link(at)) as link:
        citus.check(lambda sql: link.execute(sql).fetchall())


@faults()
def database_bytes(at: Server) -> int:
    """Return how many bytes a database takes on its server."""
    with contextlib.closing(open_link(at)) as link:
        row: Any = link.execute("SELECT pg_database_size(current_database())").fetchone()
    return int(row[0])


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
