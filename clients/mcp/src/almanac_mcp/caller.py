"""The caller: whose key goes to the interface with the requests of one call. It is kept for that call alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from almanac_client import AsyncAlmanac

from .asking import Api

#: The key that came with the request under way; None where the server was started with one.
_key: ContextVar[str | None] = ContextVar("key", default=None)


class NoKeyError(Exception):
    """No key came with a request, two that differ, or what can be none."""


def key_of(headers: Mapping[str, str]) -> str | None:
    """The key in a request's headers, the same two that the interface takes. Raises NoKeyError for two that differ, and for what can be none."""
    scheme, _, bearer = headers.get("authorization", "").strip().partition(" ")
    found = {headers.get("x-api-key", "").strip(), bearer.strip() if scheme.lower() == "bearer" else ""} - {""}
    if len(found) > 1:
        raise NoKeyError("x-api-key and Authorization hold different keys")
    key = found.pop() if found else None
    if key is not None and not (key.isascii() and key.isprintable() and " " not in key):
        raise NoKeyError("the key has characters that no key has")
    return key


async def with_key(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """Middleware: what is asked while a request is answered is asked with its own key."""
    request = ctx.request
    token = _key.set(None if request is None else key_of(request.headers))
    try:
        return await call_next(ctx)
    finally:
        _key.reset(token)


class Callers:
    """The interface for whoever calls. `client` makes the connections, which all callers share; keys they do not."""

    def __init__(self, client: Callable[[], AsyncAlmanac], *, own_key: bool) -> None:
        self._client = client
        self._own_key = own_key
        self._shared: AsyncAlmanac | None = None

    def api(self) -> Api:
        """The interface under the caller's key, or under the server's own where it has one and there is one caller."""
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
