"""The gate: what a request must pass before its parameters are looked at."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import cast

import structlog
from starlette.types import Scope

from almanac.api.contract.endpoint import ALL_SCOPES, Endpoint
from almanac.api.contract.errors import ApiError, Header, refuse
from almanac.api.contract.ports import KeyStore
from almanac.api.server.auth import Addresses, QueryString, key_in_query, presented_key
from almanac.api.server.exchange import ClientRequest
from almanac.api.server.headers import WINDOW_SECONDS, is_any_preflight
from almanac.api.server.routes import Routes, path_of
from almanac.api.use import metrics
from almanac.api.use.limits import Limiter
from almanac.config import Plan, Settings
from almanac.store.accounts.accounts import MALFORMED, KeyRecord, Refused

_METHODS = ("GET", "HEAD")
_ALLOW: Header = (b"allow", b"GET, HEAD")
_CHALLENGE: Header = (b"www-authenticate", b"Bearer")
#: Missing plans that are told of.
_PLANS_TOLD = 100

log = structlog.get_logger("almanac.gate")


class Gate:
    """Keys, limits, paths, methods and scopes. The App calls the steps in the order they stand here."""

    def __init__(
        self,
        routes: Routes[Endpoint],
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
        #: Plans of which the log has said that they are missing: once each, not at every request.
        self._told_plans: set[str] = set()

    def refuse_key_in_query(self, query: QueryString, request: ClientRequest, scope: Scope) -> None:
        """Raise ApiError 400 for a key there, which counts as a failure: else keys could be tried this way without end."""
        name = key_in_query(query.pairs)
        if name is not None:
            told = "carries a key, and a key in the query string is refused; send it in a header"
            raise self._failed(request, scope, "in_query", refuse(name[:100], told, code="key"))

    def presented(self, request: ClientRequest, scope: Scope) -> str:
        """The text of the key that a request carries. Raises ApiError 401 or 429."""
        found = presented_key(request.headers)
        if found.text is None:
            raise self._unauthorized(request, scope, "missing", self._people_go(request, scope) or found.problem)
        return found.text

    def known(self, text: str) -> KeyRecord | Refused | None:
        """Whose key this is, or that it is none; None where `verify` has to be asked, which may wait for a server."""
        return self._accounts.known(text, int(self._walltime()))

    def verify(self, text: str) -> KeyRecord | Refused:
        """Whose key this is, or that it is none."""
        return self._accounts.verify(text, int(self._walltime()))

    def admit(self, request: ClientRequest, scope: Scope, verdict: KeyRecord | Refused) -> Plan:
        """The plan of a key of which this is known. Raises ApiError 401, 403 or 429."""
        now = self._walltime()
        if isinstance(verdict, Refused):
            malformed = verdict == MALFORMED
            problem = "the API key is malformed" if malformed else "the API key is not valid"
            raise self._unauthorized(request, scope, verdict.reason, problem)
        request.key = key = verdict
        plan = self._settings.plans.get(key.plan)
        if plan is None:
            raise self._planless(key)
        request.decision = decision = self._limiter.hit(key.account_id, plan.requests_per_minute, now)
        if not decision.admitted:
            self._find_where(request, scope)
            message = f"more than {decision.limit} requests in this minute; the plan '{key.plan}' allows no more"
            raise _too_many(message, decision.limit, decision.retry_after)
        if key.disabled:
            message = "the account of this key is disabled; ask whoever runs this service"
            raise ApiError(403, message, {"reason": "account_disabled"})
        return plan

    def address(self, request: ClientRequest, scope: Scope) -> str:
        """Where a request came from, behind trusted proxies."""
        return self._addresses.of(scope.get("client"), request.headers.get(b"x-forwarded-for"))

    def _find_where(self, request: ClientRequest, scope: Scope) -> None:
        """Note what a request is for that is refused before that is looked at: whoever wonders at a 429 asks which."""
        found = self._routes.find(path_of(scope))
        if found is not None:
            request.endpoint = found[0]

    def _people_go(self, request: ClientRequest, scope: Scope) -> str | None:
        """What somebody is told who opens the interface in a browser, or whose page asks it from another origin."""
        if is_any_preflight(request.method, request.headers):
            return (
                "this is a browser's preflight, which carries no key: scripts of pages of another origin are let in by "
                "the setting ALMANAC_CORS_ORIGINS"
            )
        if (
            scope["path"] != "/"
            or b"text/html" not in request.headers.get(b"accept", b"")
            or not self._settings.dashboard
        ):
            return None
        address = self._settings.dashboard_address
        return f"this is the interface for programs, which wants an API key; people find the dashboard at {address}"

    def _planless(self, key: KeyRecord) -> ApiError:
        """Another program put an account on a plan that these settings do not have."""
        if key.plan not in self._told_plans and len(self._told_plans) < _PLANS_TOLD:
            self._told_plans.add(key.plan)
            log.error("an account has a plan that is not in the settings", plan=key.plan, account=key.account_id)
        message = f"the plan '{key.plan}' of this account is unknown to this service; its operator has to set it up"
        return ApiError(403, message, {"plan": key.plan})

    def _unauthorized(self, request: ClientRequest, scope: Scope, reason: str, problem: str) -> ApiError:
        return self._failed(request, scope, reason, ApiError(401, problem, headers=(_CHALLENGE,)))

    def _failed(self, request: ClientRequest, scope: Scope, reason: str, error: ApiError) -> ApiError:
        """The error, counted as a failure of the address; 429 in its place where there were too many."""
        metrics.FAILURES.labels(reason).inc()
        address = self.address(request, scope)
        limit, now = self._settings.failures_per_minute, self._walltime()
        if not self._limiter.fail(address, limit, now):
            return error
        self._find_where(request, scope)
        wait = ceil(WINDOW_SECONDS - now % WINDOW_SECONDS)
        return _too_many(f"more than {limit} requests without a good key from this address in this minute", limit, wait)

    def route(self, request: ClientRequest, path: str) -> Endpoint:
        """Find the endpoint of a path. Raises ApiError 404 or 405."""
        found = self._routes.find(path)
        if found is None:
            raise self._routes.unknown(path)
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
