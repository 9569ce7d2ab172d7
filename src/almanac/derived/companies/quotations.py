"""
Numbers that a later filing only quotes, with fewer digits than the statement they are from.

A report in millions repeats what an earlier one stated in thousands, rounded so that its columns add up, and the text of
a note speaks of "about 12.3 billion". Company facts have one value of a fact from each filing, so the rounded one stands
there alone. It restates nothing: the exact number stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from almanac.derived.companies.facts import CompanyInput, Facts, FactVintage
from almanac.derived.companies.precision import agree, foots, quotes, usual_unit
from almanac.derived.companies.scales import is_money

_Span = tuple[int | None, int]
#: Units by which a flow may be off: it is a sum of lines that were rounded themselves.
_LINES = 2


class _Change(NamedTuple):
    """A later state of a fact, and the number that stood before it."""

    tag: str
    span: _Span
    state: FactVintage
    before: float


def without_quotations(company: CompanyInput) -> CompanyInput:
    """Leave out the states of facts that only quote a number which an earlier filing stated exactly."""
    others = {currency: _without_quotations(facts) for currency, facts in company.others.items()}
    return company._replace(facts=_without_quotations(company.facts), others=others)


def _without_quotations(facts: Facts) -> Facts:
    changes = list(_changes(facts))
    units = _units(facts, {change.state.accession for change in changes})
    rounded, quoted, anew = list[_Change](), list[_Change](), set[tuple[str, _Span]]()
    for change in changes:
        value, accession = change.state.value, change.state.accession
        if foots(value, change.before, units[accession], 1 if change.span[0] is None else _LINES):
            rounded.append(change)
        elif quotes(value, change.before, units[accession]):
            quoted.append(change)
        elif not agree(value, change.before):
            anew.add((accession, change.span))
    # A filing that restates another line of the period gives that period anew, whatever the digits of its numbers.
    rounded += [change for change in quoted if (change.state.accession, change.span) not in anew]
    exact: dict[str, dict[_Span, Sequence[FactVintage]]] = {}
    for tag, span, quotation, _ in rounded:
        periods = exact.setdefault(tag, dict(facts[tag]))
        periods[span] = [state for state in periods[span] if state is not quotation]
    return {**facts, **exact}


def _changes(facts: Facts) -> Iterator[_Change]:
    """Yield each state of money after the first with the most exact number that stood before."""
    for tag, periods in facts.items():
        for span, history in periods.items() if is_money(tag) else ():
            before = history[0].value
            for state in history[1:]:
                yield _Change(tag, span, state, before)
                if not (agree(state.value, before) or quotes(state.value, before, 1.0)):
                    before = state.value


def _units(facts: Facts, accessions: Iterable[str]) -> Mapping[str, float]:
    """Return the unit that each of some filings states its money in."""
    values: dict[str, list[float]] = {accession: [] for accession in accessions}
    for tag, periods in facts.items():
        for history in periods.values() if is_money(tag) else ():
            for state in history:
                if state.accession in values:
                    values[state.accession].append(state.value)
    return {accession: usual_unit(numbers) for accession, numbers in values.items()}
