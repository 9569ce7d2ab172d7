"""When each page of the simulated world was fetched, and what it held then.

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
from almanac.sandbox.country_series import RELEASES, TENORS
from almanac.sandbox.economy import Economy
from almanac.sandbox.fred_series import everything
from almanac.sandbox.load import enough, extra_series, taken
from almanac.sandbox.noise import Days, Floats
from almanac.sandbox.series import ARCHIVES_BEGIN, FIRST_PERIOD, Simulated

TREASURY, MOF, FRED, LICENSED = "sandbox-us-treasury-par", "sandbox-mof-japan", "sandbox-fred", "sandbox-licensed"

TREASURY_TENORS = {f"BC_{tenor[:-1]}{'MONTH' if tenor[-1] == 'm' else 'YEAR'}": tenor for tenor in TENORS}
MOF_TENORS = {tenor.upper(): tenor for tenor in TENORS if tenor.endswith("y")}
#: A misprint of the Treasury: the day, the element, and by how much the first capture is wrong.
_MISPRINT = (date(2023, 6, 15), "BC_10YEAR", 0.1)
_CORRECTED = datetime(2024, 2, 1, 12, tzinfo=UTC)
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


def _at(moment: datetime) -> int:
    return int(moment.timestamp())


def _instant(day: date, hour: int = 12) -> int:
    return _at(datetime(day.year, day.month, day.day, hour, tzinfo=UTC))


def _window(economy: Economy, first: date, last: date) -> tuple[slice, Days]:
    start, stop = np.searchsorted(economy.days, [np.datetime64(first), np.datetime64(last) + 1])
    return slice(int(start), int(stop)), economy.days[start:stop]


# The two feeds of yields


def _curves(economy: Economy, code: str, tenors: Mapping[str, str], place: slice) -> dict[str, Floats]:
    """Yields by native code on the days of `place`. Whole paths are kept: hundreds of files are cut from them."""
    return {native: economy.kept_yields(code, TENORS[tenor])[place] for native, tenor in tenors.items()}


def treasury(economy: Economy, now: int) -> Iterator[PendingResponse]:
    """One file a year, fetched when the year is over; the year of the misprint a second time."""
    for year in range(FIRST_PERIOD.year, economy.today.year + 1):
        fetched = min(now, _instant(date(year + 1, 1, 2)))
        if _window(economy, date(year, 1, 1), date(year, 12, 31))[1].size:
            yield _treasury_file(economy, year, fetched)
    if now > _at(_CORRECTED):
        yield _treasury_file(economy, _MISPRINT[0].year, _at(_CORRECTED))


def _treasury_file(economy: Economy, year: int, fetched: int) -> PendingResponse:
    def make() -> bytes:
        place, days = _window(economy, date(year, 1, 1), date(year, 12, 31))
        curves = _curves(economy, "USA", TREASURY_TENORS, place)
        day, element, error = _MISPRINT
        if fetched < _at(_CORRECTED):
            curves[element] = np.where(days == np.datetime64(day), curves[element] + error, curves[element])
        absent = frozenset((missing, "BC_20YEAR") for missing in _NO_20_YEAR)
        return formats.treasury_year(days, curves, wire_time(fetched), absent)

    return PendingResponse(TREASURY, formats.TREASURY_URL.format(year=year), fetched, "application/xml", make)


def mof(economy: Economy, now: int) -> Iterator[PendingResponse]:
    """The history to the end of 2015 once, then the current month on the 1st (still last month's), the 11th and the 21st."""
    first = date(2016, 1, 1)
    yield _mof_file(economy, FIRST_PERIOD, first - timedelta(days=1), _instant(first, 6), history=True)
    months = (economy.today.year - first.year) * 12 + economy.today.month
    grid = [add_months(first, month).replace(day=day) for month in range(months) for day in (1, 11, 21)][1:]
    for day in grid:
        if _instant(day, 6) < now:
            yield _mof_month(economy, day, _instant(day, 6))
    yield _mof_month(economy, economy.today, now)


def _mof_month(economy: Economy, day: date, fetched: int) -> PendingResponse:
    last: date = economy.days[np.searchsorted(economy.days, np.datetime64(day)) - 1].astype(object)
    return _mof_file(economy, last.replace(day=1), last, fetched, history=False)


def _mof_file(economy: Economy, first: date, last: date, fetched: int, *, history: bool) -> PendingResponse:
    def make() -> bytes:
        place, days = _window(economy, first, last)
        curves = _curves(economy, "JPN", MOF_TENORS, place)
        absent = frozenset((missing, "20Y") for missing in _NO_20_YEAR)
        return formats.mof_table(days, curves, month=None if history else first, absent=absent)

    url = formats.MOF_HISTORY_URL if history else formats.MOF_MONTH_URL
    return PendingResponse(MOF, url, fetched, "text/csv", make)


# The feeds in FRED's format


def fred(economy: Economy, now: int, observations: int | None) -> Iterator[PendingResponse]:
    series = everything()
    extra: list[Simulated] = []
    if observations is not None:
        own = sum(one.rows(economy) for one in series) + len(
            economy.days[economy.days >= np.datetime64(FIRST_PERIOD)]
        ) * (len(TREASURY_TENORS) + len(MOF_TENORS))
        extra = enough(extra_series(taken(series)), economy, own, observations)
    quarters = [date(2015, 12, 31), *(_quarter_ends(economy.today))]
    for one in series:
        if one.snapshot:
            # A series is asked for once it has begun: an empty one is told as missing.
            yield from _snapshots(one, economy, now, [day for day in quarters if day >= (one.loaded or one.first)])
        else:
            yield _archive(one, economy, now)
    for one in extra:
        yield from _snapshots(one, economy, now, quarters[:1])
    years = [date(year, 12, 31) for year in range(2015, economy.today.year + 1)]
    for fetched in [*(_instant(day) for day in years if _instant(day) < now), now]:
        yield from _releases(fetched)


def _quarter_ends(today: date) -> Iterator[date]:
    for quarter in range((today.year - 2015) * 4):
        yield add_months(date(2016, 3, 1), 3 * quarter + 1) - timedelta(days=1)


def _archive(series: Simulated, economy: Economy, now: int) -> PendingResponse:
    """Every vintage published before today: a day's publications are out when the day is."""
    url = (
        f"{formats.FRED_URL}series/observations?file_type=json&realtime_end={formats.FRED_OPEN}"
        f"&realtime_start={formats.FRED_ALWAYS}&series_id={series.native}"
    )
    until = economy.today - timedelta(days=1)
    return PendingResponse(
        series.source, url, now, "application/json", lambda: formats.fred_archive(series.vintages(economy, until))
    )


def _snapshots(series: Simulated, economy: Economy, now: int, grid: list[date]) -> Iterator[PendingResponse]:
    """The history at the first day of the grid, then at each further day what may be new since the one before, last `now`.

    Each begins two weeks before the one before it, for what was not yet published then.
    """
    since: date | None = None
    latest = [now] if series.loaded is None or _instant(series.loaded) < now else []
    for fetched in [*(_instant(day) for day in grid if _instant(day) < now), *latest]:
        day = datetime.fromtimestamp(fetched, UTC).date()
        yield _snapshot(series, economy, since, day, fetched)
        since = day - timedelta(days=14)


def _snapshot(series: Simulated, economy: Economy, since: date | None, day: date, fetched: int) -> PendingResponse:
    def make() -> bytes:
        dates, values = series.listed(economy, since or series.first, day - timedelta(days=1))
        return formats.fred_snapshot(dates, values, day, since.isoformat() if since else "1600-01-01")

    start = f"&observation_start={since}" if since else ""
    url = f"{formats.FRED_URL}series/observations?file_type=json{start}&series_id={series.native}"
    return PendingResponse(series.source, url, fetched, "application/json", make)


def _releases(fetched: int) -> Iterator[PendingResponse]:
    """The list of releases, and the days of each to a year ahead."""
    day = datetime.fromtimestamp(fetched, UTC).date()
    names = [(release.id, release.name) for release in RELEASES.values()]

    def capture(path: str, make: Callable[[], bytes]) -> PendingResponse:
        return PendingResponse(FRED, f"{formats.FRED_URL}{path}", fetched, "application/json", make)

    yield capture("releases?file_type=json", functools.partial(formats.fred_releases, names, day))
    for number in RELEASES:
        path = f"release/dates?file_type=json&include_release_dates_with_no_data=true&release_id={number}"
        yield capture(path, functools.partial(_release_dates, number, day))


def _release_dates(number: int, day: date) -> bytes:
    """The days of a release from the beginning of the archives to a year after `day`, in order."""
    release = RELEASES[number]
    last = day + timedelta(days=365)
    _, ends = Economy(last).periods(release.frequency)
    days = np.unique(np.concatenate(release.publishing.schedule(ends)))
    within = (days > ARCHIVES_BEGIN) & (days <= np.datetime64(last))
    return formats.fred_release_dates(number, days[within].astype(str).tolist())
