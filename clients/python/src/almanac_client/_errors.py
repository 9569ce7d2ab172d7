"""Errors and warnings of the client."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping
from typing import Any

_PACKAGE = __name__.partition(".")[0]


class AlmanacWarning(UserWarning):
    """Base of all warnings of this package."""


class ServerWarning(AlmanacWarning):
    """Something in a request had no effect, as `meta.warnings` of the answer says."""


class WithheldWarning(AlmanacWarning):
    """Values are missing because their licence does not allow them to be passed on."""


class RevisionWarning(AlmanacWarning):
    """Periods are left out because their first kept state is not the first publication."""


class ChoiceWarning(AlmanacWarning):
    """A request was ambiguous. The text says what was chosen, and how to ask for the alternative."""


class CacheWarning(AlmanacWarning):
    """The cache cannot be used. Answers still come from the service."""


def warn(message: str, category: type[AlmanacWarning]) -> None:
    """Issue a warning at the line of the program that called this package."""
    level, frame = 2, sys._getframe(1)  # noqa: SLF001 - Python has no other way before 3.12
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == _PACKAGE:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


class AlmanacError(Exception):
    """Base of all errors of this package."""


class MissingKey(AlmanacError):  # noqa: N818 - named for what is the case, as the states of the interface are
    """No key was found in any of the usual places."""


class SettingsError(AlmanacError, ValueError):
    """A setting is invalid."""


class InvalidArgument(AlmanacError, ValueError):  # noqa: N818
    """An argument is invalid or insufficient."""


class AsOfUnsupported(AlmanacError):  # noqa: N818
    """The operation has no `as_of`, and an answer as of today would mislead."""


class MissingExtra(AlmanacError, ImportError):  # noqa: N818
    """A library that the call needs is not installed. The message names the extra that includes it."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(
            f"this needs {library}: install the extra {extra} of the client, which is on no index. In a checkout "
            f"of Almanac: pip install './clients/python[{extra}]'; "
            f"from its wheel file: pip install './almanac_service_client-….whl[{extra}]'"
        )


class NotCached(AlmanacError):  # noqa: N818
    """The client is offline, and the cache does not contain the answer."""


class ConnectionFailed(AlmanacError):  # noqa: N818
    """The service could not be reached, or the connection broke."""


class TimedOut(ConnectionFailed):
    """The service did not answer in time."""


class Unreadable(AlmanacError):  # noqa: N818
    """The answer doesn't have the format of this interface."""


class Incomplete(AlmanacError):  # noqa: N818
    """A whole list ended without its proof that it is complete: it was cut on its way."""


class ApiError(AlmanacError):
    """
    The service refused the request. `details` is for programs; `retry_after` is the number of seconds to wait, if
    stated.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        request_id: str | None = None,
        details: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(status, code, message, request_id, details, retry_after)
        self.status = status
        self.code = code
        self.message = message
        self.request_id = request_id
        self.details: Mapping[str, Any] = details or {}
        self.retry_after = retry_after

    @property
    def parameter(self) -> str | None:
        """The parameter at fault, or None."""
        return self._detail("parameter")

    @property
    def suggestion(self) -> str | None:
        """The name that may have been meant, or None."""
        return self._detail("suggestion")

    def _detail(self, name: str) -> str | None:
        value = self.details.get(name)
        return None if value is None else str(value)

    def __str__(self) -> str:
        text = self.message
        if self.suggestion is not None and f"'{self.suggestion}'" not in text:
            text += f"; did you mean '{self.suggestion}'?"
        return text if self.request_id is None else f"{text} (request {self.request_id})"


class BadRequest(ApiError):  # noqa: N818
    """The service does not accept the request. It never ignores a part of one silently."""

    @property
    def reason(self) -> str | None:
        """A short stable word for the fault, or None."""
        return self._detail("reason")

    @property
    def allowed(self) -> Any:
        """The allowed values: bounds, words or names."""
        return self.details.get("allowed")


class CursorExpired(BadRequest):
    """The walk took longer than cursors live, or the data was restored. Start it again."""


class Unauthorized(ApiError):  # noqa: N818
    """The key is malformed, unknown, expired or revoked."""


class Forbidden(ApiError):  # noqa: N818
    """The key is valid, but its scope, plan or account does not permit the operation."""

    @property
    def history_from(self) -> str | None:
        """First day that the plan reaches, if that is the reason."""
        return self._detail("historyFrom")


class NotFound(ApiError):  # noqa: N818
    """Nothing has this id."""


class RateLimited(ApiError):  # noqa: N818
    """There were more requests than the plan allows. `retry_after` is the number of seconds to wait."""


class ServerFault(ApiError):  # noqa: N818
    """A fault of the service."""


class Unavailable(ServerFault):
    """The service is temporarily unable to answer."""


_CLASSES: dict[int, type[ApiError]] = {
    400: BadRequest,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    429: RateLimited,
    503: Unavailable,
}


def from_answer(status: int, headers: Mapping[str, str], body: object, now: float) -> ApiError:
    """Build the error for an answer other than 200. `body` is its decoded JSON, if any; `now` is in unix seconds."""
    told = body.get("error") if isinstance(body, dict) else None
    if not isinstance(told, dict) or not isinstance(told.get("message"), str):
        told = {"code": f"http_{status}", "message": _unexplained(status, headers)}
    details = told.get("details")
    kind = _CLASSES.get(status, ServerFault if status >= 500 else ApiError)
    if kind is BadRequest and isinstance(details, dict) and details.get("parameter") == "cursor":
        kind = CursorExpired if details.get("reason") == "expired" else BadRequest
    return kind(
        status,
        str(told.get("code")),
        told["message"],
        told.get("request_id") or headers.get("x-request-id"),
        details if isinstance(details, dict) else None,
        seconds(headers.get("retry-after"), now),
    )


def _unexplained(status: int, headers: Mapping[str, str]) -> str:
    if 300 <= status < 400:
        return f"status {status}: the address redirects to another, which is not followed, lest the key go there"
    kind = headers.get("content-type", "no content type")
    return f"status {status}, without an error of this interface ({kind}): is it Almanac that answers at this address?"


def seconds(text: str | None, now: float) -> float | None:
    """Return the seconds that a Retry-After means, given as a number or a date."""
    if text is None:
        return None
    try:
        return max(float(text), 0.0)
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime  # noqa: PLC0415 - rare, and slow to import

    try:
        return max(parsedate_to_datetime(text).timestamp() - now, 0.0)
    except ValueError:
        return None
