"""
Pages of the simulated feeds: when each was fetched, and its content then.

Fetching days lie on fixed grids, so a page of the past is the same bytes on whatever day the world is made; only the
last page of each feed belongs to `now`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import numpy as np

from almanac.domain.periods import add_months
from almanac.domain.times import wire_time
from almanac.sandbox import formats
from almanac.sandbox.economy import Economy
from almanac.sandbox.fred_series import RELEASES, TENORS, all_series, extra_series, fill_up
from almanac.sandbox.noise import Days, Floats
from almanac.sandbox.series import ARCHIVES_BEGIN, FIRST_PERIOD, FRED, SimulatedSeries

TREASURY, MOF = "sandbox-us-treasury-par", "sandbox-mof-japan"

TREASURY_TENORS = {f"BC_{tenor[:-1]}{'MONTH' if tenor[-1] == 'm' else 'YEAR'}": tenor for tenor in TENORS}
MOF_TENORS = {tenor.upper(): tenor for tenor in TENORS if tenor.endswith("y")}
#: Days without a 20-year yield, in both feeds.
_NO_20_YEAR = ("2013-09-12", "2017-03-14", "2021-05-19")


@dataclass(frozen=True, slots=True)
class PendingResponse:
    """A page to come: its body is made when its turn comes, so that one is in memory at a time."""

    source: str
    url: str
    fetched_at: int
    media_type: str
    make: Callable[[], bytes]
    #: Whether `make` takes nothing but a few arguments with it, so that it may be called in another process.
    apart: bool = False


def _instant(day: date, hour: int = 12) -> int:
    return int(datetime(day.year, day.month, day.day, hour, tzinfo=UTC).timestamp())


#: A misprint of the Treasury: the day, the element, and by how much the first capture is wrong.
_MISPRINT = (date(2023, 6, 15), "BC_10YEAR", 0.1)
_CORRECTED_AT = _instant(date(2024, 2, 1))


# The two feeds of yields


def _curves(
    economy: Economy, code: str, tenors: Mapping[str, str], first: date, last: date
) -> tuple[Days, dict[str, Floats]]:
    """Return the business days from `first` to `last`, and the yields on them by native code."""
    start, stop = np.searchsorted(economy.days, [np.datetime64(first), np.datetime64(last) + 1])
    # Whole paths are kept: hundreds of files are cut from them.
    curves = {native: economy.kept_yields(code, TENORS[tenor])[start:stop] for native, tenor in tenors.items()}
    return economy.days[start:stop], curves


def treasury(economy: Economy, now: int) -> Iterator[PendingResponse]:
    """Yield one file a year, fetched when the year is over, and that of the misprint's year a second time."""
    for year in range(FIRST_PERIOD.year, economy.today.year + 1):
        if economy.days[-1] >= np.datetime64(date(year, 1, 1)):
            yield _treasury_file(economy, year, min(now, _instant(date(year + 1, 1, 2))))
    if now > _CORRECTED_AT:
        yield _treasury_file(economy, _MISPRINT[0].year, _CORRECTED_AT)


def _treasury_file(economy: Economy, year: int, fetched: int) -> PendingResponse:
    def make() -> bytes:
        days, curves = _curves(economy, "USA", TREASURY_TENORS, date(year, 1, 1), date(year, 12, 31))
        day, element, error = _MISPRINT
        if fetched < _CORRECTED_AT:
            curves[element] = np.where(days == np.datetime64(day), curves[element] + error, curves[element])
        absent = frozenset((missing, "BC_20YEAR") for missing in _NO_20_YEAR)
        return formats.treasury_year(days, curves, wire_time(fetched), absent)

    return PendingResponse(TREASURY, formats.TREASURY_URL.format(year=year), fetched, "application/xml", make)


def mof(economy: Economy, now: int) -> Iterator[PendingResponse]:
    """
    Yield the history to the end of 2015 once, then the current month on the 1st (still last month's), the 11th and the
    21st, and `now`.
    """
    first = date(2016, 1, 1)
    yield _mof_file(economy, FIRST_PERIOD, first - timedelta(days=1), _instant(first, 6), history=True)
    months = (economy.today.year - first.year) * 12 + economy.today.month
    grid = [add_months(first, month).replace(day=day) for month in range(months) for day in (1, 11, 21)][1:]
    fetches = [(day, _instant(day, 6)) for day in grid if _instant(day, 6) < now]
    for day, fetched in [*fetches, (economy.today, now)]:
        last: date = economy.days[np.searchsorted(economy.days, np.datetime64(day)) - 1].astype(object)
        yield _mof_file(economy, last.replace(day=1), last, fetched, history=False)


def _mof_file(economy: Economy, first: date, last: date, fetched: int, *, history: bool) -> PendingResponse:
    def make() -> bytes:
        days, curves = _curves(economy, "JPN", MOF_TENORS, first, last)
        absent = frozenset((missing, "20Y") for missing in _NO_20_YEAR)
        return formats.mof_table(days, curves, month=None if history else first, absent=absent)

    url = formats.MOF_HISTORY_URL if history else formats.MOF_MONTH_URL
    return PendingResponse(MOF, url, fetched, "text/csv", make)


# The feeds in FRED's format


def fred(economy: Economy, now: int, observations: int | None) -> Iterator[PendingResponse]:
    """Yield the pages of all series and releases, with further series up to so many `observations` of the whole world."""
    every = all_series()
    extra: list[SimulatedSeries] = []
    if observations is not None:
        days = len(economy.days[economy.days >= np.datetime64(FIRST_PERIOD)])
        rows = sum(series.estimated_rows(economy) for series in every) + days * len([*TREASURY_TENORS, *MOF_TENORS])
        extra = fill_up(extra_series(every), economy, rows, observations)
    quarters = [
        add_months(date(2016, 1, 1), 3 * n) - timedelta(days=1) for n in range((economy.today.year - 2015) * 4 + 1)
    ]
    for series in every:
        if series.snapshot:
            # A series is asked for once it has begun: an empty one counts as missing.
            began = series.loaded or series.first
            yield from _snapshots(series, economy, now, [day for day in quarters if day >= began])
        else:
            yield _archive(series, economy, now)
    for series in extra:
        yield from _snapshots(series, economy, now, quarters[:1])
    years = [date(year, 12, 31) for year in range(2015, economy.today.year + 1)]
    for fetched in [*(_instant(day) for day in years if _instant(day) < now), now]:
        yield from _releases(fetched)


def _archive(series: SimulatedSeries, economy: Economy, now: int) -> PendingResponse:
    """Return every vintage published before today: a day's publications are out when the day is."""
    url = (
        f"{formats.FRED_URL}series/observations?file_type=json&realtime_end={formats.FRED_OPEN}"
        f"&realtime_start={formats.FRED_ALWAYS}&series_id={series.native}"
    )
    until = economy.today - timedelta(days=1)
    return PendingResponse(
        series.source, url, now, "application/json", lambda: formats.fred_archive(series.vintages(economy, until))
    )


def _snapshots(series: SimulatedSeries, economy: Economy, now: int, grid: list[date]) -> Iterator[PendingResponse]:
    """
    Yield the history at the first day of the grid, then at each further day what may be new since the one before, and
    last that of `now`. Each begins two weeks before the one before it, for what was not yet published then.
    """
    since: date | None = None
    latest = [now] if series.loaded is None or _instant(series.loaded) < now else []
    for fetched in [*(_instant(day) for day in grid if _instant(day) < now), *latest]:
        day = datetime.fromtimestamp(fetched, UTC).date()
        start = f"&observation_start={since}" if since else ""
        url = f"{formats.FRED_URL}series/observations?file_type=json{start}&series_id={series.native}"
        make = functools.partial(_snapshot, series, economy, since, day)
        yield PendingResponse(series.source, url, fetched, "application/json", make)
        since = day - timedelta(days=14)


def _snapshot(series: SimulatedSeries, economy: Economy, since: date | None, day: date) -> bytes:
    dates, values = series.snapshot_rows(economy, since or series.first, day - timedelta(days=1))
    return formats.fred_snapshot(dates, values, day, since.isoformat() if since else "1600-01-01")


def _releases(fetched: int) -> Iterator[PendingResponse]:
    """Yield the list of releases, and the days of each to a year ahead."""
    day = datetime.fromtimestamp(fetched, UTC).date()
    names = [(release.id, release.name) for release in RELEASES.values()]
    pages: dict[str, Callable[[], bytes]] = {
        "releases?file_type=json": functools.partial(formats.fred_releases, names, day)
    }
    for number in RELEASES:
        path = f"release/dates?file_type=json&include_release_dates_with_no_data=true&release_id={number}"
        pages[path] = functools.partial(_release_dates, number, day)
    for path, make in pages.items():
        yield PendingResponse(FRED, f"{formats.FRED_URL}{path}", fetched, "application/json", make)


def _release_dates(number: int, day: date) -> bytes:
    """Return the days of a release from the beginning of the archives to a year after `day`, in order."""
    release = RELEASES[number]
    last = day + timedelta(days=365)
    _, ends = Economy(last).periods(release.frequency)
    days = np.unique(np.concatenate(release.publishing.schedule(ends)))
    within = (days > ARCHIVES_BEGIN) & (days <= np.datetime64(last))
    return formats.fred_release_dates(number, days[within].astype(str).tolist())
