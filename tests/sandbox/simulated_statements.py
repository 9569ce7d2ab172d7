"""Statements of the simulated companies as the derivation makes them of their two pages, and their true books beside them."""

from collections import defaultdict
from functools import lru_cache

from almanac.catalog.companies import wanted_tags
from almanac.derived.companies.derivation import derive
from almanac.domain.companies import Fact, Filing
from almanac.sandbox.companies.responses import filing_history
from tests.real.company_files import day, known_at
from tests.sandbox import simulated_companies
from tests.support.filer import assemble


@lru_cache(maxsize=24)
def filer(number):
    """What the derivation gets of a simulated company, from its two pages."""
    told = simulated_companies.made(simulated_companies.NOW, [number]).told(number)
    filings = {
        one["accessionNumber"]: Filing(
            one["accessionNumber"],
            one["form"],
            day(one["filingDate"]),
            known_at(day(one["filingDate"]), one["acceptanceDateTime"]),
            day(one["reportDate"]) if one["reportDate"] else None,
            items=tuple(filter(None, one["items"].split(","))),
        )
        for one in told.filings
    }
    facts = []
    for row in told.rows:
        filings[row.accn] = filings[row.accn]._replace(fiscal_year=row.fy, fiscal_period=row.fp)
        if row.tag in wanted_tags():
            start, filed = row.start and day(row.start), day(row.filed)
            facts.append(Fact(row.tag, row.unit, start, day(row.end), row.val, row.accn, row.form, filed))
    return assemble(facts, filings, currency=told.company.currency)


@lru_cache(maxsize=24)
def swept(number):
    """Statement key → its versions, oldest first."""
    return derive(filer(number)).statements


@lru_cache(maxsize=24)
def statements(number):
    """Type and frequency → bodies that stand, by last day."""
    found = defaultdict(list)
    for key, versions in swept(number).items():
        if versions[-1].body is not None:
            found[key.kind, key.frequency].append(versions[-1].body)
    return {key: sorted(bodies, key=lambda one: one.period_end) for key, bodies in found.items()}


class Truth:
    """The true books of a company, by fiscal year and quarter, in units of its currency."""

    def __init__(self, number):
        self.company, self.calendar, self.books, self.filings = filing_history(number, simulated_companies.NOW)

    def spans(self, label):
        """Places of the quarters of a fiscal year, and last of all of the year."""
        year = next(year for year in self.calendar.years if year.label == label)
        names = {f"Q{place - year.first + 1}": (place, place) for place in range(year.first, year.last + 1)}
        return {**names, "FY": (year.first, year.last)}

    def flow(self, column, label, period="FY"):
        return self.books.total(column, *self.spans(label)[period]) * self.company.scale

    def level(self, column, label, period="FY"):
        return self.books.levels[column][self.spans(label)[period][1]] * self.company.scale


def versions(number, kind, label, period):
    """All versions of the statement of a fiscal period, oldest first."""
    return [
        version.body
        for key, found in swept(number).items()
        if key.kind == kind
        for version in found
        if version.body is not None and (version.body.fiscal_year, version.body.fiscal_period) == (label, period)
    ]


def failed(body):
    """Name → detail of the checks that a statement fails."""
    return {check.name: check.detail for check in body.quality.checks if check.status == "failed"}
