"""What is watched, as rows of tables and files: newest value, change, line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from almanac.dashboard.drawing.marks import sparkline
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.histories import SPARK, recent
from almanac.dashboard.explorer.places import by_size, called, names
from almanac.dashboard.explorer.series import one_series
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.numbers import change
from almanac.dashboard.words.periods import of_row
from almanac.dashboard.words.points import points
from almanac.dashboard.words.units import told_apart, unit_of
from almanac.dashboard.words.values import Look, is_forecast, look, masked
from almanac.store.accounts.watchlist import Watched

Row = Mapping[str, Any]

#: What of a company is watched.
_OF_COMPANY = "revenue_ttm"


class WatchedEntry(NamedTuple):
    """One thing that is watched. `newest` is the interface's own row; None where there is none that may be told."""

    watched: Watched
    title: str
    href: str
    #: What the value is of, where the title does not say it.
    of: str = ""
    newest: Row | None = None
    #: None: there is no such thing any more.
    look: Look | None = None
    period: str = ""
    unit: str = ""
    #: Against the period before, in words.
    moved: str = ""
    spark: str = ""
    #: Why there is no value.
    why: str = ""


def listed(visit: Visit, watched: Sequence[Watched]) -> list[WatchedEntry]:
    """Each thing as a row, in this order, as it stands today."""
    return [_MAKERS[one.kind](visit, one) for one in watched]


def _series(visit: Visit, one: Watched) -> WatchedEntry:
    found = one_series.find(visit, one.what)
    if not isinstance(found, one_series.Series):
        return WatchedEntry(one, one.what, series_address(one.what), why="There is no series of this id any more.")
    told = visit.ask(found.list_path, **found.filters, sort="period_end", order="desc", limit=SPARK)
    return _entry(visit, WatchedEntry(one, found.title, found.address), found.own(told.data))


def _company(visit: Visit, one: Watched) -> WatchedEntry:
    told = visit.look_up("/entities/resolve", alias=one.what)
    if told is None or told.data["entityId"] is None:
        return WatchedEntry(one, one.what, f"/companies/{one.what}", why="There is no company of this id any more.")
    entry = WatchedEntry(one, called(told.data), f"/companies/{told.data['slug']}", "Revenue, twelve months")
    found = visit.ask("/observations/latest", indicator_id=_OF_COMPANY, entity_id=told.data["entityId"], limit=1).data
    return _entry(visit, entry, recent(visit, found[0]) if found else [])


def _indicator(visit: Visit, one: Watched) -> WatchedEntry:
    """The indicator of the largest economy that has it, else of the first company."""
    told = visit.look_up(f"/indicators/{one.what}")
    if told is None:
        return WatchedEntry(one, one.what, "/indicators", why="There is no indicator of this name any more.")
    entry = WatchedEntry(one, told.data["name"], f"/indicators/{told.data['slug']}")
    rows = visit.ask("/observations/latest", indicator_id=told.data["id"], limit=500).data
    first = by_size(visit, rows, lambda row: row["entityId"])[:1]
    if not first:
        return _entry(visit, entry, [])
    (row,) = first
    place = names(visit, [row["entityId"]]).get(row["entityId"], row["entityId"])
    return _entry(visit, entry._replace(of=place), recent(visit, row))


_MAKERS = {"series": _series, "company": _company, "indicator": _indicator}


def _entry(visit: Visit, entry: WatchedEntry, rows: Sequence[Row]) -> WatchedEntry:
    """The entry with its newest value, of rows with the newest first."""
    known = [row for row in rows if not is_forecast(row)]
    if not known:
        plan = visit.api.plan(visit.who.plan)
        why = "No value is known." if plan.history_months is None else "No value is within your plan's reach."
        return entry._replace(why=why)
    newest = known[0]
    return entry._replace(
        newest=newest,
        look=look(newest, today=visit.today),
        period=of_row(newest),
        unit=unit_of(newest).head,
        moved=_moved(known),
        spark="" if masked(newest) else sparkline(points(known)),
    )


def _moved(rows: Sequence[Row]) -> str:
    """The change on the period before, with its unit; nothing where one of the two may not be told."""
    if len(rows) < 2 or any(masked(row) or row["valueNumeric"] is None for row in rows[:2]):
        return ""
    newest, before = rows[0]["valueNumeric"], rows[1]["valueNumeric"]
    unit, digits = told_apart(rows[0], newest, before)
    return f"{change(unit.scaled(newest) - unit.scaled(before), digits)} {unit.moves}".strip()


def moment(seconds: int) -> str:
    """A time of the accounts as files have it: `2026-11-27T06:30:00Z`."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
