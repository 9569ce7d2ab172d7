"""
Parts of statements that both engines take, where each has a word of its own that the other has not.

All statements of the store are written in words common to SQLite and PostgreSQL; a test of the house holds that. What is
left to be said otherwise is in `postgres.statements`.
"""

from __future__ import annotations

from collections.abc import Sized


def greater(one: str, other: str) -> str:
    """The greater of two values; the other one where either is NULL."""
    return f"CASE WHEN {one} > {other} THEN {one} ELSE {other} END"


def lesser(one: str, other: str) -> str:
    """The lesser of two values; the other one where either is NULL."""
    return f"CASE WHEN {one} < {other} THEN {one} ELSE {other} END"


def among(column: str, values: Sized) -> str:
    """That a column has one of so many values that are bound; of none it has none."""
    return f"{column} IN ({', '.join('?' * len(values))})" if values else "FALSE"


def contains(column: str, mark: str) -> str:
    """That a text has another one in it that is not empty, letter by letter."""
    return f"replace({column}, {mark}, '') <> {column}"


def following(column: str, table: str) -> str:
    """
    The number of a new row, in the place of its value: the next after the highest there is.

    No sequence: a write that is undone leaves no gap, and the same load gives the same numbers on either engine. Writers
    come one after the other, so no two take the same.
    """
    return f"(SELECT coalesce(max({column}), 0) + 1 FROM {table})"
