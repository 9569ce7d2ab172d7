"""
Parts of statements for which SQLite and PostgreSQL have different words.

All statements of the store are written once, in words that both engines take. SQLite's hints to its planner (`CROSS JOIN … ON`,
`INDEXED BY`, `++` before what no index is to be used for) may stand in them: PostgreSQL is given them without (`postgres.translate`).
"""

from __future__ import annotations

from collections.abc import Sized


def greatest(left: str, right: str) -> str:
    """Return the greater of two values; the right one if either is NULL."""
    return f"CASE WHEN {left} > {right} THEN {left} ELSE {right} END"


def least(left: str, right: str) -> str:
    """Return the lesser of two values; the right one if either is NULL."""
    return f"CASE WHEN {left} < {right} THEN {left} ELSE {right} END"


def in_list(column: str, values: Sized) -> str:
    """Return the condition that a column has one of the bound values; never true of none."""
    return f"{column} IN ({', '.join('?' * len(values))})" if values else "FALSE"


def number_list(mark: str) -> str:
    """Return a table of one column, `value`: the whole numbers of a JSON list that is bound."""
    return f"(SELECT CAST(value AS BIGINT) AS value FROM json_each({mark}) AS listed)"


def contains(column: str, mark: str) -> str:
    """Return the condition that a text contains another one that is not empty, byte by byte."""
    return f"replace({column}, {mark}, '') <> {column}"


def next_id(column: str, table: str) -> str:
    """
    Return the number of a new row, in the place of its value: the next after the highest there is.

    No sequence: a write that is undone leaves no gap, and the same load gives the same numbers on either engine. Writers
    come one after the other, so no two take the same. Of a table that Citus has on every machine it is selected first.
    """
    return f"(SELECT coalesce(max({column}), 0) + 1 FROM {table})"
