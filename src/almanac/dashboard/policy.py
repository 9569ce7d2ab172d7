"""Headers of every answer: nothing from elsewhere, nothing inline, in nobody's frame but of those that the operator named."""

from __future__ import annotations

import re
from collections.abc import Sequence

Header = tuple[bytes, bytes]

#: No nonce and no exception: what templates and scripts do without is tested.
CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

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


def headers(*, secure: bool, frames: Sequence[str] = ()) -> tuple[Header, ...]:
    """
    Return the headers that every answer carries. Pages of the origins in `frames` may have this one in a frame. Raises
    ValueError for text that is no origin.
    """
    always = _ALWAYS
    if frames:
        for origin in frames:
            if not _FRAMES.fullmatch(origin):
                raise ValueError(f"no page may be in a frame of {origin!r}")
        policy = CONTENT_SECURITY_POLICY.replace("frame-ancestors 'none'", " ".join(("frame-ancestors", *frames)))
        always = ((b"content-security-policy", policy.encode()), *_OTHERS)
    return (*always, _STAY_WITH_TLS) if secure else always
