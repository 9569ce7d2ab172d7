"""
What series are: specifications as they are stored, once for all series that differ in nothing but the entity.

There are as many of a company's tag as there are companies that use it, and all say the same.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import msgspec

from almanac.domain.reference import SeriesSpec
from almanac.store.engine.protocol import Queryable
from almanac.store.observations.ids import NAMED, found_by
from almanac.store.observations.reading.query import NO_COMPANY

#: Series of one specification are read together, and share the texts in it.
_decode = functools.lru_cache(maxsize=4_096)(msgspec.json.Decoder(SeriesSpec).decode)


def read(body: str, entity: str) -> SeriesSpec:
    """Parse a stored specification, for this entity."""
    return msgspec.structs.replace(_decode(body), entity=entity)


def in_use(db: Queryable) -> Iterator[SeriesSpec]:
    """
    Yield the specifications of all series that have vintages, in the order of their numbers.

    Those of companies are left out: there are too many.
    """
    for body, entity in db.execute(
        f"{_STORED} WHERE s.vintages > 0 AND {NO_COMPANY.format('t.entity')} ORDER BY s.series"
    ):
        yield read(body, entity)


def of(db: Queryable, identifier: str) -> SeriesSpec:
    """Return the specification of a stored series."""
    (found,) = db.execute(f"{_STORED} WHERE {NAMED}", found_by(identifier))
    return read(*found)


_STORED = "SELECT p.body, t.entity FROM series s CROSS JOIN topic t USING(topic) CROSS JOIN spec p USING(spec)"
