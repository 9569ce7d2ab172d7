"""Shapes of companies, their profiles and statements, for the machine-readable description."""

from __future__ import annotations

from typing import Literal

import msgspec

from almanac.api.contract.records import Record, Time


class CompanyScores(Record):
    """How a company stands among its peers on each pillar, 0 to 100; null where it has none of the pillar's measures."""

    profitability: float | None
    growth: float | None
    strength: float | None
    efficiency: float | None
    quality: float | None


class CompanySchema(Record):
    """
    A company and its score, which is computed when asked.

    `country` is the domicile, `fiscalYearEnd` month and day (`09-30`), `lastPeriodEnd` the end of its newest statement.
    `piotroskiF` and `altmanZ2` are of the newest twelve months that give a score (a profile's `scoreDetail` says which).
    `scoreCoverage` is the share of the score's measures that it has. Sector and industry are today's.
    """

    entity_id: str
    name: str
    ticker: str | None
    cik: str | None
    exchange: str | None
    country: str | None
    sector: str
    industry: str | None
    fiscal_year_end: str | None
    last_period_end: Time | None
    score: float | None
    scores: CompanyScores
    piotroski_f: float | None
    altman_z2: float | None
    score_coverage: float
    score_model: str


class FormerNameSchema(Record):
    """A name a company had, and the days it used it, where these are stated."""

    name: str
    from_: Time | None = msgspec.field(name="from")
    to: Time | None


class LatestFiling(Record):
    """A filing. `periodEnd`: last day of the period it reports on, where it is one."""

    form: str
    filed_at: Time
    period_end: Time | None
    url: str | None


class KeyFigure(Record):
    """The latest reading of a figure over twelve months. `value` is null where it may not be shown."""

    value: float | None
    unit: str
    period_end: Time
    observed_at: Time


class KeyFigures(Record):
    """Figures over the last twelve months (of filers of yearly accounts only, the last fiscal year); null: not known."""

    revenue: KeyFigure | None
    net_income: KeyFigure | None
    operating_cash_flow: KeyFigure | None
    free_cash_flow: KeyFigure | None
    gross_margin: KeyFigure | None
    operating_margin: KeyFigure | None
    net_margin: KeyFigure | None
    fcf_margin: KeyFigure | None


class ScoreTest(Record):
    """One test of a score: its inputs (null: not known), its value, and whether it is passed (null: not asked, or open)."""

    name: str
    inputs: dict[str, float | None]
    value: float | None
    passed: bool | None


class ScoreDetailSchema(Record):
    """
    A score of the twelve months to `periodEnd`, with its tests. It has a value only if all of them have one; `present`
    of `of` do, `passed` are passed.
    """

    period_end: Time
    value: float | None
    verdict: str | None
    present: int
    of: int
    passed: int | None
    tests: list[ScoreTest]


class PeerSchema(Record):
    """A company like this one, and in what."""

    entity_id: str
    name: str
    ticker: str | None
    basis: str


class Profile(CompanySchema):
    """All that is known of a company itself. `scoreDetail` has the scores whose inputs may be shown, by name."""

    legal_name: str
    tickers: list[str]
    sic: str | None
    sic_description: str | None
    lei: str | None
    state_of_incorporation: str | None
    website: str | None
    former_names: list[FormerNameSchema]
    latest_filings: list[LatestFiling]
    key_figures: KeyFigures
    score_detail: dict[str, ScoreDetailSchema]
    peers: list[PeerSchema]


class DerivedItem(Record):
    """How a line that the filing does not state was computed, and from which series."""

    method: str
    derived_from: list[str]


class StatementCheck(Record):
    """One check of a statement."""

    name: str
    status: Literal["passed", "failed", "not_applicable", "withheld"]
    detail: str | None


class StatementQuality(Record):
    """What the checks of a statement found."""

    status: Literal["ok", "warning", "failed", "withheld"]
    checks: list[StatementCheck]


class StatementSchema(Record):
    """
    One statement of one period, as known at the moment asked. A line that was not reported is absent, never zero.

    Values are as filed, per-share ones too. `basis`: whether the lines are reported, derived or both. `filedAt`,
    `observedAt`, `form`, `accession` and `sourceUrl` are of the filing that last changed an item; `revised` means that a
    number changed. The check `relied_upon` fails from the moment the company itself says not to rely on what it filed.
    """

    frequency: Literal["annual", "semiannual", "quarterly"]
    fiscal_year: int | None
    fiscal_period: Literal["FY", "Q1", "Q2", "Q3", "Q4", "H1", "H2"] | None
    calendar_year: int
    calendar_quarter: int | None
    period_start: Time | None
    period_end: Time
    filed_at: Time
    observed_at: Time
    form: str
    accession: str
    source_url: str | None
    currency: str
    revision_status: Literal["initial", "revised", "final", "unknown"]
    basis: Literal["reported", "derived", "mixed"]
    items: dict[str, float]
    derived_items: dict[str, DerivedItem]
    quality: StatementQuality


class Financials(Record):
    """Statements of a company, newest first. `asOf`: the moment asked, else from when the newest of them was known."""

    entity_id: str
    ticker: str | None
    cik: str | None
    currency: str | None
    as_of: Time | None
    income_statements: list[StatementSchema]
    balance_sheets: list[StatementSchema]
    cash_flow_statements: list[StatementSchema]
