"""Cookies: who is signed in, and what a form must carry to be believed."""

from __future__ import annotations

import hmac
import secrets

from almanac.dashboard.visit import Cookie

#: Bound to this host and to TLS by its name, where there is TLS.
_HOST_BOUND = "__Host-"
SESSION, FORM, THEME = "almanac", "almanac-form", "almanac-theme"
#: The days of the last two visits, for what is new since: no secret, and believed by nobody.
VISIT = "almanac-visit"
_PLAIN = {THEME, VISIT}
_FORM_SECONDS = 86_400
_OURS = {SESSION, FORM, THEME, VISIT, _HOST_BOUND + SESSION, _HOST_BOUND + FORM}
#: Characters of a value; a token of ours has some tens.
_LONGEST = 200


def read(header: str) -> dict[str, str]:
    """
    Our own cookies of a request by their names, in one pass over the header; the last where one comes twice.

    The library's reader takes quadratic time for quoted values (CVE-2024-7592), and reads all others too. Ours are never
    quoted, and short.
    """
    found = {}
    for pair in header.split(";"):
        name, _, value = pair.strip().partition("=")
        if name in _OURS and len(value) <= _LONGEST:
            found[name] = value
    return found


def named(name: str, *, secure: bool) -> str:
    """A cookie's name on the wire. Over TLS one that another host or plain HTTP could have set is never read."""
    return f"{_HOST_BOUND}{name}" if secure and name not in _PLAIN else name


def written(cookie: Cookie, *, secure: bool) -> bytes:
    """A Set-Cookie header's value."""
    parts = [f"{named(cookie.name, secure=secure)}={cookie.value}", "Path=/", "HttpOnly", "SameSite=Lax"]
    if secure:
        parts.append("Secure")
    if cookie.seconds is not None:
        parts.append(f"Max-Age={cookie.seconds}")
    return "; ".join(parts).encode("latin-1")


def form_cookie() -> Cookie:
    """For a browser that nobody is signed in with: its forms are told by it."""
    return Cookie(FORM, secrets.token_urlsafe(24), _FORM_SECONDS)


def form_token(secret: bytes, bound_to: str) -> str:
    """What a form must carry: only a page we gave to this browser has it. `bound_to` is a cookie's value.

    Different each time, so that the length of a compressed page tells nothing of it (BREACH).
    """
    return _token(secret, secrets.token_hex(8), bound_to)


def believed(secret: bytes, bound_to: str, token: str) -> bool:
    """Whether a form came from a page given to this browser."""
    expected = _token(secret, token.partition(".")[0], bound_to)
    return hmac.compare_digest(expected.encode("utf-8", "replace"), token.encode("utf-8", "replace"))


def _token(secret: bytes, number: str, bound_to: str) -> str:
    text = f"{number}.{bound_to}".encode("utf-8", "replace")
    return f"{number}.{hmac.digest(secret, text, 'sha256').hex()[:40]}"
