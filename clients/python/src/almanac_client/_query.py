"""Conversion of a program's arguments to the interface's text format."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time, timedelta, timezone
from typing import Any

from almanac_client._errors import InvalidArgument

UTC = timezone.utc


def written(name: str, value: object) -> str:
    """Format one value as text. Raises InvalidArgument for a time without a zone, and for a comma inside a list."""
    value = _plain(name, value)
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


def _plain(name: str, value: Any) -> Any:
    """
    Convert times of numpy and pandas to Python's own. Raises InvalidArgument for NaT.

    They write a day as a midnight without a zone. A Period means its last day.
    """
    if type(value).__name__ == "datetime64":
        value = value.astype("datetime64[us]").item()
    if type(value).__name__ == "NaTType":
        raise InvalidArgument(f"{name!r} names no time: it is missing (NaT)")
    if hasattr(value, "end_time"):
        value = value.end_time.date()
    if hasattr(value, "to_pydatetime"):
        value = value.to_pydatetime(warn=False)
    if isinstance(value, datetime) and value.tzinfo is None and value.time() == time():
        return value.date()
    return value


def instant(name: str, value: datetime) -> str:
    """Format a time with a zone in UTC."""
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidArgument(
            f"{name!r} is {value.isoformat(sep=' ')}, a time without a zone, which could mean any of some thirty "
            "instants: give one with tzinfo, or a date (a midnight is one)"
        )
    there = value.astimezone(UTC)
    fraction = f".{there.microsecond:06d}" if there.microsecond else ""
    return f"{there:%Y-%m-%dT%H:%M:%S}{fraction}Z".rjust(20, "0")


def day_or_time(name: str, value: Any) -> date | datetime:
    """Return the day, or the instant in UTC, that a value means. Raises InvalidArgument for other values."""
    value = _plain(name, value)
    if isinstance(value, str):
        try:
            value = (
                date.fromisoformat(value) if len(value) == 10 else datetime.fromisoformat(value.replace("Z", "+00:00"))
            )
        except ValueError:
            raise InvalidArgument(
                f"{name!r} is {value!r}, and not a date like 2026-10-31 or a time like 2026-10-31T12:00:00Z"
            ) from None
        value = _plain(name, value)
    if isinstance(value, datetime):
        instant(name, value)
        return value.astimezone(UTC)
    if isinstance(value, date):
        return value
    raise InvalidArgument(
        f"{name!r} cannot be {value!r}, of type {type(value).__name__}: it has to be a date or a time"
    )


def day_end(day: date) -> datetime:
    """Return the last second of a day in UTC, the meaning of a bare date in `as_of`."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC) + timedelta(days=1, seconds=-1)


def moment(name: str, value: Any) -> datetime:
    """Return the instant that `as_of` means. A bare date is its last second in UTC."""
    meant = day_or_time(name, value)
    return meant if isinstance(meant, datetime) else day_end(meant)


#: A year with an optional half, quarter or month, without blanks and hyphens, in either order.
_YEAR_FIRST = re.compile(r"([0-9]{4})(?:(Q[1-4]|H[12])|([0-9]{2}))?")
_YEAR_LAST = re.compile(r"(Q[1-4]|H[12])([0-9]{4})")
_FORMS = "2020, 2020-Q1 (2020Q1, Q1 2020), 2020-H1, 2020-03, 2020-03-31"


def bound(name: str, value: Any, *, last: bool) -> Any:
    """
    Return a bound of periods. A year, half, quarter or month means its first day, or with `last` its last; other values
    stay as they are.
    """
    if isinstance(value, int) and not isinstance(value, bool):
        value = f"{value:04}"
    elif not last and hasattr(value, "start_time"):
        return value.start_time.date()
    if not isinstance(value, str) or len(value) > 20:
        return None if value is None else written(name, value)
    tight = "".join(value.split()).upper()
    found = _YEAR_FIRST.fullmatch(tight.replace("-", "")) if len(tight) < 10 else None
    swapped = _YEAR_LAST.fullmatch(tight.replace("-", "")) if found is None else None
    if swapped is not None:
        year, part, month = int(swapped[2]), swapped[1], None
    elif found is not None:
        year, part, month = int(found[1]), found[2], found[3]
    else:
        try:
            day_or_time(name, value)
        except InvalidArgument:
            raise InvalidArgument(f"{name!r} is {value!r}, and not one of {_FORMS}, or a time with a zone") from None
        return value
    length = 12 if part is None and month is None else 1 if part is None else 3 if part[0] == "Q" else 6
    end = 12 if length == 12 else int(month) if part is None and month else length * int((part or "Q4")[1])
    if not (1 <= end <= 12 and year):
        raise InvalidArgument(f"{name!r} is {value!r}, and not one of {_FORMS}, or a time with a zone")
    return date(year, end, monthrange(year, end)[1]) if last else date(year, end - length + 1, 1)


def target(path: str, braces: Mapping[str, str], query: Mapping[str, Any]) -> str:
    """
    Build path and query of a request. None parameters are left out; the others are sorted, so that equal requests have
    equal text.
    """
    from urllib.parse import quote, urlencode  # noqa: PLC0415 - importing this package must stay quick

    for name, value in braces.items():
        if not isinstance(value, str) or value.strip(". ") == "":
            raise InvalidArgument(f"{name!r} cannot be {value!r}: it has to be a name")
        path = path.replace(f"{{{name}}}", quote(value, safe=""))
    pairs = sorted((name, written(name, value)) for name, value in query.items() if value is not None)
    return f"{path}?{urlencode(pairs, quote_via=quote)}" if pairs else path
