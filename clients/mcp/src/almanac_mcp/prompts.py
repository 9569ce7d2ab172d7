"""Prompts: three common questions, worded so that the tools answer them with sources."""

from __future__ import annotations

from typing import Annotated

from mcp.server.mcpserver import MCPServer
from pydantic import Field

_RULES = (
    "Name the period and the source of each number, with the attributions of the footers. A value that is withheld is "
    "named as withheld with its reason and is not estimated."
)


def add(server: MCPServer) -> None:
    """Register the prompts with the server."""

    @server.prompt(
        name="country_brief", title="A country's economy", description="Where an economy stands, with sources."
    )
    def country_brief(
        country: Annotated[str, Field(description="ISO code, e.g. USA")],
        as_of: Annotated[str, Field(description="A day, for what was known then; may be left empty")] = "",
    ) -> str:
        when = f" as it was known on {as_of}" if as_of else ""
        past = f", as_of={as_of!r}" if as_of else ""
        return (
            f"Write a one-page note on the economy of {country}{when}. Call almanac_brief(country={country!r}{past}) first; "
            "for what stands out, call almanac_series for the last two years and almanac_revisions for whether the first "
            f"prints held. End with what is released next (almanac_calendar). {_RULES}"
        )

    @server.prompt(
        name="release_note", title="A new release", description="What a release says against what was known."
    )
    def release_note(
        indicator: Annotated[str, Field(description="Slug, e.g. cpi_inflation_yoy")],
        place: Annotated[str, Field(description="ISO code, e.g. USA")],
    ) -> str:
        return (
            f"Write three paragraphs on the newest release of {indicator} in {place}: what it says, how it compares with the "
            "last two years, and what it changed of earlier periods. Call "
            f"almanac_series(indicators=[{indicator!r}], places=[{place!r}], last=24) and "
            f"almanac_revisions(indicator={indicator!r}, place={place!r}); almanac_explain for where the number comes from. "
            f"{_RULES}"
        )

    @server.prompt(
        name="company_check", title="A company's accounts", description="A company's accounts, and restatements."
    )
    def company_check(
        company: Annotated[str, Field(description="Name, ticker, CIK or LEI")],
    ) -> str:
        return (
            f"Check the accounts of {company}. Call almanac_company(company={company!r}), then its views income, balance and "
            "cash_flow; say how margins and cash conversion moved, which checks of the filings failed, and whether a year was "
            f"restated (almanac_revisions with indicator='net_income'). {_RULES}"
        )
