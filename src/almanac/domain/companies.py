"""
Companies as their filings describe them: who they are, what they filed, and the facts in it.

Days are proleptic ordinals (`date.toordinal()`), instants unix seconds; both are small, sort and hash fast.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import NamedTuple

import msgspec

#: Periodic reports; each also exists with `/A`.
PERIODIC_FORMS = frozenset(["10-K", "10-K405", "10-KSB", "10-KT", "10-Q", "10-QSB", "10-QT", "20-F", "40-F", "6-K"])
#: Those that report a whole fiscal year.
ANNUAL_FORMS = frozenset(["10-K", "10-K405", "10-KSB", "10-KT", "20-F", "40-F"])


def base_form(form: str) -> str:
    """Return the form without its amendment mark: `10-K` for `10-K/A`."""
    return form.removesuffix("/A")


@lru_cache(maxsize=1_024)
def is_periodic(form: str) -> bool:
    """Return whether a form is a periodic report. Amendments and transition reports count."""
    return base_form(form) in PERIODIC_FORMS


#: Forms that end the listing of a class of shares, or its issuer's duty to report.
DELISTING_FORMS = ("25", "25-NSE", "15-12B", "15-12G", "15-15D")
#: Item of a current report which says that earlier statements must not be relied upon.
NON_RELIANCE = "4.02"


def is_warning(filing: Filing) -> bool:
    """Return whether a filing says that earlier statements must not be relied upon (Form 8-K, item 4.02)."""
    return base_form(filing.form) == "8-K" and NON_RELIANCE in filing.items


def is_company(entity: str) -> bool:
    """Return whether an entity id belongs to a company."""
    return entity.startswith("company_")


def company_id(cik: int) -> str:
    """Return the entity id of a company: its CIK with ten digits, so a change of name does not change the id."""
    return f"company_{cik:010d}"


def cik_of(entity: str) -> int:
    """Return the CIK in a company's entity id. Raises ValueError if the rest of the id is not a number."""
    return int(entity.removeprefix("company_"))


#: Word boundaries in a tag (`NetIncomeLoss`), which get an underscore. A run of capitals (`EBITDAMargin`) is one word.
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NAME = re.compile(r"[A-Za-z0-9_-]+")


@lru_cache(maxsize=65_536)
def raw_slug(tag: str) -> str:
    """
    Return the slug of the raw indicator of a tag: `us-gaap:NetIncomeLoss` becomes `us_gaap_net_income_loss`.

    Raises ValueError for a name without a taxonomy or with a character other than letters, digits, `-` and `_`.
    """
    taxonomy, colon, name = tag.partition(":")
    if not colon or not _NAME.fullmatch(taxonomy) or not _NAME.fullmatch(name):
        raise ValueError(f"{tag!r} is not a tag with its taxonomy, like us-gaap:NetIncomeLoss")
    return f"{taxonomy}_{_WORD.sub('_', name)}".replace("-", "_").lower()


#: Parts of a fiscal year, with the parts inside each.
FISCAL_PARTS = {
    **{part: (part,) for part in ("Q1", "Q2", "Q3", "Q4")},
    "H1": ("H1", "Q1", "Q2"),
    "H2": ("H2", "Q3", "Q4"),
}
_FISCAL_TEXT = re.compile(r"FY(?P<year>[0-9]{4})(?:-(?P<part>Q[1-4]|H[12]))?", re.IGNORECASE)


class FiscalPeriod(NamedTuple):
    """
    A fiscal year, or a quarter or half of one, as a company names it. Its days differ from company to company.

    >>> FiscalPeriod.parse("FY2024-q3")
    FiscalPeriod(year=2024, part='Q3')
    """

    year: int
    #: Q1 to Q4, H1 or H2; None: the whole year.
    part: str | None = None

    @classmethod
    def parse(cls, text: str) -> FiscalPeriod:
        """Parse `FY2024`, `FY2024-Q3` or `FY2024-H1` in any case. Raises ValueError that lists the allowed forms."""
        match = _FISCAL_TEXT.fullmatch(text)
        if match is None or not 1 <= int(match["year"]) < date.max.year:
            raise ValueError("a fiscal period is written FY2024, FY2024-Q3 or FY2024-H1")
        return cls(int(match["year"]), None if match["part"] is None else match["part"].upper())

    @classmethod
    def called(cls, year: int, part: str) -> FiscalPeriod:
        """Build a period from a fiscal year and the part that a statement states: FY, Q1 to Q4, H1 or H2."""
        return cls(year, None if part == "FY" else part)

    def __str__(self) -> str:
        return f"FY{self.year:04}" + (f"-{self.part}" if self.part else "")

    @property
    def span(self) -> tuple[date, date]:
        """
        First and last day that the period can touch at any company. Some companies name a fiscal year after its first
        day, some after its last.
        """
        return date(max(1, self.year - 1), 1, 1), date(self.year + 1, 12, 31)

    @property
    def notes(self) -> tuple[str, ...]:
        """JSON pieces to look for in row notes: a row belongs to this period if its note contains one of them."""
        if self.part is None:
            return (f'"fiscalYear":{self.year}',)
        return tuple(fiscal_note(self.year, part) for part in FISCAL_PARTS[self.part])


def fiscal_note(year: int, part: str) -> str:
    """Return the fiscal name of a period as a piece of a JSON object, with sorted keys."""
    return f'"fiscalPeriod":"{part}","fiscalYear":{year}'


class FormerName(msgspec.Struct, frozen=True):
    """A former name of a company and the days it was used (`YYYY-MM-DD`). A day is None if the regulator doesn't state it."""

    name: str
    from_: str | None = msgspec.field(default=None, name="from")
    to: str | None = None


class Listing(msgspec.Struct, frozen=True):
    """A ticker and its exchange, as of the fetch of the record."""

    ticker: str
    exchange: str | None = None


class CompanyRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    A company's own details, as one payload states them. A field is None or empty if the payload doesn't mention it.

    `part` names the kind of payload. Where several kinds state a field, the first of these wins: `submissions`,
    `facts`, `tickers`, `datasets` (a past quarter's data set), `currency` (the currency of the newest data set with
    amounts). Among payloads of one kind the latest fetched wins.
    """

    cik: int
    part: str
    name: str
    legal_name: str | None = None
    sic: str | None = None
    sic_description: str | None = None
    #: `MMDD` of the last fiscal year end known to the regulator.
    fiscal_year_end: str | None = None
    #: The main listing first.
    listings: tuple[Listing, ...] = ()
    former_names: tuple[FormerName, ...] = ()
    lei: str | None = None
    state_of_incorporation: str | None = None
    #: ISO-2 code of the country of the business address, if known.
    country: str | None = None
    website: str | None = None
    entity_type: str | None = None
    #: ISO code of the currency of most of its monetary facts.
    currency: str | None = None

    @property
    def entity(self) -> str:
        return company_id(self.cik)


class Filing(NamedTuple):
    """
    One filing. `known_at` is None if only the filing day is known; the end of that day in New York is then used.

    `fiscal_year` and `fiscal_period` are the filing's own focus (never those of its comparative columns).
    """

    accession: str
    form: str
    filed: int
    known_at: int | None = None
    #: Last day of the period the filing reports on, as the regulator's index states it.
    report_date: int | None = None
    fiscal_year: int | None = None
    fiscal_period: str | None = None
    #: Numbers of the items of an 8-K (`2.02`).
    items: tuple[str, ...] = ()
    document: str | None = None
    description: str | None = None


class Fact(NamedTuple):
    """
    One row of companyfacts: the value of a tag for a period, as one filing states it.

    `tag` includes its taxonomy (`us-gaap:NetIncomeLoss`), `unit` is as published (`USD`, `shares`, `USD/shares`).
    `start` is None for an instant.
    """

    tag: str
    unit: str
    start: int | None
    end: int
    value: float
    accession: str
    form: str
    filed: int
    fiscal_year: int | None = None
    fiscal_period: str | None = None


class CompanyFacts(NamedTuple):
    """All facts of one company in one payload for which the catalogue has a mapping. The reader counts the others."""

    cik: int
    facts: tuple[Fact, ...]
