"""How the numbers of a series changed from release to release: the triangle, and what revisions amount to."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import msgspec

from almanac.dashboard.explorer.series.one_series import Row
from almanac.dashboard.explorer.series.vintages import Cell, Vintages
from almanac.dashboard.words.dates import short_day
from almanac.dashboard.words.numbers import change, number
from almanac.dashboard.words.periods import period
from almanac.dashboard.words.units import UnitWords
from almanac.dashboard.words.values import masked
from almanac.domain.numbers import exact, mean

#: Statuses of a first state that is the first publication, not the first we saw.
_PUBLISHED = {"initial", "final"}


class Triangle(msgspec.Struct, frozen=True):
    """What the macro `triangle` shows: releases in words, oldest first, and rows, newest period first."""

    releases: tuple[str, ...]
    rows: tuple[Row, ...]


def by_release(
    vintages: Vintages, days: Sequence[str], cells: Sequence[Cell], unit: UnitWords, digits: int, frequency: str
) -> Triangle:
    """One column for each day of a release, one row for each cell."""
    held = vintages.cells
    rows = []
    for cell in cells:
        states = held[cell]
        row, place, before = [], 0, None
        for release in days:
            start = place
            while place < len(states) and states[place]["observedAt"][:10] <= release:
                place += 1
            now = states[place - 1] if place else None
            fresh = place > start and now is not None and now["observedAt"][:10] == release
            row.append(_cell(now, before, states[0], unit, digits, fresh=fresh))
            before = now
        rows.append({"period": period(cell[0], cell[1], frequency), "cells": row})
    # The year may go to a second line: nine whole days would not fit beside each other.
    return Triangle(tuple(f"{short_day(release)} {release[:4]}" for release in days), tuple(rows))


def _cell(now: Row | None, before: Row | None, oldest: Row, unit: UnitWords, digits: int, *, fresh: bool) -> Row:
    if now is None:
        return {"state": "none", "text": ""}
    text = write_state(now, unit, digits)
    if not fresh:
        return {"state": "same", "text": text}
    if now is oldest:
        return {"state": "first" if now["revisionStatus"] in _PUBLISHED else "same", "text": text}
    moved = _moved(before, now)
    return {"state": "changed", "text": text, "direction": "up" if moved > 0 else "down"} if moved else {
        "state": "same", "text": text,
    }  # fmt: skip


def write_state(row: Row, unit: UnitWords, digits: int) -> str:
    """A state in a table whose head has the unit."""
    if masked(row):
        return "Withheld"
    if row["metadata"].get("withdrawn"):
        return "withdrawn"
    if row["valueNumeric"] is None:
        return str(row["valueText"] or "No data")
    return unit.cell(row["valueNumeric"], digits)


def _moved(before: Row | None, now: Row) -> float:
    if before is None or before["valueNumeric"] is None or now["valueNumeric"] is None:
        return 0.0
    return float(exact(now["valueNumeric"]) - exact(before["valueNumeric"]))


def by_age(vintages: Vintages, unit: UnitWords, digits: int, frequency: str) -> list[Row]:
    """One row for each cell: its first, second and third state, that of a year later, and the newest."""
    rows = []
    for cell, states in vintages.cells.items():
        first = states[0]["observedAt"]
        later = f"{int(first[:4]) + 1}{first[4:]}"
        year = [one for one in states if one["observedAt"] <= later][-1] if states[-1]["observedAt"] > later else None
        texts = [write_state(one, unit, digits) for one in states[:3]]
        texts += [""] * (3 - len(texts))
        rows.append(
            {
                "period": period(cell[0], cell[1], frequency),
                "states": len(states),
                "texts": [
                    *texts,
                    "" if year is None else write_state(year, unit, digits),
                    write_state(states[-1], unit, digits),
                ],
            }
        )
    return rows


def moves(vintages: Vintages, unit: UnitWords) -> list[Decimal]:
    """From the first publication of a cell to its newest state, over all cells that have both; zero for one that never changed."""
    found = []
    for states in vintages.cells.values():
        first, last = states[0], states[-1]
        if (
            first["revisionStatus"] in _PUBLISHED
            and first["valueNumeric"] is not None
            and last["valueNumeric"] is not None
        ):
            found.append(unit.scaled(last["valueNumeric"]) - unit.scaled(first["valueNumeric"]))
    return found


def foot(vintages: Vintages, unit: UnitWords, digits: int) -> list[Row]:
    """What revisions amount to, over all cells whose first publication is known; nothing where none was revised."""
    every = moves(vintages, unit)
    revised = [move for move in every if move]
    if not revised:
        return []
    up = sum(move > 0 for move in revised)
    more = digits + 1
    return [
        {"term": "Mean revision", "text": change(mean([float(move) for move in every]), more)},
        {"term": "Mean absolute revision", "text": number(mean([float(abs(move)) for move in every]), more)},
        {"term": "Revised up", "text": f"{up:,} of {len(revised):,}"},
        {"term": "Never changed", "text": f"{len(every) - len(revised):,} of {len(every):,}"},
    ]
