"""Indicators: the list of them, and one over all places on a day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf
from statistics import median
from typing import Any
from urllib.parse import parse_qsl, urlencode

import msgspec
from markupsafe import Markup

from almanac.dashboard.drawing.columns import bar, multiple, span_of
from almanac.dashboard.drawing.world import CLASSES, SOURCE, Kind, MapPlace, classes, without_outline, world_map
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.histories import SPANS, histories
from almanac.dashboard.explorer.past import past_slider
from almanac.dashboard.explorer.places import entity_page, names, places
from almanac.dashboard.explorer.watchlist import star
from almanac.dashboard.formatting.captions import across_caption
from almanac.dashboard.formatting.dates import day_of, of_row
from almanac.dashboard.formatting.numbers import UnitWords, computed, unit_of
from almanac.dashboard.formatting.values import ChartPoint, FormattedValue, look, masked, with_values
from almanac.dashboard.visit import Answer, Html, NotFound, Page, Redirect, Visit
from almanac.reports.wording import country

#: Readings that are ranked: as many as one request tells.
MOST = 500
#: Rows of a page of the table, and small multiples of a page.
TABLE, MULTIPLES = 100, 48
#: What the table is sorted by, and which way each begins.
SORTS = {"value": "desc", "name": "asc", "period": "desc"}


class ReadingRow(msgspec.Struct, frozen=True):
    """
    The latest reading of one entity (`record`, as the interface has it), as it is listed. `value` None: there is none in the unit of the others that may be
    shown and is not stale; `look` says which.
    """

    record: Mapping[str, Any]
    name: str
    page: str
    href: str
    value: float | None
    look: FormattedValue
    unit: str
    period: str
    #: Place among the ranked, 1 the highest, `tied` if another has the same.
    rank: int | None = None
    tied: bool = False
    #: Class of the map.
    kind: Kind | None = None
    bar: Markup = Markup()

    @property
    def entity(self) -> str:
        return str(self.record["entityId"])

    @property
    def series(self) -> str:
        return str(self.record["metadata"]["seriesId"])


class SmallMultiple(msgspec.Struct, frozen=True):
    """One small line with what it says in words."""

    name: str
    href: str
    look: FormattedValue
    period: str
    drawing: Markup
    #: Lowest and highest of the line, in words.
    range: str


class CrossSection(msgspec.Struct, frozen=True):
    """An indicator's readings on one day, as its page shows them."""

    rows: list[ReadingRow]
    unit: UnitWords
    digits: int
    #: How many are ranked, in one unit and none of them stale or withheld.
    ranked: int
    #: Whether entities publish it in units of their own, so that nothing is ranked.
    units_differ: bool
    map: Markup
    legend: list[dict[str, Any]]
    caption: str
    #: Names of ranked places that the map has no outline of.
    not_drawn: list[str]


def cross_section(visit: Visit, found: Sequence[Mapping[str, Any]]) -> CrossSection:
    """Return readings of one indicator (rows of /observations/latest), ranked: highest first, then what is not ranked, by name."""
    called = names(visit, {row["entityId"] for row in found})
    areas = {row["id"] for row in places(visit) if row["kind"] == "region"}
    unit = _common_unit(found)
    # An area is made of countries: beside them it would be counted twice.
    comparable = [row for row in found if unit is not None and _comparable(row, unit) and row["entityId"] not in areas]
    shared = unit or (unit_of(found[0]) if found else unit_of({}))
    digits = shared.digits([row["valueNumeric"] for row in comparable], computed=any(map(computed, comparable)))
    values = [float(row["valueNumeric"]) for row in comparable]
    grades = {row["id"]: grade for row, grade in zip(comparable, classes(values), strict=True)}
    counts = Counter(values)
    rows = []
    for row in found:
        ranked = row["id"] in grades
        beside = row["entityId"] in areas and unit is not None and _comparable(row, unit)
        value = float(row["valueNumeric"]) if ranked or beside else None
        told = look(
            row, digits=digits if unit is not None and unit_of(row).head == unit.head else None, today=visit.today
        )
        kind: Kind | None = None
        if masked(row):
            kind = "withheld"
        elif ranked:
            kind = f"q{grades[row['id']]}"  # type: ignore[assignment]  # one of the five
        elif told.state == "stale":
            kind = "old"
        rows.append(
            ReadingRow(
                row,
                called.get(row["entityId"], row["entityId"]),
                entity_page(row["entityId"]),
                series_address(row["metadata"]["seriesId"]) + visit.then,
                value,
                told,
                unit_of(row).head,
                of_row(row),
                1 + sum(other > value for other in values) if ranked and value is not None else None,
                ranked and value is not None and counts[value] > 1,
                kind,
                Markup() if value is None else bar(value, min(values, default=value), max(values, default=value)),
            )
        )
    rows.sort(key=lambda row: (row.value is None, -(row.value or 0.0), row.name.casefold()))
    codes = {row["id"]: row["isoAlpha3"] for row in places(visit) if row["isoAlpha3"]}
    drawn = {
        codes[row.entity]: MapPlace(row.kind, f"{row.name}: {row.look.spoken}, {row.period}", row.href)
        for row in rows
        if row.kind is not None and row.entity in codes
    }
    return CrossSection(
        rows,
        shared,
        digits,
        len(values),
        unit is None and len(found) > 1,
        world_map(drawn),
        _legend(rows, shared, digits),
        across_caption(
            [(_in_text(row), row.value) for row in rows if row.value is not None and row.rank], shared, digits
        ),
        without_outline({codes[row.entity]: row.name for row in rows if row.entity in codes and row.rank}),
    )


def sorted_rows(rows: Sequence[ReadingRow], by: str, *, ascending: bool) -> list[ReadingRow]:
    """Rows by `value`, `name` or `period`; those without a value last either way."""
    if by == "name":
        return sorted(rows, key=lambda row: row.name.casefold(), reverse=not ascending)
    if by == "period":
        named = sorted(rows, key=lambda row: row.name.casefold())
        return sorted(named, key=lambda row: day_of(row.record["periodEnd"]), reverse=not ascending)
    ranked = [row for row in rows if row.value is not None]
    return (ranked[::-1] if ascending else ranked) + [row for row in rows if row.value is None]


def multiples(
    visit: Visit, found: Sequence[Mapping[str, Any]], cross_section: CrossSection, *, derived: bool
) -> list[SmallMultiple]:
    """Small lines of the ranked, highest first, over the same days."""
    chosen = [row for row in cross_section.rows if row.look.shown][:MULTIPLES]
    wanted = {row.series for row in chosen}
    readings = [row for row in found if row["metadata"]["seriesId"] in wanted]
    their_ids = {row["indicatorId"] for row in readings} if derived else ()
    lines = histories(visit, readings, derived=their_ids, as_of=visit.as_of)
    lines = {series: points for series, points in lines.items() if len(with_values(points)) > 1}
    if not lines:
        return []
    span = span_of(list(lines.values()))
    return [
        SmallMultiple(row.name, row.href, row.look, row.period, multiple(lines[row.series], span),
                      _range(lines[row.series], cross_section.unit if row.unit == cross_section.unit.head else None, cross_section.digits))
        for row in chosen
        if row.series in lines
    ]  # fmt: skip


def middle(cross_section: CrossSection) -> float | None:
    """Return the median of the ranked; None for fewer than three."""
    values = [row.value for row in cross_section.rows if row.value is not None and row.rank]
    return median(values) if len(values) > 2 else None


def _common_unit(found: Sequence[Mapping[str, Any]]) -> UnitWords | None:
    """Return the unit that most readings are in; None where no two share one, or most are in units of their own."""
    heads = Counter(unit_of(row).head for row in found if not masked(row) and row["valueNumeric"] is not None)
    if not heads:
        return None
    head, count = heads.most_common(1)[0]
    if count * 2 < heads.total() or (count < 2 and heads.total() > 1):
        return None
    return next(unit_of(row) for row in found if unit_of(row).head == head)


def _comparable(row: Mapping[str, Any], unit: UnitWords) -> bool:
    """Return whether a reading is ranked: a number that may be shown, in the unit of most, and not behind."""
    shown = not masked(row) and row["valueNumeric"] is not None and row["freshnessStatus"] != "stale"
    return shown and not row["metadata"].get("discontinued") and unit_of(row).head == unit.head


def _in_text(row: ReadingRow) -> str:
    return country(row.name) if row.page.startswith("/countries/") else row.name


def _legend(rows: Sequence[ReadingRow], unit: UnitWords, digits: int) -> list[dict[str, Any]]:
    """Lowest class first; classes that nobody is in are left out."""
    found = []
    for grade in range(1, CLASSES + 1):
        values = [row.value for row in rows if row.kind == f"q{grade}" and row.value is not None]
        if values:
            low, high = unit.cell(min(values), digits), unit.cell(max(values), digits)
            told = unit.sentence(max(values), digits)
            found.append(
                {"kind": f"q{grade}", "text": told if low == high else f"{low} to {told}", "count": len(values)}
            )
    for kind, word in (("old", "Stale"), ("withheld", "Withheld")):
        count = sum(row.kind == kind for row in rows)
        if count:
            found.append({"kind": kind, "text": word, "count": count})
    return found


def _range(points: Sequence[ChartPoint], unit: UnitWords | None, digits: int) -> str:
    if unit is None:
        return ""
    values = [point.value or 0.0 for point in with_values(points)]
    return f"{unit.cell(min(values), digits)} to {unit.cell(max(values), digits)}"


#: Indicators on a page: a phone shows three of them at a time.
_LISTED = 50


def listing(visit: Visit) -> Answer:
    """All indicators; `category`, `kind` and `q` narrow them as they do for programs."""
    asked = {name: visit.query.get(name) or None for name in ("category", "kind", "q")}
    rows = _all(visit, **asked)
    every = rows if not asked["category"] else _all(visit, kind=asked["kind"], q=asked["q"])
    counts = sorted(Counter(row["category"] for row in every).items(), key=lambda pair: (-pair[1], pair[0]))
    rows.sort(key=lambda row: (row["entityCount"] == 0, row["name"].lower()))
    pager = visit.pager(len(rows), _LISTED)
    values = {
        "rows": rows[pager.rows],
        "counts": counts,
        "asked": asked,
        "every": len(every),
        "total": len(rows),
        "pages": pager,
    }
    return Html("explorer/indicators.html", values)


def _all(visit: Visit, **asked: str | None) -> list[dict[str, Any]]:
    return [row for page in visit.pages("/indicators", shown=inf, limit=500, **asked) for row in page.data]


def indicator(visit: Visit) -> Answer:
    """One indicator: what it means, and its latest reading everywhere."""
    slug = visit.values["slug"]
    told = visit.ask_if_known(f"/indicators/{slug}")
    if told is None:
        raise NotFound(f"There is no indicator “{slug[:80]}”.")
    record = told.data
    if record["slug"] != slug:
        return Redirect(f"/indicators/{record['slug']}", 301)
    if visit.query.get("compare"):
        return Redirect(_comparison(visit, slug))
    found = visit.ask(
        "/observations/latest",
        indicator_id=record["id"],
        limit=MOST,
        as_of=visit.as_of,
        cursor=visit.query.get("cursor") or None,
    )
    there = cross_section(visit, found.data)
    # Of more readings than one request tells no rank is known, and so no map is drawn.
    whole = found.next_cursor is None and not visit.query.get("cursor")
    by = visit.query.get("sort", "value")
    by = by if by in SORTS else "value"
    order = visit.query.get("order", SORTS[by])
    rows = sorted_rows(there.rows, by, ascending=order == "asc")
    inputs = [visit.look_up(f"/indicators/{one.removeprefix('indicator_')}") for one in record["inputs"]]
    pager = visit.pager(len(rows), TABLE)
    if not pager.before and visit.query.get("cursor"):
        pager = pager._replace(before=visit.here(cursor=None))
    if not pager.after and found.next_cursor:
        pager = pager._replace(after=visit.here(cursor=found.next_cursor, page=None))
    page = {
        # As the interface has it; and the records of what it is computed from.
        "record": record,
        "inputs": [one.data for one in inputs if one is not None],
        "star": star(visit, "indicator", record["slug"]),
        "there": there,
        # Whether these are all readings there are: of fewer no rank is known, and no map is drawn.
        "whole": whole,
        "middle": middle(there) if whole else None,
        "multiples": multiples(visit, found.data, there, derived=record["kind"] == "derived"),
        # How far small lines go back, in words; and where the outlines of the map are from.
        "spans": SPANS,
        "map_source": SOURCE,
        # Heads of the table that sort it, in the order of `SORTS`.
        "columns": [_head(visit, title, by, order) for title in SORTS],
        # One page of the table, which rows of it these are, and the addresses of the pages beside it.
        "rows": rows[pager.rows],
        "pages": pager,
        "slider": past_slider(visit),
        # What the form for another day keeps of the address.
        "keep": visit.kept("sort", "order"),
    }
    return Html("explorer/indicator.html", page)


def _comparison(visit: Visit, slug: str) -> str:
    """Return the address that compares the ticked: a form sends each by itself, an address has them as one list."""
    ticked = [value for name, value in parse_qsl(visit.query_string) if name == "entities"]
    asked = [("indicator", slug), ("entities", ",".join(dict.fromkeys(ticked))), ("as_of", visit.as_of or "")]
    return f"/compare?{urlencode([(name, value) for name, value in asked if value], safe=',:')}"


def _head(visit: Visit, name: str, by: str, order: str) -> dict[str, Any]:
    """Return the link of a column header: sort by this column, or reverse the order if already sorted by it."""
    turned = {"asc": "desc", "desc": "asc"}.get(order, "asc")
    wanted = turned if name == by else SORTS[name]
    address = visit.here(
        sort=None if name == "value" else name, order=None if wanted == SORTS[name] else wanted, page=None, cursor=None
    )
    return {"sort": address, "sorted": "" if name != by else "ascending" if order == "asc" else "descending"}


def every_indicator(visit: Visit) -> list[dict[str, Any]]:
    """Return every indicator, for names and categories of rows that have ids alone."""
    return [row for page in visit.pages("/indicators", limit=500) for row in page.data]


PAGES = (
    Page("/indicators", listing),
    Page("/indicators/{slug}", indicator),
)
