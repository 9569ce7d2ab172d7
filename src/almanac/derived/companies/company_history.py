"""
All that filings ever say of a company, made ready to be read: scale, quotations, reporting basis, calendar, tags.

A reporting basis is an accounting standard and a currency. A filer that goes from US GAAP to IFRS, or from one currency to
another, has two with a day between them. A filing is of the reporting basis in which it gives most of what tells of a period; what
it gives beside that (dollars for convenience) is not read. A period is of the reporting basis of the filing that gave it last, and
mixes none: lines that this filing does not restate are absent. All that is looked at was known by then.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from almanac.catalog.companies import SHEET_ANEW
from almanac.derived.companies.facts import CompanyInput, Disclosure, KnownFacts, disclosures, letter
from almanac.derived.companies.fiscal_calendar import FiscalCalendar
from almanac.derived.companies.misstatements import slips, without_quotations, without_restated
from almanac.derived.companies.reading.tag_mapping import limited_to, mapping_for

#: What stands on covers is of no standard, and neither is what a statement presents as total.
_COVER = "dei"
_NEUTRAL = ("dei:", "pre:")
_SHARES, _UNITS = "Shares", ("UnitsOutstanding", "UnitsOutstandingDiluted")


class CompanyHistory:
    """All that filings ever say of a company, in the order in which it became known."""

    def __init__(self, company: CompanyInput) -> None:
        #: Filings in another scale, by accession.
        self.slips = slips(company)
        self.company = company = without_quotations(without_restated(company, self.slips))
        mapping = mapping_for(company.template)
        self.bases, self.disclosures = by_reporting_basis(company, mapping.core, mapping.whole_sheet)
        self.calendar = FiscalCalendar(company, self.disclosures, mapping.core)
        self.mapping = limited_to(mapping, {disclosure.tag for disclosure in self.disclosures})
        #: The days that facts on the covers of reports are dated.
        self.covers = sorted({d.end for d in self.disclosures if d.tag.startswith("dei:") and d.start is None})
        self.items = {item.key: item for item in mapping.order}


# -- reporting basis ------------------------------------------------------------------------------------------------------


class ReportingBasis(NamedTuple):
    """`standard`: the taxonomy of the tags (us-gaap, ifrs-full)."""

    standard: str
    currency: str


def by_reporting_basis(
    company: CompanyInput, core: frozenset[str], whole_sheet: frozenset[str]
) -> tuple[list[ReportingBasis], list[Disclosure]]:
    """
    Return the reporting bases of a company, and its disclosures in the order they became known, each with its basis.

    `core`: tags that show that a period was reported; `whole_sheet`: that a balance sheet was.
    """
    rows = [(company.currency, disclosure) for disclosure in disclosures(company.facts)]
    for currency, facts in company.others.items():
        rows += [(currency, disclosure) for disclosure in disclosures(facts)]
    standards = {disclosure.tag.partition(":")[0] for _, disclosure in rows if not disclosure.tag.startswith(_NEUTRAL)}
    if len(standards) < 2 and not company.others:
        return [ReportingBasis(next(iter(standards), "us-gaap"), company.currency)], [
            disclosure for _, disclosure in rows
        ]
    rows.sort(key=lambda row: row[1].known)
    of_filing = _of_filings(company, rows, core | whole_sheet)
    bases = list(dict.fromkeys(of_filing.values())) or [ReportingBasis("us-gaap", company.currency)]
    consistent: list[Disclosure] = []
    for currency, disclosure in rows:
        number = bases.index(of_filing[disclosure.vintage.accession])
        taxonomy = disclosure.tag.partition(":")[0]
        if taxonomy == _COVER:
            consistent += [disclosure._replace(reporting_basis=basis) for basis in range(len(bases))]
        elif (taxonomy == bases[number].standard or disclosure.tag.startswith(_NEUTRAL)) and (
            currency == bases[number].currency or _is_no_money(disclosure.tag)
        ):
            consistent.append(disclosure._replace(reporting_basis=number))
    return bases, consistent


def _of_filings(
    company: CompanyInput, stated: Iterable[tuple[str, Disclosure]], telling: frozenset[str]
) -> dict[str, ReportingBasis]:
    rows: dict[str, Counter[ReportingBasis]] = defaultdict(Counter)
    for currency, disclosure in stated:
        counted = rows[disclosure.vintage.accession]
        if disclosure.tag in telling:
            counted[ReportingBasis(disclosure.tag.partition(":")[0], currency)] += 1
    bases: dict[str, ReportingBasis] = {}
    before: ReportingBasis | None = None
    for accession in sorted(rows, key=lambda name: (company.filings[name].known_at or 0, name)):
        counted = rows[accession]
        if counted:
            # Of as many rows the basis there was, and not dollars: those are given for convenience.
            before = max(counted, key=lambda basis: (counted[basis], basis == before, basis.currency != "USD", basis))
        bases[accession] = before or ReportingBasis("us-gaap", company.currency)
    return bases


def basis_of(known: Sequence[KnownFacts], telling: Iterable[str], kind: str, end: int) -> int:
    """
    Return the reporting basis of an own period (`kind` Q, S, T or A) or balance sheet (I): that of the filing that gave it last.

    `telling`: tags that show that such a period was reported.
    """
    if len(known) == 1:
        return 0
    latest, number = -1, 0
    for basis, facts in enumerate(known):
        for tag in telling:
            for start, fact in facts.tags.get(tag, {}).get(end, {}).items():
                if (kind != "A" or letter(start, end) == kind) and fact.states[-1].known > latest:
                    latest, number = fact.states[-1].known, basis
    return number


def _is_no_money(tag: str) -> bool:
    return tag == SHEET_ANEW or tag.endswith(_UNITS) or (_SHARES in tag and "PerShare" not in tag)
