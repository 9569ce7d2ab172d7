"""Which series there are to compute from."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from almanac.domain.reference import SeriesSpec
from almanac.store.engine.queryable import Queryable


def in_use(db: Queryable) -> Iterator[SeriesSpec]:
    """
    Specifications of all series that have vintages, in the order of their numbers.

    Those of companies are left out: they are another's business, and too many to hold.
    """
    found = db.execute("SELECT spec FROM series WHERE vintages > 0 AND instr(id, ':company_') = 0 ORDER BY series")
    for (body,) in found:
        yield msgspec.json.decode(body, type=SeriesSpec)


def of(db: Queryable, identifier: str) -> SeriesSpec:
    """Specification of a series that is there."""
    return msgspec.json.decode(db.execute("SELECT spec FROM series WHERE id = ?", (identifier,)).get, type=SeriesSpec)
