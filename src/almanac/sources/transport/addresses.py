"""The addresses that may be asked: public ones, over https."""

from __future__ import annotations

import ipaddress
import re
import socket

import httpx2

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

#: IPv4 addresses as a translating network shows them (RFC 6052).
_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


#: What a host is written with; an escape, which another program might take for the letter it means, is in none.
_HOST = re.compile(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:.]+(%25[A-Za-z0-9._-]+|%[A-Za-z0-9._-]+)?")
#: Names that systems give themselves, and endings that only networks of one house know (RFC 6762, RFC 8375, ICANN's .internal).
_LOOPBACK_NAMES = {
    "localhost.localdomain", "localhost4", "localhost6", "localhost4.localdomain4", "localhost6.localdomain6",
    "ip6-localhost", "ip6-loopback",
}  # fmt: skip
_LOCAL_NAMES = ("local", "localdomain", "internal", "home.arpa")


class AddressRefused(ValueError):  # noqa: N818  (the name says what happened)
    """An address that is not asked. The message says why, with no more of it than scheme and host."""


def first(address: str, *, private: bool = False) -> httpx2.URL:
    """Return the URL of a request: https; with `private` (for tests) also http to this machine. Raise AddressRefused."""
    try:
        url = httpx2.URL(address)
    except httpx2.InvalidURL:
        url = httpx2.URL()
    return _checked(url, "is", plain=private, private=private)


def following(before: httpx2.URL, location: str, *, private: bool = False) -> httpx2.URL:
    """Return the URL that a redirect leads to; never from https to http, not even to this machine. Raise AddressRefused."""
    try:
        url = before.join(location)
    except httpx2.InvalidURL:
        url = httpx2.URL()
    return _checked(url, "redirects to", plain=private and before.scheme == "http", private=private)


def origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    """Return scheme, host and port: who is asked."""
    return (url.scheme, url.host, url.port)


def kind(address: str) -> str | None:
    """Return the kind of an IP address that is not public, in a word; None for a public one. Raise ValueError for other text."""
    found = _plain(ipaddress.ip_address(address))
    for word, holds in (
        ("loopback", found.is_loopback),
        ("link-local", found.is_link_local),
        ("multicast", found.is_multicast),
        ("unspecified", found.is_unspecified),
        ("reserved", found.is_reserved),
        ("private", not found.is_global or getattr(found, "is_site_local", False)),
    ):
        if holds:
            return word
    return None


def _plain(address: _Address) -> _Address:
    """Return the IPv4 address that an IPv6 one only stands for: mapped, by 6to4 or by a translating network."""
    if isinstance(address, ipaddress.IPv6Address):
        if address in _TRANSLATED:
            return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        return address.ipv4_mapped or address.sixtofour or address
    return address


def _checked(url: httpx2.URL, verb: str, *, plain: bool, private: bool) -> httpx2.URL:
    if not url.host:
        raise AddressRefused(f"{verb} not a URL with a host")
    if url.userinfo:
        raise AddressRefused(f"{verb} a URL with a user name or password, which would be kept and logged")
    word = _written(url.host)
    if url.scheme != "https" and not (url.scheme == "http" and plain and word == "loopback"):
        raise AddressRefused(f"{verb} {url.scheme}://{url.host}, only https is asked")
    # Names are looked up, and their addresses judged, where the connection is made; a proxy would do neither.
    if word is not None and not private:
        raise AddressRefused(f"{verb} {url.scheme}://{url.host}, a {word} address; only public ones are asked")
    return url


def _written(host: str) -> str | None:
    """
    Return the kind of a host that is written as an address, in any way that resolvers read, or by a name of local networks.

    Return None for any other name.
    """
    if not host.isascii() or not _HOST.fullmatch(host):
        return "malformed"
    # The dot of the root changes nothing about whose name it is.
    host = host.lower().removesuffix(".")
    labels = host.split(".")
    if labels[-1] == "localhost" or host in _LOOPBACK_NAMES:
        return "loopback"
    if ":" not in host and "" in labels:
        return "malformed"
    if any(host == name or host.endswith(f".{name}") for name in _LOCAL_NAMES):
        return "local"
    try:
        return kind(host)
    except ValueError:
        pass
    try:
        return kind(socket.inet_ntoa(socket.inet_aton(host)))
    except OSError:
        # Without a dot it is a machine of the network that the service, or its proxy, is in.
        return None if "." in host else "local"
