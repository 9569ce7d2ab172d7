"""What stands beside a series: what it is, the same from other sources, and other series of the same place."""

from __future__ import annotations

from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.series.one_series import Row, Series
from almanac.dashboard.explorer.series.series_view import Shown
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.dates import day
from almanac.dashboard.words.periods import between, period
from almanac.dashboard.words.values import look

#: Series listed, and indicators of a category that are asked for.
_LISTED, _ASKED = 6, 60
_ADJUSTMENTS = {"SA": "Adjusted", "NSA": "Not adjusted", "SAAR": "Adjusted, annual rate"}


def about(one: Shown) -> list[Row]:
    """What the series is: pairs for the panel."""
    record, row = one.series.record, one.newest or (one.rows[0] if one.rows else None)
    source = record["sourceId"]
    found: list[Row] = [
        {"term": "Source", "text": record["rights"]["attribution"] or source, "href": f"/sources/{source}"},
        {"term": "Licence", "text": record["rights"]["license"] or "not stated"},
        {"term": "Frequency", "text": record["frequency"].replace("_", " ").capitalize()},
        {"term": "Unit", "text": one.unit.head or "as published"},
    ]
    cells = list(one.then.cells)
    if one.then.complete and cells:
        first, last = (period(cell[0], cell[1], record["frequency"]) for cell in (cells[-1], cells[0]))
        found.append({"term": "Periods", "text": between(first, last)})
        since = one.then.releases[0].day
        found.append({"term": "Vintages", "text": f"{len(one.then.rows):,}, from {day(since)}"})
    elif one.as_of is None and record["firstPeriod"] and record["lastPeriod"]:
        found.append({"term": "Periods", "text": between(day(record["firstPeriod"]), day(record["lastPeriod"]))})
        found.append({"term": "Vintages", "text": f"{record['vintageCount']:,}, from {day(record['vintagesFrom'])}"})
    adjusted = None if row is None else row["metadata"].get("seasonalAdjustment")
    if adjusted:
        found.append({"term": "Seasonal adj.", "text": _ADJUSTMENTS.get(adjusted, adjusted)})
    if one.series.indicator["formula"]:
        found.append({"term": "Formula", "text": one.series.indicator["formula"], "code": True})
    if record["nativeId"]:
        found.append({"term": "Native id", "text": record["nativeId"], "code": True})
    found.append({"term": "Series id", "text": one.series.id, "code": True})
    return found


def same_category(visit: Visit, one: Shown) -> list[Row]:
    """Newest values of other indicators of the same category and place, as known then."""
    own = one.series.indicator
    told = visit.look_up("/indicators", category=own["category"], limit=500)
    names = {row["id"]: row["name"] for row in ([] if told is None else told.data) if row["entityCount"]}
    names.pop(own["id"], None)
    # Those that most places have come first.
    ranked = sorted((row for row in ([] if told is None else told.data) if row["id"] in names),
                    key=lambda row: (-row["entityCount"], row["name"]))[:_ASKED]  # fmt: skip
    if not ranked:
        return []
    ids = [row["id"] for row in ranked]
    found = visit.ask("/observations/latest", entity_id=one.series.record["entityId"], indicator_id=ids, as_of=one.as_of,
                      limit=len(ids))  # fmt: skip
    rows = sorted(found.data, key=lambda row: ids.index(row["indicatorId"]))[:_LISTED]
    return [_item(visit, one, row, names[row["indicatorId"]]) for row in rows]


def other_sources(visit: Visit, one: Shown) -> list[Row]:
    """Newest values of the same indicator from other sources, as known then."""
    found = []
    for record in one.series.others:
        series = Series(record, one.series.indicator, one.series.entity, (one.series.record,))
        told = visit.ask(series.list_path, limit=20, order="desc", as_of=one.as_of, **series.filters)
        row = next(iter(series.own(told.data)), None)
        if row is not None:
            found.append(_item(visit, one, row, record["sourceId"]))
    return found


def _item(visit: Visit, one: Shown, row: Row, title: str) -> Row:
    now = look(row, today=visit.today, figure=True, history=one.as_of is not None)
    return {
        "title": title,
        "href": series_address(row["metadata"]["seriesId"]) + (f"?as_of={one.as_of}" if one.as_of else ""),
        "look": now,
        "note": f"{period(row['periodStart'], row['periodEnd'], row['frequency'])} · {row['frequency'].replace('_', ' ')}",
        "to": f"/sources/{row['sourceId']}" if now.state == "withheld" else "",
    }
