"""
One connection to PostgreSQL: the engine's `Database`.

Nothing is set for the session, and every statement that needs the one before it is in a transaction with it: so it works
behind a pooler that gives each transaction another connection, with `prepared` False for one that keeps no statements.

Writers hold one advisory lock from the beginning of their transaction until it is committed. So they come one after the
other, each sees what the one before committed, and data versions become visible in order. `area` says what is written:
writers of different areas (the data, the accounts) do not wait for each other.

`change_token(area, n)` counts the transactions that wrote something: by it a reader knows that nobody did.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import psycopg

from almanac.store.engine.errors import BusyError, DatabaseError, UnavailableError
from almanac.store.engine.postgres.faults import faults
from almanac.store.engine.postgres.link import PostgresLink
from almanac.store.engine.postgres.reading import ReadingConnection
from almanac.store.engine.postgres.rows import FetchedRows, FoundRows
from almanac.store.engine.postgres.settling import ONE_BY_ONE, UNSETTLED, looks, marked
from almanac.store.engine.postgres.statements import Statement, translated
from almanac.store.engine.postgres.tables import created, several

#: From so many rows on they are copied, which takes a statement of its own.
_COPIED = 8
#: Statements as they were written, and as PostgreSQL takes them, with tables on one machine and spread over several; of
#: all connections of the process.
_statements: dict[bool, dict[str, Statement]] = {False: {}, True: {}}
_STATEMENTS_HELD = 4_000
#: Where the driver sees one of these, or a ROLLBACK, it has the server forget whatever was prepared: it is not shown them.
_UNPREPARING = frozenset({"DROP ", "ALTER"})
_BEGIN_WRITING = (
    "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL jit = off; SET LOCAL statement_timeout = 0;"
    " SET LOCAL lock_timeout = {}; SELECT pg_advisory_xact_lock(hashtextextended('almanac {} ' || current_schema(), 0))"
)
#: For a server that is set to answer before a commit is on its disk.
_LASTING = "; SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'"


class PostgresConnection(ReadingConnection):
    """The whole of it."""

    def __init__(
        self,
        opened: Callable[[], PostgresLink],
        area: str,
        *,
        busy_seconds: float,
        read_only: bool,
        lasting: bool = False,
    ) -> None:
        busy = max(1, int(busy_seconds * 1000))
        super().__init__(opened, area, busy_milliseconds=busy)
        self._begin = _BEGIN_WRITING.format(busy, area) + (_LASTING if lasting else "")
        self._area = area
        self._read_only = read_only
        self._changed = self._ever_changed = False
        self._scans = 0

    # -- statements -------------------------------------------------------------------------------------------------

    def cursor(self) -> PostgresConnection:
        return self

    def execute(self, sql: str, values: Sequence[Any] | None = None, /) -> FoundRows:
        if values is None and ";" in sql:
            return self._script(sql)
        return self._run(self._statement(sql), values or ())

    def _script(self, sql: str) -> FoundRows:
        """Several statements at once, without values."""
        found = FoundRows(())
        with self._writing():
            for one in several(sql):
                found = self._run(self._statement(one), ())
        return found

    def _statement(self, sql: str) -> Statement:
        known = _statements[self._machines.several]
        found = known.get(sql)
        if found is None:
            if len(known) >= _STATEMENTS_HELD:
                known.clear()
            made = created(sql)
            if made is not None or sql[:5].upper() in _UNPREPARING:
                return Statement(made or sql, (), 0, True)
            found = known[sql] = translated(sql, spread=self._machines.several)
        return found

    def _run(self, statement: Statement, values: Sequence[Any]) -> FoundRows:
        if statement.writes and not self.in_transaction:
            with self.transaction():
                return self._run(statement, values)
        self._check(statement, values)
        bound = [values[place] for place in statement.places]
        if statement.numbering is not None:
            bound.append(self.ask(statement.numbering)[0][0])
        if not statement.writes:
            return FoundRows(self._rows(statement.sql, bound))
        if statement.sql[:5].upper() in _UNPREPARING:
            self._asking.first(statement.sql.encode())
            self._note(-1)
            return FoundRows(())
        cursor = self._cursor
        cursor.execute(statement.sql, bound or None, binary=True)
        self._note(cursor.rowcount)
        return FoundRows(cursor.fetchall() if cursor.description else ())

    def _check(self, statement: Statement, values: Sequence[Any]) -> None:
        if len(values) != statement.wanted:
            raise DatabaseError(f"{statement.wanted} values are wanted, {len(values)} were given: {statement.sql}")
        if statement.writes and self._read_only:
            raise UnavailableError("attempt to write a readonly database")
        self._ready()

    def scan(self, sql: str, values: Sequence[Any] | None = None, /) -> FoundRows:
        if not self.in_transaction:
            return self.execute(sql, values)
        self._settle()
        statement, given = self._statement(sql), values or ()
        self._check(statement, given)
        self._scans += 1
        name = f"scan_{self._scans}"
        bound = [given[place] for place in statement.places] or None
        self._cursor.execute(f"DECLARE {name} NO SCROLL CURSOR FOR {statement.sql}", bound)

        def fetch(size: int) -> Sequence[Any]:
            self._settle()
            rows = self._cursor.execute(f"FETCH {size} FROM {name}", binary=True).fetchall()
            if len(rows) < size:
                self._cursor.execute(f"CLOSE {name}")
            return rows

        return FetchedRows(fetch)

    def executemany(self, sql: str, rows: Iterable[Sequence[Any]], /) -> FoundRows:
        statement, every = self._statement(sql), list(rows)
        if not every:
            return FoundRows(())
        self._check(statement, every[0])
        if not statement.writes:
            self._settle()
            return FoundRows(self._ask_each(statement, every))
        with self._writing():
            if statement.copied_into is not None and len(every) >= _COPIED:
                self._copy(statement, every)
            elif statement.numbering is not None:
                for row in every:
                    self._run(statement, row)
            else:
                self._cursor.executemany(statement.sql, _bound(statement, every))
                self._note(self._cursor.rowcount)
        return FoundRows(())

    def seek(self, sql: str, keys: Sequence[Sequence[Any]], /) -> FoundRows:
        return self.executemany(sql.replace("{keys}", ""), keys)

    def _ask_each(self, statement: Statement, rows: Sequence[Sequence[Any]]) -> list[Any]:
        cursor = self._cursor
        cursor.executemany(statement.sql, _bound(statement, rows), returning=True)
        found = cursor.fetchall()
        while cursor.nextset():
            found += cursor.fetchall()
        return found

    def _copy(self, statement: Statement, rows: Sequence[Sequence[Any]]) -> None:
        """Many new rows at once. `cells`: which of the values given, or what is the same in each row."""
        cells = statement.cells
        with self._cursor.copy(f"COPY {statement.copied_into} FROM STDIN") as copying:
            for row in rows:
                copying.write_row([cell if isinstance(cell, str) else row[cell] for cell in cells])
        self._note(len(rows))

    def update(self, sql: str, values: Sequence[Any], /) -> int:
        with self._writing():
            self._run(self._statement(sql), values)
            return max(0, self._cursor.rowcount)

    # -- transactions -----------------------------------------------------------------------------------------------

    def _note(self, rows: int) -> None:
        """Rows were written; -1 of what has none, as the making of a table."""
        if rows:
            self._changed = self._ever_changed = True

    def _writing(self) -> contextlib.AbstractContextManager[None]:
        """A transaction, the one that is open or one of its own."""
        return contextlib.nullcontext() if self.in_transaction else self.transaction()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        with faults():
            if self.in_transaction:
                raise DatabaseError("there is a transaction within this one")
            if self._read_only:
                raise UnavailableError("attempt to write a readonly database")
            self._ready()
            self._changed = False
            try:
                self._begin_writing()
                yield
                if self._changed:
                    self._count()
                self._link.execute("COMMIT")
            except BaseException:  # whatever ended it, a signal too
                self._undo()
                raise

    def _begin_writing(self) -> None:
        for _ in looks(self._busy):
            self._anew(lambda: self._link.execute(self._begin))
            if not self._machines.look():
                return
            if self._machines.have(self._number(self._token)):
                self._link.execute(ONE_BY_ONE)
                return
            self._asking.first(b"ROLLBACK")
        raise BusyError(UNSETTLED)

    def _count(self) -> None:
        """The last of a transaction that wrote."""
        counted = f"UPDATE change_token SET n = n + 1 WHERE area = '{self._area}'"
        if self._machines.several:
            self._link.execute(marked(self._number(f"{counted} RETURNING n".encode())))
        else:
            self._link.execute(counted)

    def laid_anew(self) -> None:
        """Tables were spread, or taken away, in the transaction that is open."""
        self._machines.look()
        self._note(1)

    def tables(self) -> list[str]:
        sql = "SELECT tablename::text FROM pg_catalog.pg_tables WHERE schemaname = current_schema() ORDER BY 1"
        return [name for (name,) in self.execute(sql)]

    def damages(self, table: str | None = None) -> Iterator[str]:
        """The server looks after its pages itself, and fails to read one whose checksum is wrong: so all are read."""
        for name in self.tables() if table is None else [table]:
            try:
                self.execute(f"SELECT count(*) FROM {name}")
            except psycopg.errors.DataCorrupted as error:
                yield f"table {name}: {error}"
                return  # the transaction reads nothing more

    def standing(self) -> bool:
        return True

    def written(self) -> bool:
        return self._ever_changed

    def truncate_log(self, seconds: float) -> bool:
        """
        PostgreSQL looks after its log itself. After a load it is told to count what is there, so that its plans fit: in these
        tables, for a database may hold others.
        """
        with contextlib.suppress(psycopg.Error):
            self._link.execute(f"ANALYZE {', '.join(self.tables())}")
        return True


def _bound(statement: Statement, rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """The values that a statement mentions, in the order in which it does."""
    places = statement.places
    return rows if places == tuple(range(statement.wanted)) else [[row[place] for place in places] for row in rows]
