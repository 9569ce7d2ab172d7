"""The pages of a series, and the same as files."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec

from almanac.api.contract.errors import ApiError
from almanac.dashboard.drawing.svg import MOST
from almanac.dashboard.explorer import embedding, one_series, revisions, series_view
from almanac.dashboard.explorer.embedding import EmbeddedChart
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.revisions import pictures
from almanac.dashboard.explorer.series_view import TABLE, Shown, about, other_sources, same_category
from almanac.dashboard.explorer.watchlist import star
from almanac.dashboard.formatting.dates import day, day_of, noun, of_row, read_day
from almanac.dashboard.formatting.numbers import many
from almanac.dashboard.formatting.values import look
from almanac.dashboard.visit import Answer, Download, Html, Page, Redirect, Visit, csv_download


def series_page(visit: Visit, one: Shown, typed: str, error: str) -> dict[str, Any]:
    """Return the page of a series as known on the day of the address, with the day as typed and what is wrong with it."""
    series = one.series
    pager = visit.pager(len(one.rows), TABLE)
    event = series_view.next_release(visit, one)
    releases = one.every.releases
    marked = series_view.events(visit, one)
    figure = series_view.figure(visit, one, marked)
    trail = series_view.trail(visit, one)
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
        "chips": series_view.chips(one, visit),
        "key_figures": series_view.figures(one, event, visit),
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
        "rows": series_view.table(one, pager.rows),
        "pages": pager,
        "csv": f"{series.address}.csv{_query(visit)}",
        # The query of a comparison that begins with this series.
        "compare": _compare(visit, series),
        "embed": embedding.frame_markup(visit, series.address, figure.title),
        "noun": noun(series.frequency).capitalize(),
        "triangle": series_view.triangle(one),
        "triangle_empty": no_triangle(one),
        "trail": trail,
        "about": about(one),
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
        "today": visit.here(as_of=None, page=None) if one.as_of else "",
        # What a form for another day keeps of the address.
        "keep": visit.kept("from", "to", "sources", "events"),
        # Where a script asks for what changes with the day.
        "part": f"{one.series.address}/part",
        # Whether these are all releases there were, the first of them `since`.
        "complete": one.every.complete,
        "since": day(days[0]),
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
    figure = series_view.figure(visit, one, series_view.events(visit, one))
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
            return series_view.shown(visit, series), typed, ""
        except ValueError as refused:
            error = str(refused)
        except ApiError as refused:
            if refused.status not in {400, 403}:
                raise
            error = f"{refused.message[:1].upper()}{refused.message[1:]}."
        visit.query = {name: value for name, value in visit.query.items() if name != "as_of"}
        visit.responses.clear()
    return series_view.shown(visit, series), typed, error


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
    return Download(msgspec.json.encode(series_view.line(_in_range(visit, series))), "application/json")


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
