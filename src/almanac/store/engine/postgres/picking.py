"""
Groups from which SQLite takes one row: `SELECT a, b, max(c) … GROUP BY a` gives the b of the row that has the greatest c.

PostgreSQL says so by `DISTINCT ON (a) … ORDER BY a, c DESC`. What the group must have besides (HAVING) is asked of that row.

To find the first few groups, that reads and sorts all of them, for no index has its rows in that order. Where there is a
LIMIT, each group is read beside its extreme instead (a window over the group): an index in the order of the groups gives one
after the other, and no more of them than are wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from almanac.store.engine.postgres.tokens import closing, is_name, parts

_CLAUSES = ("SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT")
_ENDS = frozenset({"UNION", "EXCEPT", "INTERSECT"})
_AGGREGATES = frozenset({"MAX", "MIN", "COUNT", "SUM", "GROUP_CONCAT", "STRING_AGG", "AVG", "TOTAL"})


class _Extreme(NamedTuple):
    """The one aggregate of a list: which item it is, what is compared, and whether the greatest is wanted."""

    place: int
    of: list[str]
    greatest: bool


def picked(pieces: Sequence[str]) -> list[str]:
    """A statement in which such groups are said PostgreSQL's way."""
    found: list[str] = []
    at = 0
    while at < len(pieces):
        if pieces[at] == "(":
            end = closing(pieces, at)
            found += ["(", *picked(pieces[at + 1 : end]), ")"]
            at = end + 1
        else:
            found.append(pieces[at])
            at += 1
    return _of_this_level(found)


def _of_this_level(pieces: list[str]) -> list[str]:
    begin = next((at for at, piece in enumerate(pieces) if piece.upper() == "SELECT"), None)
    if begin is None or "GROUP" not in map(str.upper, pieces):
        return pieces
    clauses, end = _clauses(pieces, begin)
    if "GROUP" not in clauses or "FROM" not in clauses:
        return pieces
    group = parts(clauses["GROUP"][1:])
    items = parts(clauses["SELECT"])
    extreme = _extreme(items)
    if extreme is None or all(item in group for number, item in enumerate(items) if number != extreme.place):
        return pieces
    return [*pieces[:begin], *_distinct(clauses, group, items, extreme), *pieces[end:]]


def _clauses(pieces: Sequence[str], begin: int) -> tuple[dict[str, list[str]], int]:
    """The clauses of a SELECT without their first words, and where it ends."""
    found: dict[str, list[str]] = {}
    name = ""
    at = begin
    while at < len(pieces):
        word = pieces[at].upper()
        if word in _ENDS or (word == "ON" and name != "FROM"):
            break
        if word in _CLAUSES and word not in found:
            name = word
            found[name] = []
            at += 1
            continue
        end = closing(pieces, at) if pieces[at] == "(" else at
        found[name] += pieces[at : end + 1]
        at = end + 1
    return found, at


def _extreme(items: Sequence[list[str]]) -> _Extreme | None:
    found: list[_Extreme] = []
    for place, item in enumerate(items):
        for at, piece in enumerate(item[:-1]):
            if piece.upper() in _AGGREGATES and item[at + 1] == "(":
                end = closing(item, at + 1)
                of = item[at + 2 : end]
                if at or piece.upper() not in {"MAX", "MIN"}:
                    return None
                if len(parts(of)) == 1:
                    found.append(_Extreme(place, of, piece.upper() == "MAX"))
    return found[0] if len(found) == 1 else None


def _distinct(
    clauses: dict[str, list[str]], group: list[list[str]], items: list[list[str]], extreme: _Extreme
) -> list[str]:
    if "LIMIT" in clauses and all(_is_column(part) for part in (*group, *_others(items, extreme))):
        return _first(clauses, group, items, extreme)
    item = items[extreme.place]
    end = closing(item, 1)
    listed = [*items[: extreme.place], [*extreme.of, *item[end + 1 :]], *items[extreme.place + 1 :]]
    order = parts(clauses["ORDER"][1:]) if "ORDER" in clauses else group
    inner = ["SELECT", "DISTINCT", "ON", "(", *_joined(group), ")", *_joined(listed), "FROM", *clauses["FROM"]]
    if "WHERE" in clauses:
        inner += ["WHERE", *clauses["WHERE"]]
    way = ["DESC", "NULLS", "LAST"] if extreme.greatest else ["ASC"]
    inner += ["ORDER", "BY", *_joined([*order, [*extreme.of, *way]])]
    limit = ["LIMIT", *clauses["LIMIT"]] if "LIMIT" in clauses else []
    if "HAVING" not in clauses:
        return [*inner, *limit]
    outer = ["SELECT", "*", "FROM", "(", *inner, ")", "AS", "picked", "WHERE", *_bare(clauses["HAVING"])]
    if "ORDER" in clauses:
        outer += ["ORDER", "BY", *_bare(clauses["ORDER"][1:])]
    return [*outer, *limit]


def _first(
    clauses: dict[str, list[str]], group: list[list[str]], items: list[list[str]], extreme: _Extreme
) -> list[str]:
    """The first groups only."""
    item = items[extreme.place]
    order = parts(clauses["ORDER"][1:]) if "ORDER" in clauses else group
    name = item[-1] if item[closing(item, 1) + 1 :] else "extreme"
    inner = [[*extreme.of, "AS", name] if number == extreme.place else one for number, one in enumerate(items)]
    inner += [one for one in group if one not in items]
    function = "max" if extreme.greatest else "min"
    # The same for every row of a group, so that it is found once; the order is that in which groups are wanted.
    beside = [function, "(", *extreme.of, ")", "OVER", "(", "PARTITION", "BY", *_joined(group), "ORDER", "BY"]
    beside += [*_joined(order), *_WHOLE_GROUP, ")", "AS", _BESIDE]
    read = ["SELECT", *_joined([*inner, beside]), "FROM", *clauses["FROM"]]
    if "WHERE" in clauses:
        read += ["WHERE", *clauses["WHERE"]]
    # Of several rows that share the extreme one is taken, as by the other way.
    given = [[name] if number == extreme.place else _bare(one)[-1:] for number, one in enumerate(items)]
    outer = ["SELECT", "DISTINCT", "ON", "(", *_bare(_joined(group)), ")", *_joined(given)]
    outer += ["FROM", "(", *read, ")", "AS", "picked", "WHERE", name, "IS", "NOT", "DISTINCT", "FROM", _BESIDE]
    if "HAVING" in clauses:
        outer += ["AND", "(", *_bare(clauses["HAVING"]), ")"]
    return [*outer, "ORDER", "BY", *_bare(_joined(order)), "LIMIT", *clauses["LIMIT"]]


_WHOLE_GROUP = ("ROWS", "BETWEEN", "UNBOUNDED", "PRECEDING", "AND", "UNBOUNDED", "FOLLOWING")
#: What the extreme of a row's group is called beside the row.
_BESIDE = "of_the_group"


def _is_column(item: Sequence[str]) -> bool:
    """Whether an item of a list is a column as it stands, with or without the name of its table."""
    return is_name(item[0]) and (len(item) == 1 or (len(item) == 3 and item[1] == "."))


def _others(items: Sequence[list[str]], extreme: _Extreme) -> list[list[str]]:
    return [item for number, item in enumerate(items) if number != extreme.place]


def _bare(pieces: Sequence[str]) -> list[str]:
    """Columns without the names of their tables, which are not known outside."""
    return [
        piece for at, piece in enumerate(pieces) if piece != "." and (at + 1 == len(pieces) or pieces[at + 1] != ".")
    ]


def _joined(each: Sequence[list[str]]) -> list[str]:
    return [piece for number, one in enumerate(each) for piece in (([","] if number else []) + one)]
