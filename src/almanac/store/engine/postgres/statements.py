"""
Statements as the store writes them, in PostgreSQL's words.

The store has one SQL for both engines, written as SQLite takes it. What the two say in different words is put into the
other's here, once for each text of a statement; what they mean differently is written so that both agree, where it stands.

- `?` and `?1` become `$1`; values that a statement does not mention are not sent.
- `IS` between values is `IS NOT DISTINCT FROM`; beside a bracket that is compared with a number, it is a number.
- Hints to SQLite's planner mean nothing here: `INDEXED BY`, `CROSS JOIN` with a condition, a plus before a column.
- `max` and `min` of several values are `greatest` and `least`. They pass over NULLs, where SQLite's give NULL.
- Nothing is in `IN ()`. `x'..'`, `9e999`, `group_concat`, `instr`, `iif`, `randomblob`, `json_extract`, `json_each`.
- The other columns of a group of which one `max` or `min` is asked are those of the row that has it (`picking`).
- A subquery in FROM has a name. NULL as the first value of a new row is the next number of its table. What conflicts
  with nothing named conflicts with the key; columns of the row that is there are named with their table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from almanac.store.engine.postgres.picking import picked
from almanac.store.engine.postgres.tokens import closing, cut, is_name, joined, parts


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


class Statement(NamedTuple):
    """A statement as PostgreSQL takes it. `places`: which of the values given stand for `$1`, `$2`, …, from 0 on."""

    sql: str
    places: tuple[int, ...]
    #: How many values must be given.
    wanted: int
    #: Whether it may change anything.
    writes: bool
    #: Of an INSERT of nothing but values and whole numbers: the table. Many such rows are copied.
    copied_into: str | None
    #: The column whose number the engine gives a new row.
    numbers: str | None
    #: Of such an INSERT what each column gets: which of the values given, or what is the same in every row.
    cells: tuple[int | str, ...] = ()


_READING = frozenset({"SELECT", "WITH", "VALUES", "EXPLAIN", "SHOW"})
#: Words that may follow a subquery in FROM and are not its name.
_NOT_A_NAME = frozenset(
    [
        "WHERE",
        "JOIN",
        "CROSS",
        "LEFT",
        "INNER",
        "ON",
        "USING",
        "GROUP",
        "ORDER",
        "LIMIT",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "HAVING",
        "OFFSET",
        "NATURAL",
        "RETURNING",
    ]
)
#: What a sign of no number or name may stand behind: there a plus says nothing but which index SQLite shall not use.
_BEFORE_A_HINT = frozenset(
    [
        "(",
        ",",
        "=",
        "<",
        ">",
        "<=",
        ">=",
        "<>",
        "AND",
        "OR",
        "NOT",
        "WHERE",
        "ON",
        "SELECT",
        "BY",
        "THEN",
        "ELSE",
        "WHEN",
    ]
)
_TYPES = {"BLOB": "bytea", "INTEGER": "bigint", "REAL": "float8"}
_SCALARS = {"MAX": "greatest", "MIN": "least"}


def translated(sql: str, layout: Layout) -> Statement:
    """A statement in PostgreSQL's words."""
    tokens = cut(sql)
    first = next((piece.upper() for piece in tokens if is_name(piece)), "")
    numbers, table = None, None
    cells: tuple[int | str, ...] = ()
    if first in {"INSERT", "REPLACE"}:
        table, cells = _copied(tokens)
        tokens, numbers = _inserted(tokens, layout)
    tokens, places, wanted = _values(reworded(tokens))
    return Statement(joined(tokens), places, wanted, first not in _READING, table, numbers, cells)


def reworded(tokens: list[str]) -> list[str]:
    """Whatever is said in other words, but for values and what is written."""
    return _subqueries(_functions(_comparisons(_joins(_hints(picked(_emptied(tokens)))))))


def _values(tokens: list[str]) -> tuple[list[str], tuple[int, ...], int]:
    """Places of values, numbered from 1 without gaps."""
    numbers: dict[int, int] = {}
    highest = 0
    found = []
    for piece in tokens:
        if piece[0] != "?":
            found.append(piece)
            continue
        place = int(piece[1:] or highest + 1)
        highest = max(highest, place)
        found.append(f"${numbers.setdefault(place, len(numbers) + 1)}")
    return found, tuple(place - 1 for place in numbers), highest


def _emptied(tokens: list[str]) -> list[str]:
    """A column is in no empty list, which SQLite lets one write."""
    found: list[str] = []
    for piece in tokens:
        if piece == ")" and found[-2:] in (["IN", "("], ["in", "("]):
            negated = found[-3].upper() == "NOT"
            del found[-3 if negated else -2 :]
            del found[-3 if found[-2:-1] == ["."] else -1 :]
            found.append("TRUE" if negated else "FALSE")
        else:
            found.append(piece)
    return found


def _hints(tokens: list[str]) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(tokens):
        piece = tokens[at]
        if piece.upper() == "INDEXED" and at + 1 < len(tokens) and tokens[at + 1].upper() == "BY":
            at += 3
            continue
        if piece == "+" and (not found or found[-1].upper() in _BEFORE_A_HINT):
            at += 1
            continue
        if piece.lower() == "9e999":
            piece = "'Infinity'::float8"
        elif piece[0] in "xX" and piece[1:2] == "'":
            piece = rf"'\x{piece[2:-1]}'::bytea"
        found.append(piece)
        at += 1
    return found


def _joins(tokens: list[str]) -> list[str]:
    """A `CROSS JOIN` with a condition is a `JOIN`."""
    found = []
    for at, piece in enumerate(tokens):
        if piece.upper() == "CROSS" and _has_condition(tokens, at + 2):
            continue
        found.append(piece)
    return found


def _has_condition(tokens: Sequence[str], at: int) -> bool:
    while at < len(tokens):
        word = tokens[at].upper()
        if word in {"ON", "USING"}:
            return True
        if word in {"JOIN", "WHERE", "GROUP", "ORDER", "LIMIT", "UNION", ")", "LEFT", "CROSS", ","}:
            return False
        at = closing(tokens, at) + 1 if word == "(" else at + 1
    return False


_PLAIN_IS = frozenset({"NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT"})


def _comparisons(tokens: list[str]) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(tokens):
        if tokens[at].upper() != "IS":
            found.append(tokens[at])
            at += 1
            continue
        negated = tokens[at + 1].upper() == "NOT"
        behind = at + 1 + negated
        if tokens[behind].upper() in _PLAIN_IS:
            found += tokens[at : behind + 1]
            at = behind + 1
            continue
        found += ["IS", "DISTINCT", "FROM"] if negated else ["IS", "NOT", "DISTINCT", "FROM"]
        at = behind
    return _as_numbers(found)


def _as_numbers(tokens: list[str]) -> list[str]:
    """A comparison in a bracket of its own that is compared with a number is one."""
    found: list[str] = []
    opened: list[int] = []
    for at, piece in enumerate(tokens):
        found.append(piece)
        if piece == "(":
            opened.append(len(found) - 1)
        elif piece == ")":
            begin = opened.pop()
            inner = found[begin + 1 : -1]
            behind = tokens[at + 1].upper() if at + 1 < len(tokens) else ""
            if "DISTINCT" in inner and "(" not in inner and behind in {"=", "IN"}:
                found[begin : begin + 1] = ["(", "("]
                found += ["::", "integer", ")"]
    return found


def _subqueries(tokens: list[str]) -> list[str]:
    """Every subquery in FROM gets a name: older servers ask for one."""
    names: dict[int, str] = {}
    for at, piece in enumerate(tokens):
        if piece != "(" or not at or at + 1 >= len(tokens):
            continue
        if tokens[at - 1].upper() in {"FROM", "JOIN"} and tokens[at + 1].upper() in {"SELECT", "WITH", "VALUES"}:
            end = closing(tokens, at)
            behind = tokens[end + 1].upper() if end + 1 < len(tokens) else ""
            if not behind or not is_name(behind) or behind in _NOT_A_NAME:
                names[end] = f"AS unnamed_{len(names) + 1}"
    return [part for at, piece in enumerate(tokens) for part in ((piece, names[at]) if at in names else (piece,))]


def _functions(tokens: list[str]) -> list[str]:
    """Functions that have another name, or another shape; from the inside outwards."""
    found: list[str] = []
    at = 0
    while at < len(tokens):
        piece = tokens[at]
        name = piece.upper()
        called = at + 1 < len(tokens) and tokens[at + 1] == "(" and (not found or found[-1] != ".")
        if not called or not is_name(piece):
            found.append(piece)
            at += 1
            continue
        end = closing(tokens, at + 1)
        inner = [_functions(part) for part in parts(tokens[at + 2 : end])]
        if name in _SCALARS and len(inner) > 1:
            found += _call(_SCALARS[name], inner)
        elif name == "CAST":
            found += _call(piece, [[*inner[0][:-1], _TYPES.get(inner[0][-1].upper(), inner[0][-1])]])
        elif name in _SHAPES:
            found += _SHAPES[name](inner)
        else:
            found += _call(piece, inner)
        at = end + 1
    return found


def _call(name: str, inner: Sequence[list[str]]) -> list[str]:
    found = [name, "("]
    for number, part in enumerate(inner):
        found += ([","] if number else []) + part
    return [*found, ")"]


def _group_concat(inner: Sequence[list[str]]) -> list[str]:
    separator = inner[1] if len(inner) > 1 else ["','"]
    distinct = inner[0][:1] if inner[0][0].upper() == "DISTINCT" else []
    if separator[0].endswith("::bytea"):
        return ["string_agg", "(", *inner[0], ",", *separator, ")"]
    return ["string_agg", "(", *distinct, "(", *inner[0][len(distinct) :], ")", "::", "text", ",", *separator, ")"]


def _json_extract(inner: Sequence[list[str]]) -> list[str]:
    # Of paths the store has those of one name alone, and they lead to texts.
    (path,) = inner[1]
    return ["(", "(", *inner[0], ")", "::", "jsonb", "->>", f"'{path.removeprefix(chr(39) + '$.')}", ")"]


def _json_each(inner: Sequence[list[str]]) -> list[str]:
    # Lists that are bound are of numbers, those that are stored are of texts.
    every = ["json_array_elements_text", "(", "(", *inner[0], ")", "::", "json", ")"]
    if inner[0][0][0] != "?":
        return every
    return ["(", "SELECT", "e", ".", "value", "::", "bigint", "AS", "value", "FROM", *every, "e", ")"]


def _randomblob(inner: Sequence[list[str]]) -> list[str]:
    # Of random bytes the store wants as many as there are in a UUID.
    if inner != [["16"]]:
        raise ValueError("random bytes come by sixteen")
    return ["uuid_send", "(", "gen_random_uuid", "(", ")", ")"]


def _iif(inner: Sequence[list[str]]) -> list[str]:
    return ["CASE", "WHEN", *inner[0], "THEN", *inner[1], "ELSE", *inner[2], "END"]


_SHAPES: Mapping[str, Callable[[Sequence[list[str]]], list[str]]] = {
    "GROUP_CONCAT": _group_concat,
    "INSTR": lambda inner: _call("strpos", inner),
    "IIF": _iif,
    "RANDOMBLOB": _randomblob,
    "JSON_EXTRACT": _json_extract,
    "JSON_EACH": _json_each,
}


# -- writing ------------------------------------------------------------------------------------------------------------


def _copied(tokens: Sequence[str]) -> tuple[str | None, tuple[int | str, ...]]:
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


def _inserted(tokens: list[str], layout: Layout) -> tuple[list[str], str | None]:
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
