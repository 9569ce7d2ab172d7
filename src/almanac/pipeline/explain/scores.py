"""Explanations of companies' scores for the HTTP interface, test by test, from the served lines of their statements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from almanac.catalog.companies import items
from almanac.catalog.measures import measures
from almanac.derived.companies.financials import Amount, CompanyFinancials, MeasureValue
from almanac.derived.companies.ratios import SCORES, RatioInputs, ScoreBreakdown, detail, parsed
from almanac.derived.companies.ttm import REACH_DAYS, periods
from almanac.domain.numbers import plain
from almanac.domain.periods import Frequency, add_months, days_of, end_of
from almanac.domain.times import day_at, wire_day
from almanac.reports.scoring import MONTHS
from almanac.store.companies import facts, rows, statements
from almanac.store.companies.statements import INCOME
from almanac.store.observations.reading.reader import View as StoreView

#: Extra days to read before the reach of a score: its twelve months may end eighteen months before the newest, and the
#: chain of quarters behind it may begin earlier still.
_SLACK = 400 + 550
#: Prefixes of raw series names, by taxonomy.
_STANDARDS = ("us_gaap_", "ifrs_full_")


def explain_scores(view: StoreView, entity: str, at: int, ends_from: date | None) -> Mapping[str, Mapping[str, Any]]:
    """
    Return each score with its tests, their inputs and values, as known at `at` (unix seconds). It implements
    `api.ports.ScoreExplainer`.

    All scores are of the newest twelve months that have one of them, as in the lists. An input whose period ends before
    `ends_from` has no value. The result is empty if nothing can be computed, or if the company's newest period ends
    before `ends_from`. Numbers are as the wire writes them.
    """
    found = ledger(view, entity, at)
    if found is None:
        return {}
    frequency, ends = periods(found)
    if not ends or (ends_from is not None and ends[-1] < ends_from.toordinal()):
        return {}
    end, scores = _newest(found, frequency, ends, max((ends_from or date.min).toordinal(), _oldest(at, ends[-1])))
    seen = RatioInputs(found, end, frequency)
    told = msgspec.to_builtins(scores)
    for score in told.values():
        score["periodEnd"] = wire_day(date.fromordinal(end))
        score["value"] = _plain(score["value"])
        for test in score["tests"]:
            test["value"] = _plain(test["value"])
            test["inputs"] = {
                name: _plain(value) if _within(seen, end, name, ends_from) else None
                for name, value in test["inputs"].items()
            }
    return {_camel(slug): score for slug, score in told.items()}


def _newest(
    found: CompanyFinancials, frequency: Frequency, ends: Sequence[int], first: int
) -> tuple[int, dict[str, ScoreBreakdown]]:
    """Return the newest twelve months, ending on `first` or later, that have a score; without any, the newest of all."""
    for end in reversed(ends):
        if end < first:
            break
        scores = detail(found, end, frequency)
        if any(scores[slug].value is not None for slug in SCORES if slug in scores):
            return end, scores
    return ends[-1], detail(found, ends[-1], frequency)


def _oldest(at: int, newest: int) -> int:
    """Return the first day on which the period of a score may end. There is no limit for a company that no longer reports."""
    first = add_months(date.fromordinal(day_at(at)), -MONTHS).toordinal()
    return first if newest >= first else 1


def ledger(view: StoreView, entity: str, at: int) -> CompanyFinancials | None:
    """
    Return the stored financials of a company's last years for scores, or None if it has no statements at that moment.

    Twelve-month sums are those that the scores were computed from. Reporting bases are told apart by currency and by the
    standard of the raw series.
    """
    record = rows.by_id(view, entity)
    newest = statements.newest(
        view, entity, [INCOME], statements.FREQUENCIES, version=view.version, known_by=at, limit=1
    )
    if record is None or not newest:
        return None
    kinds: dict[str, dict[str, dict[int, Amount]]] = {
        kind: defaultdict(dict) for kind in ("quarters", "halves", "years", "balances")
    }
    twelve: dict[str, dict[int, MeasureValue]] = defaultdict(dict)
    by_letter = {"Q": "quarters", "S": "halves", "A": "years"}
    ends: dict[str, set[int]] = {"Q": set(), "S": set(), "A": set()}
    lines, made = items(), measures()
    first = end_of(newest[0].period).toordinal() - REACH_DAYS - _SLACK
    stored = facts.derived_values(view, entity, record.source, first, at, view.version)
    bases = _ReportingBases(view, stored)
    for one in stored:
        item, measure = lines.get(one.indicator), made.get(one.indicator)
        start, end = days_of(one.period)
        if item is not None:
            kind = "balances" if item.is_instant else by_letter[one.frequency]
            kinds[kind][one.indicator][end] = Amount(one.value, start, end, (), reporting_basis=bases.of(one))
            ends[one.frequency].add(end)
        elif measure is not None and measure.kind == "ttm" and start is not None:
            whole = Amount(one.value, start, end, (), reporting_basis=bases.of(one))
            twelve[measure.item][end] = MeasureValue(one.value, start, end, (whole,), "stored")
    return CompanyFinancials(
        kinds["quarters"], kinds["years"], kinds["halves"], {}, kinds["balances"],
        tuple(sorted(ends["A"])), tuple(sorted(ends["Q"])), record.template, record.currency or "USD", twelve,
    )  # fmt: skip


class _ReportingBases:
    """Numbers for the standard and currency of stored values. All values of one kind, frequency and period share them."""

    def __init__(self, view: StoreView, stored: Iterable[facts.Stored]) -> None:
        standards: dict[tuple[bool, str, int], str | None] = {}
        currencies: dict[tuple[bool, str, int], str | None] = {}
        for one in stored:
            place = self._place(one)
            if standards.get(place) is None:
                standards[place] = _standard(view.directory.lineage(one.lineage))
            currencies[place] = one.variant or currencies.get(place)
        self._number: dict[tuple[bool, str, int], int] = {}
        known: dict[tuple[str | None, str | None], int] = {}
        for place, standard in standards.items():
            self._number[place] = known.setdefault((standard, currencies[place]), len(known))

    def of(self, one: facts.Stored) -> int:
        """Return the number of a value's reporting basis."""
        return self._number[self._place(one)]

    def _place(self, one: facts.Stored) -> tuple[bool, str, int]:
        return one.indicator in measures(), one.frequency, one.period


def _standard(series: Iterable[str]) -> str | None:
    """Return `us_gaap` or `ifrs_full`, by the names of raw series, or None if none of them has such a name."""
    slugs = (identifier.split(":")[2] for identifier in series)
    return next((name for slug in slugs for name in _STANDARDS if slug.startswith(name)), None)


def _within(seen: RatioInputs, end: int, name: str, ends_from: date | None) -> bool:
    """Return whether the period of an input ends inside the plan's window."""
    if ends_from is None:
        return True
    back = parsed(name).back
    if back:
        start = seen.start(back - 1)
        if start is None:
            return False
        end = start - 1
    return end >= ends_from.toordinal()


def _plain(value: float | None) -> float | int | None:
    return None if value is None else plain(value)


def _camel(slug: str) -> str:
    first, *others = slug.split("_")
    return first + "".join(word.capitalize() for word in others)
