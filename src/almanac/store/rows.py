"""One row of a list: its columns in SQL, and the parts it is rendered from."""

from __future__ import annotations

from typing import Any, NamedTuple

from almanac.domain.observations import observation_id
from almanac.store.directory import Directory, SeriesInfo
from almanac.store.fragments import extra_part, row_part, value_part

TOPIC = "t.indicator, t.entity, t.frequency"
_COMMON = "x.period, x.series, x.known_at, x.released_at, x.ingested_at, x.flags, x.lineage"
CURRENT = f"{_COMMON}, x.val, x.frag, x.extra"
VINTAGE = f"{_COMMON}, x.value, x.text, x.note"
#: A vintage that is the one shown now is rendered already: most rows of a past state are.
BORROWED = "c.val, c.frag, c.extra"
BORROW = (
    "LEFT JOIN current c ON c.topic = x.topic AND c.period = x.period AND c.series = x.series"
    " AND c.from_version = x.from_version AND c.known_at = x.known_at"
)


class Row(NamedTuple):
    """One row of one series, its parts ready to be joined (almanac.store.fragments)."""

    series: SeriesInfo
    period: int
    known: int
    released: int | None
    ingested: int
    flags: int
    lineage: int
    val: bytes
    frag: bytes
    extra: bytes
    withdrawn: bool = False

    @property
    def id(self) -> str:
        return self.frag[7:37].decode()


class Rows:
    """Makes rows of what the database gives, with the series behind them."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def shown(self, found: tuple[Any, ...]) -> Row:
        """From the columns `CURRENT`."""
        period, number, known, released, ingested, flags, lineage, val, frag, extra = found
        return Row(self._directory.series(number), period, known, released, ingested, flags, lineage, val, frag, extra)

    def stated(self, found: tuple[Any, ...]) -> Row:
        """From the columns `VINTAGE` and `BORROWED`; what could not be borrowed is rendered anew."""
        period, number, known, released, ingested, flags, lineage, value, text, note, val, frag, extra = found
        series = self._directory.series(number)
        withdrawn = value is None and text is None
        if frag is None:
            val = value_part(value, text).encode()
            identifier = observation_id(series.id, period, known, value, text)
            frag = row_part(identifier, period, known, flags, released, ingested).encode()
            extra = extra_part(flags, released, note, withdrawn=withdrawn).encode()
        return Row(series, period, known, released, ingested, flags, lineage, val, frag, extra, withdrawn)
