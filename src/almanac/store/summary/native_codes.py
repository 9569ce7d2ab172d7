"""Publishers' own codes and their series."""

from __future__ import annotations

from typing import NamedTuple

from almanac.store.observations.reading.query import NO_COMPANY
from almanac.store.observations.reading.reader import View
from almanac.store.state_memory import Remembered


class CodedSeries(NamedTuple):
    """A published series: its number, id, indicator, entity and the publisher's code."""

    number: int
    id: str
    indicator: str
    entity: str
    code: str


def code_form(text: str) -> str:
    """Normalise a code for comparison: `exr/d.usd.eur.sp00.a` and `EXR.D.USD.EUR.SP00.A` are equal."""
    return text.strip().casefold().replace("/", ".")


def coded_series(view: View) -> list[CodedSeries]:
    """
    Return all published series with vintages, by id, read once per state of the store. Companies are left out, because
    their codes are tags.
    """
    return _CODES.of(view)


def with_code(view: View, text: str) -> list[CodedSeries]:
    """Return the series with this code, by id."""
    wanted = code_form(text)
    return [one for one in coded_series(view) if code_form(one.code) == wanted]


def holding(view: View, text: str) -> set[str]:
    """
    Return the slugs of indicators with a series whose code is this text, or contains it as a whole part between points.

    A part must have at least five characters and not only letters, because plain words occur in many codes.
    """
    wanted = code_form(text)
    if len(wanted) < _LEAST_PART or wanted.isalpha() or " " in wanted:
        return {one.indicator for one in with_code(view, text)}
    return {one.indicator for one in coded_series(view) if f".{wanted}." in f".{code_form(one.code)}."}


#: Fewest characters of a code's part that is searched by itself.
_LEAST_PART = 5
_CODED = (
    "SELECT s.series, s.id, t.indicator, t.entity, p.native FROM topic t CROSS JOIN series s ON s.topic = t.topic"
    f" CROSS JOIN spec p ON p.spec = s.spec WHERE {NO_COMPANY.format('t.entity')} AND t.kind = 'raw' AND s.vintages > 0"
    " ORDER BY s.id"
)

_CODES: Remembered[list[CodedSeries]] = Remembered(
    "native codes", lambda view: [CodedSeries._make(row) for row in view.execute(_CODED)]
)
