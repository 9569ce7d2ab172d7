"""HTTP: who may be asked for by which name, and no request without a key."""

from __future__ import annotations

from collections.abc import Sequence

from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .caller import NoKeyError, key_of
from .server import AlmanacServer

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
#: A call of a tool is a few hundred bytes.
_MOST_BODY = 256 * 1024


def security(hosts: Sequence[str], origins: Sequence[str] = ()) -> TransportSecuritySettings:
    """The names under which the server may be asked, lest a page in a browser reach it by a name of its own (DNS rebinding).

    A host stands for itself and for any port of it. Requests of a browser's pages are refused, but for `origins` and those
    from this machine.
    """
    named = [*LOOPBACK, *hosts]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[*named, *(f"{host}:*" for host in named if not _has_port(host))],
        allowed_origins=[
            *(f"http://{host}:*" for host in LOOPBACK),
            *(f"http://{host}" for host in LOOPBACK),
            *origins,
        ],
    )


def _has_port(host: str) -> bool:
    return ":" in host.rpartition("]")[2]


class Keyed:
    """Answers 401 to a request that brings no key. Whether the key is good, the interface says."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                found = key_of(Headers(scope=scope))
                fault = None if found else "a key is needed, as Authorization: Bearer or as x-api-key"
            except NoKeyError as error:
                fault = str(error)
            if fault is not None:
                await _unauthorized(fault)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _unauthorized(message: str) -> JSONResponse:
    return JSONResponse(
        {"error": {"code": "unauthorized", "message": message}},
        status_code=401,
        headers={"WWW-Authenticate": 'Bearer realm="almanac"'},
    )


def app(server: AlmanacServer, hosts: Sequence[str] = (), origins: Sequence[str] = ()) -> ASGIApp:
    """The server at /mcp: no sessions, answers as JSON. Its own lifespan runs, since it is mounted nowhere."""
    return Keyed(
        server.streamable_http_app(
            stateless_http=True,
            json_response=True,
            max_request_body_size=_MOST_BODY,
            transport_security=security(hosts, origins),
        )
    )
