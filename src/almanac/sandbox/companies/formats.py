"""Writers of the formats of the Securities and Exchange Commission: company facts, submissions, the list of tickers."""

from __future__ import annotations

import functools
import itertools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import msgspec

from almanac.sandbox.companies.filers import Filer
from almanac.sandbox.companies.filings import Filing
from almanac.sandbox.companies.reports import StatedFigure
from almanac.sandbox.data import table
from almanac.sandbox.noise import uniforms

FACTS_URL = "https://data.sec.gov/api/xbrl/companyfacts/CIK{cik:010d}.json"
SUBMISSIONS_URL = "https://data.sec.gov/submissions/CIK{cik:010d}.json"
TICKERS_URL = "https://www.sec.gov/files/company_tickers.json"

_OFFICES = {"finance": "02 Finance", "fund": "09 Crypto Assets", "shell": "05 Real Estate & Construction"}
_DESCRIPTIONS = {"DEF 14A": "DEFINITIVE PROXY STATEMENT", "4": "FORM 4"}
#: Forms that carry tagged data whether or not they carry figures of ours.
_TAGGED = frozenset(["10-K", "10-Q", "10-K/A", "10-Q/A", "10-KT", "20-F", "40-F"])
#: Tagged data stand in the document itself from this day on.
_INLINE = date(2019, 6, 15).toordinal()
#: States whose law companies are under, in turn; empty: that of their offices.
_STATES_OF_LAW = ("DE", "DE", "DE", "NV", "MD", "")


@functools.lru_cache(maxsize=65_536)
def _day(ordinal: int) -> str:
    return date.fromordinal(ordinal).isoformat()


# Company facts


class _Row(msgspec.Struct, omit_defaults=True):
    start: str | msgspec.UnsetType
    end: str
    val: int | float
    accn: str
    fy: int | None
    fp: str | None
    form: str
    filed: str
    frame: str | msgspec.UnsetType = msgspec.UNSET


def company_facts(company: Filer, name: str, figures: Iterable[StatedFigure]) -> bytes:
    """
    Write one company's facts: taxonomy → tag → unit → rows, by end, start and filing day.

    The last row filed for a calendar period carries its frame.
    """
    by_tag: dict[tuple[str, str], dict[str, list[StatedFigure]]] = defaultdict(lambda: defaultdict(list))
    for figure in figures:
        by_tag[figure.line.taxonomy, figure.line.tag][figure.unit].append(figure)
    facts: dict[str, dict[str, Any]] = {}
    for taxonomy, tag in sorted(by_tag):
        units = {unit: _rows(rows) for unit, rows in by_tag[taxonomy, tag].items()}
        # The feed has neither label nor description for the international standard's tags.
        label = None if taxonomy == "ifrs-full" else re.sub(r"(?<=[a-z])(?=[A-Z])", " ", tag)
        description = None if label is None else f"{label}, as simulated. Not a figure of a real company."
        facts.setdefault(taxonomy, {})[tag] = {"label": label, "description": description, "units": units}
    return msgspec.json.encode({"cik": company.cik, "entityName": name, "facts": facts})


def _rows(figures: list[StatedFigure]) -> list[_Row]:
    figures.sort(key=lambda figure: (figure.end, figure.start or 0, figure.filing.filed, figure.filing.accession))
    rows: list[_Row] = []
    for (_, _, start, end, value, filing), following in itertools.zip_longest(figures, figures[1:]):
        about = filing.figures
        year = about.year.label if about is not None and about.period is not None else None
        period = about.period if about is not None else None
        last = following is None or following.end != end or following.start != start
        frame = _frame(start, end) if last else msgspec.UNSET
        begin = msgspec.UNSET if start is None else _day(start)
        rows.append(
            _Row(begin, _day(end), value, filing.accession, year, period, filing.form, _day(filing.filed), frame)
        )
    return rows


@functools.lru_cache(maxsize=16_384)
def _frame(start: int | None, end: int) -> str | msgspec.UnsetType:
    if start is None:
        middle = date.fromordinal(end - 45)
        return f"CY{middle.year}Q{(middle.month + 2) // 3}I"
    middle, days = date.fromordinal((start + end) // 2), end - start + 1
    if 350 <= days <= 380:
        return f"CY{middle.year}"
    return f"CY{middle.year}Q{(middle.month + 2) // 3}" if 80 <= days <= 100 else msgspec.UNSET


# Submissions


def submissions(company: Filer, filings: Sequence[Filing]) -> bytes:
    """Write the company and its filings, newest first, in columns. There is at least one, in order of acceptance."""
    last = filings[-1].accepted.date()
    if company.seat:
        state, city, postal, area = company.seat.code, company.seat.city, "", "000"
        country, law = company.seat.country, state
    else:
        offices = table("companies")["offices"]
        state, city, postal, area = offices[company.number % len(offices)]
        country, law = state, _STATES_OF_LAW[company.number % len(_STATES_OF_LAW)] or state
    listed = listings(company, last, filings)
    place = {
        "street1": f"{100 + company.number * 7} SIMULATED STREET", "street2": None, "city": city,
        "stateOrCountry": state, "zipCode": postal, "stateOrCountryDescription": country,
        "isForeignLocation": int(company.seat is not None), "foreignStateTerritory": None, "country": None,
        "countryCode": None,
    }  # fmt: skip
    # The range of numbers that is kept free for fiction.
    telephone = int(100 + 100 * float(uniforms(f"{company.cik}/telephone", 1)[0]))
    annual = [filing for filing in filings if filing.figures is not None and filing.figures.whole]
    ended = date.fromordinal(annual[-1].report or 0) if annual else date(2000, company.year_end.month, 28)
    former_names = []
    if company.former and last >= company.former[1]:
        name, until = company.former
        former_names.append(
            {"name": name, "from": f"{_day(filings[0].filed)}T00:00:00.000Z", "to": f"{until}T00:00:00.000Z"}
        )
    body = {
        "cik": f"{company.cik:010d}",
        "entityType": "other" if company.seat else "operating",
        "sic": company.sic,
        "sicDescription": company.sic_title,
        "ownerOrg": _OFFICES.get(company.trade.books, "04 Manufacturing"),
        "insiderTransactionForOwnerExists": 0,
        "insiderTransactionForIssuerExists": int(not company.seat),
        "name": name_on(company, last).upper() if company.number % 3 == 1 else name_on(company, last),
        "tickers": [ticker for ticker, _ in listed],
        "exchanges": [exchange for _, exchange in listed],
        "ein": f"99{company.number:07d}",
        "lei": _lei(company.cik) if company.number % 3 == 0 else None,
        "description": "",
        "website": f"https://example.org/simulated/{company.ticker.lower()}" if company.number % 4 == 0 else "",
        "investorWebsite": "",
        "category": "Large accelerated filer" if company.large else "Accelerated filer<br>Smaller reporting company",
        "fiscalYearEnd": f"{ended:%m%d}",
        "stateOfIncorporation": law,
        "stateOfIncorporationDescription": country if company.seat else law,
        "addresses": {"mailing": place, "business": place | {"isForeignLocation": None}},
        "phone": f"({area}) 555-{telephone:04d}",
        "flags": "",
        "formerNames": former_names,
        "filings": {"recent": _columns(company, filings[::-1]), "files": []},
    }
    return msgspec.json.encode(body)


def name_on(company: Filer, day: date) -> str:
    """Return the name of the company on a day."""
    return company.former[0] if company.former and day < company.former[1] else company.name


def listings(company: Filer, day: date, filings: Sequence[Filing]) -> list[tuple[str, str]]:
    """Return tickers and exchanges on a day, the main one first; none before the listing and after the end of it."""
    if company.gone and day >= company.gone[0]:
        return []
    if not any(filing.form in {"424B4", "10-K", "20-F", "40-F"} for filing in filings):
        return []
    exchange = "Nasdaq" if company.seed[21] < 0.5 else "NYSE"
    if company.two_classes:
        return [(f"{company.ticker[:4]}-A", exchange), (f"{company.ticker[:4]}-B", exchange)]
    return [(company.ticker, exchange)] + ([(f"{company.ticker}F", "OTC")] if company.seat else [])


def _lei(cik: int) -> str:
    """Return a legal entity identifier with true check digits (ISO 17442), under a prefix that no issuer has."""
    body = f"9999{cik:014d}"
    digits = "".join(str(int(letter, 36)) for letter in f"{body}00")
    return f"{body}{98 - int(digits) % 97:02d}"


def _columns(company: Filer, filings: Sequence[Filing]) -> dict[str, list[Any]]:
    registered = f"{'001' if company.number % 2 else '000'}-{30_000 + company.number}"
    acts = [
        "" if filing.prefix or filing.form == "4" else "33" if filing.form.startswith(("S-", "424")) else "34"
        for filing in filings
    ]
    tagged = [int(filing.form in _TAGGED or filing.figures is not None) for filing in filings]
    return {
        "accessionNumber": [filing.accession for filing in filings],
        "filingDate": [_day(filing.filed) for filing in filings],
        "reportDate": [_day(filing.report) if filing.report else "" for filing in filings],
        "acceptanceDateTime": [f"{filing.stamp:%Y-%m-%dT%H:%M:%S}.000Z" for filing in filings],
        "act": acts,
        "form": [filing.form for filing in filings],
        "fileNumber": [registered if act else "" for act in acts],
        "filmNumber": [
            f"{filing.filed % 100:02d}{int(filing.accession[-6:]) + company.number * 1_000:07d}" if act else ""
            for filing, act in zip(filings, acts, strict=True)
        ],
        "items": [filing.items for filing in filings],
        "core_type": ["XBRL" if flag else filing.form for filing, flag in zip(filings, tagged, strict=True)],
        "size": [20_000 + filing.filed % 977 * 100 + (4_000_000 if filing.figures else 0) for filing in filings],
        "isXBRL": tagged,
        "isInlineXBRL": [flag if filing.filed >= _INLINE else 0 for filing, flag in zip(filings, tagged, strict=True)],
        "isXBRLNumeric": [None] * len(filings),
        "primaryDocument": [_document(company, filing) for filing in filings],
        "primaryDocDescription": [
            "" if filing.prefix else _DESCRIPTIONS.get(filing.form, filing.form) for filing in filings
        ],
    }


def _document(company: Filer, filing: Filing) -> str:
    if filing.prefix:
        return "filename1.pdf" if filing.form == "UPLOAD" else "xslEFFECTX01/primary_doc.xml"
    kind = "" if filing.figures else "-" + re.sub(r"[^a-z0-9]", "", filing.form.lower())
    return f"{company.ticker.lower()}{kind}-{_day(filing.report or filing.filed).replace('-', '')}.htm"


# Tickers


def company_tickers(listed: Sequence[tuple[Filer, str, str]]) -> bytes:
    """Write rows of (company, ticker, title), numbered from 0."""
    rows = {
        str(place): {"cik_str": company.cik, "ticker": ticker, "title": title}
        for place, (company, ticker, title) in enumerate(listed)
    }
    return msgspec.json.encode(rows)
