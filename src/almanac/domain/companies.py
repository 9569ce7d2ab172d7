"""
Companies as a regulator's filings tell of them: who they are, what they filed, and the facts in it.

Days are proleptic ordinals (`date.toordinal()`), instants unix seconds; both are small, sort and hash fast.
"""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache
from typing import NamedTuple

import msgspec

#: Forms whose numbers are the company's periodic account of itself; each also with `/A` behind it.
PERIODIC_FORMS = frozenset(["10-K", "10-K405", "10-KSB", "10-KT", "10-Q", "10-QSB", "10-QT", "20-F", "40-F", "6-K"])
#: Of these, the ones that report a whole fiscal year.
ANNUAL_FORMS = frozenset(["10-K", "10-K405", "10-KSB", "10-KT", "20-F", "40-F"])


def base_form(form: str) -> str:
    """The form without its amendment mark: `10-K` for `10-K/A`."""
    return form.removesuffix("/A")


@lru_cache(maxsize=1_024)
def is_periodic(form: str) -> bool:
    """Whether a form counts as a periodic report (amendments and transition reports too)."""
    return base_form(form) in PERIODIC_FORMS


#: Forms by which a class of shares leaves its exchange, or its issuer the duty to report.
DELISTING_FORMS = ("25", "25-NSE", "15-12B", "15-12G", "15-15D")
#: Item of a current report by which a company says that statements it filed are not to be relied upon.
NON_RELIANCE = "4.02"


def is_warning(filing: Filing) -> bool:
    """Whether a filing says that earlier statements are not to be relied upon."""
    return base_form(filing.form) == "8-K" and NON_RELIANCE in filing.items


def is_company(entity: str) -> bool:
    """Whether an entity id is a company's."""
    return entity.startswith("company_")


def company_id(cik: int) -> str:
    """Entity id of a company: its CIK with ten digits, so it stays the same whatever the company calls itself."""
    return f"company_{cik:010d}"


def cik_of(entity: str) -> int:
    """The CIK in a company's entity id. Raises ValueError for another entity."""
    return int(entity.removeprefix("company_"))


#: A tag is written in capitals of words (`NetIncomeLoss`): an underscore goes before each, and before a run of
#: capitals (`EBITDAMargin`) as before one.
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NAME = re.compile(r"[A-Za-z0-9_-]+")


@lru_cache(maxsize=65_536)
def raw_slug(tag: str) -> str:
    """
    Slug of the raw indicator of a tag with its taxonomy: `us-gaap:NetIncomeLoss` is `us_gaap_net_income_loss`.

    Raises ValueError for a name without a taxonomy or with another character than letters, digits, `-` and `_`.
    """
    taxonomy, colon, name = tag.partition(":")
    if not colon or not _NAME.fullmatch(taxonomy) or not _NAME.fullmatch(name):
        raise ValueError(f"{tag!r} is not a tag with its taxonomy, like us-gaap:NetIncomeLoss")
    return f"{taxonomy}_{_WORD.sub('_', name)}".replace("-", "_").lower()


#: Parts of a fiscal year, and which lie inside each.
FISCAL_PARTS = {
    **{part: (part,) for part in ("Q1", "Q2", "Q3", "Q4")},
    "H1": ("H1", "Q1", "Q2"),
    "H2": ("H2", "Q3", "Q4"),
}
_FISCAL_TEXT = re.compile(r"FY(?P<year>[0-9]{4})(?:-(?P<part>Q[1-4]|H[12]))?", re.IGNORECASE)


class FiscalPeriod(NamedTuple):
    """
    A fiscal year, or a quarter or half of one, as a company calls it: on which days it lies, each has for itself.

    >>> FiscalPeriod.parse("FY2024-q3")
    FiscalPeriod(year=2024, part='Q3')
    """

    year: int
    #: Q1 to Q4, H1, H2; None: all of the year.
    part: str | None = None

    @classmethod
    def parse(cls, text: str) -> FiscalPeriod:
        """Read `FY2024`, `FY2024-Q3`, `FY2024-H1`, whatever their case. Raises ValueError naming what is allowed."""
        match = _FISCAL_TEXT.fullmatch(text)
        if match is None or not 1 <= int(match["year"]) < date.max.year:
            raise ValueError("a fiscal period is written FY2024, FY2024-Q3 or FY2024-H1")
        return cls(int(match["year"]), None if match["part"] is None else match["part"].upper())

    @classmethod
    def called(cls, year: int, part: str) -> FiscalPeriod:
        """From a fiscal year and what a statement calls its part: FY, Q1 to Q4, H1, H2."""
        return cls(year, None if part == "FY" else part)

    def __str__(self) -> str:
        return f"FY{self.year:04}" + (f"-{self.part}" if self.part else "")

    @property
    def span(self) -> tuple[date, date]:
        """Days between which it lies, whenever the company's year ends: some name a year by its first day, some by its last."""
        return date(max(1, self.year - 1), 1, 1), date(self.year + 1, 12, 31)

    @property
    def notes(self) -> tuple[str, ...]:
        """Pieces of notes (`fiscal_note`): rows of periods inside it have one of them."""
        if self.part is None:
            return (f'"fiscalYear":{self.year}',)
        return tuple(fiscal_note(self.year, part) for part in FISCAL_PARTS[self.part])


def fiscal_note(year: int, part: str) -> str:
    """What a row says of its period's fiscal name, as a piece of a JSON object with its keys in order."""
    return f'"fiscalPeriod":"{part}","fiscalYear":{year}'


class FormerName(msgspec.Struct, frozen=True):
    """A name a company once had, with the days it was used (`YYYY-MM-DD`), where the regulator says them."""

    name: str
    from_: str | None = msgspec.field(default=None, name="from")
    to: str | None = None


class Listing(msgspec.Struct, frozen=True):
    """A ticker and the exchange it is listed on, as of when the record was fetched."""

    ticker: str
    exchange: str | None = None


class CompanyRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    What one payload says of a company itself. A field the payload does not speak of is None or empty.

    `part` names the kind of payload: where two speak of one field, `submissions` wins over `facts`, that over
    `tickers`, that over `datasets` (what a past quarter's data set said), that over `currency` (in which the newest data set
    that gives amounts gives them); of one kind the one fetched later wins.
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
    #: ISO-2 of the country of the business address, where it can be told.
    country: str | None = None
    website: str | None = None
    entity_type: str | None = None
    #: ISO code of the currency most of its monetary facts are in.
    currency: str | None = None

    @property
    def entity(self) -> str:
        return company_id(self.cik)


class Filing(NamedTuple):
    """
    One filing. `known_at` is None where only the filing day is known; the end of that day (New York) then stands.

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
    One row of companyfacts: a tag's value for a period, as one filing states it.

    `tag` carries its taxonomy (`us-gaap:NetIncomeLoss`), `unit` is as published (`USD`, `shares`, `USD/shares`).
    `start` None: an instant.
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
    """All facts of one company in one payload that the catalogue maps; the others are counted by the reader."""

    cik: int
    facts: tuple[Fact, ...]
