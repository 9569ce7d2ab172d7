"""psycopg's connection as the store uses it: its types are ours, and nothing runs on for which nobody waits any more."""

from __future__ import annotations

import contextlib
import select
import struct
import threading
import time
from collections.abc import Generator
from decimal import Decimal
from typing import Any

import psycopg
from psycopg import capabilities, generators, pq, waiting
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import FloatBinaryDumper, Int8BinaryDumper, Int8Dumper, NumericBinaryLoader
from psycopg.types.string import StrBinaryDumper
from psycopg.waiting import Ready

from almanac.store.engine.deadline import add_database_time, check_deadline, deadline_passed, grace, has_deadline
from almanac.store.engine.errors import UnavailableError
from almanac.store.engine.postgres.faults import SilentServerError

#: So often it is asked whether anybody still waits for a statement, in milliseconds.
LOOK = 20
#: So long a server is tried to be told that a statement is to end, seconds. Nobody waits for that.
_TELL_SECONDS = 5.0
#: What is said of a connection that its address does not say itself.
_CUSTOMARY = {
    "application_name": "almanac",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}


class _Flag(Dumper):
    """Truth is a number, as it is in SQLite's tables."""

    oid = 20

    def dump(self, obj: bool) -> bytes:
        return b"1" if obj else b"0"


class _BinaryFlag(Dumper):
    oid = 20
    format = pq.Format.BINARY

    def dump(self, obj: bool) -> bytes:
        return struct.pack("!q", obj)


class _Sum(Loader):
    """Sums of whole numbers are of a type without bounds; they are whole numbers all the same."""

    format = pq.Format.BINARY

    def __init__(self, oid: int, context: Any = None) -> None:
        super().__init__(oid, context)
        self._read = NumericBinaryLoader(oid, context).load

    def load(self, data: Any) -> int | float:
        found: Decimal = self._read(data)
        return int(found) if found == found.to_integral_value() else float(found)


def _types() -> AdaptersMap:
    """Every value has one type whatever its size, so that a statement is prepared once."""
    types = AdaptersMap(psycopg.adapters)
    types.register_dumper(int, Int8Dumper)
    types.register_dumper(int, Int8BinaryDumper)
    types.register_dumper(bool, _Flag)
    types.register_dumper(bool, _BinaryFlag)
    types.register_dumper(float, FloatBinaryDumper)
    types.register_dumper(str, StrBinaryDumper)
    types.register_loader("numeric", _Sum)
    return types


_TYPES = _types()


class PostgresLink(psycopg.Connection[Any]):
    """psycopg's own connection, which ends a statement when nobody waits for it any more."""

    #: What asks by it directly (`asking`).
    asking: Any = None

    @classmethod
    def _connect_gen(cls, *args: Any, **named: Any) -> Generator[Any, Any, Any]:
        """The driver's steps to a connection, as long as anybody waits for it. Between them it waits a tenth of a second at most."""
        steps = super()._connect_gen(*args, **named)
        try:
            wanted = next(steps)
            while True:
                ready = yield wanted
                if not ready and deadline_passed():
                    raise SilentServerError("the server does not answer")
                wanted = steps.send(ready)
        except StopIteration as end:
            return end.value

    def wait(self, gen: Any, *args: Any, **named: Any) -> Any:
        """Run one of the driver's generators to its end; it waits for the server now and then."""
        if not has_deadline():
            return super().wait(gen, *args, **named)
        began = time.perf_counter()
        try:
            return self._wait_patiently(gen)
        finally:
            add_database_time(time.perf_counter() - began)

    def __del__(self, *_: Any) -> None:
        # One that nobody holds any more is closed without a word, as a file is.
        with contextlib.suppress(Exception):
            self.pgconn.finish()

    def _wait_patiently(self, gen: Generator[Any, Any, Any]) -> Any:
        ending = StatementEnd(self)
        looking = select.poll()
        try:
            wanted = next(gen)
            while True:
                looking.register(self.pgconn.socket, _EVENTS[int(wanted)])
                events = looking.poll(LOOK)
                if not events:
                    ending.look()
                wanted = gen.send(_ready(events[0][1]) if events else Ready.NONE)
        except StopIteration as end:
            ending.through()
            return end.value
        except psycopg.Error:
            ending.through()
            raise
        except BaseException:  # a signal: what the server still does is for nobody
            self.pgconn.finish()
            raise


class StatementEnd:
    """
    The end of one wait for a server: it is told to end its work when nobody waits for that any more, and where it does not
    say within the deadline's grace that it has, the connection is given up.
    """

    __slots__ = ("_link", "_telling", "_until")

    def __init__(self, link: PostgresLink) -> None:
        self._link = link
        self._telling: threading.Thread | None = None
        self._until = 0.0

    def look(self) -> None:
        """Nothing has come yet. Raises SilentServerError."""
        if self._telling is not None:
            if time.monotonic() >= self._until:
                self._link.pgconn.finish()
                raise SilentServerError("the server does not answer")
        elif deadline_passed():
            self._until = time.monotonic() + grace()
            self._telling = _told_to_end(self._link.pgconn)

    def through(self) -> None:
        """All has come. A word that is still on its way to the server would end another statement: then the connection is given up."""
        if self._telling is not None:
            self._telling.join(max(0.0, self._until - time.monotonic()))
            if self._telling.is_alive():
                self._link.pgconn.finish()


def _told_to_end(libpq: Any) -> threading.Thread:
    """A server told to end what it does for a connection, over another one, in a thread: it may not answer there either."""

    def tell() -> None:
        with contextlib.suppress(psycopg.Error):
            if capabilities.has_cancel_safe():
                word.start()
                waiting.wait_conn(generators.cancel(word), interval=0.1, timeout=_TELL_SECONDS)
            else:
                word.cancel()

    word = libpq.cancel_conn() if capabilities.has_cancel_safe() else libpq.get_cancel()
    thread = threading.Thread(target=tell, name="cancel", daemon=True)
    thread.start()
    return thread


_EVENTS = {1: select.POLLIN, 2: select.POLLOUT, 3: select.POLLIN | select.POLLOUT}


def _ready(events: int) -> Ready:
    # Whatever is wrong with the socket, reading from it tells.
    return Ready((1 if events & ~select.POLLOUT else 0) | (2 if events & select.POLLOUT else 0))


def opened(url: str, *, prepared: bool) -> PostgresLink:
    """
    Connect. Raises UnavailableError where it cannot be, StoppedError where nobody waits for it any more; the address is never
    repeated, for it has a password in it.
    """
    check_deadline()
    try:
        said = conninfo_to_dict(url)
    except psycopg.Error:
        raise UnavailableError("the address of the database is none that PostgreSQL understands") from None
    told: dict[str, Any] = {name: value for name, value in _CUSTOMARY.items() if name not in said}
    threshold = 5 if prepared else None
    link = PostgresLink.connect(url, autocommit=True, prepare_threshold=threshold, context=_CONTEXT, **told)
    link.prepared_max = 300
    if link.info.encoding != "utf-8":
        link.execute("SET client_encoding = 'UTF8'")
    return link


class _Context:
    """What `connect` takes the types from."""

    adapters = _TYPES
    connection = None


_CONTEXT = _Context()
