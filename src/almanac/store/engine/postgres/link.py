"""psycopg's connection as the store uses it: its types are ours, and nothing runs on for which nobody waits any more."""

from __future__ import annotations

import contextlib
import select
import struct
from collections.abc import Generator
from decimal import Decimal
from typing import Any

import psycopg
from psycopg import pq
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.numeric import FloatBinaryDumper, Int8BinaryDumper, Int8Dumper, NumericBinaryLoader
from psycopg.types.string import StrBinaryDumper
from psycopg.waiting import Ready

from almanac.store.engine.errors import UnavailableError
from almanac.store.engine.patience import is_over, is_patient

#: So often it is asked whether anybody still waits for a statement, in milliseconds.
LOOK = 20
#: So long a statement is waited for that nobody waits for any more, seconds.
END_SECONDS = 5.0
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

    def wait(self, gen: Any, *args: Any, **named: Any) -> Any:
        """Run one of the driver's generators to its end; it waits for the server now and then."""
        return self._wait_patiently(gen) if is_patient() else super().wait(gen, *args, **named)

    def __del__(self, *_: Any) -> None:
        # One that nobody holds any more is closed without a word, as a file is.
        with contextlib.suppress(Exception):
            self.pgconn.finish()

    def _wait_patiently(self, gen: Generator[Any, Any, Any]) -> Any:
        cancelled = False
        waiting = select.poll()
        try:
            wanted = next(gen)
            while True:
                waiting.register(self.pgconn.socket, _EVENTS[int(wanted)])
                events = waiting.poll(LOOK)
                if not events and not cancelled and is_over():
                    cancelled = True
                    self.cancel_safe(timeout=END_SECONDS)
                wanted = gen.send(_ready(events[0][1]) if events else Ready.NONE)
        except StopIteration as end:
            return end.value
        except psycopg.Error:
            raise
        except BaseException:  # a signal: what the server still does is for nobody
            self.pgconn.finish()
            raise


_EVENTS = {1: select.POLLIN, 2: select.POLLOUT, 3: select.POLLIN | select.POLLOUT}


def _ready(events: int) -> Ready:
    # Whatever is wrong with the socket, reading from it tells.
    return Ready((1 if events & ~select.POLLOUT else 0) | (2 if events & select.POLLOUT else 0))


def opened(url: str, *, prepared: bool) -> PostgresLink:
    """Connect. Raises UnavailableError where it cannot be; the address is never repeated, for it has a password in it."""
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
