"""What the page of a series shows: the model that its templates are given."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import msgspec

from almanac.dashboard.drawing.figure import ChartFigure
from almanac.dashboard.drawing.thinning import MOST
from almanac.dashboard.explorer import embedding
from almanac.dashboard.explorer.happenings import MarkedEvents
from almanac.dashboard.explorer.series import one_series, revisions, series_view, vintages
from almanac.dashboard.explorer.series.nearby import about, other_sources, same_category
from almanac.dashboard.explorer.series.one_series import Row, Series
from almanac.dashboard.explorer.series.series_view import TABLE, Shown
from almanac.dashboard.explorer.stars import Star, star
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.dates import day
from almanac.dashboard.words.numbers import many, read_whole
from almanac.dashboard.words.periods import noun
from almanac.dashboard.words.values import look


class ReleaseSlider(msgspec.Struct, frozen=True):
    """Releases as positions from 0 to `last`, of which `now` is shown; `back`, `ahead` and `today` are addresses, empty where none."""

    last: int
    now: int
    days: list[str]
    words: list[str]
    #: Positions of the first releases of years.
    ticks: list[int]
    back: str
    ahead: str
    today: str
    #: What a form for another day keeps of the address.
    keep: dict[str, str]
    #: Where a script asks for what changes with the day.
    part: str
    #: Whether these are all releases there were, the first of them `since`.
    complete: bool
    since: str


class SeriesPage(msgspec.Struct, frozen=True):
    """The page of a series on one day."""

    one: Shown
    series: Series
    star: Star | None
    #: The day as it was typed, and what is wrong with it.
    typed: str
    error: str
    chips: list[Row]
    key_figures: list[Row]
    figure: ChartFigure
    marked: MarkedEvents | None
    #: What heads the table's values.
    unit: str
    ranges: tuple[Row, ...]
    slider: ReleaseSlider | None
    #: The sentence under the slider.
    known: str
    #: Of a day before it the day of the first release, else empty.
    first_release: str
    #: One page of the table, of `total` rows the first of which is number `first`; addresses of the pages beside it.
    rows: list[Row]
    total: int
    first: int
    before: str
    after: str
    csv: str
    #: The query of a comparison that begins with this series.
    compare: str
    embed: str
    noun: str
    triangle: revisions.Triangle | None
    triangle_empty: str
    trail: Row
    about: list[Row]
    nearby: list[Row]
    others: list[Row]
    asked: list[Any]
    #: Whether the page has what it takes to zoom, and where the points for that are (empty: the drawing shows more than one line).
    mounted: bool
    points: str


def series_page(visit: Visit, one: Shown, typed: str, error: str) -> SeriesPage:
    """The page of a series as known on the day of the address, with the day as typed and what is wrong with it."""
    series = one.series
    pages = max(1, -(-len(one.rows) // TABLE))
    number = min(max(read_whole(visit.query.get("page")) or 1, 1), pages)
    event = series_view.next_release(visit, one)
    releases = one.every.releases
    marked = series_view.events(visit, one)
    figure = series_view.figure(visit, one, marked)
    trail = series_view.trail(visit, one)
    if one.heads and one.newest is not None and not one.series.record["rights"]["valueWithheld"]:
        title = figure.unit or "Values"
    else:
        title = "Values"
    return SeriesPage(
        one=one,
        series=series,
        star=star(visit, "series", series.id, series.address),
        typed=typed,
        error=error,
        chips=series_view.chips(one, visit),
        key_figures=series_view.figures(one, event, visit),
        figure=figure,
        marked=marked,
        unit=title,
        ranges=one.range.options,
        slider=_slider(visit, one, releases),
        known=_known(one, releases),
        first_release=releases[0].day if releases and one.as_of and not one.then.rows else "",
        rows=series_view.table(one, number),
        total=len(one.rows),
        first=(number - 1) * TABLE + 1,
        before=visit.here(page=str(number - 1)) if number > 1 else "",
        after=visit.here(page=str(number + 1)) if number < pages else "",
        csv=f"{series.address}.csv{_query(visit)}",
        compare=_compare(visit, series),
        embed=embedding.frame_markup(visit, series.address, figure.title),
        noun=noun(series.frequency).capitalize(),
        triangle=series_view.triangle(one),
        triangle_empty=no_triangle(one),
        trail=trail,
        about=about(one),
        nearby=same_category(visit, one),
        others=other_sources(visit, one),
        asked=_requests_of(visit, series),
        # Many points are there to be zoomed: the page has what that takes where its range can become so long.
        # A drawing with events is never covered by one that can be zoomed, which knows none.
        mounted=series.often and not visit.query.get("events"),
        points=f"{series.address}/points.json{_query(visit)}" if _alone(visit, one) else "",
    )


def _alone(visit: Visit, one: Shown) -> bool:
    """Whether the chart is one line of very many points: with a ghost, other sources or events the drawing has more than that."""
    more = one.as_of is not None or visit.query.get("sources") == "all" or visit.query.get("events")
    return one.series.often and len(one.rows) > MOST and not more


def _compare(visit: Visit, series: Series) -> str:
    """The query of a comparison that begins with this series on its day and in its range."""
    kept = [(name, visit.query[name]) for name in ("as_of", "from", "to", "events") if visit.query.get(name)]
    if not visit.query.get("from") and not series.often:
        kept.append(("from", one_series.ALL))
    return urlencode([("series", series.id), *kept], safe=":")


def _query(visit: Visit) -> str:
    kept = [(name, visit.query[name]) for name in ("as_of", "from", "to") if visit.query.get(name)]
    return f"?{urlencode(kept, safe=':')}" if kept else ""


def _requests_of(visit: Visit, series: Series) -> list[Any]:
    """The requests of the page, that of its table first."""
    return sorted(visit.asked, key=lambda one: not one.path_and_query.startswith(f"{series.list_path}?"))


def _slider(visit: Visit, one: Shown, releases: list[vintages.ReleaseDay]) -> ReleaseSlider | None:
    """Releases as positions; None where there is but one, so nothing to slide over."""
    if len(releases) < 2:
        return None
    days = [release.day for release in releases]
    last = len(days) - 1
    now = last if one.known_to is None else max((i for i, d in enumerate(days) if d <= one.known_to[:10]), default=-1)
    back = days[now - 1] if now > 0 else ""
    ahead = now + 1 if one.as_of and now < last else None
    return ReleaseSlider(
        last=last,
        now=max(now, 0),
        days=days,
        words=[day(one_day) for one_day in days],
        ticks=vintages.first_days_of_years(releases),
        back=visit.here(as_of=back, page=None) if back else "",
        # The newest release is what is known today.
        ahead="" if ahead is None else visit.here(as_of=days[ahead] if ahead < last else None, page=None),
        today=visit.here(as_of=None, page=None) if one.as_of else "",
        keep={name: visit.query[name] for name in ("from", "to", "sources", "events") if visit.query.get(name)},
        part=f"{one.series.address}/part",
        complete=one.every.complete,
        since=day(days[0]),
    )


def _known(one: Shown, releases: list[vintages.ReleaseDay]) -> str:
    """The sentence under the slider: what was newest then, what that reads today, how many have changed since."""
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
    sentence = f"Known on {day(one.as_of)}: newest {word} {series_view.period_of_row(row)} at {told.text}."
    if not one.every.complete:
        return sentence
    then, now = one.then.cells, one.every.cells
    states = now.get(vintages.cell_of(row))
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
