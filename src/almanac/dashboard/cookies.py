"""Cookies: who is signed in, and what a form must carry to be believed."""

from __future__ import annotations

import hmac
import secrets

from starlette.responses import Response

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
    Return our own cookies of a request by name; the last where one comes twice.

    Starlette reads them with the standard library's reader of quoted values, which before Python 3.11.10 takes quadratic time
    (CVE-2024-7592). Ours are never quoted, and short.
    """
    pairs = (pair.strip().partition("=") for pair in header.split(";"))
    return {name: value for name, _, value in pairs if name in _OURS and len(value) <= _LONGEST}


def named(name: str, *, secure: bool) -> str:
    """Return a cookie's name on the wire. Over TLS one that another host or plain HTTP could have set is never read."""
    return f"{_HOST_BOUND}{name}" if secure and name not in _PLAIN else name


def write(response: Response, cookie: Cookie, *, secure: bool) -> None:
    """Have the browser keep a cookie."""
    name = named(cookie.name, secure=secure)
    response.set_cookie(name, cookie.value, max_age=cookie.seconds, secure=secure, httponly=True, samesite="lax")


def form_cookie() -> Cookie:
    """Return the cookie that binds the forms of a browser that nobody is signed in with."""
    return Cookie(FORM, secrets.token_urlsafe(24), _FORM_SECONDS)


def form_token(secret: bytes, bound_to: str) -> str:
    """
    Return what a form must carry: only a page given to this browser has it. `bound_to` is a cookie's value.

    It is different each time, so that the length of a compressed page tells nothing of it (BREACH).
    """
    return _token(secret, secrets.token_hex(8), bound_to)


def believed(secret: bytes, bound_to: str, token: str) -> bool:
    """Return whether a form came from a page given to this browser."""
    expected = _token(secret, token.partition(".")[0], bound_to)
    return hmac.compare_digest(expected.encode("utf-8", "replace"), token.encode("utf-8", "replace"))


def _token(secret: bytes, number: str, bound_to: str) -> str:
    text = f"{number}.{bound_to}".encode("utf-8", "replace")
    return f"{number}.{hmac.digest(secret, text, 'sha256').hex()[:40]}"
