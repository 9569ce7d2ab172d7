"""
Companies as a regulator's filings tell of them: who they are, what they filed, and the facts in it.

Days are proleptic ordinals (`date.toordinal()`), instants unix seconds; both are small, sort and hash fast.
"""

from __future__ import annotations

import re
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
    `tickers`, that over `datasets` (what a past quarter's data set said); of one kind the one fetched later wins.
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
