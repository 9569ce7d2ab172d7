"""Shapes of companies, their profiles and statements, for the machine-readable description."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, UnsetType

from almanac.api.contract.records import Cik, CompanyName, Domicile, FiscalPart, Quality, Record, Ticker
from almanac.domain.fields import AsOf, Currency, EntityId, ObservedAt, PeriodEnd, Revision, Time, Unit, Uri, says

_Pillar = Annotated[
    float | None, says("Place among its peers (`scorePeers`), 0 to 100. Null: it has none of the pillar's measures.")
]
_LastPeriodEnd = Annotated[Time | None, says("Last day of its newest statement's period. Null: the plan reaches none.")]


class CompanyScores(Record):
    """How a company stands among its peers on each pillar."""

    profitability: _Pillar
    growth: _Pillar
    strength: _Pillar
    efficiency: _Pillar
    quality: _Pillar


class CompanySchema(Record):
    """A company and its score, which is computed when asked."""

    entity_id: EntityId
    name: CompanyName
    ticker: Ticker
    cik: Cik
    exchange: Annotated[str | None, says("Where its shares are listed. Null: not known.", "Nasdaq")]
    country: Domicile
    sector: Annotated[str, says("Its sector today, from its industry code.")]
    industry: Annotated[str | None, says("Its industry today, as the regulator names it. Null: not known.")]
    fiscal_year_end: Annotated[str | None, says("Month and day its fiscal year ends on. Null: not known.", "09-30")]
    last_period_end: _LastPeriodEnd
    score: Annotated[
        float | None,
        says(
            "Where it stands, 0 to 100, among the companies of its sector or, for a measure that fewer than ten of those have, "
            "among all. Null: too little is known."
        ),
    ]
    scores: Annotated[CompanyScores, says("The pillars of the score.")]
    piotroski_f: Annotated[float | None, says("Piotroski's F, 0 to 9, of twelve months. Null: an input is missing.")]
    altman_z2: Annotated[float | None, says("Altman's Z'' of the same months. Null: unknown, or not for its business.")]
    score_coverage: Annotated[float, says("Share of the score's measures that it has, 0 to 1.")]
    score_model: Annotated[str, says("Name and version of the model behind `score`.")]


class FormerNameSchema(Record):
    """A name a company had."""

    name: Annotated[str, says("The name.")]
    from_: Annotated[Time | None, says("First day it was used. Null: not stated.")] = msgspec.field(name="from")
    to: Annotated[Time | None, says("Last day it was used. Null: not stated.")]


class RelatedRegistrant(Record):
    """Another registrant of the same enterprise."""

    entity_id: EntityId
    name: CompanyName
    since: Annotated[Time, says("When the report could be read that shows that the one continues the other.")]


_PredecessorOf = Annotated[
    RelatedRegistrant | None,
    says("The registrant that goes on where this one ends: a new holding company that states its numbers. Null: none."),
]
_SuccessorOf = Annotated[
    RelatedRegistrant | None,
    says("The registrant whose accounts this one continues, and where its earlier statements are. Null: none."),
]


class LatestFiling(Record):
    """A filing."""

    form: Annotated[str, says("Form of the filing.", "10-K")]
    filed_at: Annotated[Time, says("Day it was filed.")]
    period_end: Annotated[Time | None, says("Last day of the period it reports on. Null: it is on none.")]
    url: Annotated[Uri | None, says("Where it can be read. Null: it is invented.")]


class KeyFigure(Record):
    """The latest reading of a figure over twelve months."""

    value: Annotated[float | None, says("The figure; a margin is a fraction. Null: withheld, or `quality` is failed.")]
    unit: Unit
    currency: Currency
    period_end: PeriodEnd
    observed_at: ObservedAt
    quality: Quality


class KeyFigures(Record):
    """Figures over the last twelve months; of filers of yearly accounts only, the last fiscal year."""

    revenue: Annotated[KeyFigure | None, says("Revenue. Null: not known.")]
    net_income: Annotated[KeyFigure | None, says("Net income. Null: not known.")]
    operating_cash_flow: Annotated[KeyFigure | None, says("Net cash flow from operations. Null: not known.")]
    free_cash_flow: Annotated[KeyFigure | None, says("That less capital expenditure. Null: not known.")]
    gross_margin: Annotated[KeyFigure | None, says("Gross profit to revenue. Null: not known.")]
    operating_margin: Annotated[KeyFigure | None, says("Operating income to revenue. Null: not known.")]
    net_margin: Annotated[KeyFigure | None, says("Net income to revenue. Null: not known.")]
    fcf_margin: Annotated[KeyFigure | None, says("Free cash flow to revenue. Null: not known.")]


class ScoreTest(Record):
    """One test of a score."""

    name: Annotated[str, says("Name of the test.", "return_on_assets_positive")]
    inputs: Annotated[
        dict[str, float | None],
        says("What it looks at, by name; money in the company's reporting currency. Null: not known, or not reached."),
    ]
    value: Annotated[float | None, says("What comes out of them. Null: an input is missing.")]
    passed: Annotated[bool | None, says("Whether the test is passed. Null: none is asked, or it is open.")]


class ScoreDetailSchema(Record):
    """A score of twelve months, with its tests. It has a value only if all of them have one, and no grave check fails."""

    period_end: Annotated[Time, says("Last day of the twelve months.")]
    value: Annotated[float | None, says("The score, which has no unit. Null: a test has no value.")]
    verdict: Annotated[str | None, says("What its author calls such a value. Null: nothing, or there is no value.")]
    present: Annotated[int, says("How many tests have a value.")]
    of: Annotated[int, says("How many tests there are.")]
    passed: Annotated[int | None, says("How many are passed. Null: the score asks for none.")]
    tests: Annotated[list[ScoreTest], says("Its tests.")]
    quality: Quality


class ScorePeers(Record):
    """Among whom the score of a company was taken: those with a statement of the last 18 months, itself among them."""

    sector: Annotated[int, says("How many of them are of its sector.")]
    all: Annotated[int, says("How many they are.")]
    measures: Annotated[int, says("How many measures it has.")]
    measures_within_sector: Annotated[int, says("How many at least ten of its sector have: compared within it.")]


class PeerSchema(Record):
    """A company like this one."""

    entity_id: EntityId
    name: CompanyName
    ticker: Ticker
    basis: Annotated[
        Literal["industry", "industry, revenue_ttm"],
        says("What makes it one: the same industry, and, where both are known, the nearest revenue."),
    ]
    score: Annotated[float | None, says("Its score, 0 to 100. Null: none, as with statements older than 18 months.")]
    last_period_end: _LastPeriodEnd


class Profile(CompanySchema):
    """All that is known of a company itself."""

    legal_name: Annotated[str, says("Its name in the register.")]
    tickers: Annotated[list[str], says("All tickers of today, the main one first.")]
    sic: Annotated[str | None, says("Its Standard Industrial Classification code, four digits. Null: none.", "3571")]
    sic_description: Annotated[str | None, says("That code in words. Null: none.")]
    lei: Annotated[str | None, says("Its Legal Entity Identifier, twenty characters. Null: not known.")]
    state_of_incorporation: Annotated[str | None, says("Where it is incorporated. Null: not stated.", "DE")]
    website: Annotated[str | None, says("Its web site, as it states it. Null: not stated.")]
    former_names: Annotated[list[FormerNameSchema], says("Names before this, and of the registrant it continues.")]
    predecessor_of: _PredecessorOf
    successor_of: _SuccessorOf
    latest_filings: Annotated[list[LatestFiling], says("Its newest filings that the plan reaches, the newest first.")]
    key_figures: Annotated[KeyFigures, says("Figures over twelve months.")]
    score_detail: Annotated[dict[str, ScoreDetailSchema], says("By name, the scores whose inputs may be shown.")]
    score_peers: Annotated[ScorePeers | None, says("Among whom it was scored. Null: it takes no part, or withheld.")]
    peers: Annotated[list[PeerSchema], says("At most eight of its industry, reporting ones first, by nearest revenue.")]


class DerivedItem(Record):
    """How a line that the filing does not state was come by."""

    method: Annotated[str, says("A fiscal year less nine months, a sum of tags, a formula, and so on.", "fy_minus_9m")]
    derived_from: Annotated[list[str], says("Ids of the series it was computed from.")]


class StatementCheck(Record):
    """One check of a statement."""

    name: Annotated[
        str,
        says(
            "What is checked. `relied_upon` fails from the moment the company itself says not to rely on what it filed.",
            "balance_sheet_balances",
        ),
    ]
    status: Annotated[Literal["passed", "failed", "not_applicable", "withheld"], says("What came out.")]
    detail: Annotated[str | None, says("The numbers behind it, or the reason, in words. Null: nothing to say.")]
    items: Annotated[
        list[str] | UnsetType, says("Keys of the lines that a failure is about. Absent: it did not fail.", ["revenue"])
    ] = UNSET


class StatementQuality(Record):
    """What the checks of a statement found."""

    status: Annotated[Literal["ok", "warning", "failed", "withheld"], says("The worst of the checks.")]
    checks: Annotated[list[StatementCheck], says("The checks.")]


#: Fields of a statement that are not repeated on its lines: the last ones.
_OF_LINES = ("items", "derived_items", "quality")


class StatementSchema(Record):
    """
    One statement of one period, as known at the moment asked.

    `filedAt`, `observedAt`, `form`, `accession` and `sourceUrl` are of the filing that last changed a line.
    """

    frequency: Annotated[Literal["annual", "semiannual", "quarterly"], says("Which length of period it is of.")]
    fiscal_year: Annotated[int | None, says("Fiscal year, as the company counts. Null: not known.")]
    fiscal_period: Annotated[FiscalPart | None, says("Part of the fiscal year. Null: not known.")]
    calendar_year: Annotated[int, says("Calendar year that most of the period lies in.")]
    calendar_quarter: Annotated[
        int | None,
        says(
            "Calendar quarter, 1 to 4: that of the middle of the period, or the next one where the quarter before has that. "
            "Null: it is no quarter."
        ),
    ]
    period_start: Annotated[Time | None, says("First day of the period. Null: a balance sheet.")]
    period_end: Annotated[Time, says("Last day of the period, or the day of the balance sheet.")]
    filed_at: Annotated[Time, says("Day of the filing.")]
    observed_at: ObservedAt
    form: Annotated[str, says("Form of the filing.", "10-K")]
    accession: Annotated[str, says("Accession number of the filing.", "0000320193-25-000079")]
    source_url: Annotated[Uri | None, says("Where the filing can be read. Null: it is invented.")]
    currency: Annotated[str, says("ISO 4217 code of the currency of all amounts.", "USD")]
    revision_status: Annotated[Revision, says("`revised`: a later filing changed a number.")]
    basis: Annotated[Literal["reported", "derived", "mixed"], says("Whether its lines are filed, computed, or both.")]
    items: Annotated[
        dict[str, float],
        says(
            "Lines by key, as filed: money in units of `currency`, per-share lines in it per share, shares in shares; never "
            "adjusted for splits. A line that was not reported is absent, never zero."
        ),
    ]
    derived_items: Annotated[dict[str, DerivedItem], says("How lines that no filing states were come by, by key.")]
    quality: Annotated[StatementQuality, says("What the checks found.")]


class Financials(Record):
    """Statements of a company, newest first."""

    entity_id: EntityId
    ticker: Ticker
    cik: Cik
    currency: Annotated[
        str | None,
        says(
            "ISO 4217 code of the currency it reports in; with `as_of` that of the newest statement known then. Null: not known.",
            "USD",
        ),
    ]
    as_of: AsOf
    predecessor_of: _PredecessorOf
    successor_of: _SuccessorOf
    income_statements: Annotated[list[StatementSchema], says("Income statements.")]
    balance_sheets: Annotated[list[StatementSchema], says("Balance sheets.")]
    cash_flow_statements: Annotated[list[StatementSchema], says("Cash-flow statements.")]


StatementLine = msgspec.defstruct(
    "StatementLine",
    [
        ("entity_id", EntityId),
        ("ticker", Ticker),
        ("cik", Cik),
        ("statement", Annotated[Literal["income", "balance", "cash_flow"], says("Which statement it is.")]),
        *((field.name, field.type) for field in msgspec.structs.fields(StatementSchema)[: -len(_OF_LINES)]),
        ("item", Annotated[str | None, says("Key of the line. Null: there is none, or it is withheld.", "revenue")]),
        ("value", Annotated[float | None, says("What the line says, as filed. Null: there is no line.")]),
        ("method", Annotated[str | None, says("How a line that no filing states was come by. Null: it is stated.")]),
        ("derived_from", Annotated[list[str], says("Ids of the series it was computed from; else empty.")]),
        ("quality", Annotated[Literal["ok", "warning", "failed", "withheld"], says("The worst of the checks.")]),
        ("reason", Annotated[str | None, says("Why the values of the statement are withheld. Null: they are not.")]),
    ],
    rename="camel",
    namespace={
        "__doc__": "One line of one statement, as tables list statements. A statement without a line has one of it alone, whose "
        "`item` is null. What is said of the statement is repeated on each of its lines."
    },
)
