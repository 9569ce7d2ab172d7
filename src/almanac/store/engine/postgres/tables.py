"""
The tables of a schema file in PostgreSQL's words, so that a change of the schema is made in one place.

Text compares by bytes, as in SQLite, whatever the database's own order is. A table of SQLite that is its key's index
(`WITHOUT ROWID`) is a table with a primary key here.
"""

from __future__ import annotations

from almanac.store.engine.postgres.statements import reworded
from almanac.store.engine.postgres.tokens import closing, cut, joined, parts

_TYPES = {"INTEGER": "bigint", "REAL": "double precision", "TEXT": 'text COLLATE "C"', "BLOB": "bytea"}


def several(script: str) -> list[str]:
    """The statements of a script, one by one."""
    return [joined(one) for one in _statements(cut(script))]


def created(sql: str) -> str | None:
    """A statement that makes a table, an index or a trigger, or takes a trigger away or gives a table another column; None for any other."""
    if sql[:6].upper() not in _MAKING:
        return None
    tokens = cut(sql)
    words = [word.upper() for word in tokens[:5]]
    if words[:2] == ["CREATE", "TABLE"]:
        begin = tokens.index("(")
        end = closing(tokens, begin)  # STRICT and WITHOUT ROWID follow
        lines = [_line(part) for part in parts(tokens[begin + 1 : end])]
        return f"{joined(tokens[:begin])} ( {', '.join(lines)} )"
    if words[:2] == ["ALTER", "TABLE"] and words[3:5] == ["ADD", "COLUMN"]:
        return f"{joined(tokens[:5])} {_line(tokens[5:])}"
    if words[0] == "CREATE" and "INDEX" in words[1:3]:
        begin = tokens.index("(")
        end = closing(tokens, begin)
        columns = [_indexed(part) for part in parts(tokens[begin + 1 : end])]
        return f"{joined(tokens[:begin])} ( {', '.join(columns)} ) {joined(reworded(tokens[end + 1 :]))}"
    if words[:2] == ["CREATE", "TRIGGER"]:
        return _trigger(tokens)
    if words[:2] == ["DROP", "TRIGGER"]:
        return f"DROP FUNCTION {tokens[2]} () CASCADE"
    return None


_MAKING = frozenset({"CREATE", "ALTER ", "DROP T"})


def _trigger(tokens: list[str]) -> str:
    """
    A trigger and its function, which is called after it. What it does, it does in the schema it was made in.

    It does so once for each statement: of the row that was changed, no trigger of ours asks.
    """
    name = tokens[2]
    begin = [word.upper() for word in tokens].index("BEGIN")
    deeds = "".join(f"{joined(reworded(one))}; " for one in _statements(tokens[begin + 1 : -1]))
    return (
        f"DO $made$ BEGIN CREATE FUNCTION {name} () RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT"
        f" AS $body$ BEGIN {deeds}RETURN NULL; END $body$;"
        f" {joined(tokens[:begin])} FOR EACH STATEMENT EXECUTE FUNCTION {name} (); END $made$"
    )


def _statements(tokens: list[str]) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for piece in tokens:
        if piece == ";" and not _within_trigger(found[-1]):
            found.append([])
        else:
            found[-1].append(piece)
    return [one for one in found if one]


def _within_trigger(tokens: list[str]) -> bool:
    """Whether a statement that is not over yet makes a trigger, in which there are statements."""
    words = [word.upper() for word in tokens]
    return words[:2] == ["CREATE", "TRIGGER"] and "BEGIN" in words and words[-1] != "END"


def _line(tokens: list[str]) -> str:
    """A column or a condition: what stands behind a name is its type."""
    if len(tokens) > 1 and tokens[1].upper() in _TYPES:
        tokens = [tokens[0], _TYPES[tokens[1].upper()], *tokens[2:]]
    return joined(tokens)


def _indexed(tokens: list[str]) -> str:
    """A column of an index: an expression stands in brackets, and a comparison is a number there."""
    if len(tokens) == 1 or (len(tokens) == 2 and tokens[1].upper() in {"ASC", "DESC"}):
        return joined(tokens)
    number = "::integer" if "IS" in map(str.upper, tokens) else ""
    return f"(({joined(reworded(tokens))}){number})"
