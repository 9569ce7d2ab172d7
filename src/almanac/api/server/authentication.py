"""Authentication: the key of a request, a key where it must not be, the limits, and the address behind trusted proxies."""

from __future__ import annotations

import base64
import binascii
import contextlib
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from math import ceil
from typing import Any

import structlog

from almanac.api.contract.errors import MARK, ApiError, Header, has_key, redact, refuse
from almanac.api.server.request import ClientRequest
from almanac.api.server.threads import Threads, unheard
from almanac.api.use import metrics
from almanac.api.use.limits import WINDOW, Limiter
from almanac.config import Plan, Settings
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.records import MALFORMED, KeyRecord, Refused
from almanac.store.engine.deadline import Deadline

_CHALLENGE: Header = (b"www-authenticate", b"Bearer")
_TWINS_CHALLENGE: Header = (b"www-authenticate", b'Bearer, Basic realm="almanac"')
_NO_KEY = "no API key was sent; send it as `x-api-key: <key>` or `Authorization: Bearer <key>`"
_TWO_KEYS = "x-api-key and Authorization carry different keys; send one key"
#: Missing plans that are logged.
_PLANS_LOGGED = 100

log = structlog.get_logger("almanac.authentication")

#: Names of query parameters that would carry a key, compared without regard to case.
KEY_NAMES = frozenset(
    [
        "api_key",
        "apikey",
        "api-key",
        "x-api-key",
        "x_api_key",
        "key",
        "token",
        "access_token",
        "authorization",
        "auth",
        "bearer",
    ]
)


def presented_key(headers: Mapping[bytes, bytes], *, basic: bool = False) -> tuple[str | None, str]:
    """
    Return the key of `x-api-key` or `Authorization: Bearer` (the scheme in any case), or None and why there is none.

    `basic`: it may be the password of `Authorization: Basic` too.
    """
    direct = headers.get(b"x-api-key")
    authorization = headers.get(b"authorization")
    bearer = None
    if authorization is not None:
        scheme, _, rest = authorization.strip().partition(b" ")
        if scheme.lower() == b"bearer":
            bearer = rest.strip()
        elif basic and scheme.lower() == b"basic":
            bearer = _password(rest.strip())
    if direct is None:
        return (None, _NO_KEY) if bearer is None else (bearer.decode("latin-1"), "")
    direct = direct.strip()
    if bearer is not None and bearer != direct:
        return None, _TWO_KEYS
    return direct.decode("latin-1"), ""


def _password(credentials: bytes) -> bytes:
    """Return the password of Basic credentials; empty, which is no key, where they are malformed."""
    try:
        return base64.b64decode(credentials, validate=True).partition(b":")[2]
    except binascii.Error:
        return b""


class Authentication:
    """Lets requests in by their key, within the limits of account and address."""

    def __init__(
        self,
        accounts: Accounts,
        limiter: Limiter,
        settings: Settings,
        walltime: Callable[[], float],
        threads: Threads,
    ) -> None:
        self._accounts, self._limiter, self._threads = accounts, limiter, threads
        self._settings, self._walltime = settings, walltime
        self._addresses = Addresses(settings.trusted_proxies)
        #: Missing plans that were logged: once each, not at every request.
        self._logged_plans: set[str] = set()

    async def admit(self, request: ClientRequest, deadline: Deadline) -> Plan:
        """
        Set the key and limit of a request; return its plan. Raises ApiError 400, 401, 403 or 429.

        A refused key counts as a failure of its address, one in the query too: else keys could be tried this way without end.
        """
        # Programs that take it for different requests would let one pass in the name of another (RFC 9112, 3.2).
        host = request.headers.get(b"host", b"")
        if b"," in host:  # repeated headers are joined by commas
            raise refuse("host", "was sent more than once; send one Host header", code="repeated")
        if not host and request.http_version == "1.1":
            raise refuse("host", "is missing; send a Host header", code="required")
        for name, value in request.pairs:
            if name.lower() in KEY_NAMES or (MARK in value and has_key(value)) or (MARK in name and has_key(name)):
                reason = "carries a key, and a key in the query string is refused; send it in a header"
                raise self._failed(request, "in_query", refuse(redact(name)[:100], reason, code="key"))
        text, problem = presented_key(request.headers, basic=request.is_twin)
        if text is None:
            raise self._unauthorized(request, "missing", self._hint(request) or problem)
        now = int(self._walltime())
        verdict = self._accounts.known(text, now)
        if verdict is None:  # a server has to be asked
            verdict = await self._verify(text, now, deadline)
        if isinstance(verdict, Refused):
            message = "the API key is malformed" if verdict == MALFORMED else "the API key is not valid"
            raise self._unauthorized(request, verdict.reason, message)
        request.key = key = verdict
        plan = self._settings.plans.get(key.plan)
        if plan is None:
            # Another program put the account on a plan which these settings do not have.
            if key.plan not in self._logged_plans and len(self._logged_plans) < _PLANS_LOGGED:
                self._logged_plans.add(key.plan)
                log.error("an account has a plan that is not in the settings", plan=key.plan, account=key.account_id)
            message = f"the plan '{key.plan}' of this account is unknown to this service; its operator has to set it up"
            raise ApiError(403, message, {"plan": key.plan})
        request.decision = decision = self._limiter.hit(key.account_id, plan.requests_per_minute, self._walltime())
        if not decision.admitted:
            message = f"more than {decision.limit} requests in this minute; the plan '{key.plan}' allows no more"
            raise _too_many(message, decision.limit, decision.retry_after)
        if key.disabled:
            message = "the account of this key is disabled; ask whoever runs this service"
            raise ApiError(403, message, {"reason": "account_disabled"})
        return plan

    async def is_still_good(self, request: ClientRequest, deadline: Deadline) -> bool:
        """Return whether the key of a request that was let in is neither revoked nor expired since."""
        text, _ = presented_key(request.headers, basic=request.is_twin)
        return not isinstance(await self._verify(text or "", int(self._walltime()), deadline), Refused)

    async def _verify(self, text: str, now: int, deadline: Deadline) -> KeyRecord | Refused:
        # A deadline of its own: that of the request goes on.
        verify = partial(self._accounts.verify, text, now)
        return await self._threads.run(verify, unheard, Deadline(deadline.left), pool="keys")

    def address(self, request: ClientRequest) -> str:
        """Return where a request came from, behind trusted proxies."""
        return self._addresses.of(request.client, request.headers.get(b"x-forwarded-for"))

    def _hint(self, request: ClientRequest) -> str | None:
        """Return a message for people who open the interface in a browser, or whose page asks it from another origin."""
        if request.method == "OPTIONS" and request.headers.keys() >= {b"origin", b"access-control-request-method"}:
            return (
                "this is a browser's preflight, which carries no key: scripts of pages of another origin are let in by "
                "the setting ALMANAC_CORS_ORIGINS"
            )
        accepts_html = b"text/html" in request.headers.get(b"accept", b"")
        if request.target != "/" or not accepts_html or not self._settings.dashboard:
            return None
        address = self._settings.dashboard_address
        return f"this is the interface for programs, which wants an API key; people find the dashboard at {address}"

    def _unauthorized(self, request: ClientRequest, reason: str, message: str) -> ApiError:
        challenge = _TWINS_CHALLENGE if request.is_twin else _CHALLENGE
        return self._failed(request, reason, ApiError(401, message, headers=(challenge,)))

    def _failed(self, request: ClientRequest, reason: str, error: ApiError) -> ApiError:
        """Count a failure of the address; return the error, or 429 in its place after too many."""
        metrics.FAILURES.labels(reason).inc()
        limit, now = self._settings.failures_per_minute, self._walltime()
        if not self._limiter.fail(self.address(request), limit, now):
            return error
        message = f"more than {limit} requests without a good key from this address in this minute"
        return _too_many(message, limit, max(1, ceil(WINDOW - now % WINDOW)))


def _too_many(message: str, limit: int, wait: int) -> ApiError:
    details = {"limit": limit, "windowSeconds": WINDOW, "retryAfterSeconds": wait}
    return ApiError(429, message, details, retry_after=wait)


class Addresses:
    """Tells the client's address from the peer and, where the peer is trusted, from X-Forwarded-For."""

    def __init__(self, trusted: Iterable[str]) -> None:
        """`trusted` are addresses or networks. Raises ValueError naming one that is neither."""
        self._trusted = [ip_network(text, strict=False) for text in trusted]

    def of(self, client: Any, forwarded: bytes | None) -> str:
        """Return the socket's peer, unless it is a trusted proxy: then the right-most untrusted address it forwards for."""
        address = str(client[0]) if client else "unknown"
        hops = [] if forwarded is None else forwarded.decode("latin-1").split(",")
        while hops and self._is_trusted(address):
            hop = _parsed(hops.pop().strip())
            if hop is None:
                # Whoever wrote this is the last we can name: the hop that passed it on.
                break
            # One spelling per address, so that a client cannot count as many.
            address = str(hop)
        return address

    def _is_trusted(self, text: str) -> bool:
        address = _parsed(text)
        return address is not None and any(address in network for network in self._trusted)


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address, also one in brackets or with a port as some proxies write them; None for any other text."""
    for spelling in (text.strip("[]"), text.rpartition(":")[0].strip("[]")):
        with contextlib.suppress(ValueError):
            return ip_address(spelling)
    return None
