"""
What a company shows anew: lines of a period that are of one basis, where a later report gives some of them without a part.

A group that spun a part off shows the years before without it, and not on every statement.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Mapping
from itertools import pairwise

from almanac.catalog.companies import Item
from almanac.derived.companies.facts import FactHistory, FactVintage, KnownFacts, letter
from almanac.derived.companies.fiscal_calendar import Span
from almanac.derived.companies.quarters import stated_in
from almanac.derived.companies.tag_mapping import TagMapping

#: Part of a number by which another one is not a correction of it, but of another basis.
_ANOTHER_BASIS = 0.1
#: Days from a balance sheet to the latest report that shows it: the next annual one. A quarterly one shows the last
#: fiscal year's, less than three quarters back.
_SHEETS, _QUARTERS = 380, 300


class Recasts:
    """What is known of the bases of single lines. `own_end`: filing → last day of the period it is about."""

    def __init__(self, known_facts: KnownFacts, mapping: TagMapping, own_end: Mapping[str, int]) -> None:
        self.known_facts = known_facts
        self.mapping = mapping
        self.own_end = own_end

    def on_the_sheet(self, fact: FactHistory, end: int, years: Container[int]) -> FactVintage:
        """
        The newest state that a whole balance sheet gives.

        Later reports give single balances of the day, as the cash and the equity that another period begins with. Where
        those are far from the sheet's, they are of another basis than its other lines: a spun-off part is not in them.
        """
        latest = fact.latest
        if fact.count == 1 or not self._is_aside(latest, end, years):
            return latest
        sheet = next((b.state for b in reversed(fact.bases) if not self._is_aside(b.state, end, years)), latest)
        return sheet if abs(latest.value - sheet.value) > _ANOTHER_BASIS * abs(sheet.value) else latest

    def _is_aside(self, state: FactVintage, end: int, years: Container[int]) -> bool:
        """Whether the filing's own sheets, of its end and of the fiscal year before, are of other days."""
        days = self.own_end.get(state.accession, end) - end
        return days > _SHEETS or (days > _QUARTERS and end not in years)

    def successor(self, item: Item, kind: str, span: Span, tags: Collection[str]) -> tuple[str, FactVintage] | None:
        """
        Tag and state of the report that recast a stated period of `tags`, where that report gives it in another tag only.

        A group that spun a part off shows the years before without it, and its revenue perhaps in a tag of its own: the
        old tag would stay, beside the income of what is left.
        """
        rivals = self.mapping.sought[item.key].rivals
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
        end = self.own_end.get(state.accession)
        if end is None or end <= span.end:
            return False
        given = {name for name in (tag, *tags) if self._gives(name, kind, end, state.known)}
        return given == {tag}

    def _gives(self, tag: str, kind: str, end: int, moment: int) -> bool:
        facts = self.known_facts.tags.get(tag, {}).get(end, {}).items()
        return any(
            start is not None and letter(start, end) == kind and fact.history[0].known <= moment
            for start, fact in facts
        )

    def _was_recast(self, span: Span, kind: str, moment: int) -> bool:
        """Whether incomes or cash flows of a period became others at a moment, by more than a correction."""
        for tag in self.mapping.core:
            fact = self._stated(tag, kind, span)
            if fact is None or fact.count == 1:
                continue
            bases = fact.bases
            for before, now in pairwise(bases):
                if now.since == moment and abs(now.state.value - before.state.value) > _ANOTHER_BASIS * abs(
                    before.state.value
                ):
                    return True
        return False
