"""Errors in words for whoever runs the program: what is wrong, and what to do about it."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

_FULL = {errno.ENOSPC, errno.EDQUOT}
_FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}


class UserError(Exception):
    """A fault that a reader can mend: the message says what to change. A command ends with it as one line, never a traceback."""

    #: The exit code of a command that ends with it.
    exit_code = 1


@contextlib.contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Put a path into an OSError that names none: a write or a sync of an open file does not say which."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno is not None:
            error.filename = os.fspath(path)
        raise


def explain(error: OSError) -> str:
    """Say which path cannot be written, and what to do; other errors keep their own words."""
    if error.errno in _FULL and error.filename is not None:
        return (
            f"the disk is full ({error.filename}: {error.strerror}): make room on it, such as by moving old backups or logs away,"
            " and run the command again; nothing is half-written"
        )
    if error.errno in _FORBIDDEN and error.filename is not None:
        return f"{error.filename} cannot be used ({error.strerror}): this user must be able to read and write it"
    return str(error)
