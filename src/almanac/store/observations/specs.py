"""
What series are: specifications as they are stored, once for all series that differ in nothing but the entity.

There are as many of a company's tag as there are companies that use it, and all say the same.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import msgspec

from almanac.domain.reference import SeriesSpec
from almanac.store.engine.protocol import Database, Queryable
from almanac.store.engine.sql_compat import next_id
from almanac.store.observations.digests import digest_of
from almanac.store.observations.ids import NAMED, found_by
from almanac.store.observations.reading.query import NO_COMPANY

#: Series of one specification are read together, and share the texts in it.
_decode = functools.lru_cache(maxsize=4_096)(msgspec.json.Decoder(SeriesSpec).decode)


def put(db: Database, spec: SeriesSpec, known: dict[str, int]) -> int:
    """Return the number of a specification, which is stored if it is new. `known`: those that this transaction has met; it grows."""
    body = _body(spec)
    number = known.get(body)
    if number is None:
        number = known[body] = _number(db, spec, body)
    return number


def _number(db: Database, spec: SeriesSpec, body: str) -> int:
    digest = digest_of(body)
    found: int | None = db.execute("SELECT spec FROM spec WHERE digest = ? AND body = ?", (digest, body)).get
    if found is None:
        otherwise = spec.allowance_days is not None or spec.judged_by_fetch or spec.discontinued
        found = int(db.execute(_NEXT).get)
        row = (found, spec.native, spec.variant, spec.unit, int(spec.exposure), int(otherwise), digest, body)
        db.execute("INSERT INTO spec VALUES(?, ?, ?, ?, ?, ?, ?, ?)", row)
    return found


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


def _body(spec: SeriesSpec) -> str:
    return msgspec.json.encode(msgspec.structs.replace(spec, entity="")).decode()


_NEXT = f"SELECT {next_id('spec', 'spec')}"
_STORED = "SELECT p.body, t.entity FROM series s CROSS JOIN topic t USING(topic) CROSS JOIN spec p USING(spec)"
