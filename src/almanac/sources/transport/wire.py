"""The transport below the fetcher: TLS always verified, one deadline over all socket work, nothing of it logged."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

import httpcore2
import httpx2

#: When the present request must be over, by the wire's clock.
deadline: ContextVar[float] = ContextVar("deadline")

_LOGGERS = ("httpx2", *(f"httpcore2.{part}" for part in ("connection", "http11", "http2", "proxy", "socks")))


def _nothing(_: logging.LogRecord) -> bool:
    return False


def mute() -> None:
    """Keep the libraries' loggers from writing addresses and headers: keys travel in both. A second call is harmless."""
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(_nothing)


class Wire(httpx2.HTTPTransport):
    """httpx2's transport with a deadline. Its own timeouts are per socket operation: a server that sends one byte
    a second never runs into them, not even in the middle of its headers.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        # The environment (SSL_CERT_FILE, proxies) is read by the settings only.
        context = httpx2.create_ssl_context(trust_env=False)
        super().__init__(verify=context, trust_env=False)
        # httpx2 has no argument for the network backend, httpcore2 does. A test drips headers to see this work.
        self._pool = httpcore2.ConnectionPool(ssl_context=context, network_backend=_Backend(clock))


class _Clocked:
    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock

    def _within(self, timeout: float | None, error: type[httpcore2.TimeoutException]) -> float:
        """The timeout for one operation: its own, but at most what is left in all."""
        left = deadline.get() - self._clock()
        if left <= 0:
            raise error("the time allowed in all is over")
        return left if timeout is None else min(timeout, left)


class _Backend(_Clocked, httpcore2.SyncBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        allowed = self._within(timeout, httpcore2.ConnectTimeout)
        return _Stream(super().connect_tcp(host, port, allowed, local_address, socket_options), self._clock)


class _Stream(_Clocked, httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, clock: Callable[[], float]) -> None:
        super().__init__(clock)
        self._inner = inner

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, self._within(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._inner.write(buffer, self._within(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        allowed = self._within(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, allowed), self._clock)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)
