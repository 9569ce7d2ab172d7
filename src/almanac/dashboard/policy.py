"""Headers of every answer: nothing from elsewhere, nothing inline, in nobody's frame but of those that the operator named."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

Header = tuple[bytes, bytes]

#: No nonce and no exception: what templates and scripts do without is tested.
CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

#: What one page alone may load beside: images that its style holds itself, and one more host to ask.
_MORE = {"img-src": re.compile(r"data:"), "connect-src": re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")}

#: Who may have a page in a frame: an origin as the settings check it.
_FRAMES = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")

#: Says the same to old browsers as `frame-ancestors 'none'`, and cannot name an origin.
_NO_FRAME: Header = (b"x-frame-options", b"DENY")
_OTHERS: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_ALWAYS: tuple[Header, ...] = ((b"content-security-policy", CONTENT_SECURITY_POLICY.encode()), *_OTHERS, _NO_FRAME)
#: A year. Said only where the page came by TLS: over plain HTTP a browser must ignore it.
_STAY_WITH_TLS: Header = (b"strict-transport-security", b"max-age=31536000")

#: Directive → sources, beside our own address.
Loads = Mapping[str, Sequence[str]]


def headers(*, secure: bool, loads: Loads | None = None, frames: Sequence[str] = ()) -> tuple[Header, ...]:
    """
    What every answer carries. `loads`: what this page may load beside; `frames`: the origins whose pages may have this one in a
    frame. Raises ValueError for what none may.
    """
    always = _ALWAYS
    if loads or frames:
        policy = loosened(loads or {}, frames)
        always = ((b"content-security-policy", policy.encode()), *_OTHERS, *(() if frames else (_NO_FRAME,)))
    return (*always, _STAY_WITH_TLS) if secure else always


def loosened(loads: Loads, frames: Sequence[str] = ()) -> str:
    """
    The policy with more sources of images or for requests, and with those who may have the page in a frame. Raises ValueError
    for any other directive or source.
    """
    policy = CONTENT_SECURITY_POLICY
    for origin in frames:
        if not _FRAMES.fullmatch(origin):
            raise ValueError(f"no page may be in a frame of {origin!r}")
    if frames:
        policy = policy.replace("frame-ancestors 'none'", " ".join(("frame-ancestors", *frames)))
    for directive, sources in loads.items():
        for source in sources:
            if directive not in _MORE or not _MORE[directive].fullmatch(source):
                raise ValueError(f"no page may have {directive} {source!r}")
        policy = policy.replace(f"{directive} 'self'", " ".join((directive, "'self'", *sources)))
    return policy
