"""What an INSERT leaves unsaid in SQLite's words, said in PostgreSQL's: the number of a new row, the key, whose column it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from almanac.store.engine.postgres.tokens import closing, parts


class Layout(Protocol):
    """What a statement may leave unsaid of the tables it writes to."""

    def key(self, table: str) -> Sequence[str]:
        """Columns of the primary key, in order."""
        ...

    def columns(self, table: str) -> Sequence[str]:
        """All columns, in order."""
        ...

    def number(self, table: str) -> str | None:
        """The column that the engine gives a number, where the table is one of numbered rows."""
        ...


def copied(tokens: Sequence[str]) -> tuple[str | None, tuple[int | str, ...]]:
    """The table of an `INSERT INTO table VALUES(?, …)`, and what its columns get; None for any other statement."""
    words = [piece.upper() for piece in tokens[:5]]
    if words[:2] != ["INSERT", "INTO"] or words[3:] != ["VALUES", "("] or closing(tokens, 4) != len(tokens) - 1:
        return None, ()
    cells: list[int | str] = []
    highest = 0
    for one in parts(tokens[5:-1]):
        if len(one) != 1 or not (one[0][0] == "?" or one[0].isdigit()):
            return None, ()
        if one[0][0] == "?":
            place = int(one[0][1:] or highest + 1)
            highest = max(highest, place)
            cells.append(place - 1)
        else:
            cells.append(one[0])
    return tokens[2], tuple(cells)


def inserted(tokens: list[str], layout: Layout) -> tuple[list[str], str | None]:
    """An INSERT: what it leaves unsaid is said."""
    replacing = tokens[0].upper() == "REPLACE" or [word.upper() for word in tokens[1:3]] == ["OR", "REPLACE"]
    ignoring = [word.upper() for word in tokens[1:3]] == ["OR", "IGNORE"]
    at = next(place for place, piece in enumerate(tokens) if piece.upper() == "INTO")
    tokens = ["INSERT", *tokens[at:]]
    table = tokens[2]
    tokens, numbers = _numbered(tokens, table, layout)
    if ignoring:
        tokens += ["ON", "CONFLICT", "DO", "NOTHING"]
    elif replacing:
        key = layout.key(table)
        rest = [name for name in layout.columns(table) if name not in key]
        tokens += ["ON", "CONFLICT", "(", *_listed(key), ")", "DO", "UPDATE", "SET"]
        for number, name in enumerate(rest):
            tokens += ([","] if number else []) + [name, "=", "excluded", ".", name]
    return _on_conflict(tokens, table, layout), numbers


def _numbered(tokens: list[str], table: str, layout: Layout) -> tuple[list[str], str | None]:
    """
    NULL in the place of a number: the next after the highest there is, as SQLite gives it.

    No sequence: a write that is undone leaves no gap, and the same load gives the same numbers on either engine. Writers
    come one after the other, so no two take the same.
    """
    named = tokens[3] == "("
    begin = closing(tokens, 3) + 1 if named else 3
    if [piece.upper() for piece in tokens[begin : begin + 2]] != ["VALUES", "("]:
        return tokens, None
    column = layout.number(table)
    given = tokens[begin + 2].upper() == "NULL"
    if column is None or (not named and not given) or (named and (column in tokens[4:begin]) != given):
        return tokens, None
    following = ["(", "SELECT", "coalesce", "(", "max", "(", column, ")", ",", "0", ")", "+", "1", "FROM", table, ")"]
    if given:
        return [*tokens[: begin + 2], *following, *tokens[begin + 3 :]], column
    return [*tokens[:4], column, ",", *tokens[4 : begin + 2], *following, ",", *tokens[begin + 2 :]], column


def _listed(names: Sequence[str]) -> list[str]:
    return [part for number, name in enumerate(names) for part in ((",", name) if number else (name,))]


def _on_conflict(tokens: list[str], table: str, layout: Layout) -> list[str]:
    words = [piece.upper() for piece in tokens]
    for at in range(len(words) - 3):
        if words[at : at + 2] == ["ON", "CONFLICT"]:
            break
    else:
        return tokens
    if words[at + 2 : at + 4] == ["DO", "UPDATE"]:
        tokens = [*tokens[: at + 2], "(", *_listed(layout.key(table)), ")", *tokens[at + 2 :]]
    if "UPDATE" not in words[at:]:
        return tokens
    begin = at + [piece.upper() for piece in tokens[at:]].index("SET") + 1
    ours = set(layout.columns(table))
    return [*tokens[:begin], *_qualified(tokens[begin:], table, ours)]


def _qualified(tokens: Sequence[str], table: str, columns: set[str]) -> list[str]:
    """Columns of the row that is there: without their table's name they might be the new row's."""
    found: list[str] = []
    depth = 0
    setting = True
    before = "SET"
    for at, piece in enumerate(tokens):
        depth += (piece == "(") - (piece == ")")
        if piece.upper() in {"WHERE", "RETURNING"} and not depth:
            setting = False
        target = setting and not depth and before in {"SET", ","} and tokens[at + 1 : at + 2] == ["="]
        if piece in columns and before != "." and not target and tokens[at + 1 : at + 2] not in (["."], ["("]):
            found += [table, "."]
        found.append(piece)
        before = piece
    return found
