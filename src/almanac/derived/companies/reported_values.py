"""
From rows of filings to what they state of each fact: which filings count, in which order.

Periodic reports count first. A current report (8-K) counts only as a recast of what a periodic report gave. Proxy and
registration statements, prospectuses and forms that are not named never replace a periodic value, whether it was known
before them or with them; where no periodic report gave the fact yet, theirs stands until one does.
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

import msgspec

from almanac.catalog.companies import SHEET_ANEW
from almanac.derived.companies.precision import granularity, quotes, repeats, usual_unit
from almanac.domain.companies import Fact, base_form, is_periodic
from almanac.domain.observations import DAY, ReportedValue, number
from almanac.domain.periods import key_of


class FactKey(NamedTuple):
    """Tag, unit and period that a value belongs to."""

    tag: str
    unit: str
    start: int | None
    end: int


class FactNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """Row-level metadata of a fact: the filing it is from, and whether that gives two different values for it."""

    accession: str = ""
    form: str = ""
    inconsistent: bool = False
    #: Of a balance sheet given anew: tags of the lines that were on it before and are not any more.
    without: tuple[str, ...] = ()


_ASSETS = ("us-gaap:Assets", "ifrs-full:Assets")
_BOTH = ("us-gaap:LiabilitiesAndStockholdersEquity", "ifrs-full:EquityAndLiabilities")
_EQUITY = (
    "us-gaap:StockholdersEquity",
    "us-gaap:StockholdersEquityIncludingPortionAttributableToNoncontrollingInterest",
    "us-gaap:PartnersCapital",
    "ifrs-full:Equity",
    "ifrs-full:EquityAttributableToOwnersOfParent",
)


@functools.cache
def rank(form: str) -> int:
    """0 periodic, 1 a recast, 2 everything else."""
    if is_periodic(form):
        return 0
    return 1 if base_form(form) == "8-K" else 2


def reported_values(
    facts: Iterable[Fact], known: Mapping[str, int], by_day: Container[str] = ()
) -> dict[FactKey, list[ReportedValue]]:
    """
    Return what the filings state of each fact, in the order in which it counts: later knowledge later, and at one instant
    the value that wins last. Facts of which nothing counts are left out.

    `known`: accession → unix seconds at which the filing could be read; `by_day`: accessions of which only the day is
    known. Equal values of one filing are one. Of two that differ only by rounding the finer counts; if they differ
    otherwise the first counts, and its note says `"inconsistent": true`. Raises ValueError naming a filing without a
    time, or tag and filing of a value that is no number.
    """
    rows: dict[tuple[str, str, int | None, int], list[Fact]] = defaultdict(list)
    for fact in facts:
        rows[fact[:4]].append(fact)
    reported: dict[FactKey, list[ReportedValue]] = {}
    for key, stated in rows.items():
        values = _of_fact(stated, known, by_day)
        if values:
            reported[FactKey._make(key)] = values
    return reported | _sheets_anew(rows, known, by_day)


def _sheets_anew(
    rows: Mapping[tuple[str, str, int | None, int], Sequence[Fact]],
    known: Mapping[str, int],
    by_day: Container[str],
) -> dict[FactKey, list[ReportedValue]]:
    """
    Return the balance sheets that a report other than the first gives with other numbers, and enough of them to balance.

    A line that only repeats its number is no news of its tag, so nothing else tells which lines such a report gives.
    """
    shown_by: dict[int, set[str]] = defaultdict(set)
    for (tag, _, _, end), stated in rows.items():
        if tag in _ASSETS:
            shown_by[end].update(fact.accession for fact in stated if rank(fact.form) < 2)
    sheets: dict[int, dict[str, dict[str, Fact]]] = {
        end: {accession: {} for accession in by} for end, by in shown_by.items() if len(by) > 1
    }
    for (tag, money, start, end), facts in rows.items():
        by_filing = sheets.get(end) if start is None and len(money) == 3 else None
        if by_filing is not None:
            for fact in facts:
                if fact.accession in by_filing:
                    by_filing[fact.accession][tag] = fact
    anew_by_day: dict[FactKey, list[ReportedValue]] = {}
    for end, by_filing in sheets.items():
        shown: dict[str, float] = {}
        were: set[str] = set()
        for accession in sorted(by_filing, key=lambda name: (known[name], name)):
            lines = {tag: _value(fact) for tag, fact in by_filing[accession].items()}
            if not _balances(lines):
                continue
            given = by_filing[accession].keys()
            usual = usual_unit(lines.values())
            anew = {
                tag: value
                for tag, value in lines.items()
                if tag not in shown or not (repeats(shown[tag], value) or quotes(value, shown[tag], usual))
            }
            if anew.keys() & shown.keys():
                fact = next(iter(by_filing[accession].values()))
                note = _note(accession, fact.form, False, tuple(sorted(were - given)))
                moment, flags = known[accession], DAY if accession in by_day else 0
                filed = float(fact.filed)
                value = ReportedValue(key_of(None, end), filed, moment, moment, flags, None, False, note)
                anew_by_day.setdefault(FactKey(SHEET_ANEW, "pure", None, end), []).append(value)
            shown.update(anew)
            were |= given
    return anew_by_day


def _balances(lines: Mapping[str, float]) -> bool:
    """Return whether lines of one filing are enough of a balance sheet: total assets, and as much on its other side, or equity."""
    assets = next((lines[tag] for tag in _ASSETS if tag in lines), None)
    both = next((lines[tag] for tag in _BOTH if tag in lines), None)
    if assets is None or both is None:
        return assets is not None and any(tag in lines for tag in _EQUITY)
    return abs(assets - both) <= 0.5 * granularity(assets)


def _of_fact(stated: Sequence[Fact], known: Mapping[str, int], by_day: Container[str]) -> list[ReportedValue]:
    """Return what counts of all rows of one fact."""
    filings: dict[str, list[Fact]] = {}
    for fact in stated:
        filings.setdefault(fact.accession, []).append(fact)
    counting: list[tuple[int, int, str, Fact, bool]] = []
    periodic: int | None = None
    for accession, rows in filings.items():
        moment = known.get(accession)
        if moment is None:
            raise ValueError(f"nobody says when filing {accession} was known")
        fact, inconsistent = (rows[0], False) if len(rows) == 1 else _one(rows)
        place = rank(rows[0].form)
        if place == 0 and (periodic is None or moment < periodic):
            periodic = moment
        counting.append((moment, -place, accession, fact, inconsistent))
    counting.sort(key=itemgetter(0, 1, 2))
    period = key_of(stated[0].start, stated[0].end)
    values: list[ReportedValue] = []
    for moment, place, accession, fact, inconsistent in counting:
        is_after = periodic is not None and periodic <= moment
        if place == 0 or (place == -1) == is_after:
            note, flags = _note(accession, fact.form, inconsistent, ()), DAY if accession in by_day else 0
            values.append(ReportedValue(period, _value(fact), moment, moment, flags, None, False, note))
    return values


def _one(rows: list[Fact]) -> tuple[Fact, bool]:
    """Return the row that counts of those one filing gives for one fact, and whether they contradict each other."""
    chosen = rows[0]
    for row in rows[1:]:
        unit, finest = granularity(row.value), granularity(chosen.value)
        if abs(row.value - chosen.value) > max(unit, finest) / 2:
            return rows[0], True
        if row.value != chosen.value and unit < finest:
            chosen = row
    return chosen, False


def _value(fact: Fact) -> float:
    try:
        value = number(fact.value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{fact.tag} in filing {fact.accession}: {error}") from None
    assert value is not None
    return value


@functools.lru_cache(maxsize=4_096)
def _note(accession: str, form: str, inconsistent: bool, without: tuple[str, ...]) -> str:  # `FactNote`
    return msgspec.json.encode(FactNote(accession, form, inconsistent, without)).decode()
