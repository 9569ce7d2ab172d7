"""The toolbox: the ten tools with their parameters and descriptions for a model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult
from pydantic import BeforeValidator, Field

from .asking import Api
from .declared import answered, tool
from .tools import brief, calendar, explain, find, latest, rates, revisions, screen, series
from .tools import company as statements


def _listed(given: object) -> object:
    """Split a list that a model wrote as one text, with names separated by commas."""
    return [one.strip() for one in given.split(",")] if isinstance(given, str) else given


_List = BeforeValidator(_listed)
_Text = Annotated[str, Field(min_length=1, max_length=200)]
Five = Annotated[list[str], _List, Field(min_length=1, max_length=5)]
Ten = Annotated[list[str], _List, Field(min_length=1, max_length=10)]
Twenty = Annotated[list[str], _List, Field(min_length=1, max_length=20)]
AsOf = Annotated[
    str | None, Field(description="Day (2024-05-01) or time: only what was known then. Without it, what is known now.")
]
Start = Annotated[str | None, Field(description="First period: 2020, 2020-Q1, 2020-03, FY2020, FY2020-Q1 or a date.")]
End = Annotated[str | None, Field(description="Last period, likewise.")]
Frequency = Literal["annual", "semiannual", "quarterly", "monthly", "weekly", "daily"]
Category = Literal[
    "macro_release",
    "central_bank",
    "issuer_filing",
    "issuer_disclosure",
    "regulator_notice",
    "corporate_action",
    "other",
]


def toolbox(api: Callable[[], Api]) -> list[Tool]:
    """Build all tools. `api` returns the interface as the present caller sees it."""

    async def almanac_find(
        query: Annotated[str, Field(min_length=1, max_length=200, description="Words, e.g. 'Germany core inflation'.")],
        kind: Literal["any", "indicator", "place", "company"] = "any",
        limit: Annotated[int, Field(ge=1, le=10)] = 5,
    ) -> CallToolResult:
        return await answered(find.find(api(), query, kind, limit))

    async def almanac_series(
        indicators: Annotated[Five, Field(description="Exact slugs, e.g. cpi_inflation_yoy.")],
        places: Annotated[
            Ten, Field(description="ISO codes or entity ids, e.g. USA; of companies ids or ticker:AAPL.")
        ],
        frequency: Annotated[Frequency | None, Field(description="Default: the finest there is.")] = None,
        start: Start = None,
        end: End = None,
        last: Annotated[
            int | None, Field(ge=1, le=120, description="Newest rows of each series. Default 12; 120 with start.")
        ] = None,
        as_of: AsOf = None,
    ) -> CallToolResult:
        return await answered(series.series(api(), indicators, places, frequency, start, end, last, as_of))

    async def almanac_latest(
        places: Annotated[Twenty, Field(description="ISO codes or entity ids.")],
        indicators: Annotated[Twenty, Field(description="Exact slugs.")],
        as_of: AsOf = None,
    ) -> CallToolResult:
        return await answered(latest.latest(api(), places, indicators, as_of))

    async def almanac_revisions(
        indicator: Annotated[_Text, Field(description="Exact slug.")],
        place: Annotated[_Text, Field(description="ISO code or entity id; a company id too.")],
        period: Annotated[
            str | None,
            Field(description="2024-06, 2024-Q1, 2024, FY2024-Q1, or first/last day: 2023-10-01/2024-09-30."),
        ] = None,
        as_of: AsOf = None,
    ) -> CallToolResult:
        return await answered(revisions.revisions(api(), indicator, place, period, as_of))

    async def almanac_company(
        company: Annotated[_Text, Field(description="Exact name, ticker, CIK, LEI or entity id.")],
        view: Literal["profile", "income", "balance", "cash_flow"] = "profile",
        frequency: Literal["annual", "quarterly"] = "annual",
        periods: Annotated[int, Field(ge=1, le=8)] = 4,
        as_of: AsOf = None,
    ) -> CallToolResult:
        return await answered(statements.company(api(), company, view, frequency, periods, as_of))

    async def almanac_screen(
        universe: Literal["countries", "companies"],
        filter: Annotated[  # noqa: A002  (the interface's own word)
            str,
            Field(
                min_length=1,
                max_length=2000,
                description="field:operator:value, joined by commas, all must hold. Operators gt, gte, lt, lte, eq, in (values joined by |).",
            ),
        ],
        sort: Annotated[
            str | None, Field(description="A field; - before it for the highest first. Default: name.")
        ] = None,
        limit: Annotated[int, Field(ge=1, le=25)] = 10,
        as_of: AsOf = None,
    ) -> CallToolResult:
        return await answered(screen.screen(api(), universe, filter, sort, limit, as_of))

    async def almanac_rates(
        scope: Annotated[_Text, Field(description="AUS, CAN, CHE, EUR, GBR, JPN or USA.")],
    ) -> CallToolResult:
        return await answered(rates.rates(api(), scope))

    async def almanac_brief(
        country: Annotated[_Text, Field(description="ISO code; EUR for the euro area.")], as_of: AsOf = None
    ) -> CallToolResult:
        return await answered(brief.brief(api(), country, as_of))

    async def almanac_calendar(
        start: Annotated[str, Field(description="First day (2026-11-01), or month or year.")],
        end: Annotated[str, Field(description="Last day (2026-11-30), or month or year.")],
        place: Annotated[
            str | None, Field(description="ISO code or entity id; a company id gives its filings.")
        ] = None,
        indicator: Annotated[str | None, Field(description="Exact slug.")] = None,
        category: Category | None = None,
        limit: Annotated[int, Field(ge=1, le=25)] = 10,
        as_of: AsOf = None,
    ) -> CallToolResult:
        return await answered(calendar.calendar(api(), start, end, place, indicator, category, limit, as_of))

    async def almanac_explain(
        observation: Annotated[_Text, Field(description="Id obs_…, as the footers say after 'ref'.")],
    ) -> CallToolResult:
        return await answered(explain.explain(api(), observation))

    work: dict[str, Callable[..., Any]] = {
        one.__name__: one
        for one in (
            almanac_find, almanac_series, almanac_latest, almanac_revisions, almanac_company, almanac_screen,
            almanac_rates, almanac_brief, almanac_calendar, almanac_explain,
        )
    }  # fmt: skip
    return [tool(name, *WORDS[name], work[name]) for name in WORDS]


#: Title and description of each tool, for the model that chooses.
WORDS: dict[str, tuple[str, str]] = {
    "almanac_find": (
        "Find indicators, places, companies",
        (
            "Find the exact ids that the other tools take. Gives for indicators: slug, definition, unit, frequencies, span, "
            "vintagesFrom (since when revisions are kept); for places and companies: id and how it was found. Call this first "
            "unless you know the exact slug; other tools take no approximate names."
        ),
    ),
    "almanac_series": (
        "Values over time",
        (
            "Official values of up to 5 indicators in up to 10 places, period by period: period,value,observed,status, oldest "
            "first. `observed` is when the value became known. With as_of: as the numbers stood on that day. Raw and computed "
            "indicators (inflation, growth, spreads) alike: do not compute what there is a slug for."
        ),
    ),
    "almanac_latest": (
        "Newest readings",
        "The newest reading of up to 20 indicators in up to 20 places in one table. Use this to compare places.",
    ),
    "almanac_revisions": (
        "How numbers were revised",
        (
            "With period: every published state of that period, with the day each became known (first print, revisions, "
            "restatements of companies). Without: first print against the newest state for the last periods, and the mean and "
            "mean absolute revision."
        ),
    ),
    "almanac_company": (
        "One company",
        (
            "A company's profile with scores and key figures, or its income statement, balance sheet or cash-flow statement, "
            "newest period first, as filed. With as_of: as filed by that day, before later restatements."
        ),
    ),
    "almanac_screen": (
        "Screen countries or companies",
        (
            "Countries by macro readings (cpi_inflation_yoy:gt:3,policy_rate:lte:5) or companies by fundamentals "
            "(net_margin:gte:0.15,revenue_ttm:gt:1e9,sector:eq:Technology; ratios are fractions). Gives the first rows, how many "
            "match in all and how many are left out. With as_of: from what was known then. A wrong field is answered by the nearest."
        ),
    ),
    "almanac_rates": (
        "Yield curve and spreads",
        "Government yields of 2, 5, 10 and 30 years today, slopes, and spreads to the other scopes, in basis points.",
    ),
    "almanac_brief": (
        "A country in words",
        (
            "Growth, inflation, labour market, rates, external position and public finances of a country, each with its "
            "readings, then coming events and newest releases. The place to start for a broad question on one country."
        ),
    ),
    "almanac_calendar": (
        "Releases and events",
        (
            "Official releases, central bank decisions and company filings between two days, past (with the first print) and "
            "scheduled."
        ),
    ),
    "almanac_explain": (
        "Where a number comes from",
        (
            "For an observation id: the formula and inputs of a computed value and whether it comes out equal when computed "
            "again, or the address, time and SHA-256 of the response a published value was read from; and all its states."
        ),
    ),
}
