"""Usage of an account's keys by day, key, endpoint or status over a span of days, and every counter as CSV."""

from __future__ import annotations

from datetime import date, timedelta
from typing import cast, get_args

from almanac.dashboard.drawing.columns import CountColumn, column_chart
from almanac.dashboard.drawing.figure import ChartFigure, LegendEntry, column_readout
from almanac.dashboard.formatting.captions import columns_caption
from almanac.dashboard.formatting.dates import day, days_from, read_day, short_day
from almanac.dashboard.visit import Answer, Html, Page, Visit, csv_download
from almanac.store.usage.reports import By, UsageRow

_DAYS, _MOST_DAYS = 30, 366
_NAMES = {"day": "Day", "key": "Key", "endpoint": "Endpoint", "status": "Status"}
#: Of each column, from the bottom up.
_PARTS = ("answered", "refused (4xx)", "over the limit (429)")


def usage(visit: Visit) -> Answer:
    """Show requests of an account."""
    first, last, errors = _span(visit)
    by = visit.query.get("by", "day")
    what = cast("By", by if by in get_args(By) else "day")
    account, reports = visit.who.account, visit.people.usage
    bounds = first.toordinal(), last.toordinal()
    total = reports.total(account, *bounds)
    days = {row.name: row for row in reports.by("day", account, *bounds)}
    rows = list(reversed(days.values())) if what == "day" else reports.by(what, account, *bounds)
    values = {
        "first": first,
        "last": last,
        "by": what,
        "names": _NAMES,
        "rows": rows,
        "total": total,
        "keys": {key.prefix: key.name for key in visit.people.accounts.list_keys(visit.who.email)},
        "figure": _figure(first, last, days, visit.people.today()),
        "left": visit.people.left(account, visit.api.plan(visit.who.plan).requests_per_minute),
        "plan": visit.api.plan(visit.who.plan),
        "errors": errors,
    }
    return Html("account/usage.html", values, 400 if errors else 200)


def _span(visit: Visit) -> tuple[date, date, list[dict[str, str]]]:
    """Return the days asked for, today's thirty where none are; and what is wrong with them."""
    today = visit.people.today()
    found, errors = {"from": today - timedelta(days=_DAYS - 1), "to": today}, []
    for name in found:
        typed = visit.query.get(name, "")
        if typed:
            try:
                found[name] = read_day(typed)
            except ValueError as error:
                errors.append({"field": name, "message": str(error)})
    first, last = found["from"], min(found["to"], today)
    if first > last:
        errors.append({"field": "from", "message": f"The first day must not be after the last, {day(last)}"})
        first = last
    return max(first, days_from(last, 1 - _MOST_DAYS)), last, errors


def _figure(first: date, last: date, days: dict[str, UsageRow], today: date) -> ChartFigure:
    columns = []
    for number in range((last - first).days + 1):
        one = first + timedelta(days=number)
        row = days.get(one.isoformat())
        counts = (0, 0, 0) if row is None else (row.requests - row.refused - row.limited, row.refused, row.limited)
        columns.append(CountColumn(short_day(one), counts))
    so_far = last == today
    return ChartFigure(
        id="per-day",
        title="Requests per day",
        caption=columns_caption(("request", "requests"), columns, _PARTS, so_far=so_far),
        drawing=column_chart(columns, so_far=so_far),
        legend=[LegendEntry(name=name, kind="column", colour=number) for number, name in enumerate(_PARTS, 1)],
        readout=column_readout(columns, _PARTS, so_far=so_far),
        empty="No requests yet.",
    )


def counters(visit: Visit) -> Answer:
    """Return every counter of the days asked for, as it is kept."""
    first, last, errors = _span(visit)
    if errors:
        return Html("error.html", {"status": 400, "text": f"{errors[0]['message']}."}, 400)
    head = ("day", "key", "endpoint", "status", "requests", "mean_ms")
    counted = visit.people.usage.counters(visit.who.account, first.toordinal(), last.toordinal())
    rows = ([getattr(row, name) for name in head] for row in counted)
    return csv_download(f"usage-{first}-{last}.csv", head, rows, end="\n")


PAGES = (Page("/usage", usage), Page("/usage.csv", counters))
