"""The error table: one code per status, the exceptions that become answers, and what no message repeats: keys."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

#: Every status an error may have, with its one stable code.
CODES: dict[int, str] = {
    400: "bad_request",
    401: "unauthorized",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    429: "rate_limited",
    500: "internal_error",
    503: "service_unavailable",
}

#: One response header: lower-case name and value, as ASGI wants them.
Header = tuple[bytes, bytes]

_QUOTED_MAX = 60


class ApiError(Exception):
    """An answer that is not 200. `details` is any JSON value; `headers` go out with the answer, and when to come again (seconds).

    Raises KeyError at once for a status that is not in `CODES`, so that no new code slips in unnoticed.
    """

    def __init__(
        self,
        status: int,
        message: str,
        details: Mapping[str, Any] | None = None,
        headers: Sequence[Header] = (),
        *,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = CODES[status]
        self.message = message
        self.details = details
        self.headers = (*headers, *([] if retry_after is None else [(b"retry-after", b"%d" % retry_after)]))


def refuse(
    parameter: str, reason: str, allowed: object = None, suggestion: str | None = None, *, code: str = "invalid"
) -> ApiError:
    """Return the 400 about one parameter; the caller raises it.

    The message is `'parameter' reason`, so `reason` continues a sentence: "must be a whole number from 1 to 500".
    `code` is the short, stable word in `details.reason`.
    """
    details: dict[str, Any] = {"parameter": parameter, "reason": code}
    if allowed is not None:
        details["allowed"] = allowed
    if suggestion is not None:
        details["suggestion"] = suggestion
        reason = f"{reason}; did you mean '{suggestion}'?"
    return ApiError(400, f"'{parameter}' {reason}", details)


def not_found(parameter: str, what: str, name: str, hint: str = "", suggestion: str | None = None) -> ApiError:
    """Return the 404 about a name in the path, with the one that may have been meant or else a hint; the caller raises it."""
    details = {"parameter": parameter} | ({"suggestion": suggestion} if suggestion else {})
    hint = f"; did you mean '{suggestion}'?" if suggestion else hint
    return ApiError(404, f"there is no {what} {quoted(name)}{hint}", details)


def quoted(text: str) -> str:
    """Quote a client's text for a message: in single quotes, on one line, without a key, cut at 60 characters."""
    text = redact(text)
    shown = text if len(text) <= _QUOTED_MAX else text[: _QUOTED_MAX - 1] + "…"
    return "'" + "".join(c if c.isprintable() else "\ufffd" for c in shown) + "'"


#: What every key begins with; a text without it needs no closer look.
MARK = "alm_"
_SHAPE = re.compile(r"alm_[0-9A-Za-z]{40}")
_REDACTED = "[redacted]"


def has_key(text: str) -> bool:
    """Return whether a text holds something that looks like a key."""
    return MARK in text and _SHAPE.search(text) is not None


def redact(text: str) -> str:
    """Blot out everything in a text that looks like a key. Do it before cutting the text: half a key has no shape."""
    return _SHAPE.sub(_REDACTED, text) if MARK in text else text
