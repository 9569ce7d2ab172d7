"""The client that is awaited, with the names of the one that blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from almanac_client._generated_async import AsyncRawResources, AsyncResources
from almanac_client._query import written
from almanac_client._resources import AsyncCore
from almanac_client._settings import MAX_RETRY_WAIT, Options, changed, checked, options, shown
from almanac_client._transport import AsyncDriver, Clock

if TYPE_CHECKING:
    import httpx2
    from typing_extensions import Self

    from almanac_client._cache import Cache
    from almanac_client._frames import Table
    from almanac_client._series import Series, When
    from almanac_client._vintages import Triangle

Frame = TypeVar("Frame")


class AsyncAlmanac(AsyncResources):
    """The same, awaited. What the arguments mean, `Almanac` says; `http_client` is an httpx2.AsyncClient."""

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
        """The same client with other options; both share connections, and under the same key the pace."""
        return self._like(changed(self._core.options, changes))

    def at(self, as_of: str | date | datetime) -> AsyncAlmanac:
        """The same client, which asks everything as it was known then. A bare date means its last second, in UTC."""
        return self._like(msgspec.structs.replace(self._core.options, as_of=written("as_of", as_of)))

    def _like(self, other: Options) -> AsyncAlmanac:
        held = self._core
        core = AsyncCore(other, held.driver)
        if other.url != held.options.url:
            # There may be another way there.
            core.driver = AsyncDriver(other, held.driver.given, held.driver.clock)
        elif other.key is held.options.key:
            # Limits are of an account, and so is what may be looked up.
            core.known, core.pace = held.known, held.pace
        made = object.__new__(AsyncAlmanac)
        AsyncResources.__init__(made, core)
        return made

    @property
    def raw(self) -> AsyncRawResources:
        """The same methods, each answering with one page or object and its headers."""
        return AsyncRawResources(self._core)

    async def series(
        self,
        indicator: str,
        place: str,
        *,
        frequency: str | None = None,
        start: When | None = None,
        end: When | None = None,
        as_of: When | None = None,
    ) -> Series:
        """
        One series, oldest first. `place`: a country, region or company, by id, slug or ISO code.

        start, end: bounds of the periods. Where the indicator has several frequencies for the place, one must be named.
        """
        from almanac_client._series import series  # noqa: PLC0415 - importing this package must stay quick

        return await self._core.run(
            series(self._core.way, indicator, place, frequency=frequency, start=start, end=end, as_of=as_of)
        )

    async def frame(
        self,
        series: Mapping[str, tuple[str, str]],
        *,
        how: Literal["wide", "long"] = "wide",
        frequency: str | None = None,
        start: When | None = None,
        end: When | None = None,
        as_of: When | None = None,
    ) -> Table:
        """
        Several series, each under a name: `{"cpi": ("cpi_index", "USA"), …}`.

        how: `wide`, a row for each period end and a column for each name, or `long`, a row for each value.
        """
        from almanac_client._series import frame  # noqa: PLC0415 - importing this package must stay quick

        return await self._core.run(
            frame(self._core.way, series, how=how, frequency=frequency, start=start, end=end, as_of=as_of)
        )

    async def triangle(
        self,
        indicator: str,
        place: str,
        *,
        start: When | None = None,
        end: When | None = None,
        source_id: str | None = None,
        frequency: str | None = None,
    ) -> Triangle:
        """
        Every published state of one series: its revision triangle.

        source_id: the source; else the one preferred today. The triangle keeps to it, and names it.
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
        A row for each date, place and indicator: the latest reading as it was known then, without looking ahead.

        max_age: days between the end of a reading's period and the date; an older one is null.
        source_id: the source; else the one preferred today. Of each place one series is kept to, and its source named.
        """
        from almanac_client._panel import panel  # noqa: PLC0415 - importing this package must stay quick

        return await self._core.run(
            panel(self._core.way, indicators, places, at=at, max_age=max_age, source_id=source_id, frequency=frequency)
        )

    async def join_as_of(
        self, df: Frame, *, indicator: str, place: str | None = None, on: str = "timestamp", by: str | None = None
    ) -> Frame:
        """
        A frame of pandas or polars with the latest reading known at the time of each row, its period, and since
        when it was known, in three more columns.

        on: the column of times, which must have a zone. place: the place of all rows; or by: the column that names it.
        """
        from almanac_client._panel import join_as_of  # noqa: PLC0415 - importing this package must stay quick

        joined: Frame = await self._core.run(join_as_of(self._core.way, df, slug=indicator, place=place, on=on, by=by))
        return joined

    async def close(self) -> None:
        """Close the connections. They are opened again when needed."""
        await self._core.driver.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return shown(self._core.options, "AsyncAlmanac")
