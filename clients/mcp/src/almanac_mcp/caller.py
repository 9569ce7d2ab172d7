"""The caller, whose key is sent with the requests of one call. The key is kept for that call only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from almanac_client import AsyncAlmanac

from .asking import Api

#: The key of the current request; None if the server was started with a key.
_key: ContextVar[str | None] = ContextVar("key", default=None)


class NoKeyError(Exception):
    """A request came without a key, with two different ones, or with one that can't be valid."""


def key_of(headers: Mapping[str, str]) -> str | None:
    """
    Return the key in a request's headers, which are the two that the interface accepts. Raises NoKeyError for two
    different keys, and for an impossible one.
    """
    scheme, _, bearer = headers.get("authorization", "").strip().partition(" ")
    found = {headers.get("x-api-key", "").strip(), bearer.strip() if scheme.lower() == "bearer" else ""} - {""}
    if len(found) > 1:
        raise NoKeyError("x-api-key and Authorization hold different keys")
    key = found.pop() if found else None
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise NoKeyError("the key has characters that no key has")
    return key


async def with_key(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Set the key of a request for the time of its handling, as middleware."""
    request = ctx.request
    token = _key.set(None if request is None else key_of(request.headers))
    try:
        return await call_next(ctx)
    finally:
        _key.reset(token)


class Callers:
    """
    Access to the interface for each caller. `client` creates the connections, which all callers share; keys are not
    shared.
    """

    def __init__(self, client: Callable[[], AsyncAlmanac], *, own_key: bool) -> None:
        self._client = client
        self._own_key = own_key
        self._shared: AsyncAlmanac | None = None

    def api(self) -> Api:
        """Return the interface with the caller's key, or with the server's own if it has one and serves a single caller."""
        if self._shared is None:
            self._shared = self._client()
        if self._own_key:
            return Api(self._shared)
        key = _key.get()
        if key is None:
            raise NoKeyError("no key came with the request")
        return Api(self._shared.with_options(api_key=key))

    async def close(self) -> None:
        """Close the connections."""
        if self._shared is not None:
            await self._shared.close()
            self._shared = None
