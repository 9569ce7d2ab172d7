"""The pages of a series, and the same as files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec

from almanac.api.contract.errors import ApiError
from almanac.dashboard.drawing.figure import ChartFigure, LegendEntry, line_readout
from almanac.dashboard.drawing.lines import ChartLine, line_chart
from almanac.dashboard.drawing.svg import MOST
from almanac.dashboard.explorer import embedding, event_markers, one_series, revisions
from almanac.dashboard.explorer.embedding import EmbeddedChart
from almanac.dashboard.explorer.event_markers import MarkedEvents
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.lineage import of
from almanac.dashboard.explorer.revisions import Triangle, by_release, pictures
from almanac.dashboard.explorer.watchlist import star
from almanac.dashboard.formatting import dates, values
from almanac.dashboard.formatting.captions import Topic, line_caption, lines_caption
from almanac.dashboard.formatting.dates import day, day_of, noun, of_row, read_day
from almanac.dashboard.formatting.numbers import UnitWords, computed, many, unit_of
from almanac.dashboard.formatting.values import look
from almanac.dashboard.visit import Answer, Download, Html, Page, Redirect, Visit, csv_download
from almanac.domain.numbers import exact
from almanac.domain.times import wire_time
from almanac.reports.wording import country

#: Rows of a page of the table; releases and periods of the triangle.
TABLE, TRIANGLE = 80, 9
_EPOCH = date(1970, 1, 1).toordinal()
#: Lines that a chart has at most.
_LINES = 7


class Shown(msgspec.Struct, frozen=True):
    """A series as known on one day. `as_of` is as it was given, None for today; `known_to` the same as the interface writes times."""

    series: one_series.Series
    as_of: str | None
    known_to: str | None
    #: Periods in range, newest first; the newest of all that is no forecast, and the one before it.
    rows: list[one_series.Row]
    heads: list[one_series.Row]
    #: As known today, and as known then.
    every: one_series.Vintages
    then: one_series.Vintages
    range: one_series.Range
    unit: UnitWords
    digits: int

    @property
    def newest(self) -> one_series.Row | None:
        return self.heads[0] if self.heads else None

    @property
    def shut(self) -> bool:
        """Return whether nothing of it may be shown."""
        return bool(self.rows) and all(values.masked(row) for row in self.rows)


def shown(visit: Visit, series: one_series.Series) -> Shown:
    """Read a series on the day of the address. Raises ApiError as the interface refuses it."""
    as_of = visit.as_of
    newest = series.record["lastPeriod"]
    last = dates.day_of(newest) if newest else None
    if as_of is not None:
        last = min(last or date.max, dates.day_of(as_of))
    span = one_series.range_of(visit, series, last)
    rows = one_series.read(visit, series, as_of=as_of, period_start=span.first, period_end=span.last)
    heads = [row for row in rows if not values.is_forecast(row)]
    if span.last is not None or (not heads and span.first is not None):
        told = visit.ask(series.list_path, limit=20, order="desc", as_of=as_of, **series.filters)
        heads = [row for row in series.own(told.data) if not values.is_forecast(row)]
    every = one_series.read_vintages(visit, series)
    end = as_of
    if as_of is not None:  # the last second of a day, or a moment, as the interface writes times
        end = f"{as_of}T23:59:59Z" if len(as_of) == 10 else wire_time(int(dates.moment_of(as_of).timestamp()))
    then = every.known_by(end)
    if end is not None and not every.complete:
        # What was left out may be just what was new then.
        then = one_series.read_vintages(visit, series, as_of=as_of)
    samples = [*rows, *heads[:2], *then.rows[:1]]
    unit = unit_of(samples[0]) if samples else unit_of(series.record)
    stated = [row["valueNumeric"] for row in rows or heads if not values.masked(row)]
    digits = unit.digits(stated, computed=any(computed(row) for row in rows or heads))
    return Shown(series, as_of, end, rows, heads[:2], every, then, span, unit, digits)


# -- head ---------------------------------------------------------------------------------------------------------------


def figures(one: Shown, event: one_series.Row | None, visit: Visit) -> list[one_series.Row]:
    """At most four: the newest value, its change, its first publication, the next release."""
    row = one.newest
    found: list[one_series.Row] = []
    if row is not None:
        now = values.look(row, digits=one.digits, history=True, figure=True)
        found.append(
            {
                "label": dates.of_row(row),
                "look": now,
                "big": True,
                "note": f"known since {dates.day(row['observedAt'])}",
            }
        )
        before = one.heads[1] if len(one.heads) > 1 else None
        if before is not None and _number(row) is not None and _number(before) is not None:
            moved, words = one.unit.key_change(exact(row["valueNumeric"]) - exact(before["valueNumeric"]), one.digits)
            found.append({"label": f"Change on {dates.of_row(before)}", "text": moved, "note": words})
        first = next((states[0] for cell, states in one.then.cells.items() if cell == one_series.cell_of(row)), None)
        if (
            first is not None
            and first["revisionStatus"] != "unknown"
            and not values.masked(first)
            and _number(first) is not None
        ):
            found.append({"label": "First published", "text": one.unit.figure(first["valueNumeric"], one.digits),
                          "note": dates.day(first["observedAt"])})  # fmt: skip
    if event is not None:
        at = event["occurredAt"]
        time = f"{event['status']}, {dates.clock(at)} UTC" if event["timePrecision"] == "minute" else "date only"
        found.append(
            {
                "label": "Next release",
                "text": dates.short_day(at)
                if dates.day_of(at).year == visit.today.year and one.as_of is None
                else dates.day(at),
                "note": time,
            }
        )
    return found


def next_release(visit: Visit, one: Shown) -> one_series.Row | None:
    """Return the next release of the series, as scheduled then."""
    if one.series.subject.company:
        return None  # filings are announced by nobody
    start = one.known_to or visit.today.isoformat()
    told = visit.ask("/events", indicator_id=event_markers.related(visit, one.series.slug), entity_id=one.series.record["entityId"], status="scheduled",
                     order="asc", limit=1, start_date=start, as_of=one.as_of)  # fmt: skip
    return told.data[0] if told.data else None


# -- chart --------------------------------------------------------------------------------------------------------------


def events(visit: Visit, one: Shown) -> MarkedEvents | None:
    """Return what is marked under the chart, or may be; None where there is no chart to mark it under."""
    drawn = [row for row in one.rows if not values.masked(row)]
    if not drawn:
        return None
    oldest = min(dates.day_of(row["periodStart"] or row["periodEnd"]) for row in drawn)
    return event_markers.marked(visit, [[one.series.subject]], oldest, as_of=one.as_of, until=one.known_to)


def chart(visit: Visit, one: Shown, marked: MarkedEvents | None = None) -> ChartFigure:
    """Return the line as known then; today its first publications, in the past a ghost of what is known today. `marked`: under its axis."""
    marks = () if marked is None else marked.marks
    past = one.as_of is not None
    firsts = values.first_publications(one.then.rows)
    own = values.points(one.rows, firsts)
    ghost: list[values.ChartPoint] = []
    if past:
        ghost = values.points(
            one_series.read(visit, one.series, period_start=one.range.first, period_end=one.range.last)
        )
    newest = next((point for point in reversed(own) if point.value is not None and not point.forecast), None)
    label = "" if newest is None or newest.value is None else one.unit.figure(newest.value, one.digits)
    name = f"Known on {dates.day(one.as_of)}" if one.as_of else "Known today"
    lines = [ChartLine(name, own, 1, label)]
    legend = [LegendEntry(name=name, colour=1)]
    if visit.query.get("sources") == "all":
        lines[0] = ChartLine(one.series.record["sourceId"], own, 1, one.series.record["sourceId"])
        legend = []
        for colour, other in enumerate(one.series.others[: _LINES - 1], 2):
            rival = one_series.Series(other, one.series.indicator, one.series.entity)
            rows = one_series.read(
                visit, rival, as_of=one.as_of, period_start=one.range.first, period_end=one.range.last
            )
            lines.append(ChartLine(other["sourceId"], values.points(rows), colour, other["sourceId"]))
        legend = [LegendEntry(name=line.name, colour=line.colour) for line in lines]
    circles = not past and len(lines) == 1 and any(point.revised for point in own)
    if circles:
        legend.append(LegendEntry(name="As first published", kind="first"))
    if ghost:
        legend.append(LegendEntry(name="Known today", kind="ghost"))
    if any(point.state == "withheld" for point in own):
        legend.append(LegendEntry(name="Withheld", kind="withheld"))
    if any(point.forecast for point in own):
        legend.append(LegendEntry(name="Forecast", kind="forecast", colour=1))
    if marks:
        legend.append(LegendEntry(name="Event", kind="event"))
    drawing = None if newest is None and len(lines) == 1 else line_chart(
        lines, ghost=ghost, firsts=circles, fraction=one.unit.fraction, events=marks,
    )  # fmt: skip
    since = {}
    for row in one.rows:
        start, end = (None if part is None else dates.day_of(part).toordinal() for part in one_series.cell_of(row))
        since[start, end or 0] = dates.day(row["observedAt"])
    topic = _topic(visit, one)
    if len(lines) > 1:
        caption = lines_caption(topic, [(line.name, line.points) for line in lines])
    else:
        caption = line_caption(topic, own, bounded=one.range.last is not None) if own else one_sentence(one, visit)
    return ChartFigure(
        id="chart",
        title=_chart_name(one, own),
        unit=one.unit.head,
        caption=caption,
        drawing=drawing,
        legend=legend,
        readout=line_readout(
            lines,
            one.unit,
            one.digits,
            firsts=circles,
            since=since if len(lines) == 1 else None,
            events=marks,
        ),
        empty=one_sentence(one, visit),
        events=bool(marks),
    )


def _chart_name(one: Shown, own: list[values.ChartPoint]) -> str:
    """`Consumer price inflation, United States, 2011 to 2026`: what a chart shows, of where and of when."""
    years = [date.fromordinal(point.end).year for point in own if point.value is not None]
    span = "" if not years else f", {min(years)} to {max(years)}" if min(years) < max(years) else f", {years[0]}"
    return f"{one.series.indicator['name']}, {one.series.place}{span}"


def line(rows: list[one_series.Row]) -> one_series.Row:
    """
    Return the points of one line in columns, oldest first: days since 1970, values, sentences. A gap is a point without a value
    on the day after the one before it: whoever draws joins neighbours that have one.
    """
    own = values.points(rows)
    apart = set(values.breaks(own))
    unit = unit_of(rows[0]) if rows else unit_of({})
    digits = unit.digits(
        [row["valueNumeric"] for row in rows if not values.masked(row)], computed=any(map(computed, rows))
    )
    found: one_series.Row = {"days": [], "values": [], "told": []}

    def put(day: int, value: float | None, words: str) -> None:
        found["days"].append(day - _EPOCH)
        found["values"].append(value)
        found["told"].append(words)

    for index, point in enumerate(own):
        if index in apart and index and point.value is not None and own[index - 1].value is not None:
            put(own[index - 1].at + 1, None, f"No value between {own[index - 1].period} and {point.period}")
        missing = "withheld" if point.state == "withheld" else "no data"
        put(
            point.at,
            point.value,
            f"{point.period}: {missing if point.value is None else unit.sentence(point.value, digits)}",
        )
    return found


def one_sentence(one: Shown, visit: Visit) -> str:
    """Return a sentence that says why there is nothing to draw, and what to do."""
    if one.shut:
        return "Withheld. The licence of this source forbids passing its values on. Periods and times are shown."
    releases = one.every.releases
    if one.as_of is not None and not one.heads and releases and not one.then.rows:
        return f"Nothing was known on {dates.day(one.as_of)}. The first release was on {dates.day(releases[0].day)}."
    history = visit.history_from
    if not one.heads and history is not None:
        return f"Your plan reaches back to {dates.day(history)}. Older values are not shown."
    if one.heads and not one.rows:
        return "No period lies in this range."
    return "There is no value to draw."


def _topic(visit: Visit, one: Shown) -> Topic:
    entity, row = one.series.entity, one.newest
    place = one.series.place
    if entity is not None and entity["type"] != "company":
        place = country(place)
    stale = ended = None
    if row is not None and one.as_of is None:
        ended = bool(row["metadata"].get("discontinued"))
        stale = (visit.today - dates.day_of(row["periodEnd"])).days if row["freshnessStatus"] == "stale" else None
    return Topic(one.series.indicator["name"], one.series.slug, place, one.unit, one.digits, stale, bool(ended))


# -- table, triangle, lineage -------------------------------------------------------------------------------------------


def table(one: Shown, rows: slice) -> list[one_series.Row]:
    """Return rows of the table: each observation with its first state, what it was first published as, and how far it moved."""
    cells = one.then.cells
    found = []
    for row in one.rows[rows]:
        states = cells.get(one_series.cell_of(row))
        first = None if states is None else states[0]
        now, then = _number(row), None if first is None or first["revisionStatus"] == "unknown" else _number(first)
        moved = None if now is None or then is None else one.unit.scaled(now) - one.unit.scaled(then)
        told = values.look(row, digits=one.digits, history=True)
        found.append({"row": row, "look": told, "state": first, "first": then, "moved": moved})
    return found


def triangle(one: Shown) -> Triangle | None:
    """Return the last releases and the periods of the last rows."""
    if one.shut or not one.then.published:
        return None
    days = [release.day for release in one.then.releases][-TRIANGLE:]
    cells: list[one_series.Cell] = list(one.then.cells)[:TRIANGLE]
    return by_release(one.then, days, cells, one.unit, one.digits, one.series.record["frequency"])


def lineage_trail(visit: Visit, one: Shown) -> one_series.Row:
    """Title and steps of the lineage of the newest or the chosen value."""
    wanted, row = visit.query.get("period"), one.newest
    if wanted:
        row = next(
            (
                row
                for row in one.rows
                if dates.code(dates.period_of(*one_series.cell_of(row)), one.series.frequency) == wanted
            ),
            None,
        )
    if row is None:
        return {"title": "Lineage", "steps": []}
    result: values.FormattedValue = values.look(row, digits=one.digits, history=True, figure=True)
    found, _ = of(visit, row, result)
    return {"title": f"Lineage of {dates.of_row(row)}: {result.text}", "steps": found}


def _number(row: one_series.Row) -> Any:
    return None if values.masked(row) else row["valueNumeric"]


#: Series listed, and indicators of a category that are asked for.
_LISTED, _ASKED = 6, 60
#: What the interface’s codes of seasonal adjustment stand for.
_ADJUSTMENTS = {"SA": "Adjusted", "NSA": "Not adjusted", "SAAR": "Adjusted, annual rate"}


def same_category(visit: Visit, one: Shown) -> list[one_series.Row]:
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


def other_sources(visit: Visit, one: Shown) -> list[one_series.Row]:
    """Newest values of the same indicator from other sources, as known then."""
    found = []
    for record in one.series.others:
        series = one_series.Series(record, one.series.indicator, one.series.entity, (one.series.record,))
        told = visit.ask(series.list_path, limit=20, order="desc", as_of=one.as_of, **series.filters)
        row = next(iter(series.own(told.data)), None)
        if row is not None:
            found.append(_item(visit, one, row, record["sourceId"]))
    return found


def _item(visit: Visit, one: Shown, row: one_series.Row, title: str) -> one_series.Row:
    now = values.look(row, today=visit.today, figure=True, history=one.as_of is not None)
    return {
        "title": title,
        "href": series_address(row["metadata"]["seriesId"]) + (f"?as_of={one.as_of}" if one.as_of else ""),
        "look": now,
        "note": f"{dates.period(row['periodStart'], row['periodEnd'], row['frequency'])} · {row['frequency'].replace('_', ' ')}",
        "to": f"/sources/{row['sourceId']}" if now.state == "withheld" else "",
    }


def series_page(visit: Visit, one: Shown, typed: str, error: str) -> dict[str, Any]:
    """Return the page of a series as known on the day of the address, with the day as typed and what is wrong with it."""
    series = one.series
    pager = visit.pager(len(one.rows), TABLE)
    event = next_release(visit, one)
    releases = one.every.releases
    marked = events(visit, one)
    figure = chart(visit, one, marked)
    trail = lineage_trail(visit, one)
    # With a ghost, other sources or events the drawing has more than one line.
    more = one.as_of is not None or visit.query.get("sources") == "all" or visit.query.get("events")
    alone = series.often and len(one.rows) > MOST and not more
    told = one.newest is not None and not series.record["rights"]["valueWithheld"]
    return {
        "one": one,
        "series": series,
        "star": star(visit, "series", series.id, series.address),
        # The day as it was typed, and what is wrong with it.
        "typed": typed,
        "error": error,
        "adjustments": _ADJUSTMENTS,
        "key_figures": figures(one, event, visit),
        "figure": figure,
        "marked": marked,
        # What heads the table's values.
        "unit": (told and figure.unit) or "Values",
        "ranges": one.range.options,
        "slider": _slider(visit, one, releases),
        # The sentence under the slider.
        "known": _known(one, releases),
        # Of a day before it the day of the first release, else empty.
        "first_release": releases[0].day if releases and one.as_of and not one.then.rows else "",
        # One page of the table.
        "rows": table(one, pager.rows),
        "pages": pager,
        "csv": f"{series.address}.csv{_query(visit)}",
        # The query of a comparison that begins with this series.
        "compare": _compare(visit, series),
        "embed": embedding.frame_markup(visit, series.address, figure.title),
        "noun": noun(series.frequency).capitalize(),
        "triangle": triangle(one),
        "triangle_empty": no_triangle(one),
        "trail": trail,
        "nearby": same_category(visit, one),
        "others": other_sources(visit, one),
        # The requests of the page, that of its table first.
        "asked": sorted(
            visit.shown_requests, key=lambda one: not one.path_and_query.startswith(f"{series.list_path}?")
        ),
        # Many points are there to be zoomed: the page has what that takes where its range can become so long.
        # A drawing with events is never covered by one that can be zoomed, which knows none.
        # Whether the page has what it takes to zoom, and where the points for that are (empty: the drawing shows more than one line).
        "mounted": series.often and not visit.query.get("events"),
        "points": f"{series.address}/points.json{_query(visit)}" if alone else "",
    }


def _compare(visit: Visit, series: one_series.Series) -> str:
    """Return the query of a comparison that begins with this series on its day and in its range."""
    kept = visit.kept("as_of", "from", "to", "events")
    if not visit.query.get("from") and not series.often:
        kept["from"] = one_series.ALL
    return urlencode({"series": series.id, **kept}, safe=":")


def _query(visit: Visit) -> str:
    kept = visit.kept("as_of", "from", "to")
    return f"?{urlencode(kept, safe=':')}" if kept else ""


def _slider(visit: Visit, one: Shown, releases: list[one_series.ReleaseDay]) -> dict[str, Any] | None:
    """Releases as positions; None where there is but one, so nothing to slide over."""
    if len(releases) < 2:
        return None
    days = [release.day for release in releases]
    last = len(days) - 1
    now = last if one.known_to is None else max((i for i, d in enumerate(days) if d <= one.known_to[:10]), default=-1)
    back = days[now - 1] if now > 0 else ""
    ahead = now + 1 if one.as_of and now < last else None
    return {
        "last": last,
        "now": max(now, 0),
        "days": days,
        "words": [day(one_day) for one_day in days],
        # Positions of the first releases of years.
        "ticks": one_series.first_days_of_years(releases),
        "back": visit.here(as_of=back, page=None) if back else "",
        # The newest release is what is known today.
        "ahead": "" if ahead is None else visit.here(as_of=days[ahead] if ahead < last else None, page=None),
    }


def _known(one: Shown, releases: list[one_series.ReleaseDay]) -> str:
    """Return the sentence under the slider: what was newest then, what that reads today, how many have changed since."""
    word = noun(one.series.frequency)
    if one.as_of is None:
        if len(releases) < 2:
            return ""
        of = f", after {many(len(releases), 'release')} since {day(releases[0].day)}" if one.every.complete else ""
        return f"Known today{of}. Choose a release to see what was known then."
    row = one.newest
    if row is None:
        return f"Nothing was known on {day(one.as_of)}."
    told = look(row, digits=one.digits, history=True, figure=True)
    sentence = f"Known on {day(one.as_of)}: newest {word} {of_row(row)} at {told.text}."
    if not one.every.complete:
        return sentence
    then, now = one.then.cells, one.every.cells
    states = now.get(one_series.cell_of(row))
    changed = sum(now[cell][-1]["valueNumeric"] != states[-1]["valueNumeric"] for cell, states in then.items())
    if states is not None and told.shown:
        today = look(states[-1], digits=one.digits, history=True, figure=True)
        more = f"{changed:,} {noun(one.series.frequency, changed)} {'has' if changed == 1 else 'have'} changed since"
        sentence += f" Today that {word} reads {today.text}; {more}."
    return sentence


def no_triangle(one: Shown) -> str:
    """Say why there are no revisions to be shown."""
    since = one.series.record["vintagesFrom"]
    if one.shut:
        return "Withheld. The licence of this source forbids passing its values on, and their revisions with them."
    if not one.then.rows:
        return "Nothing was known on that day." if one.as_of else "No value is known yet."
    return "This source publishes no vintages." + (
        f" We keep every change since {day(since)}, the day we first fetched it." if since else ""
    )


A = TypeVar("A", bound=EmbeddedChart | Answer)

#: Releases and periods of a page by release; rows of one by age.
_RELEASES, _PERIODS, _AGES = 12, 24, 100


def revisions_page(visit: Visit, one: Shown, typed: str, error: str) -> dict[str, Any]:
    """All revisions of a series as known on the day of the address, with the day as typed and what is wrong with it."""
    series, then = one.series, one.then
    frequency, aged = series.record["frequency"], visit.query.get("by") == "age"
    triangle, ages, left_out = None, [], 0
    pager = None
    if not one.shut and then.published:
        days, cells = [release.day for release in then.releases], list(then.cells)
        total, step = (len(cells), _AGES) if aged else (len(days), _RELEASES)
        pager = visit.pager(total, step)
        if aged:
            ages = revisions.by_age(then, one.unit, one.digits, frequency)[pager.rows]
        else:
            # The days are the oldest first, and the pages the newest.
            chosen = days[::-1][pager.rows][::-1]
            fresh = {one_series.cell_of(row) for row in then.rows if chosen[0] <= row["observedAt"][:10] <= chosen[-1]}
            wanted = [cell for cell in cells if cell in fresh]
            left_out = max(0, len(wanted) - _PERIODS)
            triangle = revisions.by_release(then, chosen, wanted[:_PERIODS], one.unit, one.digits, frequency)
        pager = pager._replace(text=f"{pager.text} {'periods' if aged else 'releases'}, newest first")
    return {
        "one": one,
        "series": series,
        # The day as it was typed, and what is wrong with it.
        "typed": typed,
        "error": error,
        "aged": aged,
        # Why there is nothing to be shown.
        "empty": no_triangle(one),
        "foot": [] if one.shut else revisions.foot(then, one.unit, one.digits),
        "noun": noun(series.frequency).capitalize(),
        # By release, with how many periods that changed there is no room for; or by age.
        "triangle": triangle,
        "left_out": left_out,
        "ages": ages,
        "pages": pager,
        "pictures": pictures(visit, series, then, one.unit, one.digits, one.known_to),
    }


#: Columns of the file; values as the interface has them.
_COLUMNS = (
    "periodStart", "periodEnd", "valueNumeric", "valueText", "unit", "observedAt", "releasedAt", "revisionStatus", "id",
)  # fmt: skip


def of_series(tail: str = "") -> Callable[[Callable[[Visit, one_series.Series], A]], Callable[[Visit], A | Answer]]:
    """Give a handler the series of the address, which ends with `tail`; answer for an id that is no series."""

    def decorate(handler: Callable[[Visit, one_series.Series], A]) -> Callable[[Visit], A | Answer]:
        def find(visit: Visit) -> A | Answer:
            found = one_series.find(visit, visit.values["id"])
            if isinstance(found, one_series.Missing):
                return Html("explorer/no_series.html", {"missing": found}, 404)
            if isinstance(found, str):
                query = f"?{visit.query_string}" if visit.query_string else ""
                return Redirect(f"{series_address(found)}{tail}{query}", 301)
            return handler(visit, found)

        return find

    return decorate


@of_series()
def page(visit: Visit, series: one_series.Series) -> Answer:
    """Show the series, whole."""
    return Html("explorer/series.html", series_page(visit, *_on_its_day(visit, series)))


@of_series("/part")
def part(visit: Visit, series: one_series.Series) -> Answer:
    """Show what changes with the day, by the same templates: for a script that puts it in place of what stands there."""
    visit.path = visit.path.removesuffix("/part")
    return Html("explorer/series_part.html", series_page(visit, *_on_its_day(visit, series)))


@of_series()
def _embedded(visit: Visit, series: one_series.Series) -> EmbeddedChart:
    one, _, error = _on_its_day(visit, series)
    figure = chart(visit, one, events(visit, one))
    records = [series.record, *(series.others if visit.query.get("sources") == "all" else ())]
    pairs = [
        (row["rights"]["attribution"] or row["sourceId"], row["rights"]["license"] or "not stated") for row in records
    ]
    return EmbeddedChart(figure.title, [figure], dict.fromkeys(pairs), one.as_of, [error] if error else [])


def _on_its_day(visit: Visit, series: one_series.Series) -> tuple[Shown, str, str]:
    """Return the series as known on the day of the address; of a day that cannot be, as known today, with what was typed and why not."""
    typed, error = visit.query.get("as_of", ""), ""
    if typed:
        try:
            visit.query = {**visit.query, "as_of": _day(visit, typed)}
            return shown(visit, series), typed, ""
        except ValueError as refused:
            error = str(refused)
        except ApiError as refused:
            if refused.status not in {400, 403}:
                raise
            error = f"{refused.message[:1].upper()}{refused.message[1:]}."
        visit.query = {name: value for name, value in visit.query.items() if name != "as_of"}
        visit.responses.clear()
    return shown(visit, series), typed, error


def _day(visit: Visit, typed: str) -> str:
    """Return a day or a moment as the interface takes it. Raises ValueError with the sentence for the page."""
    if "T" in typed:
        try:
            moment = datetime.fromisoformat(typed)
        except ValueError:
            moment = None
        if moment is not None:
            return typed
    found = read_day(typed)
    if found > visit.today:
        raise ValueError(f"{day(found)} is after today, {day(visit.today)}. Write a day up to today")
    return found.isoformat()


# -- all revisions ------------------------------------------------------------------------------------------------------


@of_series("/revisions")
def all_revisions(visit: Visit, series: one_series.Series) -> Answer:
    """Show the triangle whole, by the day of the release or by the age of each number."""
    return Html("explorer/revisions.html", revisions_page(visit, *_on_its_day(visit, series)))


# -- files --------------------------------------------------------------------------------------------------------------


@of_series("/vintages.json")
def as_json(visit: Visit, series: one_series.Series) -> Answer:
    """Return the vintages for scripts."""
    brief = one_series.in_brief(series, one_series.read_vintages(visit, series, as_of=visit.as_of))
    return Download(msgspec.json.encode(brief), "application/json")


@of_series("/points.json")
def as_points(visit: Visit, series: one_series.Series) -> Answer:
    """Return the line of the chart, each point with its sentence, for a drawing that can be zoomed."""
    return Download(msgspec.json.encode(line(_in_range(visit, series))), "application/json")


@of_series(".csv")
def as_csv(visit: Visit, series: one_series.Series) -> Answer:
    """Return the rows of the table as the interface gives them, unrounded; a withheld value is empty and `withheld` says so."""
    if not visit.query.get("from"):
        # Nothing in the address means all of it here: a file has no room to save.
        visit.query = {**visit.query, "from": one_series.ALL}
    rows = (
        [*(_text(row[name]) for name in _COLUMNS), str(row["rights"]["valueWithheld"]).lower()]
        for row in _in_range(visit, series)
    )
    return csv_download(f"{series.id.replace(':', '.')}.csv", [*_COLUMNS, "withheld"], rows)


def _in_range(visit: Visit, series: one_series.Series) -> list[one_series.Row]:
    """Its observations on the day and in the range of the address."""
    newest = series.record["lastPeriod"]
    span = one_series.range_of(visit, series, day_of(newest) if newest else None)
    return one_series.read(visit, series, as_of=visit.as_of, period_start=span.first, period_end=span.last)


def _text(value: Any) -> str:
    """Write a value as the interface's JSON has it."""
    return "" if value is None else value if isinstance(value, str) else msgspec.json.encode(value).decode()


PAGES = (
    Page("/series/{id}.csv", as_csv),
    Page("/series/{id}/vintages.json", as_json),
    Page("/series/{id}/points.json", as_points),
    Page("/series/{id}/part", part),
    Page("/series/{id}/revisions", all_revisions),
    Page("/series/{id}", page),
    Page(f"{embedding.PREFIX}/series/{{id}}", partial(embedding.framed, make=_embedded), who="anyone"),
)
