"""A small line beside each match of a screen: how the first number that is screened for came to be what it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from markupsafe import Markup

from almanac.dashboard.drawing.marks import sparkline
from almanac.dashboard.explorer.histories import histories, spans
from almanac.dashboard.explorer.screening.filters import EQUITY, Fields, Screener
from almanac.dashboard.visit import Visit

Row = Mapping[str, Any]


class Sparklines(NamedTuple):
    """Lines of one field, one for each row and empty where there is none; and what they are of, which of a change is the level."""

    field: str
    #: `Net margin, twelve years of quarterly data`.
    words: str
    drawings: Sequence[Markup]


def sparklines(
    visit: Visit, screener: Screener, fields: Fields, rows: Sequence[Row], names: Sequence[str], as_of: str | None
) -> Sparklines | None:
    """Lines of the first of these fields that has any, as known on the day of the screen; None where none has."""
    for field in (name for name in names if name in fields and _is_drawn(fields[name])):
        told = visit.look_up(f"/indicators/{field.partition(':')[0]}")
        if told is None:
            continue  # a score: it is made among the companies of one day, and has no history
        newest = _newest(visit, screener, field, told.data, rows, as_of)
        derived = [told.data["id"]] if told.data["kind"] == "derived" else []
        found = histories(visit, newest, derived=derived, as_of=as_of, failed_too=False)
        series = {row["entityId"]: row["metadata"]["seriesId"] for row in newest}
        drawings = [sparkline(found.get(series.get(row["entityId"], ""), ())) for row in rows]
        if any(drawings):
            return Sparklines(field, f"{told.data['name']}, {spans(newest)}", drawings)
    return None


def _is_drawn(field: Row) -> bool:
    """Whether a line says what happened: of shares, and of what there is for each, a split would be its largest move."""
    unit = str(field["unit"])
    return bool(field["type"] == "number") and not unit.endswith("_per_share") and unit != "shares"


def _newest(
    visit: Visit, screener: Screener, field: str, indicator: Row, rows: Sequence[Row], as_of: str | None
) -> list[Row]:
    """The readings that the values of the rows are of, as the interface lists them."""
    values = {row["entityId"]: value for row in rows if (value := _value(screener, field, row)) is not None}
    if not values:
        return []
    # None of the page's own requests: the numbers themselves are of another.
    told = visit.follow(
        "/observations/latest", indicator_id=indicator["id"], entity_id=[*values], as_of=as_of, limit=len(values)
    )
    # A line ends at the value beside it, or is not there: pages of an older state may show another than is known by now.
    return [row for row in told.data if ":" in field or row["valueNumeric"] == values[row["entityId"]]]


def _value(screener: Screener, field: str, row: Row) -> Any:
    """What the row has of a field; None where that may not be shown."""
    if screener is EQUITY:
        return row["values"].get(field)
    return next((one["value"] for one in row["matches"] if one["field"] == field), None)
