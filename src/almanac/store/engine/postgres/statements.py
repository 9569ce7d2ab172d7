"""
Statements of the store, as PostgreSQL takes them: once for each text.

They are written in words that both engines take. What is left:

- `?` and `?1` become `$1`; values that a statement does not mention are not sent.
- Hints to SQLite's planner mean nothing here and are left out: `CROSS` before a JOIN with a condition, `INDEXED BY`, and a
  plus before a column.
- A list of whole numbers that is bound as JSON is read by `json_each(?)` there, and by another function here.
"""

from __future__ import annotations

import itertools
import re
from typing import NamedTuple

from almanac.store.engine.postgres.spreading import NUMBER, apart, own_topic


class Statement(NamedTuple):
    """A statement as PostgreSQL takes it. `places`: which of the values given stand for `$1`, `$2`, …, from 0 on."""

    sql: str
    places: tuple[int, ...]
    #: How many values must be given.
    wanted: int
    #: Whether it may change anything.
    writes: bool
    #: Of an INSERT of nothing but values and whole numbers: the table. Many such rows are copied.
    copied_into: str | None = None
    #: Of such an INSERT what each column gets: which of the values given, or what is the same in every row.
    cells: tuple[int | str, ...] = ()
    #: What gives the number of a new row, where a statement that writes cannot ask for it itself: bound behind all values.
    numbering: str | None = None


_READING = frozenset({"SELECT", "WITH", "VALUES", "EXPLAIN", "SHOW"})
_MARK = re.compile(r"\?(\d*)")
_HINT = re.compile(r"\bCROSS (?=JOIN\b)|\bINDEXED BY \w+|(?<=[ (])\+(?=[a-z])")
_LIST = re.compile(r"\bjson_each\((\?\d*)\)")
_PLAIN = re.compile(r"INSERT INTO (\w+) VALUES\(((?:\?|\d+)(?:, ?(?:\?|\d+))*)\)")


def translated(sql: str, *, spread: bool = False) -> Statement:
    """A statement in PostgreSQL's words; `spread`: for tables that stand on several machines (`spreading`)."""
    numbering = None
    table, cells = _copied(sql)
    said = _LIST.sub(r"(SELECT value::bigint AS value FROM json_array_elements_text(\1::json))", _HINT.sub("", sql))
    if spread:
        said, numbering = apart(own_topic(said))
    numbers: dict[int, int] = {}
    highest = 0

    def numbered(mark: re.Match[str]) -> str:
        # As SQLite counts: a mark without a number has the next one.
        nonlocal highest
        place = int(mark[1] or highest + 1)
        highest = max(highest, place)
        return f"${numbers.setdefault(place, len(numbers) + 1)}"

    said = _MARK.sub(numbered, said).replace(NUMBER, f"${len(numbers) + 1}")
    writes = said.split(None, 1)[0].upper() not in _READING
    return Statement(said, tuple(place - 1 for place in numbers), highest, writes, table, cells, numbering)


def _copied(sql: str) -> tuple[str | None, tuple[int | str, ...]]:
    """The table of an `INSERT INTO table VALUES(?, …)`, and what its columns get; None for any other statement."""
    plain = _PLAIN.fullmatch(sql)
    if plain is None:
        return None, ()
    places = itertools.count()
    return plain[1], tuple(next(places) if cell == "?" else cell for cell in plain[2].replace(" ", "").split(","))
