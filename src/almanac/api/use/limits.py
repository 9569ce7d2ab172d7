"""
How many requests an account may still make in this minute, and how often an address may fail to sign in.

The window is the UTC minute, and a refused request does not count. One process counts in memory; several, and several
hosts, count in Redis.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable

import msgspec
import structlog

from almanac import distribution
from almanac.config import SettingError, Settings

log = structlog.get_logger("almanac.limits")

#: Seconds of one window.
WINDOW = 60
#: Seconds a Redis command may take before the counters of this process answer, and the pause before Redis is asked again.
#: The command blocks its worker, so a slow server must cost little and seldom.
_REDIS_TIMEOUT, _REDIS_PAUSE = 0.25, 2.0
#: Addresses are chosen by strangers: of more in one window, those that come later are not counted.
_MOST_NAMES = 1 << 17


class Decision(msgspec.Struct, frozen=True):
    """What the limiter says of one request, and all that its headers need. Times in unix seconds."""

    admitted: bool
    limit: int
    #: Requests left in this window after this one.
    remaining: int
    #: When the window ends.
    reset_at: int
    #: Whole seconds until then, rounded up, at least 1.
    retry_after: int


class Limiter:
    """
    Limits requests of accounts and failures of addresses. `now` is real time in unix seconds.

    It counts in this process, of the newest window; a request that read the clock just before it turned counts there too.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._window = -1
        self._counts: dict[tuple[str, str], int] = {}

    def hit(self, account: str, limit: int, now: float) -> Decision:
        """Count a request of an account, unless it is over `limit`."""
        admitted, count, window = self.take("hit", account, limit, now)
        reset_at = (window + 1) * WINDOW
        return Decision(admitted, limit, max(0, limit - count), reset_at, max(1, math.ceil(reset_at - now)))

    def fail(self, address: str, limit: int, now: float) -> bool:
        """Count a failed authentication. Return whether this address is over `limit` failures."""
        return not self.take("fail", address, limit, now)[0]

    def take(self, kind: str, name: str, limit: int, now: float) -> tuple[bool, int, int]:
        """Count one more if that stays within `limit`. Return whether it did, the count, and the window that it is of."""
        window = int(now // WINDOW)
        with self._lock:
            if window > self._window or self._window - window > 1:  # the clock was set back
                self._window, self._counts = window, {}
            count = self._counts.get((kind, name), 0)
            if count >= limit:
                return False, count, self._window
            if count or kind == "hit" or len(self._counts) < _MOST_NAMES:
                self._counts[kind, name] = count + 1
            return True, count + 1, self._window

    def close(self) -> None:
        """Let go of what is held open: here nothing."""


# One script, so that reading, counting and expiry are one step for every host.
_SCRIPT = """
local count = tonumber(redis.call('GET', KEYS[1]) or '0')
if count >= tonumber(ARGV[1]) then return {0, count} end
count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return {1, count}
"""


class RedisLimiter(Limiter):
    """
    Counts exactly over all processes and hosts that share a Redis server.

    While Redis fails, each process counts for itself, from nothing, and `on_failure` gets the name of the error; Redis is asked
    again after a pause. `timeout` is in seconds. Raises SettingError for a bad address, or without the
    `redis` package. The address may hold a password and is in no message.
    """

    def __init__(
        self,
        url: str,
        on_failure: Callable[[str], None] = lambda _: None,
        *,
        prefix: str = "almanac:",
        monotonic: Callable[[], float] = time.monotonic,
        timeout: float = _REDIS_TIMEOUT,
    ) -> None:
        super().__init__()
        try:
            import redis  # noqa: PLC0415 - an optional extra
            from redis.backoff import NoBackoff  # noqa: PLC0415 - as above
            from redis.retry import Retry  # noqa: PLC0415 - as above
        except ImportError:
            raise SettingError(f"ALMANAC_REDIS_URL needs a library: {distribution.how_to_install('redis')}") from None
        try:
            # No retries: a command that timed out may have counted, and a second try would count it twice.
            self._client = redis.Redis.from_url(
                url,
                socket_timeout=timeout,
                socket_connect_timeout=timeout,
                retry=Retry(NoBackoff(), 0),
            )
        except ValueError:
            raise SettingError(
                "ALMANAC_REDIS_URL must look like redis://host:6379/0 (or rediss://…, unix://path)"
            ) from None
        self._script = self._client.register_script(_SCRIPT)
        self._errors = (redis.RedisError, OSError)
        self._on_failure, self._prefix = on_failure, prefix
        self._monotonic, self._resume = monotonic, -math.inf
        #: Since when Redis has not answered; None while it does.
        self._away_since: float | None = None

    def take(self, kind: str, name: str, limit: int, now: float) -> tuple[bool, int, int]:
        window = int(now // WINDOW)
        if self._monotonic() < self._resume:
            return super().take(kind, name, limit, now)
        try:
            admitted, count = self._script(keys=[f"{self._prefix}{kind}:{name}:{window}"], args=[limit, 2 * WINDOW])
        except self._errors as error:
            self._failed(type(error).__name__)
            return super().take(kind, name, limit, now)
        if self._away_since is not None:
            seconds, self._away_since = self._monotonic() - self._away_since, None
            log.info("Redis answers again", seconds=round(seconds, 1))
        return bool(admitted), int(count), window

    def close(self) -> None:
        """Close the connections to Redis."""
        self._client.close()

    def _failed(self, error: str) -> None:
        """Leave Redis in peace for a while. Told once, not at every try: it may be away for hours."""
        self._resume = self._monotonic() + _REDIS_PAUSE
        self._on_failure(error)
        if self._away_since is None:
            self._away_since = self._monotonic()
            log.error("Redis does not answer, each process counts for itself", reason=error)


def open_limiter(settings: Settings, on_fallback: Callable[[str], None] = lambda _: None) -> Limiter:
    """
    Return what counts requests: in Redis if there is one, else in this process. Raises SettingError.

    `on_fallback` gets the name of the error each time that a process has to count for itself because Redis fails.
    """
    return Limiter() if settings.redis_url is None else RedisLimiter(settings.redis_url, on_fallback)
