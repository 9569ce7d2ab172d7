"""GET /companies/{idOrLookup}/profile: who a company is, its key figures, scores test by test, and companies like it."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import msgspec
import numpy as np

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer
from almanac.api.contract.ports import ScoreExplainer
from almanac.api.endpoints.companies.records import Profile
from almanac.api.endpoints.companies.rows import CompanyScoring, company_of
from almanac.api.endpoints.screeners.peers import Peers
from almanac.api.endpoints.screeners.screening import ProcessCache
from almanac.api.rows.filters import COMPANY_IN_PATH
from almanac.api.rows.rights import of_source
from almanac.domain.filings import page_of
from almanac.domain.fragments import shortest
from almanac.domain.times import wire_day, wire_time
from almanac.domain.units import currency_of
from almanac.reports.scoring import MEASURES
from almanac.store.companies import rows as company_rows
from almanac.store.companies.rows import Company

_FILINGS, _PEERS = 10, 8
_REVENUE = "revenue_ttm"
#: Key figure → indicator.
FIGURES = {
    "revenue": _REVENUE,
    "netIncome": "net_income_ttm",
    "operatingCashFlow": "net_cash_flow_from_operations_ttm",
    "freeCashFlow": "free_cash_flow_ttm",
    "grossMargin": "gross_margin",
    "operatingMargin": "operating_margin",
    "netMargin": "net_margin",
    "fcfMargin": "fcf_margin",
}


def endpoint(cache: ProcessCache, explain: ScoreExplainer) -> Endpoint:
    """The endpoint, given what a process remembers and what explains scores (this layer has no formulas)."""

    def profile(ctx: Context) -> ItemAnswer:
        company = company_of(ctx)
        standing = CompanyScoring(cache, ctx)
        record = company.record
        whole: bytes = msgspec.json.encode(
            {
                **standing.row(company),
                "legalName": record.legal_name or company.name,
                "tickers": company_rows.tickers(ctx.view, company),
                "sic": record.sic,
                "sicDescription": record.sic_description,
                "lei": record.lei,
                "stateOfIncorporation": record.state_of_incorporation,
                "website": record.website,
                "formerNames": [
                    {"name": one.name, "from": _day(one.from_), "to": _day(one.to)} for one in record.former_names
                ],
                "latestFilings": _filings(ctx, company),
                "keyFigures": {name: _figure(standing.peers, slug, company) for name, slug in FIGURES.items()},
                "scoreDetail": _detail(ctx, company, explain),
                "peers": _alike(standing.peers, company),
            }
        )
        return ItemAnswer(whole)

    def cold(_: dict[str, Any]) -> bool:
        return not cache.readings.warm([*MEASURES, *FIGURES.values()])

    return Endpoint(
        path="/companies/{idOrLookup}/profile",
        operation_id="getCompanyProfile",
        summary="Profile of one company",
        description="Names, identifiers, latest filings, figures over twelve months, each test of each score, and up to eight "
        "companies of its industry with the nearest revenue. By entity id, ticker, CIK, LEI, slug or any name that /entities/resolve finds exactly.",
        handler=profile,
        braces=(COMPANY_IN_PATH,),
        scope="companies:read",
        record=Profile,
        dated=True,
        threaded=cold,
        awaits=cold,
        tag="Companies",
    )


def _day(text: str | None) -> str | None:
    """A stated day as the wire writes it."""
    return None if text is None else f"{text[:10]}T00:00:00Z"


def _midnight(ordinal: int) -> str:
    return wire_day(date.fromordinal(ordinal))


def _filings(ctx: Context, company: Company) -> list[dict[str, Any]]:
    """The newest filings that the plan reaches."""
    since = 1 if ctx.window_start is None else ctx.window_start.toordinal()
    source = ctx.view.directory.sources.get(company.source)
    invented = source is not None and source.simulated
    return [
        {
            "form": one.form,
            "filedAt": _midnight(one.filed),
            "periodEnd": None if one.report_date is None else _midnight(one.report_date),
            "url": None if invented else page_of(company.cik, one.accession, one.document),
        }
        for one in company_rows.filings(ctx.view, company.entity, known_by=ctx.as_of, filed_from=since, limit=_FILINGS)
    ]


def _figure(peers: Peers, slug: str, company: Company) -> dict[str, Any] | None:
    """The latest reading of one figure, None where there is none."""
    row = peers.table.row.get(company.entity)
    if row is None:
        return None
    found = peers.readings(slug)
    if found.places[row] < 0:
        return None
    value, unit = float(found.values[row]), found.unit(row)
    return {
        "value": None if math.isnan(value) else msgspec.Raw(shortest(value).encode()),
        "unit": unit,
        "currency": currency_of(unit, None),
        "periodEnd": wire_day(found.end(row)),
        "observedAt": wire_time(found.known(row)),
    }


def _detail(ctx: Context, company: Company, explain: ScoreExplainer) -> dict[str, Any]:
    """Each test of each score; nothing where the values behind it may not be shown."""
    if of_source(ctx, company.source).value_withheld:
        return {}
    return dict(explain(ctx.view, company.entity, ctx.as_of, ctx.window_start))


def _alike(peers: Peers, company: Company) -> list[dict[str, Any]]:
    """Companies of the same industry that take part, the nearest in revenue first; those without one behind, by name."""
    table = peers.table
    row = table.row.get(company.entity)
    if row is None or company.industry is None:
        return []
    same = peers.taking_part & (table.industries.codes == table.industries.codes[row])
    same[row] = False
    others = np.flatnonzero(same)
    comparable = table.currencies.codes[others] == table.currencies.codes[row]
    readings = peers.readings(_REVENUE).values
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.abs(np.log(np.where(comparable, readings[others], np.nan)) - np.log(readings[row]))
    # Sorts last what has no distance; a stable sort keeps the order of names.
    nearest = np.argsort(apart, kind="stable")[:_PEERS]
    return [
        {
            "entityId": table.companies.ids[one],
            "name": table.companies.names[one],
            "ticker": table.companies.tickers[one],
            "basis": "industry" if math.isnan(distance) else "industry, revenue_ttm",
        }
        for one, distance in zip(others[nearest].tolist(), apart[nearest].tolist(), strict=True)
    ]
