"""The companies a screen looks at: all that report, and the newest statement of each as known at a moment."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from datetime import date
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from cachetools import LRUCache

from almanac.domain.periods import highest_key, lowest_key
from almanac.store.observations.reading.query import EVER
from almanac.store.observations.reading.reader import View

#: Any moment that can be asked for.
_HELD = 16

Words = tuple[str | None, ...]


class Companies(NamedTuple):
    """
    Companies that report, in the order of (name, id); parts of equal length.

    Names, tickers, sectors and the like are today's: their publisher does not date them.
    """

    ids: tuple[str, ...]
    names: tuple[str, ...]
    tickers: Words
    ciks: tuple[int, ...]
    countries: Words
    sectors: tuple[str, ...]
    industries: Words
    currencies: Words


class Universe:
    """Companies and their newest statements, for all threads of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._companies: tuple[tuple[str, int], Companies] | None = None
        self._periods: LRUCache[tuple[Any, ...], npt.NDArray[np.int64]] = LRUCache(_HELD)

    def companies(self, view: View) -> Companies:
        """Companies as they are told now; the same object for as long as nothing of them changes."""
        state = (view.epoch, view.version)
        held = self._companies
        if held is not None and held[0] == state:
            return held[1]
        rows = sorted(view.execute(_COMPANIES), key=lambda row: (row[1], row[0]))
        found = Companies(*zip(*rows, strict=True)) if rows else Companies(*((),) * len(Companies._fields))
        if held is not None and held[1] == found:
            found = held[1]
        self._companies = (state, found)
        return found

    def newest(
        self, view: View, companies: Companies, *, version: int, as_of: int | None, first: date, last: date
    ) -> npt.NDArray[np.int64]:
        """
        Key of the newest period of which each company has a statement, 0 where none ends from `first` to `last`.

        As of a data version, and of what was known at `as_of` where that is given (unix seconds).
        """
        key = (view.epoch, view.version, version, as_of, first, last)
        with self._lock:
            held = self._periods.get(key)
        if held is not None:
            return held
        known = EVER if as_of is None else as_of
        lines = view.execute(_NEWEST, (version, known, lowest_key(first), highest_key(last)))
        found = {entity: max(newest) for entity, *newest in lines}
        periods = np.array([found.get(entity, 0) for entity in companies.ids], dtype=np.int64)
        with self._lock:
            self._periods[key] = periods
        return periods


def reporting(view: View, companies: Companies, version: int) -> npt.NDArray[np.bool_]:
    """Which of the companies had a statement at a data version: a walk pinned to it knows no others."""
    found = {entity for (entity,) in view.execute(_REPORTING, (version,))}
    return np.array([entity in found for entity in companies.ids], dtype=np.bool_)


def known_at(view: View, period_of: Mapping[str, int], *, version: int, as_of: int | None) -> dict[str, int]:
    """When the statements of these companies' periods were last known to say something else, unix seconds."""
    known = EVER if as_of is None else as_of
    return {entity: view.execute(_KNOWN, (version, known, entity, period)).get for entity, period in period_of.items()}


_COMPANIES = "SELECT entity, name, ticker, cik, country, sector, industry, currency FROM company WHERE reports = 1"
_REPORTING = (
    "SELECT c.entity FROM company c WHERE c.reports = 1"
    " AND EXISTS (SELECT 1 FROM statement s WHERE s.entity = c.entity AND s.from_version <= ?1)"
)
_OPEN = "{0}.from_version <= ?1 AND {0}.to_version > ?1 AND {0}.known_at <= ?2"


def _newest_of(kind: int, frequency: str) -> str:
    """
    Return SQL for the newest period of a company's statements of one kind and frequency.

    A version counts if no later one was known: an empty body says that there is no statement any more.
    """
    mine, later = (_OPEN.format(name) for name in "sz")
    return (
        f"coalesce((SELECT s.period FROM statement s WHERE s.entity = c.entity AND s.kind = {kind}"
        f" AND s.frequency = '{frequency}' AND s.period BETWEEN ?3 AND ?4 AND {mine} AND length(s.body) > 0"
        " AND NOT EXISTS (SELECT 1 FROM statement z WHERE z.entity = s.entity AND z.kind = s.kind"
        f" AND z.frequency = s.frequency AND z.period = s.period AND z.known_at > s.known_at AND {later})"
        " ORDER BY s.period DESC LIMIT 1), 0)"
    )


_NEWEST = (
    "SELECT c.entity, "
    + ", ".join(_newest_of(kind, frequency) for kind in (0, 1, 2) for frequency in "AQS")
    + " FROM company c WHERE c.reports = 1"
)
_KNOWN = (
    "SELECT max(s.known_at) FROM statement s WHERE s.entity = ?3 AND s.kind IN (0, 1, 2) AND s.frequency IN ('A', 'Q', 'S')"
    f" AND s.period = ?4 AND {_OPEN.format('s')}"
)
