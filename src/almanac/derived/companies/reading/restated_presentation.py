"""
What a company shows anew: lines of a period that are of one basis, where a later report gives some of them without a part.

A group that spun a part off shows the years before without it, and not on every statement.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from almanac.catalog.companies import SHEET_ANEW, Item
from almanac.derived.companies.facts import FactHistory, FactVintage, KnownFacts, letter
from almanac.derived.companies.fiscal_calendar import FiscalCalendar, Span
from almanac.derived.companies.precision import repeats
from almanac.derived.companies.reading.quarters import stated_in
from almanac.derived.companies.reading.tag_mapping import TagMapping

#: Part of a number by which another one is not a correction of it, but of another basis.
_ANOTHER_BASIS = 0.1


class RestatedPresentation:
    """Restatements of single lines, as known at a moment."""

    def __init__(self, known_facts: KnownFacts, mapping: TagMapping, calendar: FiscalCalendar) -> None:
        self.known_facts = known_facts
        self.mapping = mapping
        self.calendar = calendar

    def on_the_sheet(self, tag: str, fact: FactHistory, end: int) -> FactVintage | None:
        """
        Return the state of a tag that the balance sheet of a day shows; None where it shows none.

        The sheet is that of the report about the day, its amendments with it, until a later one gives the sheet anew:
        then its lines replace all others. Single lines that later reports give, as the cash and the equity that another
        period begins with, may be of another basis, and replace nothing.
        """
        anew = self.known_facts.fact(SHEET_ANEW, None, end)
        sheet = None if anew is None else anew.states[-1]
        if sheet is not None and tag in sheet.without:
            return None
        if len(fact.states) == 1:
            return fact.latest
        own = self.calendar.own_known.get(end, ())
        held, *later = fact.bases
        for basis in later:
            if basis.since in own or (sheet is not None and basis.since <= sheet.known):
                held = basis
        return held.state

    def beside_the_sheet(self, tag: str, fact: FactHistory, end: int) -> FactVintage | None:
        """Return the state of a tag that was given last where that is another number than the sheet's; None where it is none."""
        shown, last = self.on_the_sheet(tag, fact, end), fact.latest
        return None if shown is None or repeats(shown.value, last.value) else last

    def successor(self, item: Item, kind: str, span: Span, tags: Collection[str]) -> tuple[str, FactVintage] | None:
        """
        Tag and state of the report that recast a stated period of `tags`, where that report gives it in another tag only.

        A group that spun a part off shows the years before without it, and its revenue perhaps in a tag of its own: the
        old tag would stay, beside the income of what is left.
        """
        rivals = self.mapping.reading.criteria[item.key].rivals
        held = [fact for tag in rivals if tag in tags and (fact := self._stated(tag, kind, span)) is not None]
        known = max((fact.latest.known for fact in held), default=None)
        for tag in rivals:
            fact = self._stated(tag, kind, span)
            if fact is None or known is None or fact.latest.known <= known or tag in tags:
                continue
            state = fact.latest
            if self._is_line(tag, tags, kind, span, state) and self._was_recast(span, kind, state.known):
                return tag, state
        return None

    def _stated(self, tag: str, kind: str, span: Span) -> FactHistory | None:
        return stated_in(self.known_facts.tags.get(tag, {}).get(span.end, {}), kind, span.start)

    def _is_line(self, tag: str, tags: Collection[str], kind: str, span: Span, state: FactVintage) -> bool:
        """Whether a filing gives its own period in that tag, and not in those of the item before."""
        end = self.calendar.own_end.get(state.accession)
        if end is None or end <= span.end:
            return False
        given = {name for name in (tag, *tags) if self._gives(name, kind, end, state.known)}
        return given == {tag}

    def _gives(self, tag: str, kind: str, end: int, moment: int) -> bool:
        facts = self.known_facts.tags.get(tag, {}).get(end, {}).items()
        return any(
            start is not None and letter(start, end) == kind and fact.states[0].known <= moment for start, fact in facts
        )

    def _was_recast(self, span: Span, kind: str, moment: int) -> bool:
        """Whether incomes or cash flows of a period became others at a moment, by more than a correction."""
        for tag in self.mapping.core:
            fact = self._stated(tag, kind, span)
            if fact is None or len(fact.states) == 1:
                continue
            bases = fact.bases
            for before, now in pairwise(bases):
                if now.since == moment and abs(now.state.value - before.state.value) > _ANOTHER_BASIS * abs(
                    before.state.value
                ):
                    return True
        return False
