"""The wire formats of the Securities and Exchange Commission, written: company facts, submissions, the list of tickers."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Any

import msgspec

from almanac.sandbox.companies.cast import Filer, address, law
from almanac.sandbox.companies.filings import Paper
from almanac.sandbox.companies.names import telephone
from almanac.sandbox.companies.reports import Stated

FACTS_URL = "https://data.sec.gov/api/xbrl/companyfacts/CIK{cik:010d}.json"
SUBMISSIONS_URL = "https://data.sec.gov/submissions/CIK{cik:010d}.json"
TICKERS_URL = "https://www.sec.gov/files/company_tickers.json"

_OFFICES = {"finance": "02 Finance", "fund": "09 Crypto Assets", "shell": "05 Real Estate & Construction"}
_DESCRIPTIONS = {"DEF 14A": "DEFINITIVE PROXY STATEMENT", "4": "FORM 4"}
#: Forms that carry tagged data whether or not they carry figures of ours.
_TAGGED = frozenset(["10-K", "10-Q", "10-K/A", "10-Q/A", "10-KT", "20-F", "40-F"])


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


def company_facts(company: Filer, name: str, figures: Iterable[Stated]) -> bytes:
    """One company's facts: taxonomy → tag → unit → rows, by end, start and filing day.

    The last row filed for a calendar period carries its frame.
    """
    by_tag: dict[tuple[str, str], dict[str, list[Stated]]] = defaultdict(lambda: defaultdict(list))
    for figure in figures:
        by_tag[figure.line.taxonomy, figure.line.tag][figure.unit].append(figure)
    facts: dict[str, dict[str, Any]] = {}
    for taxonomy, tag in sorted(by_tag):
        units = {unit: _rows(rows) for unit, rows in by_tag[taxonomy, tag].items()}
        # The feed has neither label nor description for the international standard's tags.
        words = None if taxonomy == "ifrs-full" else label_of(tag)
        told = None if words is None else f"{words}, as simulated. Not a figure of a real company."
        facts.setdefault(taxonomy, {})[tag] = {"label": words, "description": told, "units": units}
    return msgspec.json.encode({"cik": company.cik, "entityName": name, "facts": facts})


def _rows(figures: list[Stated]) -> list[_Row]:
    figures.sort(key=lambda one: (one.end, one.start or 0, one.paper.filed, one.paper.accession))
    rows: list[_Row] = []
    for place, (_, _, start, end, value, paper) in enumerate(figures):
        about = paper.figures
        year = about.year.label if about is not None and about.period is not None else None
        part = about.period if about is not None else None
        following = figures[place + 1] if place + 1 < len(figures) else None
        last = following is None or following.end != end or following.start != start
        frame = _frame(start, end) if last else msgspec.UNSET
        begins = msgspec.UNSET if start is None else _day(start)
        rows.append(_Row(begins, _day(end), value, paper.accession, year, part, paper.form, _day(paper.filed), frame))
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


@functools.lru_cache(maxsize=1024)
def label_of(tag: str) -> str:
    """Words of a tag: `Net Income Loss` for `NetIncomeLoss`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", tag)


# Submissions


def submissions(company: Filer, papers: Sequence[Paper]) -> bytes:
    """The company and its filings, newest first, in columns. `papers` in order of acceptance, at least one."""
    last = papers[-1].accepted.date()
    state, city, postal, area = address(company)
    listed = listings(company, last, papers)
    place = {
        "street1": f"{100 + company.number * 7} SIMULATED STREET", "street2": None, "city": city,
        "stateOrCountry": state, "zipCode": postal,
        "stateOrCountryDescription": company.seat.country if company.seat else state,
        "isForeignLocation": int(company.seat is not None), "foreignStateTerritory": None, "country": None,
        "countryCode": None,
    }  # fmt: skip
    annual = [paper for paper in papers if paper.figures is not None and paper.figures.whole]
    ended = date.fromordinal(annual[-1].report or 0) if annual else date(2000, company.year_end.month, 28)
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
        "lei": company.lei,
        "description": "",
        "website": f"https://example.org/simulated/{company.ticker.lower()}" if company.number % 4 == 0 else "",
        "investorWebsite": "",
        "category": "Large accelerated filer" if company.large else "Accelerated filer<br>Smaller reporting company",
        "fiscalYearEnd": f"{ended:%m%d}",
        "stateOfIncorporation": law(company),
        "stateOfIncorporationDescription": company.seat.country if company.seat else law(company),
        "addresses": {"mailing": place, "business": place | {"isForeignLocation": None}},
        "phone": telephone(company.cik, area),
        "flags": "",
        "formerNames": _former(company, papers),
        "filings": {"recent": _columns(company, papers[::-1]), "files": []},
    }
    return msgspec.json.encode(body)


def name_on(company: Filer, day: date) -> str:
    """What the company is called on a day."""
    return company.former[0] if company.former and day < company.former[1] else company.name


def listings(company: Filer, day: date, papers: Sequence[Paper]) -> list[tuple[str, str]]:
    """Tickers and exchanges on a day, the main one first; none before the listing and after the end of it."""
    if company.gone and day >= company.gone[0]:
        return []
    if not any(paper.form in {"424B4", "10-K", "20-F", "40-F"} for paper in papers):
        return []
    exchange = "Nasdaq" if company.luck[21] < 0.5 else "NYSE"
    if company.two_classes:
        return [(f"{company.ticker[:4]}-A", exchange), (f"{company.ticker[:4]}-B", exchange)]
    return [(company.ticker, exchange)] + ([(f"{company.ticker}F", "OTC")] if company.seat else [])


def _former(company: Filer, papers: Sequence[Paper]) -> list[dict[str, str]]:
    if company.former is None or papers[-1].accepted.date() < company.former[1]:
        return []
    name, until = company.former
    stamp = "{}T00:00:00.000Z"
    return [{"name": name, "from": stamp.format(_day(papers[0].filed)), "to": stamp.format(until.isoformat())}]


def _columns(company: Filer, papers: Sequence[Paper]) -> dict[str, list[Any]]:
    registered = f"{'001' if company.number % 2 else '000'}-{30_000 + company.number}"
    acts = [
        "" if paper.prefix or paper.form == "4" else "33" if paper.form.startswith(("S-", "424")) else "34"
        for paper in papers
    ]
    tagged = [int(paper.form in _TAGGED or paper.figures is not None) for paper in papers]
    return {
        "accessionNumber": [paper.accession for paper in papers],
        "filingDate": [_day(paper.filed) for paper in papers],
        "reportDate": [_day(paper.report) if paper.report else "" for paper in papers],
        "acceptanceDateTime": [f"{paper.stamp:%Y-%m-%dT%H:%M:%S}.000Z" for paper in papers],
        "act": acts,
        "form": [paper.form for paper in papers],
        "fileNumber": [registered if act else "" for act in acts],
        "filmNumber": [
            f"{paper.filed % 100:02d}{int(paper.accession[-6:]) + company.number * 1_000:07d}" if act else ""
            for paper, act in zip(papers, acts, strict=True)
        ],
        "items": [paper.items for paper in papers],
        "core_type": ["XBRL" if one else paper.form for paper, one in zip(papers, tagged, strict=True)],
        "size": [20_000 + paper.filed % 977 * 100 + (4_000_000 if paper.figures else 0) for paper in papers],
        "isXBRL": tagged,
        "isInlineXBRL": [one if paper.filed >= _INLINE else 0 for paper, one in zip(papers, tagged, strict=True)],
        "isXBRLNumeric": [None] * len(papers),
        "primaryDocument": [_document(company, paper) for paper in papers],
        "primaryDocDescription": [
            "" if paper.prefix else _DESCRIPTIONS.get(paper.form, paper.form) for paper in papers
        ],
    }


_INLINE = date(2019, 6, 15).toordinal()


def _document(company: Filer, paper: Paper) -> str:
    if paper.prefix:
        return "filename1.pdf" if paper.form == "UPLOAD" else "xslEFFECTX01/primary_doc.xml"
    kind = "" if paper.figures else "-" + re.sub(r"[^a-z0-9]", "", paper.form.lower())
    return f"{company.ticker.lower()}{kind}-{_day(paper.report or paper.filed).replace('-', '')}.htm"


# Tickers


def company_tickers(listed: Sequence[tuple[Filer, str, str]]) -> bytes:
    """(company, ticker, title) in the file's order, numbered from 0."""
    rows = {
        str(place): {"cik_str": company.cik, "ticker": ticker, "title": title}
        for place, (company, ticker, title) in enumerate(listed)
    }
    return msgspec.json.encode(rows)
