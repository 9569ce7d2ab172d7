"""The client that blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from almanac_client._core import Core
from almanac_client._generated_sync import RawResources, Resources
from almanac_client._query import written
from almanac_client._settings import MAX_RETRY_WAIT, Options, changed, checked, options, shown
from almanac_client._transport import Clock, Driver

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


class Almanac(Resources):
    """
    The client. `url` and `api_key` are looked for in the environment, in `~/.config/almanac/client.toml` and in the
    keyring where they are not given; README.md says in which order.

    timeout: seconds for one request.
    max_retries: how often a request is made again after 429, 503, a broken connection or a timeout.
    max_retry_wait: most seconds that Retry-After is obeyed for; asked for more, the error is raised at once.
    pace: wait when the plan's requests of this minute are used up, rather than run into 429.
    cache: a Cache, whose answers are confirmed by the service before they are used.
    insecure: allow plain HTTP to another machine.
    http_client: an httpx2.Client of your own, for proxies and certificates; it is not closed.
    """

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
        http_client: httpx2.Client | None = None,
    ) -> None:
        found = options(
            url=url, api_key=api_key, profile=profile, insecure=insecure, timeout=timeout, max_retries=max_retries,
            max_retry_wait=max_retry_wait, pace=pace, cache=cache,
        )  # fmt: skip
        super().__init__(Core(checked(found), Driver(found, http_client, Clock())))

    def with_options(self, **changes: Any) -> Almanac:
        """Make a client with other options; both share connections, and under the same key the pace."""
        return self._like(changed(self._core.options, changes))

    def at(self, as_of: str | date | datetime) -> Almanac:
        """Make a client that asks everything as it was known then. A bare date means its last second, in UTC."""
        return self._like(msgspec.structs.replace(self._core.options, as_of=written("as_of", as_of)))

    def _like(self, other: Options) -> Almanac:
        held = self._core
        core = Core(other, held.driver)
        if other.url != held.options.url:
            # There may be another way there.
            core.driver = Driver(other, held.driver.given, held.driver.clock)
        elif other.key is held.options.key:
            # Limits are of an account, and so is what may be looked up.
            core.known, core.pace = held.known, held.pace
        made = object.__new__(Almanac)
        Resources.__init__(made, core)
        return made

    @property
    def raw(self) -> RawResources:
        """Methods that answer with one page or object and its headers."""
        return RawResources(self._core)

    def series(
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
        One series, oldest first. `place`: a country, region or company, by id, slug, ISO code or ticker.

        indicator: by slug, id or alias; or one series by its publisher's code (`CPIAUCSL`), which has its place itself.
        start, end: bounds of the periods: 2020, "2020-Q1", "2020-03" or a date. Of several frequencies the highest is taken, and a ChoiceWarning names the others.
        """
        from almanac_client._series import series  # noqa: PLC0415 - importing this package must stay quick

        return self._core.run(
            series(self._core.way, indicator, place, frequency=frequency, start=start, end=end, as_of=as_of)
        )

    def frame(
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
        Several series, each under a name: `{"cpi": ("cpi_index", "USA"), …}`.

        how: `wide`, a row for each period end and a column for each name, or `long`, a row for each value. With
        frequency="quarterly" also how a series of a higher frequency becomes one of it: the `last` value of each period,
        their `mean` or `sum`, for all or by name; complete periods alone. `attrs["gathered"]` says what was made of what.
        """
        from almanac_client._beside import frame  # noqa: PLC0415 - importing this package must stay quick

        return self._core.run(
            frame(self._core.way, series, how=how, frequency=frequency, start=start, end=end, as_of=as_of)
        )

    def triangle(
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
        Every published state of one series: its revision triangle. indicator, place: as `series` takes them.

        source_id, frequency: which series; else the highest frequency and the source preferred among what is known, for a
        client made with .at() what was known then. The triangle keeps to one series, and names it.
        """
        from almanac_client._vintages import triangle  # noqa: PLC0415 - importing this package must stay quick

        wall = self._core.driver.clock.wall()
        return self._core.run(
            triangle(
                self._core.way, wall, indicator, place, start=start, end=end, source_id=source_id, frequency=frequency
            )
        )

    def panel(
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
        source_id, frequency: which series are looked at; else all, and of each date the reading is the one that
        `observations.latest(as_of=date)` gives: its source and frequency are named beside it.
        """
        from almanac_client._panel import panel  # noqa: PLC0415 - importing this package must stay quick

        return self._core.run(
            panel(self._core.way, indicators, places, at=at, max_age=max_age, source_id=source_id, frequency=frequency)
        )

    def join_as_of(
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
        A frame of pandas or polars with the latest reading known at the time of each row, its period, and since
        when it was known, in three more columns.

        on: the column of times, which must have a zone. place: the place of all rows; or by: the column that names it.
        frequency: of the readings; else the newest one of any. A ChoiceWarning says where that changes.
        """
        from almanac_client._panel import join_as_of  # noqa: PLC0415 - importing this package must stay quick

        joined: Frame = self._core.run(
            join_as_of(self._core.way, df, slug=indicator, place=place, on=on, by=by, frequency=frequency)
        )
        return joined

    def statements(
        self,
        company: str,
        *,
        frequency: Literal["annual", "quarterly"] = "annual",
        limit: int | None = None,
        as_of: When | None = None,
    ) -> Statements:
        """
        The statements of a company as tables: `.income`, `.balance`, `.cash_flow`, periods as columns; `.quality`.

        company: ticker, CIK, LEI, name, id or slug. limit: how many periods, the newest first.
        """
        from almanac_client._documents import statements  # noqa: PLC0415 - importing this package must stay quick

        return self._core.run(statements(self._core.way, company, frequency=frequency, limit=limit, as_of=as_of))

    def curve(self, scope: str) -> Curve:
        """A sovereign yield curve as tables: `.yields`, `.spreads` to its peers, `.slopes`."""
        from almanac_client._documents import curve  # noqa: PLC0415 - importing this package must stay quick

        return self._core.run(curve(self._core.way, scope))

    def brief(self, country: str, *, as_of: When | None = None) -> BriefTables:
        """A country in words, with what the words are made from as tables: `.readings`, `.events`, `.releases`."""
        from almanac_client._documents import brief  # noqa: PLC0415 - importing this package must stay quick

        return self._core.run(brief(self._core.way, country, as_of=as_of))

    def fields(self, universe: Literal["countries", "companies"]) -> Table:
        """The fields that a screen may name, with their units, ranges and operators, a row each."""
        from almanac_client._documents import fields  # noqa: PLC0415 - importing this package must stay quick

        return self._core.run(fields(self._core.way, universe))

    def close(self) -> None:
        """Close the connections. They are opened again when needed."""
        self._core.driver.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return shown(self._core.options, "Almanac")
