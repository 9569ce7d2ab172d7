"""A made-up filer: reports put together line by line, taken through the same steps as real ones."""

import json
from datetime import date

from almanac.derived.companies.derivation import derive
from almanac.derived.companies.facts import CompanyInput, FactVintage, letter
from almanac.derived.companies.line_items import as_known
from almanac.derived.companies.reported_values import reported_values
from almanac.domain.companies import Fact, Filing
from almanac.domain.observations import Vintage, settle
from almanac.domain.periods import Frequency

NOW = 1 << 40


def day(text):
    return date.fromisoformat(text).toordinal()


def at(text):
    """Nine in the evening of a day, UTC: when a made-up filing is known."""
    return (day(text) - date(1970, 1, 1).toordinal()) * 86_400 + 21 * 3_600


def assemble(facts, filings, *, template="industrial", currency="USD", entity="company_0000000001", by_day=()):
    """Facts and filings as the derivation gets them: reported_values, settled, main currency and shares only."""
    units = {currency, f"{currency}/shares", "shares", "pure"}
    known = {accession: filing.known_at for accession, filing in filings.items()}
    settled = {}
    for key, values in reported_values([fact for fact in facts if fact.unit in units], known, by_day).items():
        frequency = letter(key.start, key.end)
        if frequency is None:
            continue
        vintages = settle(
            (Vintage(s.known, s.value, None, s.flags, s.released, s.known + 60, 0, s.note) for s in values),
            values[0].period,
            Frequency(frequency).allowance_days,
        )
        settled.setdefault(key.tag, {})[key.start, key.end] = [_fact_vintage(vintage) for vintage in vintages]
    return CompanyInput(entity, "sec", settled, filings, template, currency)


def _fact_vintage(vintage):
    note = json.loads(vintage.note)
    return FactVintage(
        vintage.known,
        vintage.value,
        note["accession"],
        vintage.released,
        vintage.ingested,
        vintage.flags,
        note.get("inconsistent", False),
        None,
        tuple(note.get("without", ())),
    )


class Filer:
    """Collects filings. Lines: `{"NetIncomeLoss": {("2023-01-01", "2023-12-31"): 100, …}, "Assets": {"2023-12-31": 5}}`."""

    def __init__(self, template="industrial", currency="USD"):
        self.template = template
        self.currency = currency
        self.facts = []
        self.filings = {}

    def file(self, form, filed, end, lines, *, fy=None, fp=None, accession=None, known=None, items=()):
        """Add a filing about the period that ends on `end` (None: the index does not say). Returns its accession."""
        accession = accession or f"{len(self.filings) + 1:010d}-{filed[2:4]}-000001"
        self.filings[accession] = Filing(
            accession=accession,
            form=form,
            filed=day(filed),
            known_at=known or at(filed),
            report_date=day(end) if end else None,
            fiscal_year=fy,
            fiscal_period=fp,
            items=items,
        )
        self.say(accession, lines)
        return accession

    def say(self, accession, lines):
        """Add lines to a filing."""
        filing = self.filings[accession]
        for name, values in lines.items():
            tag = name if ":" in name else f"us-gaap:{name}"
            if "PerShare" in tag or "PerOutstanding" in tag or tag.endswith("PerUnit"):
                unit = f"{self.currency}/shares"
            else:
                unit = "shares" if "Shares" in tag or "UnitsOutstanding" in tag else self.currency
            for period, value in values.items():
                start, end = period if isinstance(period, tuple) else (None, period)
                self.facts.append(
                    Fact(tag, unit, start and day(start), day(end), float(value), accession, filing.form, filing.filed)
                )

    def company(self):
        return assemble(self.facts, self.filings, template=self.template, currency=self.currency)

    def financials(self, moment="2100-01-01"):
        return as_known(self.company(), at(moment))

    def swept(self, **options):
        return derive(self.company(), **options)


#: Ends of the quarters of a calendar year.
Q = {1: "03-31", 2: "06-30", 3: "09-30", 4: "12-31"}


def ytd(year, quarter):
    """From the first of January to the end of a quarter."""
    return f"{year}-01-01", f"{year}-{Q[quarter]}"


def quarter(year, number):
    """One calendar quarter."""
    return f"{year}-{3 * number - 2:02d}-01", f"{year}-{Q[number]}"


def plain_year(filer, year, income=(10, 20, 30, 40), cash=(1, 2, 3, 4), *, filed=None):
    """Three 10-Qs and a 10-K of a calendar year: income by quarter and to date, cash flow to date only."""
    days = filed or (f"{year}-05-01", f"{year}-08-01", f"{year}-11-01", f"{year + 1}-02-20")
    names = []
    for number in (1, 2, 3, 4):
        lines = {
            "NetIncomeLoss": {ytd(year, number): sum(income[:number])},
            "NetCashProvidedByUsedInOperatingActivities": {ytd(year, number): sum(cash[:number])},
            "Assets": {f"{year}-{Q[number]}": 1000 + number},
        }
        if number < 4:
            lines["NetIncomeLoss"][quarter(year, number)] = income[number - 1]
        names.append(
            filer.file(
                "10-K" if number == 4 else "10-Q",
                days[number - 1],
                f"{year}-{Q[number]}",
                lines,
                fy=year,
                fp="FY" if number == 4 else f"Q{number}",
            )
        )
    return names


def value(values, item, end):
    """The value of an item at an end, None where there is none."""
    amount = values.get(item, {}).get(day(end))
    return None if amount is None else amount.value


def method(values, item, end):
    return values[item][day(end)].method
