"""What the page of all revisions of a series shows: the model that its template is given."""

from __future__ import annotations

import msgspec

from almanac.dashboard.explorer.series import revisions, vintages
from almanac.dashboard.explorer.series.one_series import Row, Series
from almanac.dashboard.explorer.series.revision_pictures import RevisionPictures, pictures
from almanac.dashboard.explorer.series.series_page import no_triangle
from almanac.dashboard.explorer.series.series_view import Shown
from almanac.dashboard.visit import Visit
from almanac.dashboard.words.numbers import read_whole
from almanac.dashboard.words.periods import noun

#: Releases and periods of a page by release; rows of one by age.
_RELEASES, _PERIODS, _AGES = 12, 24, 100


class RevisionsPage(msgspec.Struct, frozen=True):
    """The triangle whole, by the day of the release or by the age of each number, page by page."""

    one: Shown
    series: Series
    #: The day as it was typed, and what is wrong with it.
    typed: str
    error: str
    aged: bool
    #: Why there is nothing to be shown.
    empty: str
    foot: list[Row]
    noun: str
    #: By release, with how many periods that changed there is no room for; or by age.
    triangle: revisions.Triangle | None
    left_out: int
    ages: list[Row]
    #: Which releases or periods these are, and the addresses of the pages beside it.
    text: str
    newer: str
    older: str
    pictures: RevisionPictures


def revisions_page(visit: Visit, one: Shown, typed: str, error: str) -> RevisionsPage:
    """All revisions of a series as known on the day of the address, with the day as typed and what is wrong with it."""
    series, then = one.series, one.then
    frequency, aged = series.record["frequency"], visit.query.get("by") == "age"
    triangle, ages, left_out = None, [], 0
    text = newer = older = ""
    if not one.shut and then.published:
        days, cells = [release.day for release in then.releases], list(then.cells)
        total, step = (len(cells), _AGES) if aged else (len(days), _RELEASES)
        number = min(max(read_whole(visit.query.get("page")) or 1, 1), max(1, -(-total // step)))
        if aged:
            rows = revisions.by_age(then, one.unit, one.digits, frequency)
            ages = rows[(number - 1) * step : number * step]
        else:
            stop = total - (number - 1) * step
            chosen = days[max(0, stop - step) : stop]
            fresh = {vintages.cell_of(row) for row in then.rows if chosen[0] <= row["observedAt"][:10] <= chosen[-1]}
            wanted = [cell for cell in cells if cell in fresh]
            left_out = max(0, len(wanted) - _PERIODS)
            triangle = revisions.by_release(then, chosen, wanted[:_PERIODS], one.unit, one.digits, frequency)
        first = (number - 1) * step + 1
        what = "periods" if aged else "releases"
        text = f"{first:,}–{min(total, number * step):,} of {total:,} {what}, newest first"
        newer = visit.here(page=str(number - 1) if number > 2 else None) if number > 1 else ""
        older = visit.here(page=str(number + 1)) if number * step < total else ""
    return RevisionsPage(
        one=one,
        series=series,
        typed=typed,
        error=error,
        aged=aged,
        empty=no_triangle(one),
        foot=[] if one.shut else revisions.foot(then, one.unit, one.digits),
        noun=noun(series.frequency).capitalize(),
        triangle=triangle,
        left_out=left_out,
        ages=ages,
        text=text,
        newer=newer,
        older=older,
        pictures=pictures(visit, series, then, one.unit, one.digits, one.known_to),
    )
