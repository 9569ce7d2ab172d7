"""
The tables of a schema file in PostgreSQL's words, so that a change of the schema is made in one place.

Text compares by bytes, as in SQLite, whatever the database's own order is. A table of SQLite that is its key's index
(`WITHOUT ROWID`) is a table with a primary key here.
"""

from __future__ import annotations

import re

import apsw

_TYPES = {"INTEGER": "bigint", "REAL": "double precision", "TEXT": 'text COLLATE "C"', "BLOB": "bytea"}
_COMMENT = re.compile(r"--[^\n]*")
_TYPE = re.compile(rf"\b({'|'.join(_TYPES)})\b")
_KIND = re.compile(r"\)\s*(?:WITHOUT ROWID|STRICT)(?:,\s*STRICT)?\s*$")
_TRIGGER = re.compile(r"CREATE TRIGGER (\w+) (.+?)\s+BEGIN\s+(.+)\s+END", re.DOTALL)
_GONE = re.compile(r"DROP TRIGGER (\w+)")


def several(script: str) -> list[str]:
    """The statements of a script, one by one, without comments."""
    found, begun = [], ""
    for part in _COMMENT.sub("", script).split(";"):
        begun += part
        if apsw.complete(begun + ";"):
            found.append(begun.strip())
            begun = ""
        else:  # within a trigger, or a text
            begun += ";"
    # What is random in the schema is as long as a UUID.
    return [one.replace("randomblob(16)", "uuid_send(gen_random_uuid())") for one in found if one]


def created(sql: str) -> str | None:
    """A statement that makes a table or a trigger, or takes a trigger away or gives a table another column; None for any other."""
    if sql.startswith(("CREATE TABLE", "ALTER TABLE")):
        return _TYPE.sub(lambda told: _TYPES[told[0]], _KIND.sub(")", sql))
    if (made := _TRIGGER.fullmatch(sql)) is not None:
        return _trigger(*made.groups())
    gone = _GONE.fullmatch(sql)
    return None if gone is None else f"DROP FUNCTION {gone[1]}() CASCADE"


def _trigger(name: str, when: str, deeds: str) -> str:
    """
    A trigger and its function, which is called after it. What it does, it does in the schema it was made in.

    It does so once for each statement: of the row that was changed, no trigger of ours asks.
    """
    return (
        f"DO $made$ BEGIN CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT"
        f" AS $body$ BEGIN {deeds} RETURN NULL; END $body$;"
        f" CREATE TRIGGER {name} {when} FOR EACH STATEMENT EXECUTE FUNCTION {name}(); END $made$"
    )
