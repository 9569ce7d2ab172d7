"""Headers of every answer: nothing from elsewhere, nothing inline, in nobody's frame."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

Header = tuple[bytes, bytes]

#: No nonce and no exception: what templates and scripts do without is tested.
CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

#: What one page alone may load beside: images that its style holds itself, and one more host to ask.
_MORE = {"img-src": re.compile(r"data:"), "connect-src": re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")}

_OTHERS: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
)
_ALWAYS: tuple[Header, ...] = ((b"content-security-policy", CONTENT_SECURITY_POLICY.encode()), *_OTHERS)
#: A year. Said only where the page came by TLS: over plain HTTP a browser must ignore it.
_STAY_WITH_TLS: Header = (b"strict-transport-security", b"max-age=31536000")

#: Directive → sources, beside our own address.
Loads = Mapping[str, Sequence[str]]


def headers(*, secure: bool, loads: Loads | None = None) -> tuple[Header, ...]:
    """What every answer carries. `loads`: what this page may load beside; raises ValueError for what none may."""
    always = ((b"content-security-policy", loosened(loads).encode()), *_OTHERS) if loads else _ALWAYS
    return (*always, _STAY_WITH_TLS) if secure else always


def loosened(loads: Loads) -> str:
    """The policy with more sources of images or for requests. Raises ValueError for any other directive or source."""
    policy = CONTENT_SECURITY_POLICY
    for directive, sources in loads.items():
        for source in sources:
            if directive not in _MORE or not _MORE[directive].fullmatch(source):
                raise ValueError(f"no page may have {directive} {source!r}")
        policy = policy.replace(f"{directive} 'self'", " ".join((directive, "'self'", *sources)))
    return policy
