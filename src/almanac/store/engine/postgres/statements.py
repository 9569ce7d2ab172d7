"""
Statements as the store writes them, in PostgreSQL's words.

The store has one SQL for both engines, written as SQLite takes it. What the two say in different words is put into the
other's here, once for each text of a statement; what they mean differently is written so that both agree, where it stands.

- `?` and `?1` become `$1`; values that a statement does not mention are not sent.
- `IS` between values is `IS NOT DISTINCT FROM`; beside a bracket that is compared with a number, it is a number.
- Hints to SQLite's planner mean nothing here: `INDEXED BY`, `CROSS JOIN` with a condition, a plus before a column.
- `max` and `min` of several values are `greatest` and `least`. They pass over NULLs, where SQLite's give NULL.
- Nothing is in `IN ()`. `x'..'`, `9e999`, `group_concat`, `instr`, `iif`, `randomblob`, `json_extract`, `json_each`.
- A subquery in FROM has a name. NULL as the first value of a new row is the next number of its table. What conflicts
  with nothing named conflicts with the key; columns of the row that is there are named with their table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from almanac.store.engine.postgres.inserting import Layout, copied, inserted
from almanac.store.engine.postgres.spreading import NUMBER, apart, own_topic
from almanac.store.engine.postgres.tokens import closing, cut, is_name, joined, parts


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
    #: What gives that number, where a statement that writes cannot ask for it itself: bound behind all values.
    numbering: str | None = None


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


def translated(sql: str, layout: Layout, *, spread: bool = False) -> Statement:
    """A statement in PostgreSQL's words; `spread`: for tables that stand on several machines (`spreading`)."""
    tokens = cut(sql)
    first = next((piece.upper() for piece in tokens if is_name(piece)), "")
    numbers, table, numbering = None, None, None
    cells: tuple[int | str, ...] = ()
    if first in {"INSERT", "REPLACE"}:
        table, cells = copied(tokens)
        tokens, numbers = inserted(tokens, layout)
        if spread and numbers is not None:
            tokens, numbering = apart(tokens)
    tokens = reworded(tokens)
    tokens, places, wanted = _values(own_topic(tokens) if spread else tokens)
    if numbering is not None:
        tokens = [f"${len(places) + 1}" if piece == NUMBER else piece for piece in tokens]
    return Statement(joined(tokens), places, wanted, first not in _READING, table, numbers, cells, numbering)


def reworded(tokens: list[str]) -> list[str]:
    """Whatever is said in other words, but for values and what is written."""
    return _subqueries(_functions(_comparisons(_joins(_hints(_emptied(tokens))))))


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
            del found[_operand(found) :]
            found.append("TRUE" if negated else "FALSE")
        else:
            found.append(piece)
    return found


def _operand(found: list[str]) -> int:
    """Where the last operand begins: a name, with that of its table, or what is in a bracket, with the function's name."""
    at = len(found) - 1
    if found[at] == ")":
        depth = 1
        while depth:
            at -= 1
            depth += (found[at] == ")") - (found[at] == "(")
        return at - 1 if at and is_name(found[at - 1]) and found[at - 1].upper() not in _BEFORE_A_HINT else at
    return at - 2 if found[at - 1 : at] == ["."] else at


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
