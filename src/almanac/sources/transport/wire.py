"""The transport below the fetcher: TLS always verified, public addresses only, one deadline over all, nothing of it logged."""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Any

import httpcore2
import httpx2
import stamina

from almanac.sources.transport.addresses import AddressRefused, kind

#: When the present request must be over, by the wire's clock.
deadline: ContextVar[float] = ContextVar("deadline")

#: Addresses of a host, by its name and port.
Resolve = Callable[[str, int], Sequence[str]]

_LOGGERS = ("httpx2", *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")))


def _nothing(_: logging.LogRecord) -> bool:
    return False


def mute() -> None:
    """
    Keep the libraries from writing addresses and headers, for keys travel in both, and a line for each retry: the error that
    ends them tells how many there were. A second call is harmless.
    """
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_nothing)
    stamina.instrumentation.set_on_retry_hooks([])


def resolved(host: str, port: int) -> list[str]:
    """Return the addresses of a host, as the system gives them. Raise OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


def transports(
    clock: Callable[[], float],
    *,
    private: bool = False,
    resolve: Resolve = resolved,
    proxy: str | None = None,
    direct: Sequence[str] = (),
    ca_bundle: str | None = None,
) -> tuple[httpx2.HTTPTransport, dict[str, httpx2.HTTPTransport | None]]:
    """
    Return httpx2's transport with a deadline, and the mounts of a client that send requests through `proxy`, a URL.

    Its own timeouts are per socket operation: a server that sends one byte a second never runs into them, not even in the
    middle of its headers. A host is looked up once for each connection, and the connection made to an address that was
    found fit, under the host's own name: TLS and the Host header know nothing of it. `private` lets other addresses pass:
    for tests. A proxy looks names up itself; hosts in `direct` and below them are asked without it.
    `ca_bundle`: a file of certificate authorities that are trusted beside the usual ones. Raise OSError for that file.
    """
    # The environment (SSL_CERT_FILE, HTTPS_PROXY) is read by the settings only, and there is no setting of that name.
    context = httpx2.create_ssl_context(trust_env=False)
    if ca_bundle is not None:
        context.load_verify_locations(cafile=ca_bundle)
    # httpx2 has no argument for the network backend, httpcore2 does. A test drips headers to see this work.
    backend = _Backend(clock, resolve, private=private)
    transport = _transport(context, httpcore2.ConnectionPool(ssl_context=context, network_backend=backend))
    if proxy is None:
        return transport, {}
    # Publishers have names: an address of IPv6 is none of theirs, and no pattern of httpx2's either.
    names = [name.lower().lstrip("*.") for name in direct if ":" not in name and name.strip("*.")]
    stated = httpx2.Proxy(proxy)
    pool = httpcore2.HTTPProxy(
        proxy_url=str(stated.url),
        proxy_auth=stated.raw_auth,
        ssl_context=context,
        proxy_ssl_context=context if stated.url.scheme == "https" else None,
        network_backend=_Backend(clock),
    )
    through = _transport(context, pool)
    return transport, {"all://": through, **{f"all://*{name}": None for name in names}}


def _transport(context: ssl.SSLContext, pool: httpcore2.ConnectionPool) -> httpx2.HTTPTransport:
    transport = httpx2.HTTPTransport(verify=context, trust_env=False)
    transport._pool = pool  # noqa: SLF001  (it cannot be given; it translates requests, answers and errors)
    return transport


def _within(clock: Callable[[], float], timeout: float | None, error: type[httpcore2.TimeoutException]) -> float:
    """Return the timeout for one operation: its own, but at most what is left in all. Raises `error` where nothing is."""
    left = deadline.get() - clock()
    if left <= 0:
        raise error("the time allowed in all is over")
    return left if timeout is None else min(timeout, left)


class _Backend(httpcore2.SyncBackend):
    """Connects to what it is told; with `resolve` to the public addresses of a host, one after the other, and to no other."""

    def __init__(self, clock: Callable[[], float], resolve: Resolve | None = None, *, private: bool = False) -> None:
        super().__init__()
        self._clock, self._resolve, self._private = clock, resolve, private

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        fit = [host]
        if self._resolve is not None:
            try:
                found = self._resolve(host, port)
            except OSError as error:
                raise httpcore2.ConnectError(str(error)) from error
            judged = [(address, None if self._private else kind(address)) for address in found]
            fit = [address for address, word in judged if word is None]
            if not fit and judged:
                raise AddressRefused(f"leads to {host}, which has a {judged[0][1]} address; only public ones are asked")
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        for address in fit:
            try:
                allowed = _within(self._clock, timeout, httpcore2.ConnectTimeout)
                stream = super().connect_tcp(address, port, allowed, local_address, socket_options)
                return _Stream(stream, self._clock)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


class _Stream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, clock: Callable[[], float]) -> None:
        self._inner, self._clock = inner, clock

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _within(self._clock, timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, _within(self._clock, timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        allowed = _within(self._clock, timeout, httpcore2.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, allowed), self._clock)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
