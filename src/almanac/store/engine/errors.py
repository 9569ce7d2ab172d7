"""Errors of databases, in classes of ours: nothing outside the store knows which engine there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from almanac.domain.errors import UserError


class StoreError(UserError):
    """The store cannot be used as asked. The message says what to do."""


class SchemaError(StoreError):
    """A database has a schema that this program cannot use. It will say the same when it is begun again: somebody has to act."""

    #: EX_CONFIG of sysexits.h, of which the units tell systemd: no second try mends it.
    exit_code = 78


class DatabaseError(Exception):
    """A database failed or refused a statement. The message is its engine's, whose own error is the cause."""


class ConflictError(DatabaseError):
    """What was to be written breaks a rule of its table: a name taken, a trigger that says no."""


class UnfitError(DatabaseError):
    """What was to be written does not fit: a text the engine cannot hold, a number out of range, a key too long."""


class UnavailableError(DatabaseError, UserError):
    """The database cannot be used just now: not there, not to be opened, not to be read."""


class BusyError(UnavailableError):
    """Another writer holds it, for longer than we wait."""


class DamagedError(UnavailableError):
    """What is stored cannot be understood: no database, or one of which parts are lost."""


class StoppedError(DatabaseError):
    """A statement was ended before it was through: its deadline passed, or its client has gone."""


class FullError(UnavailableError):
    """There is no room for what was to be written."""


#: Each translates exceptions of one driver to errors of ours, and is added when its engine is loaded.
translators: list[Callable[[BaseException], DatabaseError | None]] = []


def fault(error: BaseException | None) -> DatabaseError | None:
    """Translate a driver exception to a DatabaseError with the same message; return None for any other exception."""
    if error is None or isinstance(error, DatabaseError):
        return error
    return next((ours for translate in translators if (ours := translate(error)) is not None), None)


@contextmanager
def faults() -> Iterator[None]:
    """Let errors of a database leave the block as errors of ours."""
    try:
        yield
    except Exception as error:
        ours = fault(error)
        if ours is None or ours is error:
            raise
        try:
            raise ours from error
        finally:
            del ours  # which knows of this frame: in a cycle it would wait for the collector
