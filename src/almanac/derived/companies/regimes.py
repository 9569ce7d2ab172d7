"""
Which accounting standard and currency a filing reports in, and in which of them each period is read.

A filer that goes from US GAAP to IFRS, or from one currency to another, has two regimes with a day between them. A
filing is of the regime in which it gives most of what tells of a period; what it gives beside that (dollars for
convenience) is not read. A period is of the regime of the filing that gave it last, and mixes none: lines that this
filing does not restate are absent. All that is looked at was known by then.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from almanac.catalog.companies import SHEET_ANEW
from almanac.derived.companies.facts import (
    CompanyInput,
    Disclosure,
    Facts,
    FactVintage,
    KnownFacts,
    disclosures,
    letter,
)

#: What stands on covers is of no standard, and neither is what a statement presents as total.
_COVER = "dei:"
_NEUTRAL = ("dei:", "pre:")
_SHARES, _UNITS = "Shares", ("UnitsOutstanding", "UnitsOutstandingDiluted")


class Regime(NamedTuple):
    """`standard`: the taxonomy of the tags (us-gaap, ifrs-full)."""

    standard: str
    currency: str


class Regimes:
    """The regimes of one company, the facts of each, and all its disclosures in the order they became known."""

    def __init__(self, company: CompanyInput, core: frozenset[str], whole_sheet: frozenset[str]) -> None:
        """`core`: tags that show that a period was reported; `whole_sheet`: that a balance sheet was."""
        self._core = core
        self._whole_sheet = whole_sheet
        told = [(company.currency, disclosure) for disclosure in disclosures(company.facts)]
        for currency, facts in company.others.items():
            told += [(currency, disclosure) for disclosure in disclosures(facts)]
        standards = {
            disclosure.tag.partition(":")[0] for _, disclosure in told if not disclosure.tag.startswith(_NEUTRAL)
        }
        if len(standards) < 2 and not company.others:
            self.names = [Regime(next(iter(standards), "us-gaap"), company.currency)]
            self.disclosures = [disclosure for _, disclosure in told]
            self.facts: list[Facts] = [company.facts]
            return
        told.sort(key=lambda one: one[1].known)
        of_filing = self._of_filings(company, told)
        self.names = list(dict.fromkeys(of_filing.values())) or [Regime("us-gaap", company.currency)]
        place = {regime: number for number, regime in enumerate(self.names)}
        kept: list[dict[str, dict[tuple[int | None, int], list[FactVintage]]]] = [defaultdict(dict) for _ in self.names]
        self.disclosures = []
        for currency, disclosure in told:
            number = place[of_filing[disclosure.vintage.accession]]
            standard, money = self.names[number]
            taxonomy = disclosure.tag.partition(":")[0]
            covers = taxonomy == _COVER[:-1]
            if not covers and (
                (taxonomy != standard and not disclosure.tag.startswith(_NEUTRAL))
                or (currency != money and not _is_no_money(disclosure.tag))
            ):
                continue
            for one in range(len(self.names)) if covers else (number,):
                kept[one][disclosure.tag].setdefault((disclosure.start, disclosure.end), []).append(disclosure.vintage)
                self.disclosures.append(disclosure._replace(regime=one))
        self.facts = list(kept)

    def _of_filings(self, company: CompanyInput, told: Iterable[tuple[str, Disclosure]]) -> dict[str, Regime]:
        rows: dict[str, Counter[Regime]] = defaultdict(Counter)
        for currency, disclosure in told:
            regimes = rows[disclosure.vintage.accession]
            if disclosure.tag in self._core or disclosure.tag in self._whole_sheet:
                regimes[Regime(disclosure.tag.partition(":")[0], currency)] += 1
        found: dict[str, Regime] = {}
        before: Regime | None = None
        for accession in sorted(rows, key=lambda one: (company.filings[one].known_at or 0, one)):
            counted = rows[accession]
            if counted:
                # Of as many rows the regime there was, and not dollars: those are given for convenience.
                before = max(counted, key=lambda one: (counted[one], one == before, one.currency != "USD", one))
            found[accession] = before or Regime("us-gaap", company.currency)
        return found

    def of(self, known_facts: KnownFacts, kind: str, end: int) -> int:
        """Return the regime of an own period (`kind` Q, S or A), or of a balance sheet (I): that of the filing that gave it last."""
        best, number = -1, 0
        for one, tags in enumerate(known_facts.views):
            for tag in self._whole_sheet if kind == "I" else self._core:
                for start, fact in tags.get(tag, {}).get(end, {}).items():
                    if kind == "A" and letter(start, end) != kind:
                        continue
                    known = fact.history[fact.count - 1].known
                    if known > best:
                        best, number = known, one
        return number


def _is_no_money(tag: str) -> bool:
    return tag == SHEET_ANEW or tag.endswith(_UNITS) or (_SHARES in tag and "PerShare" not in tag)
