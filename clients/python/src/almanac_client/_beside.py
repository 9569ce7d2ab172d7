"""Several series side by side, with higher frequencies aggregated to longer periods on request."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from math import fsum
from typing import Any, Literal

from almanac_client import _generated_models as m
from almanac_client._errors import InvalidArgument
from almanac_client._frames import Column, Kind, Table
from almanac_client._lookups import Way
from almanac_client._query import bound, day_or_time
from almanac_client._readings import FREQUENCIES
from almanac_client._series import Bound, Series, When, every, series
from almanac_client._transport import Plan

Word = Literal["last", "mean", "sum"]
How = Literal["wide", "long", "last", "mean", "sum"]
#: Aggregations of values within a longer period, named as in the catalogue's formulas.
WORDS = ("last", "mean", "sum")
_MONTHS = {"annual": 12, "semiannual": 6, "quarterly": 3, "monthly": 1}
#: Days after a period's end within which a later value proves it complete, for data not counted by months.
_ALLOWANCE = {"daily": 10, "weekly": 21}
_LETTERS = {"A": "annual", "S": "semiannual", "Q": "quarterly", "M": "monthly", "W": "weekly", "D": "daily"}

_LONG: dict[str, Kind] = {
    "name": "string", "indicator_id": "string", "entity_id": "string", "frequency": "string", "period_end": "date",
    "value": "float", "unit": "string", "observed_at": "time", "source_id": "string", "value_withheld": "bool",
    "withheld_reason": "string",
}  # fmt: skip


def frame(
    way: Way,
    wanted: Mapping[str, tuple[str, str]],
    *,
    how: How | Mapping[str, Word] = "wide",
    frequency: str | None = None,
    start: Bound | None = None,
    end: Bound | None = None,
    as_of: When | None = None,
) -> Plan[Table]:
    """
    Plan several series by name. `wide` gives a row for each period end and a column for each name, `long` a row for
    each value.
    """
    words = _words(how, wanted)
    target = None if frequency is None else _LETTERS.get(str(frequency).upper(), str(frequency).lower())
    if words and target not in _MONTHS:
        raise InvalidArgument(
            f"how={how!r} makes longer periods: say which by frequency=, {', '.join(map(repr, _MONTHS))}"
        )
    taken = {"period_end"} & set(wanted) if how == "wide" else set()
    if not wanted or taken:
        raise InvalidArgument(f"a column cannot be called {taken.pop()!r}" if taken else "no series is asked for")
    found: dict[str, Series] = {}
    for name, (slug, place) in wanted.items():
        if target in _MONTHS:
            found[name] = yield from _gathered(way, name, slug, place, target, words.get(name), start, end, as_of)
        else:
            found[name] = yield from series(
                way, slug, place, frequency=frequency, start=start, end=end, as_of=as_of
            )  # fmt: skip
    ids = [one for series_ in found.values() for one in series_.attrs["request_ids"]]
    attrs = {**next(iter(found.values())).attrs, "request_ids": ids}
    # Each series has its own walk, so data ingested between two walks is only in the later one.
    attrs["data_version"] = max((s.attrs["data_version"] for s in found.values()), default=None)
    told = {name: one.gathered for name, one in found.items() if isinstance(one, _Gathered)}
    if told:
        attrs["gathered"] = told
    return _long(found, attrs) if how == "long" else _wide(found, attrs)


class _Gathered(Series):
    """A series of longer periods, aggregated from a higher frequency. `gathered` says how."""

    __slots__ = ("gathered",)
    gathered: str


def _words(how: How | Mapping[str, Word], wanted: Mapping[str, Any]) -> dict[str, Word]:
    """Return the aggregation of each name, or none for the plain layouts. Raises InvalidArgument."""
    if isinstance(how, Mapping):
        wrong = next((name for name, word in how.items() if name not in wanted or word not in WORDS), None)
        if wrong is not None:
            raise InvalidArgument(
                f"'how' says {how[wrong]!r} of {wrong!r}: it is 'last', 'mean' or 'sum' of a name asked for"
            )
        return dict(how)
    if how in ("last", "mean", "sum"):
        return dict.fromkeys(wanted, how)
    if how not in {"wide", "long"}:
        raise InvalidArgument(f"'how' has to be 'wide' or 'long', or 'last', 'mean' or 'sum', not {how!r}")
    return {}


def _gathered(
    way: Way,
    name: str,
    slug: str,
    place: str,
    target: str,
    word: Word | None,
    start: Bound | None,
    end: Bound | None,
    as_of: When | None,
) -> Plan[Series]:
    """Plan a series at a frequency: as published, or else aggregated from the nearest higher frequency."""
    first, last = _day(bound("start", start, last=False)), _day(bound("end", end, last=True))
    length = _MONTHS[target]
    # A period is judged as a whole: from its first day, and by what comes after its last.
    whole = None if first is None else _first_day(first, length)
    after = None if last is None else min(last, date.max - timedelta(days=400)) + timedelta(days=400)
    found = yield from every(way, slug, place, start=whole, end=after, as_of=as_of)
    inside = [row for row in found.rows if _within(row, first, last)]
    own = [row for row in inside if row.frequency == target]
    if own or not found.rows:
        return Series(found.indicator, found.entity_id, own, found.attrs)
    rank = FREQUENCIES.index(target)
    finer = [one for one in FREQUENCIES[:rank] if any(row.frequency == one for row in found.rows)]
    there = " and ".join(sorted({row.frequency for row in found.rows}))
    if not finer:
        raise InvalidArgument(f"{name} is {there}: nothing {target} is made of that")
    if word is None:
        raise InvalidArgument(
            f"{name} is {there}, not {target}: how='last', 'mean' or 'sum' makes longer periods of it"
        )
    rows = [row for row in found.rows if row.frequency == finer[-1]]
    made = [row for row in gathered(name, rows, target, word) if _within(row, first, last)]
    one = _Gathered(found.indicator, found.entity_id, made, found.attrs)
    one.frequency = target
    one.gathered = f"{target} from {finer[-1]}, {word} of each complete period"
    return one


def gathered(name: str, rows: Sequence[m.Observation], target: str, word: Word) -> list[m.Observation]:
    """
    Aggregate rows to longer calendar periods, oldest first, by the last, mean or sum of their values. Each result is
    the row of the last value inside, with period and value replaced.

    Only complete periods are returned, as in the catalogue's formulas. For months and quarters each must have a value;
    for days and weeks there must be a value for the period's last day, or a later one within the allowance. A withheld
    value leaves its period without a value.
    """
    own, length = rows[0].frequency, _MONTHS[target]
    months = _MONTHS.get(own)
    inside: dict[date, list[m.Observation]] = {}
    for row in sorted(rows, key=lambda row: row.period_end):
        end = row.period_end.date()
        if months is not None and ((end + timedelta(days=1)).day != 1 or end.month % months):
            raise InvalidArgument(
                f"{name} has periods that are not the calendar's (one ends on {end}): they do not make calendar ones"
            )
        inside.setdefault(_last_day(end, length), []).append(row)
    ends = sorted(row.period_end.date() for row in rows if row.value_numeric is not None)
    made = []
    for last, some in inside.items():
        held = [row for row in some if row.value_numeric is not None]
        withheld = next((row for row in some if row.rights.value_withheld), None)
        if withheld is not None:
            made.append(_made(withheld, last, target, None))
        elif held and _over(last, ends, held, months, length, own):
            values = [row.value_numeric for row in held if row.value_numeric is not None]
            value = values[-1] if word == "last" else fsum(values) / (len(values) if word == "mean" else 1)
            made.append(_made(held[-1], last, target, value))
    return made


def _over(last: date, ends: Sequence[date], held: Sequence[Any], months: int | None, length: int, own: str) -> bool:
    if months is not None:
        return len(held) == length // months
    return any(last <= end <= last + timedelta(days=_ALLOWANCE[own]) for end in ends)


def _made(row: m.Observation, last: date, target: str, value: float | None) -> m.Observation:
    from msgspec.structs import replace  # noqa: PLC0415 - only here

    end = row.period_end.replace(year=last.year, month=last.month, day=last.day)
    return replace(row, period_end=end, period_start=None, frequency=target, value_numeric=value)


def _within(row: m.Observation, first: date | None, last: date | None) -> bool:
    end = row.period_end.date()
    length = _MONTHS.get(row.frequency)
    begin = row.period_start.date() if row.period_start else end if length is None else _first_day(end, length)
    return (first is None or begin >= first) and (last is None or end <= last)


def _last_day(day: date, months: int) -> date:
    month = -(-day.month // months) * months
    return date(day.year, month, monthrange(day.year, month)[1])


def _first_day(day: date, months: int) -> date:
    return date(day.year, (day.month - 1) // months * months + 1, 1)


def _day(given: Any) -> date | None:
    if given is None:
        return None
    meant = day_or_time("start", given)
    return meant.date() if hasattr(meant, "date") else meant


def _long(found: Mapping[str, Series], attrs: Mapping[str, Any]) -> Table:
    held = [(name, one.table()) for name, one in found.items()]
    columns = [Column("name", "string", [name for name, table in held for _ in range(len(table))])]
    for column, kind in list(_LONG.items())[1:]:
        columns.append(Column(column, kind, [value for _, table in held for value in table[column]]))
    return Table(columns, attrs)


def _wide(found: Mapping[str, Series], attrs: Mapping[str, Any]) -> Table:
    frequencies = {one.frequency for one in found.values() if one.frequency is not None}
    if len(frequencies) > 1:
        told = ", ".join(f"{name} is {one.frequency}" for name, one in found.items())
        raise InvalidArgument(
            f"series of different frequencies have no common rows ({told}): say how='long', or gather the higher ones with "
            "frequency='monthly' (or another) and how='last', 'mean' or 'sum'"
        )
    ends = sorted({row.period_end for one in found.values() for row in one})
    columns = [Column("period_end", "date", [end.date() for end in ends])]
    withheld: list[str | None] = []
    for name, one in found.items():
        values = {row.period_end: row.value_numeric for row in one}
        columns.append(Column(name, "float", [values.get(end) for end in ends]))
        withheld += [row.rights.reason for row in one if row.rights.value_withheld]
    return Table(columns, attrs, withheld)
