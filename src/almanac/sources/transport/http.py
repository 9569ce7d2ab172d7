"""The polite client: says who it is, waits when told to, gives up in time, and never lets a key be seen."""

from __future__ import annotations

import math
import random
import re
import ssl
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from pathlib import Path
from typing import Any, Protocol, Self

import httpx2
import stamina

from almanac.distribution import version
from almanac.domain.errors import explain
from almanac.sources.base import Limit, Request
from almanac.sources.transport import addresses, wire
from almanac.sources.transport.answers import Fetched, FetchFailed, Validators
from almanac.sources.transport.body import BrokenBody, RefusedBody, body_in_file, first_bytes, read_body
from almanac.sources.transport.pace import Pace
from almanac.sources.transport.secrecy import Secrecy, safe

_PASSING = {429, 500, 502, 503, 504}
_REDIRECTS = {301, 302, 303, 307, 308}
_MAX_REDIRECTS = 5
#: Bytes of an error page read to quote from it.
_PAGE = 1 << 14
#: Seconds before the second attempt, doubled each time up to the most.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
#: Connections to a host that may fail in a row in one run, and how a failure to make one is called.
_TRIES = 3
_NOT_CONNECTED = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.ProxyError)
#: Bytes a second of a body that is written to a file: its total time is longer by that. Its bound is several times its size.
_SLOWEST = 1_000_000
#: Headers that may follow a redirect to another host: what we understand, not who we are.
_ANYWHERE = {"accept", "accept-language", "if-none-match", "if-modified-since"}


@dataclass(frozen=True, match_args=False)  # so that its attributes are read only
class Behaviour(Protocol):
    """Settings for requests to publishers (`http`). Times in seconds, sizes in bytes."""

    user_agent: str
    contact: str | None
    connect_timeout: float
    read_timeout: float
    total_timeout: float
    attempts: int
    max_bytes: int
    requests_per_second: float
    proxy: str | None
    no_proxy: tuple[str, ...]
    ca_bundle: str | None


class Fetcher:
    """Fetches one URL at a time; share one between threads, so that they keep one rate per host.

    Bodies too large to be held are written to files in `folder`, the system's own for None. Processes that are given the same
    `pace_folder` keep the pace together; `wall` is unix time, by which budgets of a day go.
    A host to which three connections in a row could not be made is not asked again by this fetcher.
    `clock` and `sleep` time pauses and the deadline, `jitter` gives numbers from 0 to 1; they are arguments for tests.
    So are `transport`, `resolve`, which looks hosts up, and `private`, without which only public addresses are asked. The
    default transport verifies certificates, and there is no way to ask it not to.
    """

    def __init__(
        self,
        http: Behaviour,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        transport: httpx2.BaseTransport | None = None,
        pace_folder: Path | None = None,
        folder: Path | None = None,
        wall: Callable[[], float] | None = None,
        private: bool = False,
        resolve: wire.Resolve = wire.resolved,
    ) -> None:
        self._http = http
        self._clock = clock
        self._jitter = jitter
        self._folder = folder
        self._pace = Pace(http.requests_per_second, clock, sleep, pace_folder, wall)
        wire.mute()
        self._private = private
        #: How many connections to a host could not be made, one after the other.
        self._unreached: Counter[str] = Counter()
        mounts: dict[str, httpx2.HTTPTransport | None] = {}
        if transport is None:
            reach: dict[str, Any] = {"proxy": http.proxy, "direct": http.no_proxy, "ca_bundle": http.ca_bundle}
            transport, mounts = wire.transports(clock, private=private, resolve=resolve, **reach)
        self._client = httpx2.Client(
            transport=transport,
            mounts=mounts,
            headers={
                "user-agent": _named(http.user_agent.replace("{version}", version()), http.contact),
                "accept": "*/*",
                "accept-encoding": "gzip",
            },
            timeout=httpx2.Timeout(http.read_timeout, connect=http.connect_timeout),
            # No cookie is taken: an answer must not depend on what was asked before.
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def fetch(self, request: Request, validators: Validators | None = None) -> Fetched:
        """GET, again if need be, until there is a 200 (or, with `validators`, a 304). Raises FetchFailed.

        Tried again: broken connections, timeouts, bodies cut short, 429, 500, 502, 503, 504, with growing random
        pauses or after the publisher's Retry-After (seconds, or a date against the answer's own Date). If that wait
        does not fit into the total time, the fetch fails at once, and so do others of that host until it is over.
        """
        chain = _Chain(request, validators or Validators(), Secrecy(request.secret))
        retries = stamina.retry_context(
            on=lambda error: self._pause(chain, error), attempts=self._http.attempts, timeout=None
        )
        for attempt in retries:
            with attempt:
                chain.attempt = attempt.num
                return self._attempt(chain)
        raise AssertionError("stamina yields at least one attempt")

    def _pause(self, chain: _Chain, error: Exception) -> bool | float:
        """Take a pause, as the hook of stamina. The pause is kept by the pace, so that all threads leave an unwell host alone."""
        if not isinstance(error, FetchFailed):
            return False
        error.ending = f" (attempt {chain.attempt} of {self._http.attempts})"
        if error.left_alone is not None:
            error.given_up = error.left_alone
            return False
        if self._unreached[chain.at] >= _TRIES:
            error.given_up = chain.at
            error.ending = f" (attempt {chain.attempt}; {chain.at} is not asked again in this run)"
            return False
        if not error.passing:
            return False
        if error.retry_after is None:
            longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (chain.attempt - 1))
            pause = longest * (1 + self._jitter()) / 2
        else:
            pause = error.retry_after
        self._pace.hold(chain.host, pause)
        left = chain.deadline - self._clock()
        if pause >= left:
            error.ending = (
                f" (attempt {chain.attempt}; the next may be in {pause:.1f} s, {max(left, 0):.1f} s are left)"
            )
            return False
        return 0.0

    def _attempt(self, chain: _Chain) -> Fetched:
        try:
            return self._follow(chain)
        except httpx2.TransportError as error:
            if isinstance(error, _NOT_CONNECTED):
                self._unreached[chain.at] += 1
            failed = _transport_failure(chain, error)
        except BrokenBody as error:
            failed = chain.failure(str(error), HTTPStatus.OK, passing=True)
        except RefusedBody as error:
            failed = chain.failure(str(error), HTTPStatus.OK)
        except addresses.AddressRefused as error:
            failed = chain.failure(str(error))
        # Outside the handlers: those errors, and the requests on them, have the secret and must not hang on ours.
        raise failed

    def _follow(self, chain: _Chain) -> Fetched:
        """One attempt, through redirects."""
        url = addresses.first(chain.secrecy.address(chain.request.url), private=self._private)
        headers = {**chain.request.headers, **chain.validators.headers}
        stated = chain.request.limit
        silence = max(self._http.read_timeout, 0.0 if stated is None else stated.silence)
        timeout = httpx2.Timeout(silence, connect=self._http.connect_timeout)
        for _ in range(_MAX_REDIRECTS + 1):
            chain.at = url.host
            if self._unreached[url.host] >= _TRIES:
                raise chain.failure(f"{url.host} could not be reached {_TRIES} times in this run")
            self._wait(chain, url.host)
            wire.deadline.set(chain.deadline)
            with self._client.stream("GET", url, headers=headers, timeout=timeout) as response:
                self._unreached[url.host] = 0
                if response.status_code not in _REDIRECTS or "location" not in response.headers:
                    return self._answer(chain, response)
                step = addresses.following(url, response.headers["location"], private=self._private)
            if addresses.origin(step) != addresses.origin(url):
                if chain.secrecy.within(str(step)):
                    raise chain.failure(f"redirects to {step.host} with the key in the address")
                headers = {name: value for name, value in headers.items() if name.lower() in _ANYWHERE}
            url = step
        raise chain.failure(f"redirects more than {_MAX_REDIRECTS} times, at last to {url.host}")

    def _wait(self, chain: _Chain, host: str) -> None:
        """Wait for a slot. The total time begins with the first: other threads' turns are not the host's fault."""
        request = chain.request
        total = self._http.total_timeout
        if request.most_in_file is not None:
            total += request.most_in_file / _SLOWEST
        left = min(total, chain.deadline - self._clock())
        limit = chain.limit(host)
        wait = self._pace.take(limit.name, left, limit.per_second, limit.budgets)
        if wait is not None:
            allowed = f"longer than the {max(left, 0):.0f} s allowed"
            failed = chain.failure(f"{limit.name} is to be left alone for {wait:.0f} s, {allowed}")
            failed.retry_after, failed.left_alone, failed.later = wait, limit.name, True
            raise failed
        chain.host = limit.name
        chain.deadline = min(chain.deadline, self._clock() + total)

    def _answer(self, chain: _Chain, response: httpx2.Response) -> Fetched:
        status = response.status_code
        encoding = response.headers.get("content-encoding")
        if status not in {200, 304} or (status == 304 and not chain.validators.headers):
            try:
                page, whole = first_bytes(response.iter_raw(), encoding, _PAGE)
            except httpx2.TransportError:
                page, whole = b"", True  # the status is what counts
            phrase = f"answered {status} {httpx2.codes.get_reason_phrase(status)}".rstrip()
            quoted = chain.secrecy.excerpt(page, whole=whole)
            reason = f"{phrase}: {quoted}" if quoted else phrase
            failed = chain.failure(reason, status, passing=status in _PASSING)
            failed.retry_after, failed.later = _retry_after(response.headers), chain.is_later(page)
            limit = chain.limit(chain.at)
            if status == HTTPStatus.FORBIDDEN and limit.shut_out is not None:
                failed.retry_after = max(limit.shut_out, failed.retry_after or 0.0)
                failed.left_alone = limit.name
                self._pace.hold(limit.name, failed.retry_after)
            raise failed
        body, file = b"", None
        if status == HTTPStatus.OK and chain.request.most_in_file is not None:
            try:
                file = body_in_file(response.iter_raw(), encoding, chain.request.most_in_file, self._folder)
            except OSError as error:
                raise chain.failure(f"cannot be written to a file: {explain(error)}") from None
        else:
            body = read_body(response.iter_raw(), encoding, self._http.max_bytes)
            if len(body) <= _PAGE and chain.is_later(body):
                failed = chain.failure(f"prepares the data: {chain.secrecy.excerpt(body, whole=True)}", status)
                failed.later = True
                raise failed
        media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Fetched(
            url=chain.request.url,
            status=status,
            body=body,
            media_type=media_type or "application/octet-stream",
            etag=response.headers.get("etag"),
            last_modified=response.headers.get("last-modified"),
            not_modified=status == HTTPStatus.NOT_MODIFIED,
            file=file,
        )


@dataclass(slots=True)
class _Chain:
    """All attempts for one request, and what they share."""

    request: Request
    validators: Validators
    secrecy: Secrecy
    attempt: int = 1
    #: Whose pace is kept, and who is asked.
    host: str = ""
    at: str = ""
    deadline: float = math.inf

    def limit(self, host: str) -> Limit:
        """Return the publisher's limit if a request to this host counts, else the host's, which is none but the settings'."""
        stated = self.request.limit
        return stated if stated is not None and stated.counts(host) else Limit(host)

    def failure(self, reason: str, status: int | None = None, *, passing: bool = False) -> FetchFailed:
        url = re.sub(r"//[^/?#]*@", "//", self.request.url)
        return FetchFailed(self.secrecy.clean(url), self.secrecy.clean(safe(reason)), status=status, passing=passing)

    def is_later(self, page: bytes) -> bool:
        """Return whether a short answer says that the data are being prepared."""
        return any(word.encode() in page for word in self.request.later)


def _named(agent: str, contact: str | None) -> str:
    """Return the name of our user agent, with a contact in its parentheses if there is one."""
    if contact is None:
        return agent
    return f"{agent[:-1]}; {contact})" if agent.endswith(")") else f"{agent} ({contact})"


def _retry_after(headers: httpx2.Headers) -> float | None:
    """Seconds to wait by Retry-After (RFC 9110, 10.2.3), None if it is absent, unreadable, or a date without a Date."""
    stated = headers.get("retry-after", "").strip()
    if stated.isascii() and stated.isdigit():
        return float(stated)
    try:
        until, now = (parsedate_to_datetime(headers.get(name, "")) for name in ("retry-after", "date"))
        return (until - now).total_seconds()
    except (ValueError, TypeError):
        return None


def _transport_failure(chain: _Chain, error: httpx2.TransportError) -> FetchFailed:
    kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(error).__name__).lower()
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, ssl.SSLCertVerificationError):
        cause = cause.__cause__ or cause.__context__
    distrusted = cause is not None
    passing = not distrusted and not isinstance(error, (httpx2.LocalProtocolError, httpx2.UnsupportedProtocol))
    # A request that cannot be written is quoted in the error, headers and all.
    detail = "" if isinstance(error, httpx2.LocalProtocolError) else f" ({error})"
    return chain.failure(f"{kind}{detail}", passing=passing)
