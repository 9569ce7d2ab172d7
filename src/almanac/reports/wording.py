"""English for numbers, periods, ranks and lists, for sentences written by rule."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from almanac.domain import numbers
from almanac.domain.numbers import Number
from almanac.domain.periods import Frequency, Period, ordinal

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_QUARTERS = ("first", "second", "third", "fourth")
_EARLIER = {
    Frequency.ANNUAL: "a year earlier",
    Frequency.SEMIANNUAL: "half a year earlier",
    Frequency.QUARTERLY: "a quarter earlier",
    Frequency.MONTHLY: "a month earlier",
    Frequency.WEEKLY: "a week earlier",
    Frequency.DAILY: "the day before",
}
_AT_LAST = "at the previous reading"
#: Alternative words for every second sentence.
_OTHERWISE = {
    "a year earlier": "the year before",
    "a quarter earlier": "the quarter before",
    "a month earlier": "the month before",
    "a week earlier": "the week before",
}
#: Names with an article; those that begin or end with one of the words below have one too.
_WITH_ARTICLE = frozenset({"Netherlands", "Philippines", "Bahamas", "Maldives", "Gambia", "Comoros", "Seychelles"})
_BEGIN = ("United ", "European ", "Central African ", "Dominican Republic", "Democratic ", "Czech Republic")
_END = (" Islands", " Republic", " Emirates", " Territory", " Territories")
_COMMON = {"Euro area": "the euro area", "World": "the world"}


def rounded(value: float, digits: int) -> float:
    """Round a value as `figure` shows it."""
    return float(numbers.rounded(value, digits))


def figure(value: Number, digits: int) -> str:
    """Format a number as sentences and pages show it: `3.4`, `−0.25`, `1,204`, with a true minus sign. Zero has no sign."""
    return f"{numbers.rounded(value, digits):,f}".replace("-", "−")


def decimals(most: int, *values: float) -> int:
    """Return the decimals for numbers shown together: of three the last is dropped if none of them needs it."""
    return 2 if most == 3 and all(rounded(one, 3) == rounded(one, 2) for one in values) else most


def amount(value: float, digits: int, unit: str) -> str:
    """
    Format a number with its unit: `3.4%`, `61.0% of GDP`, `0.3 percentage points`, `1 percentage point`, `142
    thousand`.
    """
    text = figure(value, digits)
    if not unit:
        return text
    if unit.startswith("%"):
        return f"{text}{unit}"
    if unit == "percentage points" and abs(rounded(value, digits)) == 1:
        return f"{text.partition('.')[0]} percentage point"
    return f"{text} {unit}"


def span(period: Period, frequency: Frequency) -> str:
    """Format a period for a sentence: `October 2026`, `the third quarter of 2026`, `2025`, `19 November 2026`."""
    end = period.end
    if frequency is Frequency.ANNUAL:
        # A fiscal year is named by its last month.
        return str(end.year) if end.month == 12 else f"the year to {MONTHS[end.month - 1]} {end.year}"
    if frequency is Frequency.SEMIANNUAL:
        return f"the {_QUARTERS[0 if end.month <= 6 else 1]} half of {end.year}"
    if frequency is Frequency.QUARTERLY:
        return f"the {_QUARTERS[(end.month - 1) // 3]} quarter of {end.year}"
    if frequency is Frequency.MONTHLY:
        return f"{MONTHS[end.month - 1]} {end.year}"
    if frequency is Frequency.WEEKLY:
        return f"the week to {day(end)}"
    return day(end)


def day(when: date) -> str:
    """Format a day as `19 November 2026`."""
    return f"{when.day} {MONTHS[when.month - 1]} {when.year}"


def within(period: Period, frequency: Frequency) -> str:
    """Format a period with its preposition: `in October 2026`, `on 19 November 2026`."""
    return f"{'on' if frequency is Frequency.DAILY else 'in'} {span(period, frequency)}"


def earlier(now: int, then: int, frequency: Frequency, turn: int = 0) -> str:
    """
    Return how the reading of period `then` lies before that of `now` (both keys), such as `a month earlier`. In odd
    turns it returns `the month before`, which means the same.

    If it isn't the neighbouring period, it returns `at the previous reading`.
    """
    step = max(frequency.months, {Frequency.WEEKLY: 7}.get(frequency, 1))
    if ordinal(now, frequency) - ordinal(then, frequency) != step:
        return _AT_LAST
    words = _EARLIER.get(frequency, _AT_LAST)
    return _OTHERWISE.get(words, words) if turn % 2 else words


def place(number: int) -> str:
    """Format an ordinal number: `1st`, `2nd`, `3rd`, `11th`, `22nd`."""
    ending = "th" if number % 100 in {11, 12, 13} else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """Join words as a list: `a`, `a and b`, `a, b and c`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}" if words else ""


def sentence(text: str) -> str:
    """Capitalise the first letter and add a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def country(name: str) -> str:
    """Return a country's name for the middle of a sentence: `the United States`, `Portugal`."""
    if name in _COMMON:
        return _COMMON[name]
    if name in _WITH_ARTICLE or name.startswith(_BEGIN) or name.endswith(_END):
        return f"the {name}"
    return name
