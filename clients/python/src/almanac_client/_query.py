"""What the program gives as arguments, written as the interface wants it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta, timezone
from typing import Any

from almanac_client._errors import InvalidArgument

UTC = timezone.utc


def written(name: str, value: object) -> str:
    """One value as text. Raises InvalidArgument for a time without a zone, and for a comma inside a list."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime):
        return instant(name, value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Iterable) and not isinstance(value, (bytes, Mapping)):
        parts = [written(name, part) for part in value]
        wrong = next((part for part in parts if "," in part), None)
        if wrong is not None:
            raise InvalidArgument(f"{name!r} is a list, and {wrong!r} in it has a comma: give its parts one by one")
        return ",".join(parts)
    raise InvalidArgument(f"{name!r} cannot be {value!r}, of type {type(value).__name__}")


def instant(name: str, value: datetime) -> str:
    """A time with a zone, in UTC."""
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidArgument(
            f"{name!r} is {value.isoformat(sep=' ')}, a time without a zone, which could mean any of some thirty "
            "instants: give one with tzinfo, or a date"
        )
    there = value.astimezone(UTC)
    fraction = f".{there.microsecond:06d}" if there.microsecond else ""
    return f"{there:%Y-%m-%dT%H:%M:%S}{fraction}Z".rjust(20, "0")


def moment(name: str, value: str | date | datetime) -> datetime:
    """The instant that `as_of` means: a bare date is its last second in UTC."""
    if isinstance(value, str):
        try:
            value = (
                date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value.replace("Z", "+00:00"))
            )
        except ValueError:
            raise InvalidArgument(
                f"{name!r} is {value!r}, and not a date like 2026-10-31 or a time like 2026-10-31T12:00:00Z"
            ) from None
    if isinstance(value, datetime):
        instant(name, value)
        return value.astimezone(UTC)
    return datetime(value.year, value.month, value.day, tzinfo=UTC) + timedelta(days=1, seconds=-1)


def target(path: str, braces: Mapping[str, str], query: Mapping[str, Any]) -> str:
    """Path and query of a request. Parameters that are None are not sent; the rest are sorted, so that equals are equal."""
    from urllib.parse import quote, urlencode  # noqa: PLC0415 - importing this package must stay quick

    for name, value in braces.items():
        if not isinstance(value, str) or value.strip(". ") == "":
            raise InvalidArgument(f"{name!r} cannot be {value!r}: it has to be a name")
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    pairs = sorted((name, written(name, value)) for name, value in query.items() if value is not None)
    return f"{path}?{urlencode(pairs, quote_via=quote)}" if pairs else path
