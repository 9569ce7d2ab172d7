"""
What a sum of tags comes to over one own period, or at its end.

A balance is read from the sheet of its day, and what a company shows anew from one presentation: a group that spun a part
off shows the years before without it, and not on every statement.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection
from itertools import pairwise

from almanac.catalog.companies import SHEET_ANEW, Expression, Item
from almanac.derived.companies.facts import FactHistory, FactVintage, letter
from almanac.derived.companies.financials import Amount
from almanac.derived.companies.fiscal_calendar import Span
from almanac.derived.companies.precision import repeats
from almanac.derived.companies.reading.quarters import REFUSED, Known, Outcome, as_amount, own_period, stated_in, total
from almanac.derived.companies.reading.tag_mapping import COVER_DAYS, TagCriteria

#: Part of a number within which another one may be the same line as a later filing restates it.
_NEARLY = 0.05
#: Part of a number by which another one is not a correction of it, but of another basis.
_ANOTHER_BASIS = 0.1


def sum_of_tags(
    known: Known, candidate: Expression, kind: str, end: int, span: Span | None, criteria: TagCriteria
) -> Outcome:
    """
    Return the sum over a period, at its end where there is no span; no amount where a part of it is not known.

    An optional part is left out only where nothing that ends on that day gives it: not where it is in a longer period.
    """
    if len(candidate) == 1:
        return one_tag(known, candidate[0].name, kind, end, span, criteria)
    # A part that may stand alone is what the item is; another may be less than nothing.
    alone = all(term.optional for term in candidate[1:])
    # Its other parts are no rivals of one: the smaller of two is not a slice of the larger.
    terms = {term.name for term in candidate}
    rivals = tuple(rival for rival in criteria.rivals if rival not in terms)
    parts = criteria._replace(rivals=rivals) if alone else TagCriteria(criteria.additive)
    amounts: list[Amount] = []
    signs: list[int] = []
    for term in candidate:
        amount = one_tag(known, term.name, kind, end, span, parts)
        adds = span is not None and term.sign > 0
        if not isinstance(amount, Amount):
            if not term.optional:
                return amount
            if adds and known.facts.given(term.name, end):
                return amount or f"{REFUSED}: {term.name} is given for a longer period, and not for this one"
        elif not (adds and term.optional and any(_is_one_line(known, other, amount) for other in amounts)):
            amounts.append(amount)
            signs.append(term.sign)
    if not amounts or (len(amounts) == 1 and signs[0] > 0):
        return amounts[0] if amounts else None
    method = next((amount.method for amount in amounts if amount.method), "sum_of_tags")
    return total(amounts, method, amounts[0].start, end, signs)


def _is_one_line(known: Known, one: Amount, other: Amount) -> bool:
    """Return whether two tags of a sum are one line said twice: the same number, or nearly so and in no filing beside each other."""
    if one.value == other.value != 0:
        return True
    if one.method or other.method or abs(one.value - other.value) > _NEARLY * abs(one.value):
        return False
    filings: list[set[str]] = []
    for amount in (one, other):
        fact = stated_in(known.facts.ending(amount.tags[0].rpartition(":")[0], amount.end), amount.start or 0)
        filings.append(set() if fact is None else {state.accession for state in fact.states})
    return filings[0].isdisjoint(filings[1])


def one_tag(known: Known, tag: str, kind: str, end: int, span: Span | None, criteria: TagCriteria) -> Outcome:
    """One tag over a period, or at its end."""
    if span is not None:
        return own_period(known, tag, kind, span, criteria)
    is_cover = tag.startswith("dei:")
    day = cover_day(known, tag, end) if is_cover else end
    fact = None if day is None else known.facts.fact(tag, None, day)
    if fact is None:
        return None
    state = on_the_sheet(known, tag, fact, end) if criteria.whole and not is_cover else fact.latest
    return None if state is None else as_amount(tag, "Q", state, None, end)


def cover_day(known: Known, tag: str, end: int) -> int | None:
    """Return the day of the cover of the report about a period: dated after it, and not of a later report."""
    covers = known.history.covers
    for day in covers[bisect_left(covers, end) : bisect_left(covers, end + COVER_DAYS)]:
        fact = known.facts.fact(tag, None, day)
        if fact is not None and known.history.calendar.own_end.get(fact.states[0].accession, end) == end:
            return day
    return None


def on_the_sheet(known: Known, tag: str, fact: FactHistory, end: int) -> FactVintage | None:
    """
    Return the state of a tag that the balance sheet of a day shows; None where it shows none.

    The sheet is that of the report about the day, its amendments with it, until a later one gives the sheet anew:
    then its lines replace all others. Single lines that later reports give, as the cash and the equity that another
    period begins with, may be of another basis, and replace nothing.
    """
    anew = known.facts.fact(SHEET_ANEW, None, end)
    sheet = None if anew is None else anew.states[-1]
    if sheet is not None and tag in sheet.without:
        return None
    if len(fact.states) == 1:
        return fact.latest
    own = known.history.calendar.own_known.get(end, ())
    shown, *later = fact.bases
    for basis in later:
        if basis.since in own or (sheet is not None and basis.since <= sheet.known):
            shown = basis
    return shown.state


def beside_the_sheet(known: Known, tag: str, fact: FactHistory, end: int) -> FactVintage | None:
    """Return the state of a tag that was given last where that is another number than the sheet's; None where it is none."""
    shown, last = on_the_sheet(known, tag, fact, end), fact.latest
    return None if shown is None or repeats(shown.value, last.value) else last


def shown_anew(
    known: Known, item: Item, kind: str, span: Span, tags: Collection[str]
) -> tuple[str, FactVintage] | None:
    """
    Tag and state of the report that recast a stated period of `tags`, where that report gives it in another tag only.

    A group that spun a part off shows the years before without it, and its revenue perhaps in a tag of its own: the
    old tag would stay, beside the income of what is left.
    """
    stated = {
        tag: fact
        for tag in known.mapping.rules[item.key].criteria.rivals
        if (fact := stated_in(known.facts.ending(tag, span.end), span.start)) is not None
    }
    last = max((fact.latest.known for tag, fact in stated.items() if tag in tags), default=None)
    for tag, fact in stated.items():
        state = fact.latest
        if last is None or state.known <= last or tag in tags:
            continue
        # The filing gives its own period in that tag, and not in those of the item before.
        end = known.history.calendar.own_end.get(state.accession)
        if end is None or end <= span.end:
            continue
        given = {name for name in (tag, *tags) if _gives(known, name, kind, end, state.known)}
        if given == {tag} and _was_recast(known, span, state.known):
            return tag, state
    return None


def _gives(known: Known, tag: str, kind: str, end: int, moment: int) -> bool:
    return any(
        start is not None and letter(start, end) == kind and fact.states[0].known <= moment
        for start, fact in known.facts.ending(tag, end).items()
    )


def _was_recast(known: Known, span: Span, moment: int) -> bool:
    """Whether incomes or cash flows of a period became others at a moment, by more than a correction."""
    for tag in known.mapping.core:
        fact = stated_in(known.facts.ending(tag, span.end), span.start)
        for before, now in pairwise(fact.bases) if fact is not None and len(fact.states) > 1 else ():
            change = abs(now.state.value - before.state.value)
            if now.since == moment and change > _ANOTHER_BASIS * abs(before.state.value):
                return True
    return False
