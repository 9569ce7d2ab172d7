"""What stands as of a moment: from the vintages of a derivation, and plainly from the financials."""

from almanac.catalog.companies import items
from almanac.domain.periods import Frequency, key_of

SERVED = {key for key, item in items().items() if item.served}


def standing(outcome, moment):
    """(item, frequency letter, period key) → value as of a moment, from the vintages of a derivation."""
    found = {}
    for (key, frequency), cells in outcome.items.items():
        for period, made in cells.items():
            known = [one for one in made if one.known <= moment]
            if known and known[-1].value is not None:
                found[key, frequency.value, period] = known[-1].value
    return found


def plainly(financials, measured=None):
    """The same from the financials."""
    found = {}
    for letter, values in (("Q", financials.quarters), ("A", financials.years), ("S", financials.halves)):
        for key, amounts in values.items():
            if key in SERVED:
                for end, amount in amounts.items():
                    found[key, letter, key_of(amount.start, end)] = amount.value
    halves = {end for amounts in financials.halves.values() for end in amounts}
    for key, amounts in financials.balances.items():
        if key in SERVED:
            for end, amount in amounts.items():
                for letter, ends in (("Q", financials.quarter_ends), ("A", financials.year_ends), ("S", halves)):
                    if end in ends:
                        found[key, letter, key_of(None, end)] = amount.value
    if measured:
        ends = sorted({*financials.quarter_ends, *financials.year_ends})
        frequency = Frequency.QUARTERLY if financials.quarter_ends else Frequency.ANNUAL
        for end in ends:
            for slug, one in measured(financials, end, frequency).items():
                found[slug, frequency.value, key_of(one.start, one.end)] = one.value
    return found


def moments_of(company):
    known = {v.known for periods in company.facts.values() for history in periods.values() for v in history}
    return sorted(known | {filing.known_at for filing in company.filings.values()})
