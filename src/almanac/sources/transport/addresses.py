"""Which addresses may be asked."""

from __future__ import annotations

import ipaddress

import httpx2


class AddressRefused(ValueError):  # noqa: N818  (the name says what happened)
    """An address that is not asked. The message says why, with no more of it than scheme and host."""


def first(address: str) -> httpx2.URL:
    """The URL of a request: https, or http to this machine itself (for tests). Raises AddressRefused."""
    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL:
        url = httpx2.URL()
    return _checked(url, "is", plain=True)


def following(before: httpx2.URL, location: str) -> httpx2.URL:
    """The URL that a redirect leads to; never from https to http, not even to this machine. Raises AddressRefused."""
    try:
        url = before.join(location)
    except httpx2.InvalidURL:
        url = httpx2.URL()
    return _checked(url, "redirects to", plain=before.scheme == "http")


def origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    """Scheme, host and port: who is asked."""
    return (url.scheme, url.host, url.port)


def _checked(url: httpx2.URL, verb: str, *, plain: bool) -> httpx2.URL:
    if not url.host:
        raise AddressRefused(f"{verb} not a URL with a host")
    if url.userinfo:
        raise AddressRefused(f"{verb} a URL with a user name or password, which would be kept and logged")
    if url.scheme != "https" and not (url.scheme == "http" and plain and _loopback(url.host)):
        raise AddressRefused(f"{verb} {url.scheme}://{url.host}, only https is asked")
    return url


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
