"""Publishers' own codes, and the series that have them."""

from __future__ import annotations

from typing import NamedTuple

from almanac.store.observations.reading.reader import View
from almanac.store.observations.reading.selection import NO_COMPANY
from almanac.store.state_memory import Remembered


class CodedSeries(NamedTuple):
    """A published series: its number and id, what it is of, and its publisher's code of it."""

    number: int
    id: str
    indicator: str
    entity: str
    code: str


def code_form(text: str) -> str:
    """What is compared of a code: `exr/d.usd.eur.sp00.a` and `EXR.D.USD.EUR.SP00.A` are one."""
    return text.strip().casefold().replace("/", ".")


def coded_series(view: View) -> list[CodedSeries]:
    """All published series with vintages but those of companies, whose codes are tags, by id; made once for a state of the store."""
    return _CODES.of(view)


def with_code(view: View, text: str) -> list[CodedSeries]:
    """Those that have this code, by id."""
    wanted = code_form(text)
    return [one for one in coded_series(view) if code_form(one.code) == wanted]


def holding(view: View, text: str) -> set[str]:
    """
    Slugs of the indicators of which a series has this code, or one of which it is a part by itself: between points, and with
    more than letters, as plain words are parts of many codes.
    """
    wanted = code_form(text)
    if len(wanted) < _LEAST_PART or wanted.isalpha() or " " in wanted:
        return {one.indicator for one in with_code(view, text)}
    return {one.indicator for one in coded_series(view) if f".{wanted}." in f".{code_form(one.code)}."}


#: Characters that a part of a code has at least, to be looked for by itself.
_LEAST_PART = 5
_CODED = (
    "SELECT s.series, s.id, t.indicator, t.entity, p.native FROM topic t CROSS JOIN series s ON s.topic = t.topic"
    f" CROSS JOIN spec p ON p.spec = s.spec WHERE {NO_COMPANY.format('t.entity')} AND t.kind = 'raw' AND s.vintages > 0"
    " ORDER BY s.id"
)

_CODES: Remembered[list[CodedSeries]] = Remembered(
    "native codes", lambda view: [CodedSeries._make(row) for row in view.execute(_CODED)]
)
