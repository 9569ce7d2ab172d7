"""The gate: what a request must pass before its parameters are looked at."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import cast

from starlette.types import Scope

from almanac.api.contract.endpoint import ALL_SCOPES, Endpoint
from almanac.api.contract.errors import ApiError, Header, refuse
from almanac.api.contract.ports import KeyStore
from almanac.api.server import metrics
from almanac.api.server.auth import Addresses, QueryString, key_in_query, presented_key
from almanac.api.server.exchange import ClientRequest
from almanac.api.server.headers import WINDOW_SECONDS
from almanac.api.server.limits import Limiter
from almanac.api.server.routes import Routes
from almanac.config import Plan, SettingError, Settings
from almanac.store.accounts.accounts import MALFORMED, KeyRecord, Refused

_METHODS = ("GET", "HEAD")
_ALLOW: Header = (b"allow", b"GET, HEAD")
_CHALLENGE: Header = (b"www-authenticate", b"Bearer")


class Gate:
    """Keys, limits, paths, methods and scopes. The App calls the steps in the order they stand here."""

    def __init__(
        self,
        routes: Routes,
        accounts: KeyStore,
        limiter: Limiter,
        settings: Settings,
        walltime: Callable[[], float],
    ) -> None:
        self._routes = routes
        self._accounts = accounts
        self._limiter = limiter
        self._settings = settings
        self._walltime = walltime
        self._addresses = Addresses(settings.trusted_proxies)

    @staticmethod
    def refuse_key_in_query(query: QueryString) -> None:
        name = key_in_query(query.pairs)
        if name is not None:
            raise refuse(
                name[:100], "carries a key, and a key in the query string is refused; send it in a header", code="key"
            )

    def admit(self, request: ClientRequest, scope: Scope) -> Plan:
        """The key's plan. Raises ApiError 401 or 429."""
        presented, now = presented_key(request.headers), self._walltime()
        if presented.text is None:
            raise self._unauthorized(request, scope, "missing", presented.problem)
        verdict = self._accounts.verify(presented.text, int(now))
        if isinstance(verdict, Refused):
            malformed = verdict == MALFORMED
            problem = "the API key is malformed" if malformed else "the API key is not valid"
            raise self._unauthorized(request, scope, verdict.reason, problem)
        request.key = key = verdict
        plan = self._settings.plans.get(key.plan)
        if plan is None:
            raise SettingError(f"the plan '{key.plan}' of account {key.account_id} is not in the settings")
        request.decision = decision = self._limiter.hit(key.account_id, plan.requests_per_minute, now)
        if not decision.admitted:
            message = f"more than {decision.limit} requests in this minute; the plan '{key.plan}' allows no more"
            raise _too_many(message, decision.limit, decision.retry_after)
        return plan

    def _unauthorized(self, request: ClientRequest, scope: Scope, reason: str, problem: str) -> ApiError:
        metrics.FAILURES.labels(reason).inc()
        address = self._addresses.of(scope.get("client"), request.headers.get(b"x-forwarded-for"))
        limit, now = self._settings.failures_per_minute, self._walltime()
        if not self._limiter.fail(address, limit, now):
            return ApiError(401, problem, headers=(_CHALLENGE,))
        wait = ceil(WINDOW_SECONDS - now % WINDOW_SECONDS)
        return _too_many(f"more than {limit} requests without a good key from this address in this minute", limit, wait)

    def route(self, request: ClientRequest, path: str, known: tuple[Endpoint, dict[str, str]] | None) -> Endpoint:
        """The endpoint of a path, unless it is known already. Raises ApiError 404 or 405."""
        found = known or self._routes.find(path)
        if found is None:
            raise ApiError(404, "there is nothing at this path; /openapi.json lists what there is")
        request.endpoint, request.path = found
        if request.method not in _METHODS:
            raise ApiError(405, "every operation is a GET (or HEAD)", {"allowed": list(_METHODS)}, (_ALLOW,))
        return request.endpoint

    @staticmethod
    def check_scope(request: ClientRequest, endpoint: Endpoint) -> None:
        scopes = cast("KeyRecord", request.key).scopes
        if endpoint.scope is not None and endpoint.scope not in scopes and ALL_SCOPES not in scopes:
            message = f"the key lacks the scope '{endpoint.scope}'"
            raise ApiError(403, message, {"scope": endpoint.scope, "granted": list(scopes)})


def _too_many(message: str, limit: int, wait: int) -> ApiError:
    wait = max(wait, 1)
    details = {"limit": limit, "windowSeconds": WINDOW_SECONDS, "retryAfterSeconds": wait}
    return ApiError(429, message, details, ((b"retry-after", b"%d" % wait),))
