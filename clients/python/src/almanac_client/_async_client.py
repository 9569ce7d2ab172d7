"""The asynchronous client, with the same names as the blocking one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from almanac_client._core import AsyncCore
from almanac_client._generated_async import AsyncRawResources, AsyncResources
from almanac_client._query import written
from almanac_client._settings import MAX_RETRY_WAIT, Options, changed, checked, options, shown
from almanac_client._transport import AsyncDriver, Clock

if TYPE_CHECKING:
    import httpx2
    from typing_extensions import Self

    from almanac_client._beside import How, Word
    from almanac_client._cache import Cache
    from almanac_client._documents import BriefTables, Curve, Statements
    from almanac_client._frames import Table
    from almanac_client._series import Bound, Series, When
    from almanac_client._vintages import Triangle

Frame = TypeVar("Frame")


class AsyncAlmanac(AsyncResources):
    """A client with asynchronous methods. `Almanac` describes the arguments; `http_client` is an httpx2.AsyncClient."""

    __slots__ = ()

    def __init__(
        self,
        *,
        url: str | None = None,
        api_key: str | None = None,
        profile: str | None = None,
        timeout: float = 30.0,
        max_retries: int = 3,
        max_retry_wait: float = MAX_RETRY_WAIT,
        pace: bool = True,
        cache: Cache | None = None,
        insecure: bool = False,
        http_client: httpx2.AsyncClient | None = None,
    ) -> None:
        found = options(
            url=url, api_key=api_key, profile=profile, insecure=insecure, timeout=timeout, max_retries=max_retries,
            max_retry_wait=max_retry_wait, pace=pace, cache=cache,
        )  # fmt: skip
        super().__init__(AsyncCore(checked(found), AsyncDriver(found, http_client, Clock())))

    def with_options(self, **changes: Any) -> AsyncAlmanac:
        """Return a client with other options. Both share connections and, with the same key, the pace."""
        return self._like(changed(self._core.options, changes))

    def at(self, as_of: str | date | datetime) -> AsyncAlmanac:
        """Return a client that asks everything as known at that time. A bare date means its last second in UTC."""
        return self._like(msgspec.structs.replace(self._core.options, as_of=written("as_of", as_of)))

    def _like(self, other: Options) -> AsyncAlmanac:
        held = self._core
        core = AsyncCore(other, held.driver)
        if other.url != held.options.url:
            # Another address may need a different connection setup.
            core.driver = AsyncDriver(other, held.driver.given, held.driver.clock)
        elif other.key is held.options.key:
            # Limits and look-ups belong to an account.
            core.known, core.pace = held.known, held.pace
        made = object.__new__(AsyncAlmanac)
        AsyncResources.__init__(made, core)
        return made

    @property
    def raw(self) -> AsyncRawResources:
        """Methods that return one page or object with its headers."""
        return AsyncRawResources(self._core)

    async def series(
        self,
        indicator: str,
        place: str | None = None,
        *,
        frequency: str | None = None,
        start: Bound | None = None,
        end: Bound | None = None,
        as_of: When | None = None,
    ) -> Series:
        """
        Return one series, oldest first.

        indicator: slug, id or alias; or a publisher's code of a single series (`CPIAUCSL`), which includes the place.

        place: a country, region or company, by id, slug, ISO code or ticker.

        start, end: bounds of the periods: 2020, "2020-Q1", "2020-03" or a date. If the series exists at several
        frequencies, the highest is taken, and a ChoiceWarning names the others.
        """
        from almanac_client._series import series  # noqa: PLC0415 - importing this package must stay quick

        return await self._core.run(
            series(self._core.way, indicator, place, frequency=frequency, start=start, end=end, as_of=as_of)
        )

    async def frame(
        self,
        series: Mapping[str, tuple[str, str]],
        *,
        how: How | Mapping[str, Word] = "wide",
        frequency: str | None = None,
        start: Bound | None = None,
        end: Bound | None = None,
        as_of: When | None = None,
    ) -> Table:
        """
        Return several series, each under a name: `{"cpi": ("cpi_index", "USA"), …}`.

        how: `wide` gives a row for each period end and a column for each name; `long` gives a row for each value. With
        a target such as frequency="quarterly", `last`, `mean` or `sum` say how series of a higher frequency are
        aggregated, for all or by name; only complete periods are used. `attrs["gathered"]` then says how each series
        was aggregated.
        """
        from almanac_client._beside import frame  # noqa: PLC0415 - importing this package must stay quick

        return await self._core.run(
            frame(self._core.way, series, how=how, frequency=frequency, start=start, end=end, as_of=as_of)
        )

    async def triangle(
        self,
        indicator: str,
        place: str | None = None,
        *,
        start: Bound | None = None,
        end: Bound | None = None,
        source_id: str | None = None,
        frequency: str | None = None,
    ) -> Triangle:
        """
        Return every published state of one series, its revision triangle. `series` describes indicator and place.

        source_id, frequency: choose the series. Otherwise it is the one of the highest frequency and the preferred
        source among those known, or known then for a client made with .at(). The triangle contains only that series,
        and names it.
        """
        from almanac_client._vintages import triangle  # noqa: PLC0415 - importing this package must stay quick

        wall = self._core.driver.clock.wall()
        return await self._core.run(
            triangle(
                self._core.way, wall, indicator, place, start=start, end=end, source_id=source_id, frequency=frequency
            )
        )

    async def panel(
        self,
        indicators: str | Iterable[str],
        places: str | Iterable[str],
        *,
        at: When | Iterable[When],
        max_age: int | timedelta | None = None,
        source_id: str | None = None,
        frequency: str | None = None,
    ) -> Table:
        """
        Return a row for each date, place and indicator: the latest reading as known then, without looking ahead.

        max_age: most days between the end of a reading's period and the date; an older reading is null.

        source_id, frequency: limit the series considered. Without them, each date has the reading that
        `observations.latest(as_of=date)` gives, with its source and frequency beside it.
        """
        from almanac_client._panel import panel  # noqa: PLC0415 - importing this package must stay quick

        return await self._core.run(
            panel(self._core.way, indicators, places, at=at, max_age=max_age, source_id=source_id, frequency=frequency)
        )

    async def join_as_of(
        self,
        df: Frame,
        *,
        indicator: str,
        place: str | None = None,
        on: str = "timestamp",
        by: str | None = None,
        frequency: str | None = None,
    ) -> Frame:
        """
        Add three columns to a pandas or polars frame: the latest reading known at the time of each row, its period end,
        and the time since when it was known.

        on: the column of times, with a time zone, or of days. place: the place of all rows; or by: the column that
        names it.

        frequency: of the readings; without it the newest one of any frequency is used, and a ChoiceWarning says where
        that changes.
        """
        from almanac_client._panel import join_as_of  # noqa: PLC0415 - importing this package must stay quick

        joined: Frame = await self._core.run(
            join_as_of(self._core.way, df, slug=indicator, place=place, on=on, by=by, frequency=frequency)
        )
        return joined

    async def statements(
        self,
        company: str,
        *,
        frequency: Literal["annual", "quarterly"] = "annual",
        limit: int | None = None,
        as_of: When | None = None,
    ) -> Statements:
        """
        Return the statements of a company as tables: `.income`, `.balance` and `.cash_flow` with periods as columns,
        and `.quality`.

        company: ticker, CIK, LEI, name, id or slug. limit: number of periods, the newest first.
        """
        from almanac_client._documents import statements  # noqa: PLC0415 - importing this package must stay quick

        return await self._core.run(statements(self._core.way, company, frequency=frequency, limit=limit, as_of=as_of))

    async def curve(self, scope: str) -> Curve:
        """Return a sovereign yield curve as tables: `.yields`, `.spreads` to its peers, `.slopes`."""
        from almanac_client._documents import curve  # noqa: PLC0415 - importing this package must stay quick

        return await self._core.run(curve(self._core.way, scope))

    async def brief(self, country: str, *, as_of: When | None = None) -> BriefTables:
        """Return a country brief with its underlying tables: `.readings`, `.events`, `.releases`."""
        from almanac_client._documents import brief  # noqa: PLC0415 - importing this package must stay quick

        return await self._core.run(brief(self._core.way, country, as_of=as_of))

    async def fields(self, universe: Literal["countries", "companies"]) -> Table:
        """Return the fields that a screen may use, with their units, ranges and operators, one row each."""
        from almanac_client._documents import fields  # noqa: PLC0415 - importing this package must stay quick

        return await self._core.run(fields(self._core.way, universe))

    async def close(self) -> None:
        """Close the connections. They are reopened when needed."""
        await self._core.driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return shown(self._core.options, "AsyncAlmanac")
