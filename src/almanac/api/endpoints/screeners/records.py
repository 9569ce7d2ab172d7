"""Shapes of what the screeners answer, for the machine-readable description."""

from __future__ import annotations

from typing import Literal

from almanac.api.contract.records import Freshness, Record, Time


class ScreenerMatch(Record):
    """The latest reading of one filtered or sorted field."""

    field: str
    value: float | str
    unit: str
    period_end: Time
    observed_at: Time
    freshness_status: Freshness
    series_id: str


class ScreenerRow(Record):
    """
    A country or region that satisfies every clause, with the readings that do, and that of the sort field where it
    has a value. `country` is its ISO code, where it has one.
    """

    entity_id: str
    name: str
    country: str
    matches: list[ScreenerMatch]


class EquityScreenerRow(Record):
    """
    A company that satisfies every clause. `values` has the filtered and sorted fields that it has a value for.

    `periodEnd` is the newest period among those values, `observedAt` the time from which all of them were known; of the
    newest statement where no value has a period.
    """

    entity_id: str
    name: str
    ticker: str | None
    cik: str | None
    country: str | None
    sector: str
    industry: str | None
    period_end: Time
    observed_at: Time
    values: dict[str, float | str]


class ScreenerField(Record):
    """A field that a filter may name. `min`, `max` and `entityCount` are over values that may be shown."""

    field: str
    name: str
    type: Literal["number", "text"]
    unit: str | None
    description: str
    operators: list[str]
    min: float | None
    max: float | None
    entity_count: int


class ScreenerOperator(Record):
    """An operator, and what it asks of a value."""

    operator: str
    meaning: str


class ScreenerFilters(Record):
    """What a filter may say, and how it is written."""

    fields: list[ScreenerField]
    operators: list[ScreenerOperator]
    syntax: str
    example: str
