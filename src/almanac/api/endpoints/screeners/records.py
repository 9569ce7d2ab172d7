"""Shapes of what the screeners answer, for the machine-readable description."""

from __future__ import annotations

from typing import Annotated, Literal

from almanac.api.contract.records import Cik, CompanyName, Domicile, Quality, Record
from almanac.domain.fields import Currency, EntityId, FreshnessStatus, ObservedAt, PeriodEnd, SeriesId, Time, Unit, says
from almanac.reports.filter_text import MEANINGS

_Operator = Annotated[str, says("An operator of a clause.", enum=tuple(MEANINGS))]


class ScreenerMatch(Record):
    """The latest reading of one filtered, sorted or further field, with the day it is of."""

    field: Annotated[str, says("Slug of the field.", "cpi_inflation_yoy")]
    value: Annotated[float | str, says("The reading, in `unit`; words for an indicator of words.")]
    unit: Unit
    currency: Currency
    period_end: PeriodEnd
    observed_at: ObservedAt
    freshness_status: FreshnessStatus
    series_id: SeriesId


class ScreenerRow(Record):
    """A country or region that satisfies every clause."""

    entity_id: EntityId
    name: Annotated[str, says("Name of the country or region.")]
    country: Annotated[str, says("Its ISO code; where it has none, what the parameter `country` takes.", "USA")]
    matches: Annotated[list[ScreenerMatch], says("Its readings of the filter's, sort's and further fields.")]


class EquityScreenerRow(Record):
    """A company that satisfies every clause."""

    entity_id: EntityId
    name: CompanyName
    ticker: Annotated[str | None, says("Its ticker; under `as_of` the last one it had. Null: none.", "AAPL")]
    cik: Cik
    country: Domicile
    sector: Annotated[str, says("Its sector today.")]
    industry: Annotated[str | None, says("Its industry today. Null: not known.")]
    period_end: Annotated[Time, says("Last day of the values' period; without values, of its newest statement.")]
    observed_at: Annotated[Time, says("From when on all of the values were known; likewise.")]
    values: Annotated[
        dict[str, float | str],
        says(
            "The filtered and sorted fields, and those named in `fields`, that it has a value for, by field: ratios as fractions, money in the currency it "
            "reports in, which is US dollars unless a clause names `currency`."
        ),
    ]
    quality: Annotated[Quality | None, says("Of the statements its numbers rest on. Null: it has no numbers.")]


class ScreenerField(Record):
    """A field that a filter may name."""

    field: Annotated[str, says("Its name in a clause.", "net_margin")]
    name: Annotated[str, says("Its name for people.")]
    type: Annotated[Literal["number", "text"], says("Whether its values are numbers or words.")]
    unit: Annotated[
        str | None,
        says(
            "What its values count; `ratio`: a fraction, 0.25 is 25 %. `currency`, `currency_per_share`: money, in the currency "
            "each company reports in. Null: a score, or readings in different units."
        ),
    ]
    currency: Annotated[str | None, says("Currency of `min` and `max`, ISO 4217. Null: no money.", "USD")]
    description: Annotated[str, says("What it measures, and how.")]
    operators: Annotated[list[_Operator], says("Operators that a clause on it may have.")]
    min: Annotated[float | None, says("The least value that may be shown. Null: a text, or there is none.")]
    max: Annotated[float | None, says("The greatest value that may be shown. Null: a text, or there is none.")]
    entity_count: Annotated[int, says("How many entities have a value that may be shown.")]


class ScreenerOperator(Record):
    """An operator, and what it asks of a value."""

    operator: _Operator
    meaning: Annotated[str, says("What it asks.")]


class ScreenerFilters(Record):
    """What a filter may say, and how it is written."""

    fields: Annotated[list[ScreenerField], says("The fields.")]
    operators: Annotated[list[ScreenerOperator], says("The operators.")]
    syntax: Annotated[str, says("How clauses are written.")]
    example: Annotated[str, says("A filter that works.")]
