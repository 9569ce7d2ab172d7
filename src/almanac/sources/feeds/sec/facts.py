"""Company facts of the SEC's XBRL interface: every value that a company's filings tagged with a standard name.

One response lists a company's whole history: `facts → taxonomy → tag → units → rows`, a row for each filing that states
a period's value. Fiscal year and period of a row are those of the filing, not of the period.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping

import msgspec

from almanac.domain.companies import CompanyFacts, CompanyRecord, Fact, Filing, is_periodic
from almanac.sources.base import Parsed, SourceChanged
from almanac.sources.formats import strict

#: The taxonomies of statements: a unit of theirs that is three capitals is a currency.
MONETARY = ("us-gaap", "ifrs-full")
#: Days by which a fact may end after its filing: data sets round ends to those of months.
AHEAD_DAYS = 45
_CURRENCY = re.compile(r"[A-Z]{3}")
#: What an amount is per, or is a number of.
_SHARES = frozenset(["share", "shares", "unit", "units"])
_ACCESSION = re.compile(r"[0-9]{10}-[0-9]{2}-[0-9]{6}")


class FactRow(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """One filing's statement of one period. `start` is absent for an instant, `frame` is a mark of another interface."""

    end: str
    val: float
    accn: str
    fy: int | None
    fp: str | None
    form: str
    filed: str
    start: str | None = None
    frame: str | None = None


class Concept(msgspec.Struct, forbid_unknown_fields=True):
    units: dict[str, list[FactRow]]
    label: str | None = None
    description: str | None = None


class CompanyFactsResponse(msgspec.Struct, forbid_unknown_fields=True):
    cik: int | str
    entityName: str  # noqa: N815  (the publisher's name)
    facts: dict[str, dict[str, Concept]]


def read(body: bytes, cik: int, wanted: frozenset[str]) -> Parsed:
    """
    All rows of the wanted tags (`us-gaap:NetIncomeLoss`), the company's name and main currency, and its filings.

    Rows of other tags are counted by taxonomy. Raises SourceChanged naming tag and accession number.
    """
    where = f"companyfacts of CIK {cik}"
    parsed = Parsed()
    try:
        response = strict.json(body, CompanyFactsResponse, where, parsed)
    except SourceChanged as error:
        raise SourceChanged(_culprit(body, where) or str(error)) from None
    if number(response.cik, where) != cik:
        raise SourceChanged(f"{where}: the response is of CIK {response.cik}")
    days: dict[str, int] = {}  # a response has thousands of rows and some hundred days: each is read once

    def ordinal(text: str, tag: str, accn: str) -> int:
        if text not in days:
            days[text] = strict.day(text, f"{where}: {tag} in {accn}").toordinal()
        return days[text]

    filings: dict[str, Filing] = {}
    facts: list[Fact] = []
    for taxonomy, tags in response.facts.items():
        passed = 0
        for name, tag in tags.items():
            full = f"{taxonomy}:{name}"
            for unit, rows in tag.units.items():
                for row in rows:
                    if row.accn not in filings:
                        number_ = accession(row.accn, f"{where}: {full}")
                        filed = ordinal(row.filed, full, number_)
                        filings[row.accn] = Filing(number_, row.form, filed, fiscal_year=row.fy, fiscal_period=row.fp)
                if full not in wanted:
                    passed += len(rows)
                    continue
                written = plain_unit(unit)
                for row in rows:
                    filing = filings[row.accn]
                    start = None if row.start is None else ordinal(row.start, full, row.accn)
                    end, filed = ordinal(row.end, full, row.accn), ordinal(row.filed, full, row.accn)
                    odd = odd_days(start, end, filed)
                    if odd is not None:
                        parsed.unmapped[f"{taxonomy} ({odd})"] += 1
                        continue
                    # Text is taken from the filing, so that 25,000 rows share one copy of it.
                    form = filing.form if filing.form == row.form else row.form
                    fiscal_period = filing.fiscal_period if filing.fiscal_period == row.fp else row.fp
                    statement = (filing.accession, form, filed, row.fy, fiscal_period)
                    facts.append(Fact(full, written, start, end, row.val + 0.0, *statement))
        if passed:
            parsed.unmapped[f"{taxonomy} (other tags)"] = passed
    parsed.facts.append(CompanyFacts(cik, tuple(facts)))
    parsed.filings = [(cik, filing) for filing in sorted(filings.values(), key=lambda f: (f.filed, f.accession))]
    name, currency = response.entityName.strip() or f"CIK {cik}", _main_currency(response.facts)
    parsed.companies.append(CompanyRecord(cik=cik, part="facts", name=name, currency=currency))
    return parsed


def odd_days(start: int | None, end: int, filed: int) -> str | None:
    """Return what is wrong with days that were typed wrongly, None for sound ones: no reader may take such a fact for the latest."""
    if start is not None and start > end:
        return "periods that end before they begin"
    return "periods that end after they were filed" if end > filed + AHEAD_DAYS else None


def number(cik: int | str, where: str) -> int:
    """Parse a CIK written as a number or as text, padded or not. Raise SourceChanged."""
    text = str(cik)
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 10**10):
        raise SourceChanged(f"{where}: {strict.shown(text)} is not a CIK")
    return int(text)


def accession(text: str, where: str) -> str:
    """Return an accession number (`0000320193-24-000123`). Raise SourceChanged for any other text."""
    if _ACCESSION.fullmatch(text) is None:
        raise SourceChanged(f"{where}: {strict.shown(text)} is not an accession number")
    return text


def _main_currency(facts: Mapping[str, Mapping[str, Concept]]) -> str | None:
    """Return the currency of the newest periodic report with money; without such a report, that of most rows."""
    tags = [tag for taxonomy in MONETARY for tag in facts.get(taxonomy, {}).values()]
    currencies = {unit for tag in tags for unit in tag.units if _CURRENCY.fullmatch(unit)}
    if len(currencies) < 2:
        return next(iter(currencies), None)
    rows: dict[tuple[bool, str, str], Counter[str]] = {}
    for tag in tags:
        for unit in currencies & tag.units.keys():
            for row in tag.units[unit]:
                filing = (is_periodic(row.form), row.filed, row.accn)
                rows.setdefault(filing, Counter())[unit] += 1
    every: Counter[str] = Counter()
    for counted in rows.values():
        every.update(counted)
    newest = rows[max(rows)] if rows else every
    return min(newest, key=lambda unit: (-newest[unit], -every[unit], unit), default=None)


def plain_unit(unit: str) -> str:
    """
    Return a unit as most filings write it: in what letters it is, and whether a share or a partnership's unit, is not told.

    >>> [plain_unit(unit) for unit in ("USD/Shares", "cad/share", "USD/unit", "Shares", "USD", "bbl")]
    ['USD/shares', 'CAD/shares', 'USD/shares', 'shares', 'USD', 'bbl']
    """
    money, slash, per = unit.partition("/")
    if slash:
        return f"{money.upper()}/shares" if per.lower() in _SHARES and _CURRENCY.fullmatch(money.upper()) else unit
    word = unit.lower()
    return "shares" if word in _SHARES else "pure" if word == "pure" else unit


def is_currency(unit: str) -> bool:
    """Return whether a unit as published is an ISO code of a currency."""
    return _CURRENCY.fullmatch(unit) is not None


def _culprit(body: bytes, where: str) -> str | None:
    """Return what is wrong with a body that is no response, by tag and filing; None if that cannot be told.

    Slow, and only for a body that is refused: the fast reader cannot name the keys of a mapping.
    """
    try:
        # The standard library takes NaN, which is no JSON: so its place can be named.
        facts = json.loads(body)["facts"]
        for taxonomy, tags in facts.items():
            for name, tag in tags.items():
                place = f"{where}: {taxonomy}:{name}"
                for unit, rows in tag["units"].items():
                    for row in rows:
                        try:
                            amount = msgspec.convert(row, FactRow).val
                            fault = None if math.isfinite(amount) else f"val is {amount}"
                        except msgspec.ValidationError as error:
                            fault = str(error)
                        if fault is not None:
                            return f"{place} in {unit}, filing {row.get('accn')}: {fault}"
                try:
                    msgspec.convert(tag, Concept)
                except msgspec.ValidationError as error:
                    return f"{place}: {error}"
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    return None
