"""Explanations of companies' derived values: the facts used, and the value computed again."""

from __future__ import annotations

from collections.abc import Iterable

from almanac.catalog.companies import items
from almanac.derived.companies.facts import CompanyInput
from almanac.derived.companies.financials import Amount, CompanyFinancials
from almanac.derived.companies.line_items import as_known
from almanac.derived.companies.ratios import measures
from almanac.derived.companies.ttm import REACH_DAYS
from almanac.domain.memory import uncollected
from almanac.domain.observations import InputCell, Recomputed, Vintage
from almanac.domain.periods import Frequency, end_of
from almanac.pipeline.derive.companies import read
from almanac.store.observations.reading.pages import ObservationRow
from almanac.store.observations.reading.reader import View


def explain_company(view: View, row: ObservationRow) -> Recomputed | None:
    """
    Explain a line of a statement, a twelve-month figure, a ratio or a score. Return None for an unknown company; the
    value is None if it can't be computed any more.
    """
    # A company has tens of thousands of facts in small tuples; collecting garbage among them took half the time.
    with uncollected():
        return _explained(view, row)


def _explained(view: View, row: ObservationRow) -> Recomputed | None:
    spec = row.series.spec
    company = read(view, spec.entity, placed=True)
    if company is None:
        return None
    end = end_of(row.period).toordinal()
    found: tuple[float, tuple[Amount, ...]] | None = None
    item = items().get(spec.indicator)
    # Only what the value can depend on: all of the company's years would be ten times the work.
    ledger = as_known(company, row.known, range(end if item is not None else end - REACH_DAYS, end + 1))
    if item is not None:
        amount = _amounts(ledger, spec.frequency, instant=item.is_instant).get(spec.indicator, {}).get(end)
        found = None if amount is None else (amount.value, (amount,))
    else:
        measure = measures(ledger, end, spec.frequency).get(spec.indicator)
        found = None if measure is None else (measure.value, measure.parts)
    if found is None:
        return Recomputed(None, None, [])
    places = dict.fromkeys(place for amount in found[1] for place in amount.raw_cells)
    return Recomputed(found[0], None, list(_inputs(company, places, row.known)))


def _amounts(ledger: CompanyFinancials, frequency: Frequency, *, instant: bool) -> dict[str, dict[int, Amount]]:
    if instant:
        return ledger.balances
    if frequency is Frequency.ANNUAL:
        return ledger.years
    return ledger.halves if frequency is Frequency.SEMIANNUAL else ledger.quarters


def _inputs(company: CompanyInput, places: Iterable[tuple[str, int]], moment: int) -> Iterable[InputCell]:
    """Yield each fact in the state known at the moment."""
    held = {
        state.raw_cell: state
        for facts in (company.facts, *company.others.values())
        for periods in facts.values()
        for history in periods.values()
        for state in history
        if state.known <= moment
    }
    for place in places:
        state = held[place]
        vintage = Vintage(state.known, state.value, None, state.flags, state.released, state.ingested, 0)
        yield InputCell(*place, vintage)
