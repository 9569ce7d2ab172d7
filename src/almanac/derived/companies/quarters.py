"""
From what filings state of one tag to its own quarters, halves and years.

Interim reports give many flows from the beginning of the year only, and no report gives the last quarter. A period
that is not stated is the difference of two that are, if these begin on the same day and are of the same tag; else it
is absent, never the longer period in its place.
"""

from __future__ import annotations

from typing import NamedTuple

from almanac.derived.companies.book import BUCKETS, Book, Cell, Cells, FactVintage, letter
from almanac.derived.companies.calendar import SLACK, Grid, Span
from almanac.derived.companies.ledger import Amount
from almanac.domain.observations import DAY, UNKNOWN

#: Mark of a method whose operands were not restated together.
MIXED = "_mixed"


class Operands(NamedTuple):
    """Two states to subtract from each other, and whether only the first was restated."""

    whole: FactVintage
    part: FactVintage
    mixed: bool


class Quarters:
    """Own periods of single tags, from a book on a calendar, as both stand."""

    def __init__(self, book: Book, grid: Grid) -> None:
        self.book = book
        self.grid = grid

    def instant(self, tag: str, end: int) -> Amount | None:
        """The value at the end of a day."""
        cell = self._cells(tag, end).get(None)
        return None if cell is None else as_amount(tag, "Q", cell.latest, None, end)

    def period(self, tag: str, kind: str, span: Span, *, additive: bool) -> Amount | None:
        """The value over an own period (`kind` Q, S or A); a difference only of what adds up."""
        cells = self._cells(tag, span.end)
        cell = stated_in(cells, kind, span.start)
        if cell is not None:
            return as_amount(tag, kind, cell.latest, span.start, span.end)
        if not additive:
            return None
        if kind == "A":
            return self._sum(tag, span)
        return self._difference(tag, kind, cells, span)

    def longer(self, tag: str, span: Span) -> tuple[int, Cell, Cell] | None:
        """Start, longer and shorter cell of two periods from one day on whose difference is the span."""
        if span.previous is None:
            return None
        before = self._cells(tag, span.previous)
        cells = self._cells(tag, span.end)
        for start in _starts(cells, span):
            part = before.get(start)
            if part is not None:
                return start, cells[start], part
        return None

    def _cells(self, tag: str, end: int) -> Cells:
        return self.book.tags.get(tag, _NO_ENDS).get(end, _NO_CELLS)

    def _difference(self, tag: str, kind: str, cells: Cells, span: Span) -> Amount | None:
        if not cells or span.previous is None:
            return None
        found = self.longer(tag, span)
        if found is not None:
            start, whole, part = found
            name, shorter = letter(start, span.end), letter(start, span.previous)
            if name is None or shorter is None:
                return None
            method = "fy_minus_9m" if (name, shorter) == ("A", "N") else "ytd_difference"
            operands = together(whole, part)
            return _less(tag, span, method, operands, (name, shorter))
        if kind != "Q":
            return None
        for start in _starts(cells, span):
            amounts = self._chain(tag, start, span.previous)
            name = letter(start, span.end)
            if amounts is not None and name is not None:
                return _less_quarters(tag, span, name, cells[start], amounts)
        return None

    def _chain(self, tag: str, start: int, end: int) -> list[Amount] | None:
        """Quarters that fill the days from `start` to `end` without a gap."""
        found: list[Amount] = []
        last: int | None = end
        while last is not None:
            span = self.grid.quarters.get(last)
            if span is None or span.start < start:
                return None
            amount = self.period(tag, "Q", span, additive=True)
            if amount is None:
                return None
            found.append(amount)
            if span.start == start:
                return found
            last = span.previous
        return None

    def _sum(self, tag: str, span: Span) -> Amount | None:
        if span.end not in self.grid.quarters:
            return None
        amounts = self._chain(tag, span.start, span.end)
        return None if amounts is None else total(amounts, "sum_of_quarters", span.start, span.end)


def stated_in(cells: Cells, kind: str, start: int) -> Cell | None:
    """The cell of a period of that length that begins nearest to a day, within the slack of starts."""
    best: int | None = None
    for candidate in cells:
        if candidate is None or abs(candidate - start) > SLACK:
            continue
        if best is None or (abs(candidate - start), candidate) < (abs(best - start), best):
            best = candidate
    return None if best is None else cells[best]


def together(whole: Cell, part: Cell) -> Operands:
    """
    The states to subtract: restated together, as far as can be told.

    Where the shorter period was restated after the longer one, the longer is still on the old basis, and so is the
    shorter one's state of that time. Where only the longer was restated, the difference takes all of the restatement
    and says so.
    """
    a, b = whole.latest, part.latest
    if b.known > a.known:
        earlier = part.as_of(a.known)
        return Operands(a, b if earlier is None else earlier, mixed=False)
    first = whole.history[0]
    mixed = whole.count > 1 and b.known <= first.known and _restated(first.value, a.value)
    return Operands(a, b, mixed)


def _restated(before: float, now: float) -> bool:
    """Whether two figures differ by more than the rounding of the coarser one, a unit being at most a million."""
    coarse = min(max(granularity(before), granularity(now)), 1_000_000.0)
    return abs(now - before) > coarse / 2


def granularity(value: float) -> float:
    """The power of ten a value seems to be rounded to: 1000 for 12000; at most 10^9."""
    if value == 0 or not value.is_integer():
        return 0.0
    whole, power = int(abs(value)), 1
    while whole % 10 == 0 and power < 1_000_000_000:
        whole //= 10
        power *= 10
    return float(power)


def tidy(value: float) -> float:
    """A sum of amounts per share without the noise of binary fractions; whole amounts stay as they are."""
    return value if value.is_integer() else round(value, 8)


_NO_CELLS: Cells = {}
_NO_ENDS: dict[int, Cells] = {}


def _starts(cells: Cells, span: Span) -> list[int]:
    """Starts of periods that end with the span and began before it, the longest last but for whole years first."""
    low, high = BUCKETS["A"]
    starts = [
        start
        for start in cells
        if start is not None and start < span.start - SLACK and letter(start, span.end) is not None
    ]
    if len(starts) < 2:
        return starts
    return sorted(starts, key=lambda start: (not low <= span.end - start + 1 <= high, start))


def name_of(tag: str, kind: str) -> str:
    """A raw series as amounts name it: tag and frequency letter."""
    return f"{tag}:{kind}"


def as_amount(tag: str, kind: str, state: FactVintage, start: int | None, end: int) -> Amount:
    """One stated value as an amount of an own period."""
    return Amount(
        state.value,
        start,
        end,
        (name_of(tag, kind),),
        None,
        state.released,
        state.ingested,
        state.flags & (UNKNOWN | DAY),
        () if state.place is None else (state.place,),
    )


def _less(tag: str, span: Span, method: str, operands: Operands, names: tuple[str, str]) -> Amount:
    a, b = operands.whole, operands.part
    return Amount(
        tidy(a.value - b.value),
        span.start,
        span.end,
        tuple(sorted(name_of(tag, name) for name in names)),
        method + MIXED if operands.mixed else method,
        None if a.released is None or b.released is None else max(a.released, b.released),
        max(a.ingested, b.ingested),
        (a.flags | b.flags) & (UNKNOWN | DAY),
        () if a.place is None or b.place is None else (a.place, b.place),
    )


def _less_quarters(tag: str, span: Span, name: str, whole: Cell, quarters: list[Amount]) -> Amount:
    parts = total(quarters, "", span.start, span.end)
    state = whole.latest
    released = None if parts.released is None or state.released is None else max(parts.released, state.released)
    restated = whole.count > 1 and _restated(whole.history[0].value, state.value)
    method = "fy_minus_quarters" if name == "A" else "ytd_minus_quarters"
    return Amount(
        tidy(state.value - parts.value),
        span.start,
        span.end,
        tuple(sorted({name_of(tag, name), *parts.tags})),
        method + MIXED if restated else method,
        released,
        max(parts.ingested, state.ingested),
        parts.flags | state.flags & (UNKNOWN | DAY),
        parts.places if state.place is None else (state.place, *parts.places),
    )


def total(amounts: list[Amount], method: str, start: int | None, end: int, signs: list[int] | None = None) -> Amount:
    """The sum of amounts as one; tags, times and flags are those of all."""
    if signs is None:
        value = sum(amount.value for amount in amounts)
    else:
        value = sum(sign * amount.value for sign, amount in zip(signs, amounts, strict=True))
    released: int | None = 0
    for amount in amounts:
        released = None if released is None or amount.released is None else max(released, amount.released)
    return Amount(
        tidy(value),
        start,
        end,
        tuple(sorted({tag for amount in amounts for tag in amount.tags})),
        method,
        released,
        max(amount.ingested for amount in amounts),
        _flags(amounts),
        tuple(place for amount in amounts for place in amount.places),
    )


def _flags(amounts: list[Amount]) -> int:
    flags = 0
    for amount in amounts:
        flags |= amount.flags
    return flags
