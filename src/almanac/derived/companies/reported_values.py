"""
From rows of filings to what they state of each fact: which filings count, in which order.

Periodic reports count first. A current report (8-K) counts only as a recast of what a periodic report gave. Proxy and
registration statements, prospectuses and forms that are not named never replace a periodic value, whether it was known
before them or with them; where no periodic report gave the fact yet, theirs stands until one does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping
from datetime import date
from typing import NamedTuple

import msgspec

from almanac.derived.companies.precision import granularity
from almanac.domain.companies import Fact, base_form, is_periodic
from almanac.domain.observations import DAY, ReportedValue, number
from almanac.domain.periods import Period


class FactKey(NamedTuple):
    """What a value belongs to."""

    tag: str
    unit: str
    start: int | None
    end: int


class FactNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """Row-level metadata of a fact: the filing it is from, and whether that gives two different values for it."""

    accession: str = ""
    form: str = ""
    inconsistent: bool = False


def rank(form: str) -> int:
    """0 periodic, 1 a recast, 2 everything else."""
    if is_periodic(form):
        return 0
    return 1 if base_form(form) == "8-K" else 2


def reported_values(
    facts: Iterable[Fact], known: Mapping[str, int], by_day: Container[str] = ()
) -> dict[FactKey, list[ReportedValue]]:
    """
    What the filings state of each fact, in the order in which it counts: later knowledge later, and at one instant
    the value that wins last. Facts of which nothing counts are left out.

    `known`: accession → unix seconds at which the filing could be read; `by_day`: accessions of which only the day is
    known. Equal values of one filing are one. Of two that differ only by rounding the finer counts; if they differ
    otherwise the first counts, and its note says `"inconsistent": true`. Raises ValueError naming a filing without a
    time, or tag and filing of a value that is no number.
    """
    rows: dict[FactKey, dict[str, list[Fact]]] = defaultdict(lambda: defaultdict(list))
    for fact in facts:
        if fact.accession not in known:
            raise ValueError(f"nobody says when filing {fact.accession} was known")
        rows[FactKey(fact.tag, fact.unit, fact.start, fact.end)][fact.accession].append(fact)
    found = {key: _of_fact(key, filings, known, by_day) for key, filings in rows.items()}
    return {key: values for key, values in found.items() if values}


def _of_fact(
    key: FactKey, filings: Mapping[str, list[Fact]], known: Mapping[str, int], by_day: Container[str]
) -> list[ReportedValue]:
    periodic = min((known[a] for a, rows in filings.items() if rank(rows[0].form) == 0), default=None)
    counting: list[tuple[int, int, str, Fact, bool]] = []
    for accession, rows in filings.items():
        moment, place = known[accession], rank(rows[0].form)
        after = periodic is not None and periodic <= moment
        if (place == 1 and not after) or (place == 2 and after):
            continue
        fact, inconsistent = _one(rows)
        counting.append((moment, -place, accession, fact, inconsistent))
    counting.sort(key=lambda one: one[:3])
    start = None if key.start is None else date.fromordinal(key.start)
    period = Period(start, date.fromordinal(key.end)).key
    return [
        ReportedValue(
            period,
            _value(fact),
            moment,
            moment,
            DAY if accession in by_day else 0,
            None,
            note=_note(fact, inconsistent),
        )
        for moment, _, accession, fact, inconsistent in counting
    ]


def _one(rows: list[Fact]) -> tuple[Fact, bool]:
    """The row that counts of those one filing gives for one fact, and whether they contradict each other."""
    chosen = rows[0]
    inconsistent = False
    for row in rows[1:]:
        if row.value == chosen.value:
            continue
        coarse = max(granularity(row.value), granularity(chosen.value))
        if abs(row.value - chosen.value) <= coarse / 2:
            if granularity(row.value) < granularity(chosen.value):
                chosen = row
        else:
            inconsistent = True
    return (rows[0], True) if inconsistent else (chosen, False)


def _value(fact: Fact) -> float:
    try:
        value = number(fact.value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{fact.tag} in filing {fact.accession}: {error}") from None
    assert value is not None
    return value


def _note(fact: Fact, inconsistent: bool) -> str:
    return msgspec.json.encode(FactNote(fact.accession, fact.form, inconsistent)).decode()
