"""Days as publishers write them in words, and the period a dated value belongs to."""

from __future__ import annotations

import re
from datetime import date

from almanac.domain.periods import Frequency, Period
from almanac.sources.base import SourceChanged
from almanac.sources.formats.strict import shown

#: English short names, whatever the locale.
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_NAMED = re.compile(r"([0-9]{2})([- ])([A-Z][a-z]{2})\2([0-9]{4})")


def named_day(text: str, separator: str, where: str) -> date:
    """A day written `04-Jan-2011` or, with a blank as separator, `04 Jan 2011`. Raises SourceChanged."""
    match = _NAMED.fullmatch(text)
    if match is not None and match[2] == separator and match[3] in MONTHS:
        try:
            return date(int(match[4]), MONTHS.index(match[3]) + 1, int(match[1]))
        except ValueError:
            pass
    raise SourceChanged(f"{where}: {shown(text)} is not a day like {separator.join(('31', 'Oct', '2026'))}")


def period(day: date, frequency: Frequency, where: str) -> int:
    """Key of the period that ends on a day. Raises SourceChanged if no period of that frequency does."""
    found = Period.ending(day, frequency)
    if found.end != day:
        raise SourceChanged(f"{where}: {day} is not the last day of a {frequency.word} period")
    return found.key
