"""Query parameters: one declaration each; reading gives typed values or a 400 that names the culprit."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from almanac.api.contract.errors import quoted, refuse
from almanac.domain.companies import FiscalPeriod
from almanac.domain.periods import Period
from almanac.domain.times import DAY_SECONDS, EPOCH_ORDINAL, midnight

#: How far ahead of our clock an instant may lie before it counts as the future (seconds).
CLOCK_TOLERANCE = 60
_INTEGER_DIGITS = 15
_Moment = Annotated[datetime, Meta(tz=True)]
_EPOCH, _SECOND = datetime.fromtimestamp(0, UTC), timedelta(seconds=1)
#: What a time has behind its whole seconds. msgspec would round it to a microsecond, and .9999999 into the next second.
_FRACTION = re.compile(r"(?<=:[0-9]{2})\.([0-9]+)(?=[Zz+-])")
#: Characters that a value, or a part of a path, may have unless it is declared otherwise: no name of anything is longer.
LONGEST = 200

Kind = Literal["text", "integer", "enum", "list", "time", "period"]


@dataclass(frozen=True, slots=True)
class Param:
    """One query parameter, or one part of a path. What reading it yields depends on `kind`:

    - `text`: the string as sent;
    - `integer`: int within `minimum`..`maximum`, written in ASCII digits only;
    - `enum`: the canonical choice. `choices` is a tuple of words, or a mapping from what a client may write to the
      value handed over. Case does not matter unless `fold` is False;
    - `list`: tuple of comma-separated texts (of choices, where `choices` is given), spaces around them and repeats
      dropped, in the order sent;
    - `time`: unix seconds (int) of an RFC 3339 time with any offset, or of a bare date: its first second for
      `edge="start"`, its last for `"end"`. A fraction is rounded inwards, towards the range asked for;
    - `period`: a `domain.periods.Period` from `2026`, `2026-Q3`, `2026-10` or `2026-10-31`, or a
      `domain.companies.FiscalPeriod` from `FY2026`, `FY2026-Q3` or `FY2026-H1`.
    """

    name: str
    description: str
    kind: Kind = "text"
    default: Any = None
    required: bool = False
    minimum: int | None = None
    maximum: int | None = None
    #: Characters it may have, of a list each value. What is longer is refused before anything is done with it.
    longest: int = LONGEST
    choices: tuple[str, ...] | Mapping[str, Any] = ()
    fold: bool = True
    edge: Literal["start", "end"] = "start"
    #: A value wholly before the plan's window is 403.
    window: bool = False
    #: A value later than now + 60 s is 400; the bare date of today means now.
    not_future: bool = False
    #: Name of the parameter that ends the range this one starts.
    until: str | None = None
    example: str | None = None
    _lookup: dict[str, Any] = field(init=False, repr=False, compare=False)
    _read: Callable[[Param, str], Any] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        pairs = self.choices.items() if isinstance(self.choices, Mapping) else ((c, c) for c in self.choices)
        object.__setattr__(self, "_lookup", {(k.lower() if self.fold else k): v for k, v in pairs})
        object.__setattr__(self, "_read", _READERS.get(self.kind))
        if self.kind == "enum" and not self._lookup:
            raise ValueError(f"enum parameter {self.name} has no choices")
        if self.kind == "text" and self.maximum is not None:
            raise ValueError(f"the length of the text {self.name} is `longest`")

    @property
    def names(self) -> list[str]:
        """Return what a client may write, as declared."""
        return list(self.choices)

    def read(self, text: str) -> Any:
        """Return the typed value of one non-empty text. Raises ApiError 400 naming this parameter."""
        # Each value of a list by itself; a number has digits only so many.
        if len(text) > self.longest and self.kind not in {"list", "integer"}:
            self.check_length(text)
        if self.kind != "text":
            return self._read(self, text)
        if text.isspace():
            raise refuse(self.name, "must not be empty", code="empty")
        return text

    def check_length(self, text: str) -> None:
        """Raise ApiError 400 naming this parameter for a text that is longer than it may be."""
        if len(text) > self.longest:
            raise refuse(
                self.name,
                f"must be at most {self.longest:,} characters long, not {len(text):,}",
                {"maxLength": self.longest},
                code="range",
            )

    def last_day(self, value: Any) -> date:
        """Return the last day that a typed value of kind `time` or `period` covers; of a fiscal period the last it can cover."""
        if isinstance(value, FiscalPeriod):
            return value.span[1]
        return value.end if isinstance(value, Period) else day_of(value)


def day_of(seconds: int) -> date:
    """Return the UTC day of a moment, kept within what a date can hold."""
    return date.fromordinal(min(max(EPOCH_ORDINAL + seconds // DAY_SECONDS, 1), date.max.toordinal()))


def nearest(word: str, among: list[str]) -> str | None:
    """Return the closest valid word or, where none is close, the first that `word` begins; None where there is neither."""
    word = word[:100].lower()
    # Below 0.7 it takes `format` for `sort`, and `provider` for `order`.
    close = get_close_matches(word, among, n=1, cutoff=0.7)
    return close[0] if close else next((one for one in among if len(word) > 2 and one.startswith(word)), None)


def _integer(param: Param, text: str) -> int:
    low, high = param.minimum, param.maximum
    span = f"from {low} to {high}" if low is not None and high is not None else f"of at least {low or 0}"
    allowed = {"minimum": low or 0} if high is None else {"minimum": low or 0, "maximum": high}
    if not (text.isascii() and text.isdigit()):
        raise refuse(
            param.name, f"must be a whole number {span} in plain digits, not {quoted(text)}", allowed, code="type"
        )
    value = int(text) if len(text) <= _INTEGER_DIGITS else None
    if value is None or (low is not None and value < low) or (high is not None and value > high):
        raise refuse(param.name, f"must be a whole number {span}, not {quoted(text)}", allowed, code="range")
    return value


def _enum(param: Param, text: str) -> Any:
    try:
        return param._lookup[text.lower() if param.fold else text]  # noqa: SLF001 - the readers are Param's own methods
    except KeyError:
        names = param.names
        raise refuse(
            param.name,
            f"must be one of {', '.join(names)}, not {quoted(text)}",
            names,
            nearest(text, names),
            code="choice",
        ) from None


def _list(param: Param, text: str) -> tuple[Any, ...]:
    # People write a space behind a comma; a value kept with its space would match nothing, and its rows be missed unseen.
    if param.maximum is not None and text.count(",") >= param.maximum:
        raise refuse(param.name, f"takes at most {param.maximum} values", {"maximum": param.maximum}, code="range")
    parts = list(map(str.strip, text.split(",")))
    if len(text) > param.longest:
        for part in parts:
            param.check_length(part)
    if "" in parts:
        raise refuse(param.name, "must not have an empty value between commas", code="empty")
    return tuple(dict.fromkeys(map(partial(_enum, param), parts) if param.choices else parts))


def _time(param: Param, text: str) -> int:
    try:
        if len(text) == len("2026-10-31"):
            first = midnight(msgspec.convert(text, date).toordinal())
            return first if param.edge == "start" else first + DAY_SECONDS - 1
        # An unescaped `+` of a query string reaches us as a space: it can mean nothing else here.
        zoned = f"{text[:-6]}+{text[-5:]}" if text[-6:-5] == " " else text
        fraction = _FRACTION.search(zoned)
        moment = msgspec.convert(_FRACTION.sub("", zoned), _Moment)
    except msgspec.ValidationError:
        raise refuse(
            param.name,
            f"must be a date like 2026-10-31 or a time with a zone like 2026-10-31T12:00:00Z, not {quoted(text)}",
            code="type",
        ) from None
    seconds = (moment - _EPOCH) // _SECOND
    return seconds + 1 if param.edge == "start" and fraction is not None and int(fraction[1]) else seconds


def _period(param: Param, text: str) -> Period | FiscalPeriod:
    try:
        return FiscalPeriod.parse(text) if text[:2].upper() == "FY" else Period.parse(text)
    except ValueError:
        raise refuse(
            param.name,
            "must be written 2026, 2026-Q3, 2026-10 or 2026-10-31, or FY2026, FY2026-Q3 or FY2026-H1 for a fiscal period "
            f"of companies, not {quoted(text)}",
            code="type",
        ) from None


_READERS: dict[str, Callable[[Param, str], Any]] = {
    "integer": _integer,
    "enum": _enum,
    "list": _list,
    "time": _time,
    "period": _period,
}
