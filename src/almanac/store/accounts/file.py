"""The file of the accounts database: made once, readable by its owner only, each commit safe before it is answered."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from almanac.store.accounts.records import AccountError
from almanac.store.engine.errors import DamagedError
from almanac.store.engine.sqlite import Connection, alone, connect, faults

_SCHEMA = 1


@faults()
def open_file(path: Path) -> Connection:
    """Open the accounts database, making it and its folder where they are not. Raises AccountError for another file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)  # before SQLite makes it, so that its WAL has the same narrow mode from the start
    with alone(path.parent):
        try:
            db = connect(path)
        except DamagedError:
            raise AccountError(f"{path} is not an accounts database") from None
        db.pragma("synchronous", 2)  # a revocation must survive the power cut that follows it
        db.pragma("foreign_keys", 1)
        with db.transaction():
            found = db.pragma("user_version")
            if found == 0:
                db.execute(files(__package__).joinpath("accounts.sql").read_text("utf-8"))
                db.pragma("user_version", _SCHEMA)
            elif found != _SCHEMA:
                raise AccountError(f"{path} has schema {found}, this version of Almanac needs {_SCHEMA}")
    return db
