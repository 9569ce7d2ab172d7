"""The page of a series: its numbers on any day, their revisions, where they come from, and the same as files."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from typing import Any

import msgspec

from almanac.api.contract.errors import ApiError
from almanac.dashboard.explorer import embedding
from almanac.dashboard.explorer.embedding import EmbeddedChart
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.series import one_series, series_view, vintages
from almanac.dashboard.explorer.series.one_series import Missing, Row, Series
from almanac.dashboard.explorer.series.revisions_page import revisions_page
from almanac.dashboard.explorer.series.series_page import series_page
from almanac.dashboard.explorer.series.series_view import Shown
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Download, Html, Redirect, Visit
from almanac.dashboard.words.dates import day, day_of, read_day

#: Columns of the file; values as the interface has them.
_COLUMNS = (
    "periodStart", "periodEnd", "valueNumeric", "valueText", "unit", "observedAt", "releasedAt", "revisionStatus", "id",
)  # fmt: skip


def page(visit: Visit) -> Answer:
    """The series, whole."""
    return _answer(visit, "explorer/series.html")


def part(visit: Visit) -> Answer:
    """What changes with the day, by the same templates: for a script that puts it in place of what stands there."""
    return _answer(visit, "explorer/series_part.html", "/part")


def _answer(visit: Visit, template: str, tail: str = "") -> Answer:
    found = _found(visit, tail)
    if not isinstance(found, Series):
        return found
    if tail:
        visit.path = visit.path.removesuffix(tail)
    one, typed, error = _on_its_day(visit, found)
    return Html(template, msgspec.structs.asdict(series_page(visit, one, typed, error)))


def embedded(visit: Visit) -> Answer:
    """The chart alone, for a frame in another page."""
    return embedding.framed(visit, _embedded)


def _embedded(visit: Visit) -> EmbeddedChart | Answer:
    found = _found(visit)
    if not isinstance(found, Series):
        return found
    one, _, error = _on_its_day(visit, found)
    figure = series_view.figure(visit, one, series_view.events(visit, one))
    records = [found.record, *(found.others if visit.query.get("sources") == "all" else ())]
    pairs = [
        (row["rights"]["attribution"] or row["sourceId"], row["rights"]["license"] or "not stated") for row in records
    ]
    return EmbeddedChart(figure.title, [figure], dict.fromkeys(pairs), one.as_of, [error] if error else [])


def _found(visit: Visit, tail: str = "") -> Series | Answer:
    """The series of the address, or the answer where its id is another one's or nobody's."""
    found = one_series.find(visit, visit.values["id"])
    if isinstance(found, Missing):
        return Html("explorer/no_series.html", {"missing": found}, 404)
    if isinstance(found, str):
        query = f"?{visit.query_string}" if visit.query_string else ""
        return Redirect(f"{series_address(found)}{tail}{query}", 301)
    return found


def _on_its_day(visit: Visit, series: Series) -> tuple[Shown, str, str]:
    """The series as known on the day of the address; of a day that cannot be, as known today, with what was typed and why not."""
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
        visit.told.clear()
    return series_view.shown(visit, series), typed, error


def _day(visit: Visit, typed: str) -> str:
    """A day or a moment as the interface takes it. Raises ValueError with the sentence for the page."""
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


def all_revisions(visit: Visit) -> Answer:
    """The triangle whole, by the day of the release or by the age of each number."""
    found = _found(visit, "/revisions")
    if not isinstance(found, Series):
        return found
    one, typed, error = _on_its_day(visit, found)
    return Html("explorer/revisions.html", msgspec.structs.asdict(revisions_page(visit, one, typed, error)))


# -- files --------------------------------------------------------------------------------------------------------------


def as_json(visit: Visit) -> Answer:
    """The vintages for scripts."""
    found = _found(visit, "/vintages.json")
    if not isinstance(found, Series):
        return found
    brief = vintages.in_brief(found, vintages.read(visit, found, as_of=visit.as_of))
    return Download(msgspec.json.encode(brief), "application/json")


def as_points(visit: Visit) -> Answer:
    """The line of the chart, each point with its sentence, for a drawing that can be zoomed."""
    found = _found(visit, "/points.json")
    if not isinstance(found, Series):
        return found
    body = series_view.line(_in_range(visit, found))
    return Download(msgspec.json.encode(body), "application/json")


def as_csv(visit: Visit) -> Answer:
    """The rows of the table as the interface gives them, unrounded; a withheld value is empty and `withheld` says so."""
    found = _found(visit, ".csv")
    if not isinstance(found, Series):
        return found
    if not visit.query.get("from"):
        # Nothing in the address means all of it here: a file has no room to save.
        visit.query = {**visit.query, "from": one_series.ALL}
    rows = _in_range(visit, found)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([*_COLUMNS, "withheld"])
    for row in rows:
        writer.writerow([*(_text(row[name]) for name in _COLUMNS), str(row["rights"]["valueWithheld"]).lower()])
    return Download(out.getvalue().encode(), "text/csv; charset=utf-8", f"{found.id.replace(':', '.')}.csv")


def _in_range(visit: Visit, series: Series) -> list[Row]:
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
    Page(f"{embedding.PREFIX}/series/{{id}}", embedded, who="anyone"),
)
