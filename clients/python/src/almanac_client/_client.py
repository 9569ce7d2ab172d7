"""The two clients: one that blocks and one that is awaited, with the same names."""

from __future__ import annotations

from datetime import date, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec

from almanac_client._errors import SettingsError
from almanac_client._generated_async import AsyncRawResources, AsyncResources
from almanac_client._generated_sync import RawResources, Resources
from almanac_client._query import written
from almanac_client._resources import AsyncCore, Core
from almanac_client._settings import MAX_RETRY_WAIT, Key, Options, checked_url, options
from almanac_client._transport import AsyncDriver, Clock, Driver

if TYPE_CHECKING:
    import httpx2
    from typing_extensions import Self

    from almanac_client._cache import Cache

_CHANGEABLE = ("url", "api_key", "timeout", "max_retries", "max_retry_wait", "pace", "cache", "insecure")


def _checked(found: Options) -> Options:
    """The options, if they can be used. Raises SettingsError."""
    for name, least in (("timeout", 0.001), ("max_retries", 0), ("max_retry_wait", 0)):
        value = getattr(found, name)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= least:
            raise SettingsError(f"{name} has to be a number of at least {least}, not {value!r}")
    return found


def _changed(held: Options, changes: dict[str, Any]) -> Options:
    """Options with some of them changed. Raises TypeError for one that there is not."""
    unknown = sorted(set(changes) - set(_CHANGEABLE))
    if unknown:
        raise TypeError(f"there is no option {unknown[0]!r}; there are {', '.join(_CHANGEABLE)}")
    if "api_key" in changes:
        changes["key"] = Key(changes.pop("api_key"), "api_key")
    if "url" in changes:
        changes["url"] = checked_url(changes["url"], insecure=changes.get("insecure", held.insecure))
    return _checked(msgspec.structs.replace(held, **changes))


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
        super().__init__(Core(_checked(found), Driver(found, http_client, Clock())))

    def with_options(self, **changes: Any) -> Almanac:
        """The same client with other options; both share connections and what is known of limits."""
        return self._like(_changed(self._core.options, changes))

    def at(self, as_of: str | date | datetime) -> Almanac:
        """The same client, which asks everything as it was known then. A bare date means its last second, in UTC."""
        return self._like(msgspec.structs.replace(self._core.options, as_of=written("as_of", as_of)))

    def _like(self, changed: Options) -> Almanac:
        held = self._core
        core = Core(changed, held.driver)
        if changed.url == held.options.url:
            core.kinds = held.kinds
        else:
            # Another address has other limits, and perhaps another way there.
            core.driver = Driver(changed, held.driver.given, held.driver.clock)
        made = object.__new__(Almanac)
        Resources.__init__(made, core)
        return made

    @property
    def raw(self) -> RawResources:
        """The same methods, each answering with one page or object and its headers."""
        return RawResources(self._core)

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
        return _shown(self._core.options, "Almanac")


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
        super().__init__(AsyncCore(_checked(found), AsyncDriver(found, http_client, Clock())))

    def with_options(self, **changes: Any) -> AsyncAlmanac:
        """The same client with other options; both share connections and what is known of limits."""
        return self._like(_changed(self._core.options, changes))

    def at(self, as_of: str | date | datetime) -> AsyncAlmanac:
        """The same client, which asks everything as it was known then. A bare date means its last second, in UTC."""
        return self._like(msgspec.structs.replace(self._core.options, as_of=written("as_of", as_of)))

    def _like(self, changed: Options) -> AsyncAlmanac:
        held = self._core
        core = AsyncCore(changed, held.driver)
        if changed.url == held.options.url:
            core.kinds = held.kinds
        else:
            # Another address has other limits, and perhaps another way there.
            core.driver = AsyncDriver(changed, held.driver.given, held.driver.clock)
        made = object.__new__(AsyncAlmanac)
        AsyncResources.__init__(made, core)
        return made

    @property
    def raw(self) -> AsyncRawResources:
        """The same methods, each answering with one page or object and its headers."""
        return AsyncRawResources(self._core)

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
        return _shown(self._core.options, "AsyncAlmanac")


def _shown(held: Options, name: str) -> str:
    at = "" if held.as_of is None else f", at {held.as_of}"
    return f"<{name} {held.url}, {held.key!r}{at}>".replace("<key", "key").replace(">,", ",").replace(">>", ">")
