"""All that filings ever say of a company, made ready to be read: scale, quotations, reporting basis, calendar, tags."""

from __future__ import annotations

import functools

from almanac.catalog.companies import items as catalogue_items
from almanac.catalog.companies import styles as catalogue_styles
from almanac.derived.companies.facts import CompanyInput
from almanac.derived.companies.fiscal_calendar import FiscalCalendar
from almanac.derived.companies.misstatements import slips, without_quotations, without_restated
from almanac.derived.companies.reading.tag_mapping import TagMapping, limited_to, mapping_for
from almanac.derived.companies.reporting_basis import by_reporting_basis


@functools.lru_cache(maxsize=8)
def mapping_of(template: str) -> TagMapping:
    """Return the catalogue's items for a template, in order."""
    return mapping_for(catalogue_items(), template, catalogue_styles())


class CompanyHistory:
    """All that filings ever say of a company, in the order in which it became known."""

    def __init__(self, company: CompanyInput) -> None:
        #: Filings in another scale, by accession.
        self.slips = slips(company)
        self.company = company = without_quotations(without_restated(company, self.slips))
        mapping = mapping_of(company.template)
        self.bases, self.disclosures = by_reporting_basis(company, mapping.core, mapping.whole_sheet)
        self.calendar = FiscalCalendar(company, self.disclosures, mapping.core)
        self.mapping = limited_to(mapping, {disclosure.tag for disclosure in self.disclosures})
        #: The days that facts on the covers of reports are dated.
        self.covers = sorted({d.end for d in self.disclosures if d.tag.startswith("dei:") and d.start is None})
        self.items = {item.key: item for item in mapping.order}
