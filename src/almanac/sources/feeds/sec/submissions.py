"""A company's submissions at the SEC: who it is, and the list of what it filed, each with its acceptance time.

The list comes in columns of equal length. The newest thousand or so filings are with the company's record, older ones
in pages (`CIK0000320193-submissions-001.json`) that hold columns only.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from almanac.catalog.tables import packaged
from almanac.domain.companies import CompanyRecord, Filing, FormerName, Listing
from almanac.domain.filings import known_at
from almanac.sources.base import Parsed, SourceChanged
from almanac.sources.feeds.sec.facts import accession, number
from almanac.sources.formats import strict
from almanac.sources.formats.strict import StrictRecord

_STAMP = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]+)?Z")
_ITEM = re.compile(r"[0-9]{1,2}(?:\.[0-9]{2})?")
#: Current reports: what other forms list as items are numbers of other things.
_CURRENT_REPORT = re.compile(r"8-K(?:12B|12G3|15D5)?(?:/A)?")
_FISCAL_YEAR_END = re.compile(r"(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])")

Text = str | None


@functools.cache
def _countries() -> Mapping[str, str]:
    """Return the ISO-2 codes of countries by the SEC's own codes of places (data/companies/places.toml of the catalogue)."""
    places = packaged("companies/places.toml")
    return {**places["countries"], **dict.fromkeys(places["provinces"], "CA"), **dict.fromkeys(places["states"], "US")}


class FilingColumns(StrictRecord, rename="camel"):
    """Filings, newest first, a column to each field."""

    accession_number: list[str]
    filing_date: list[str]
    report_date: list[Text]
    acceptance_date_time: list[str]
    act: list[Text]
    form: list[str]
    file_number: list[Text]
    film_number: list[Text]
    items: list[Text]
    size: list[int]
    is_xbrl: list[int] = msgspec.field(name="isXBRL")
    is_inline_xbrl: list[int] = msgspec.field(name="isInlineXBRL")
    primary_document: list[Text]
    primary_doc_description: list[Text]
    core_type: list[Text] | None = msgspec.field(name="core_type", default=None)
    is_xbrl_numeric: list[int | None] | None = msgspec.field(name="isXBRLNumeric", default=None)


class FilingPage(StrictRecord, rename="camel"):
    """A further page of filings."""

    name: str
    filing_count: int
    filing_from: str
    filing_to: str


class Filings(StrictRecord):
    recent: FilingColumns
    files: list[FilingPage]


class Former(StrictRecord):
    name: str
    from_: Text = msgspec.field(name="from")
    to: Text


class Address(StrictRecord, rename="camel"):
    street1: Text
    street2: Text
    city: Text
    state_or_country: Text
    zip_code: Text
    state_or_country_description: Text
    is_foreign_location: int | None = None
    foreign_state_territory: Text = None
    country: Text = None
    country_code: Text = None


class CompanyAddresses(StrictRecord):
    business: Address | None = None
    mailing: Address | None = None


class CompanySubmissions(StrictRecord, rename="camel"):
    cik: int | str
    entity_type: Text
    sic: Text
    sic_description: Text
    name: str
    tickers: list[str]
    exchanges: list[Text]
    fiscal_year_end: Text
    state_of_incorporation: Text
    state_of_incorporation_description: Text
    addresses: CompanyAddresses
    former_names: list[Former]
    filings: Filings
    website: Text = None
    lei: Text = None
    # Known, and of no use here.
    owner_org: Text = None
    insider_transaction_for_owner_exists: int | None = None
    insider_transaction_for_issuer_exists: int | None = None
    ein: Text = None
    description: Text = None
    investor_website: Text = None
    category: Text = None
    phone: Text = None
    flags: Text = None


def read(body: bytes, cik: int) -> Parsed:
    """Read the company and its newest filings. Raise SourceChanged naming the field, the column or the filing."""
    where = f"submissions of CIK {cik}"
    parsed = Parsed()
    company = strict.json(body, CompanySubmissions, where, parsed)
    if number(company.cik, where) != cik:
        raise SourceChanged(f"{where}: the response is of CIK {company.cik}")
    if len(company.tickers) != len(company.exchanges):
        raise SourceChanged(f"{where}: {len(company.tickers)} tickers, {len(company.exchanges)} exchanges")
    if company.fiscal_year_end and _FISCAL_YEAR_END.fullmatch(company.fiscal_year_end) is None:
        stated = strict.shown(company.fiscal_year_end)
        raise SourceChanged(f"{where}: fiscalYearEnd {stated} is not a month and a day like 1231")
    business = company.addresses.business
    record = CompanyRecord(
        cik=cik,
        part="submissions",
        name=company.name.strip() or f"CIK {cik}",
        sic=company.sic or None,
        sic_description=" ".join((company.sic_description or "").split()) or None,
        fiscal_year_end=company.fiscal_year_end or None,
        listings=tuple(
            Listing(ticker, exchange or None)
            for ticker, exchange in zip(company.tickers, company.exchanges, strict=True)
        ),
        former_names=tuple(
            FormerName(former.name, _day(former.from_, where), _day(former.to, where))
            for former in company.former_names
        ),
        lei=company.lei or None,
        state_of_incorporation=company.state_of_incorporation_description or company.state_of_incorporation or None,
        country=None if business is None else _countries().get(business.state_or_country or ""),
        website=company.website or None,
        entity_type=company.entity_type or None,
    )
    parsed.companies.append(record)
    parsed.filings += _filings(company.filings.recent, cik, where)
    return parsed


def read_page(body: bytes, cik: int, page: str) -> Parsed:
    """Read older filings of a company. Raise SourceChanged naming the column or the filing."""
    where = f"submissions of CIK {cik}, page {page}"
    parsed = Parsed()
    parsed.filings += _filings(strict.json(body, FilingColumns, where, parsed), cik, where)
    return parsed


def pages(body: bytes, cik: int) -> list[str]:
    """Return the file names of the pages that hold a company's older filings. Raise SourceChanged."""
    where = f"submissions of CIK {cik}"
    named = [page.name for page in strict.json(body, CompanySubmissions, where, Parsed()).filings.files]
    for name in named:
        if re.fullmatch(rf"CIK{cik:010d}-submissions-[0-9]{{3,}}\.json", name) is None:
            raise SourceChanged(f"{where}: {strict.shown(name)} is not a page of its filings")
    return named


def _filings(columns: FilingColumns, cik: int, where: str) -> list[tuple[int, Filing]]:
    lengths = {
        name: len(column)
        for name, field in zip(columns.__struct_encode_fields__, columns.__struct_fields__, strict=True)
        if (column := getattr(columns, field)) is not None
    }
    if len(set(lengths.values())) > 1:
        stated = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise SourceChanged(f"{where}: columns of different lengths: {stated}")
    ordinal = functools.cache(lambda text: strict.day(text, where).toordinal())  # a thousand filings share their days
    filings: list[tuple[int, Filing]] = []
    for place, text in enumerate(columns.accession_number):
        number_ = accession(text, where)
        filed, reported = ordinal(columns.filing_date[place]), columns.report_date[place]
        accepted = _stamp(columns.acceptance_date_time[place], f"{where}: acceptanceDateTime of {number_}")
        filing = Filing(
            number_,
            columns.form[place],
            filed,
            known_at(filed, accepted),
            ordinal(reported) if reported else None,
            items=_items(columns.form[place], columns.items[place]),
            document=columns.primary_document[place] or None,
            description=columns.primary_doc_description[place] or None,
        )
        filings.append((cik, filing))
    return filings


def _items(form: str, items: str | None) -> tuple[str, ...]:
    """Numbers of the items of a current report, as stated; those before August 2004 have one or two digits."""
    if not items or _CURRENT_REPORT.fullmatch(form) is None:
        return ()
    return tuple(item for part in items.split(",") if _ITEM.fullmatch(item := part.strip()))


def _stamp(text: str, where: str) -> datetime:
    match = _STAMP.fullmatch(text)
    if match is None:
        raise SourceChanged(f"{where}: {strict.shown(text)} is not a time like 2026-01-31T21:05:30.000Z")
    try:
        return datetime.fromisoformat(match[1]).replace(tzinfo=UTC)
    except ValueError as error:
        raise SourceChanged(f"{where}: {strict.shown(text)}: {error}") from None


def _day(text: str | None, where: str) -> str | None:
    """Return the day of a stamp that means one (`2007-01-10T05:00:00.000Z`, midnight in New York)."""
    return strict.day(text[:10], f"{where}: formerNames").isoformat() if text else None
