"""What the page of a comparison shows: the model that its template is given."""

from __future__ import annotations

import msgspec

from almanac.dashboard.explorer import embedding
from almanac.dashboard.explorer.comparing import naming, view
from almanac.dashboard.explorer.comparing.reading import ReadComparison
from almanac.dashboard.explorer.comparing.view import ComparedPeriod, FormLine, Panel, RangeLink
from almanac.dashboard.explorer.happenings import MarkedEvents
from almanac.dashboard.explorer.known import FieldProblem
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.numbers import read_whole
from almanac.dashboard.words.transforms import INDEX, TRANSFORMS


class TransformOption(msgspec.Struct, frozen=True):
    """What the form may make of the values: as addresses have it, and as people say it."""

    value: str
    label: str


class LineColumn(msgspec.Struct, frozen=True):
    """The head of a line's column, which leads to the page of its series."""

    name: str
    href: str


class FileLink(msgspec.Struct, frozen=True):
    """A file that says the same, by the kind of it."""

    kind: str
    href: str


class ComparePage(msgspec.Struct, frozen=True):
    """Lines of several places, indicators and past days: panels, one table of them all, and the form that changes them."""

    one: ReadComparison
    title: str
    panels: list[Panel]
    marked: MarkedEvents | None
    #: Every line that there is; `count` is of those that the address asks for, of which some may be none.
    lines: list[FormLine]
    count: int
    ranges: list[RangeLink]
    #: Sentences below the panels, and pairs of attribution and licence.
    notes: list[str]
    sources: list[tuple[str, str]]
    #: What the form keeps of the address and shows no field for.
    kept: dict[str, str]
    transforms: list[TransformOption]
    #: Whether lines begin at 100, and on which day, empty where none is common to them.
    indexed: bool
    base: str
    columns: list[LineColumn]
    #: One page of the table, of `total` rows the first of which is number `start`; addresses of the pages beside it.
    rows: list[ComparedPeriod]
    total: int
    start: int
    before: str
    after: str
    downloads: list[FileLink]
    #: The picture that a script makes a PNG of.
    picture: str
    #: The HTML that shows the panels elsewhere; empty where that is allowed nowhere.
    embed: str
    errors: list[FieldProblem]


def compare_page(visit: Visit, one: ReadComparison) -> ComparePage:
    """The page of a comparison that was read."""
    number = max(read_whole(visit.query.get("page")) or 1, 1)
    step = view.rows_of_page(one)
    rows, total = view.table(one, number)
    marked = view.events(visit, one)
    query = visit.here(page=None).partition("?")[2]
    return ComparePage(
        one=one,
        title=naming.what(one.shown or one.lines) if one.lines else "Compare",
        panels=view.panels(visit, one, marked),
        marked=marked,
        lines=view.listed_lines(visit, one),
        count=len(one.asked.keys),
        ranges=view.ranges(visit, one) if one.lines else [],
        notes=view.notes(one),
        sources=view.sources(one.shown),
        kept={
            name: visit.query[name] for name in ("indicator", "entities", "series", "events") if visit.query.get(name)
        },
        transforms=[TransformOption(each.name, each.title) for each in TRANSFORMS.values()],
        indexed=one.asked.show == INDEX,
        base="" if one.base is None else one.base.isoformat(),
        columns=[LineColumn(naming.line_name(line, one.shown), line.address) for line in one.shown],
        rows=rows,
        total=total,
        start=(number - 1) * step + 1,
        before=visit.here(page=str(number - 1)) if number > 1 else "",
        after=visit.here(page=str(number + 1)) if number * step < total else "",
        downloads=[FileLink(kind.upper(), f"/compare.{kind}?{query}") for kind in ("csv", "xlsx", "svg")],
        picture=f"/compare.svg?{query}",
        embed=embedding.frame_markup(visit, "/compare", naming.chart_name(one.shown, one)) if one.shown else "",
        errors=one.asked.problems,
    )
