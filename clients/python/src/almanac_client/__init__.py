"""Almanac's Python client: official series as known on any day, as data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from almanac_client._client import Almanac
from almanac_client._errors import (
    AlmanacError,
    AlmanacWarning,
    ApiError,
    AsOfUnsupported,
    BadRequest,
    CacheWarning,
    ChoiceWarning,
    ConnectionFailed,
    CursorExpired,
    Forbidden,
    Incomplete,
    InvalidArgument,
    MissingExtra,
    MissingKey,
    NotCached,
    NotFound,
    RateLimited,
    RevisionWarning,
    ServerFault,
    ServerWarning,
    SettingsError,
    TimedOut,
    Unauthorized,
    Unavailable,
    Unreadable,
    WithheldWarning,
)
from almanac_client._pages import Page
from almanac_client._resources import Response
from almanac_client._rows import AsyncRows, Rows
from almanac_client._transport import VERSION

if TYPE_CHECKING:
    from almanac_client import _generated_models as models
    from almanac_client._async_client import AsyncAlmanac
    from almanac_client._cache import Cache

__version__ = VERSION
__all__ = [
    "Almanac",
    "AlmanacError",
    "AlmanacWarning",
    "ApiError",
    "AsOfUnsupported",
    "AsyncAlmanac",
    "AsyncRows",
    "BadRequest",
    "Cache",
    "CacheWarning",
    "ChoiceWarning",
    "ConnectionFailed",
    "CursorExpired",
    "Forbidden",
    "Incomplete",
    "InvalidArgument",
    "MissingExtra",
    "MissingKey",
    "NotCached",
    "NotFound",
    "Page",
    "RateLimited",
    "Response",
    "RevisionWarning",
    "Rows",
    "ServerFault",
    "ServerWarning",
    "SettingsError",
    "TimedOut",
    "Unauthorized",
    "Unavailable",
    "Unreadable",
    "WithheldWarning",
    "__version__",
    "models",
]


def __getattr__(name: str) -> Any:
    """Load the parts that not every program needs when they are first used."""
    if name == "Cache":
        from almanac_client._cache import Cache  # noqa: PLC0415

        return Cache
    if name == "AsyncAlmanac":
        from almanac_client._async_client import AsyncAlmanac  # noqa: PLC0415

        return AsyncAlmanac
    if name == "models":
        from almanac_client import _generated_models  # noqa: PLC0415

        return _generated_models
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
