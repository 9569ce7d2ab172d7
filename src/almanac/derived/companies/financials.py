"""
Financials: what is known of one company's accounts at one moment, by its own fiscal periods.

They are what statements are written from and what sums of twelve months, ratios and scores are computed from. Days are
proleptic ordinals (`date.toordinal()`), instants unix seconds, money in units of its currency, as filed:
never adjusted for a later split.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

from almanac.derived.companies.facts import CompanyInput
from almanac.domain.companies import raw_slug
from almanac.domain.observations import DAY, FAILED, UNKNOWN, WARNED

#: Code with which the reason begins why something is absent whose parts are there.
REFUSED: Final = "not_of_one_basis"
#: Method of a value of twelve months to which two ways lead that differ by more than rounding.
MISMATCH: Final = "ttm_mismatch"


class Amount(NamedTuple):
    """
    One item for one fiscal period or instant, as known at one moment.

    `tags` are the raw series the value came from, through all steps, sorted: a tag and the letter of the frequency of
    the fact, `us-gaap:Revenues:A`. For a value as reported, `method` is None; else it is

    | method | value |
    | --- | --- |
    | `fy_minus_9m`, `fy_minus_quarters` | the year less its first nine months, less its first three quarters |
    | `ytd_difference`, `ytd_minus_quarters` | one part of a year less a shorter one, less quarters |
    | `sum_of_quarters` | a year that no filing gives |
    | `day_weighted` | average shares from two longer periods, each weighted by its days |
    | `approximate_income_over_shares` | earnings per share from income and average shares, where these are in one scale |
    | `sum_of_tags`, `formula` | of several tags, of other items, all of one period |

    `_before_recast` behind a method: the longer operand was restated later and the shorter one was not, so both are as
    known when the longer one first was. `_mixed`: the report of the longer one restated it in an amendment, or recast the
    year before by little, and the reports of the shorter one did not.
    """

    value: float
    start: int | None
    end: int
    tags: tuple[str, ...]
    method: str | None = None
    #: The latest release time among the inputs; None where one has none.
    released: int | None = None
    #: The latest ingestion time among the inputs.
    ingested: int = 0
    #: `UNKNOWN` and `DAY` of domain.observations, set where any input has them; `WARNED` or `FAILED` by `marks`.
    flags: int = 0
    #: Raw cells it came from (series id, period key), where the facts tell theirs (see `facts.FactVintage`).
    raw_cells: tuple[tuple[str, int], ...] = ()
    #: Standard and currency it is in, by number (`company_history`): amounts of two do not add up.
    reporting_basis: int = 0


#: Amount of an item, None where there is none.
AmountOf = Callable[[str], Amount | None]


class MeasureValue(NamedTuple):
    """
    A value that was computed from amounts: twelve months of an item, a ratio, a score, or one of their inputs.

    What follows from the parts is worked out when asked for, since most measures turn out equal to what was known.
    """

    value: float
    start: int
    end: int
    #: The amounts it was made of, oldest first where they follow each other; then those that show that they can be added.
    parts: tuple[Amount, ...]
    #: Of twelve months annual, fiscal_year, sum_of_quarters, sum_of_halves, mean_of_quarters, mean_of_halves or year_to_date;
    #: `ttm_mismatch` of all that two ways lead to which differ.
    method: str | None = None

    @property
    def tags(self) -> tuple[str, ...]:
        """Raw series of all parts (see `Amount.tags`), each once, sorted."""
        return tuple(sorted({tag for amount in self.parts for tag in amount.tags}))

    @property
    def reporting_basis(self) -> int:
        """Return standard and currency of its parts, by number (see `Amount.reporting_basis`)."""
        return self.parts[0].reporting_basis if self.parts else 0

    @property
    def released(self) -> int | None:
        """Unix seconds of the latest release among the parts, None if any is not known."""
        times = [amount.released for amount in self.parts]
        return None if None in times else max((time for time in times if time is not None), default=None)

    @property
    def ingested(self) -> int:
        return max((amount.ingested for amount in self.parts), default=0)

    @property
    def flags(self) -> int:
        """
        UNKNOWN if any part has it; DAY if any has it and the release is known; the worst that checks say of any.

        Two ways to the same twelve months that differ are a warning too.
        """
        every = 0
        for amount in self.parts:
            every |= amount.flags
        quality = FAILED if every & FAILED else every & WARNED or WARNED * (self.method == MISMATCH)
        return every & (UNKNOWN | (DAY if self.released is not None else 0)) | quality


class CompanyFinancials(NamedTuple):
    """All that is known of one company at one moment. Amounts are by item key, then by last day."""

    #: Own fiscal quarters: flows, per-share amounts, average shares.
    quarters: dict[str, dict[int, Amount]]
    #: Own fiscal years, likewise.
    years: dict[str, dict[int, Amount]]
    #: Own half-years of filers that report by halves.
    halves: dict[str, dict[int, Amount]]
    #: Flows of years to date of two and three quarters, by their last day: as filings state them, never added up.
    to_date: dict[str, dict[int, Amount]]
    #: Instants at every own period end.
    balances: dict[str, dict[int, Amount]]
    #: Ends of own fiscal years, ascending.
    year_ends: tuple[int, ...]
    #: Ends of own quarters, those of fiscal years included, ascending; empty for filers of annual reports only.
    quarter_ends: tuple[int, ...]
    #: industrial, bank, broker, manager, insurer, reit or fund.
    template: str
    #: ISO code of the main one; periods of other reporting bases may be in others.
    currency: str
    #: Twelve months of flows by their last day, where they are read from a store; None: `ttm` makes them.
    twelve_months: Mapping[str, Mapping[int, MeasureValue]] | None = None
    #: Since when restated figures are on another basis than before (`facts.KnownFacts.recasts`).
    recasts: Mapping[tuple[int, str, int], int] = {}


def with_currency(company: CompanyInput, names: tuple[str, ...], currency: str) -> tuple[str, ...]:
    """
    Give the `tags` of an amount the currency it is in, where that is not the main one: facts in it are series of their own
    (`us-gaap:Revenues:A:EUR`), numbers of shares are not.
    """
    own = company.others.get(currency)
    if not own:
        return names
    return tuple(f"{name}:{currency}" if name.rpartition(":")[0] in own else name for name in names)


def series_ids(source: str, entity: str, names: Iterable[str]) -> list[str]:
    """Ids of the raw series behind the `tags` of an amount (`us-gaap:Revenues:A`), currencies included."""
    ids: list[str] = []
    for name in names:
        taxonomy, tag, *rest = name.split(":")
        ids.append(":".join((source, entity, raw_slug(f"{taxonomy}:{tag}"), *rest)))
    return ids
