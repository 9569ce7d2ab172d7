"""What a screener found, as rows of a table and as lines of a file."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.screening.filters import EQUITY, Fields, Screener, is_money, unit_words
from almanac.dashboard.words.dates import day
from almanac.dashboard.words.numbers import NO_SCALE, Scale, full, in_scale, number, table_scale
from almanac.dashboard.words.units import UnitWords, unit_of
from almanac.dashboard.words.values import NO_DATA, Look, look_field, look_reading
from almanac.domain.numbers import rounded

Row = Mapping[str, Any]
_COMPANY = ("entityId", "name", "ticker", "cik", "country", "sector", "industry", "periodEnd", "observedAt", "quality")
_PLACE = ("entityId", "name", "country")
_MATCH = ("value", "unit", "currency", "periodEnd", "observedAt", "freshnessStatus", "seriesId")
#: Texts that the rows of companies have anyway.
_TOLD = ("sector", "quality")


class ScreenedCell(NamedTuple):
    """One value of one row: how it looks, where it leads, its period."""

    look: Look
    href: str = ""
    note: str = ""


class ValueColumn(NamedTuple):
    """A filtered or sorted field: its head, and a cell for each row."""

    name: str
    title: str
    right: bool
    cells: Sequence[ScreenedCell]


def value_columns(
    screener: Screener, fields: Fields, rows: Sequence[Row], names: Sequence[str], as_of: str | None
) -> list[ValueColumn]:
    """A column for each field that was filtered or sorted by."""
    if screener is EQUITY:
        own = [_of_companies(name, fields[name], rows) for name in names if name in fields and name not in _TOLD]
        return [*own, _checks(rows)] if any(row["quality"] in _WORDS for row in rows) else own
    return [_of_places(name, fields[name], rows, as_of) for name in names if name in fields]


#: What checks found, as people say it.
_WORDS = {"warning": "One does not hold", "failed": "A grave one fails"}


def _checks(rows: Sequence[Row]) -> ValueColumn:
    """What checks say of the statements behind each row, which leads to them."""
    cells = []
    for row in rows:
        words = _WORDS.get(row["quality"], "All hold")
        href = f"/companies/{row['entityId']}" if row["quality"] in _WORDS else ""
        cells.append(ScreenedCell(Look("plain", words, words), href))
    return ValueColumn("quality", "Checks", False, cells)


def _of_companies(name: str, field: Mapping[str, Any], rows: Sequence[Row]) -> ValueColumn:
    values = [row["values"].get(name) for row in rows]
    if field["type"] == "text":
        return ValueColumn(name, field["name"], False, [ScreenedCell(_look_text(value)) for value in values])
    currencies = {row["values"].get("currency") for row in rows} if is_money(field) else {None}
    unit = unit_words(name, field, next(iter(currencies), None))
    if len(currencies) > 1:
        # Each in its own currency, so that none is read as another.
        cells = [
            ScreenedCell(look_field(value, unit_words(name, field, row["values"].get("currency")), figure=True))
            for row, value in zip(rows, values, strict=True)
        ]
        return ValueColumn(name, f"{field['name']}, each in its own currency", True, cells)
    numbers = [value for value in values if value is not None]
    large = bool(unit.before and not unit.after) or field["unit"] == "shares"
    scale = table_scale(numbers) if large else NO_SCALE
    if scale.power:
        cells = [ScreenedCell(_look_scaled(value, scale)) for value in values]
        return ValueColumn(
            name, f"{field['name']}, {unit.head} {scale.plural}".replace("Shares", "shares,"), True, cells
        )
    digits = unit.digits(numbers, computed=True) if unit.fraction else unit.digits(numbers)
    return ValueColumn(
        name, _head(field["name"], unit), True, [ScreenedCell(look_field(v, unit, digits=digits)) for v in values]
    )


def _of_places(name: str, field: Mapping[str, Any], rows: Sequence[Row], as_of: str | None) -> ValueColumn:
    matches = [next((one for one in row["matches"] if one["field"] == name), None) for row in rows]
    units = [unit_of(one) for one in matches if one is not None]
    alike = len({unit.head for unit in units}) <= 1
    digits = (
        units[0].digits(one["value"] for one in matches if one is not None)
        if units and alike and field["type"] != "text"
        else None
    )
    then = f"?as_of={as_of}" if as_of else ""
    cells = [
        ScreenedCell(Look("none", NO_DATA, NO_DATA))
        if one is None
        else ScreenedCell(
            look_reading(one, digits=digits, figure=not alike),
            series_address(one["seriesId"]) + then,
            day(one["periodEnd"]),
        )
        for one in matches
    ]
    title = _head(field["name"], units[0]) if units and alike and field["type"] != "text" else field["name"]
    return ValueColumn(name, title, field["type"] != "text", cells)


def lines(screener: Screener, rows: Sequence[Row], names: Sequence[str]) -> bytes:
    """The rows as CSV, in the interface's own words and numbers."""
    out = io.StringIO()
    write = csv.writer(out, lineterminator="\r\n")
    if screener is EQUITY:
        own = [name for name in names if name not in _TOLD]
        write.writerow([*_COMPANY, *own])
        for row in rows:
            write.writerow(
                [*(_text(row[name]) for name in _COMPANY), *(_text(row["values"].get(name)) for name in own)]
            )
    else:
        write.writerow([*_PLACE, *(f"{name}_{part}" for name in names for part in _MATCH)])
        for row in rows:
            told = {one["field"]: one for one in row["matches"]}
            values = [_text(told.get(name, {}).get(part)) for name in names for part in _MATCH]
            write.writerow([*(_text(row[name]) for name in _PLACE), *values])
    return out.getvalue().encode()


def _text(value: Any) -> str:
    """A cell. A text that a spreadsheet would run as a formula is kept from it by an apostrophe."""
    if value is None:
        return ""
    if isinstance(value, int | float):
        return full(value)
    text = str(value)
    return f"'{text}" if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text


def _head(name: str, unit: UnitWords) -> str:
    head = "percent" if unit.fraction else unit.head
    return (
        name
        if head in {"Ratio", "Points", ""}
        else f"{name}, {head[:1].lower()}{head[1:]}"
        if not head[:2].isupper()
        else f"{name}, {head}"
    )


def _look_text(value: str | None) -> Look:
    return Look("none", NO_DATA, NO_DATA) if value is None else Look("plain", value, value)


def _look_scaled(value: float | None, scale: Scale) -> Look:
    if value is None:
        return Look("none", NO_DATA, NO_DATA)
    told, digits = in_scale(value, scale), 1
    while value and not rounded(told, digits):
        digits += 1  # a number that is there is never told as nothing
    text = number(told, digits)
    return Look("plain", text, text, full(value))
