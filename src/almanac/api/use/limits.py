"""How many requests an account may still make in this minute, and how often an address may fail to sign in.

The window is the UTC minute. All keys of an account and all workers count together, exactly: through a shared file
on one host, through Redis over several. A refused request does not count.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

import msgspec
import structlog

from almanac import distribution
from almanac.api.use.counters import Counters, LocalCounters, TableFull
from almanac.config import SettingError

log = structlog.get_logger("almanac.limits")

#: Seconds of one window.
WINDOW = 60
#: Seconds a Redis command may take before the local counters answer, and the pause before Redis is asked again.
#: The command blocks its worker, so a slow server must cost little and seldom.
_REDIS_TIMEOUT, _REDIS_PAUSE = 0.25, 2.0
#: Addresses are chosen by strangers: a table of them grows to 98,304 in each window (8 MB) and no further.
_MOST_ADDRESSES = 1 << 17
_MOST_ACCOUNTS = 1 << 24


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


class Limiter(Protocol):
    """One meaning, whatever is behind it. `now` is real time in unix seconds."""

    def hit(self, account: str, limit: int, now: float) -> Decision:
        """Count a request of an account, unless it is over `limit`."""

    def peek(self, account: str, limit: int, now: float) -> Decision:
        """What `hit` would be told of, with nothing counted: `remaining` is what is left before any further request."""

    def fail(self, address: str, limit: int, now: float) -> bool:
        """Count a failed authentication. True: this address is over `limit` failures, answer 429."""

    def close(self) -> None:
        """Let go of what is held open. Whoever counts after that opens it anew."""


def _decide(admitted: bool, count: int, limit: int, window: int, now: float) -> Decision:
    reset_at = (window + 1) * WINDOW
    return Decision(admitted, limit, max(0, limit - count), reset_at, max(1, math.ceil(reset_at - now)))


class _Table:
    """
    A table of counters that processes share; where the disk has no room for it, those of this process alone.

    It is asked for again in each window, so that all count together again when there is room.
    """

    def __init__(self, path: Path, most: int, on_failure: Callable[[str], None]) -> None:
        self._path, self._most, self._on_failure = path, most, on_failure
        self._local = LocalCounters(most)
        self._tried = -1
        self._shared = self._opened()

    def _opened(self) -> Counters | None:
        try:
            return Counters(self._path, most=self._most)
        except OSError as error:
            self._failed(error)
            return None

    def _failed(self, error: OSError) -> None:
        log.error("each process counts for itself", file=str(self._path), reason=error.strerror)
        self._on_failure(type(error).__name__)

    def take(self, name: str, window: int, limit: int) -> tuple[bool, int, int]:
        """Count a request in the shared table, or in this process where there is none. Raises TableFull."""
        if self._shared is None and window > self._tried:
            self._tried, self._shared = window, self._opened()
        if self._shared is not None:
            try:
                return self._shared.take(name, window, limit)
            except OSError as error:  # it would have to grow: those it knows are still counted together
                if window > self._tried:
                    self._tried = window
                    self._failed(error)
        return self._local.take(name, window, limit)

    def peek(self, name: str, window: int) -> int:
        """Look at a count without counting; of this process alone where it counts alone."""
        return self._local.peek(name, window) if self._shared is None else self._shared.peek(name, window)

    def close(self) -> None:
        shared, self._shared = self._shared, None
        if shared is not None:
            shared.close()


class SharedLimiter:
    """
    Exact over all processes of a host that open the same file; failures are counted in `<path>.failures`.

    Where the disk has no room for a table, each process counts for itself; `on_failure` gets the name of the error.
    """

    def __init__(self, path: Path, on_failure: Callable[[str], None] = lambda _: None) -> None:
        self._accounts = _Table(path, _MOST_ACCOUNTS, on_failure)
        self._failures = _Table(path.with_name(path.name + ".failures"), _MOST_ADDRESSES, on_failure)

    def hit(self, account: str, limit: int, now: float) -> Decision:
        admitted, count, window = self._accounts.take(account, int(now // WINDOW), limit)
        return _decide(admitted, count, limit, window, now)

    def peek(self, account: str, limit: int, now: float) -> Decision:
        window = int(now // WINDOW)
        count = self._accounts.peek(account, window)
        return _decide(count < limit, count, limit, window, now)

    def fail(self, address: str, limit: int, now: float) -> bool:
        try:
            return not self._failures.take(address, int(now // WINDOW), limit)[0]
        except TableFull:
            # So many addresses fail at once that one more cannot be told apart. It gets its 401, as it would alone.
            return False

    def close(self) -> None:
        """Let go of the files."""
        self._accounts.close()
        self._failures.close()


# One script, so that reading, counting and expiry are one step for every host.
_SCRIPT = """
local count = tonumber(redis.call('GET', KEYS[1]) or '0')
if count >= tonumber(ARGV[1]) then return {0, count} end
count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[2]) end
return {1, count}
"""


class RedisLimiter:
    """Exact over all hosts that share a Redis server.

    Where Redis fails, `fallback` answers (exact on its host, its window starting from nothing) and `on_failure` gets
    the name of the error; Redis is asked again after a pause. `timeout` is in seconds. Raises SettingError for a bad address, or without the
    `redis` package. The address may hold a password and is in no message.
    """

    def __init__(
        self,
        url: str,
        fallback: Limiter,
        on_failure: Callable[[str], None],
        *,
        prefix: str = "almanac:",
        monotonic: Callable[[], float] = time.monotonic,
        timeout: float = _REDIS_TIMEOUT,
    ) -> None:
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
        self._fallback, self._on_failure, self._prefix = fallback, on_failure, prefix
        self._monotonic, self._resume = monotonic, -math.inf
        #: Since when Redis has not answered; None while it does.
        self._away_since: float | None = None

    def hit(self, account: str, limit: int, now: float) -> Decision:
        window = int(now // WINDOW)
        taken = self._take(f"hit:{account}", window, limit)
        return self._fallback.hit(account, limit, now) if taken is None else _decide(*taken, limit, window, now)

    def peek(self, account: str, limit: int, now: float) -> Decision:
        window = int(now // WINDOW)
        if self._monotonic() >= self._resume:
            try:
                count = int(cast("bytes | None", self._client.get(f"{self._prefix}hit:{account}:{window}")) or 0)
            except self._errors as error:
                self._failed(error)
            else:
                self._answered()
                return _decide(count < limit, count, limit, window, now)
        return self._fallback.peek(account, limit, now)

    def fail(self, address: str, limit: int, now: float) -> bool:
        taken = self._take(f"fail:{address}", int(now // WINDOW), limit)
        return self._fallback.fail(address, limit, now) if taken is None else not taken[0]

    def close(self) -> None:
        """Close the connections to Redis, and the fallback."""
        self._client.close()
        self._fallback.close()

    def _take(self, name: str, window: int, limit: int) -> tuple[bool, int] | None:
        if self._monotonic() < self._resume:
            return None
        try:
            admitted, count = self._script(keys=[f"{self._prefix}{name}:{window}"], args=[limit, 2 * WINDOW])
        except self._errors as error:
            self._failed(error)
            return None
        self._answered()
        return bool(admitted), int(count)

    def _failed(self, error: Exception) -> None:
        """Leave Redis in peace for a while. Told once, not at every try: it may be away for hours."""
        self._resume = self._monotonic() + _REDIS_PAUSE
        self._on_failure(type(error).__name__)
        if self._away_since is None:
            self._away_since = self._monotonic()
            log.error("Redis does not answer, each host counts for itself", reason=type(error).__name__)

    def _answered(self) -> None:
        if self._away_since is not None:
            seconds, self._away_since = self._monotonic() - self._away_since, None
            log.info("Redis answers again", seconds=round(seconds, 1))
