"""GET /companies/{idOrLookup}/profile: who a company is, its key figures, scores test by test, and companies like it."""

from __future__ import annotations

import math
import re
from datetime import date
from typing import Any

import msgspec
import numpy as np

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer
from almanac.api.contract.ports import ScoreExplainer
from almanac.api.contract.records import wire_number
from almanac.api.endpoints.companies.records import Profile
from almanac.api.endpoints.companies.rows import CompanyScoring, Relatives, company_of
from almanac.api.endpoints.screeners.peers import Peers
from almanac.api.endpoints.screeners.screening import ProcessCache
from almanac.api.rows.filters import COMPANY_IN_PATH
from almanac.api.rows.rights import of_source
from almanac.domain.filings import page_of
from almanac.domain.numbers import plain
from almanac.domain.periods import end_of
from almanac.domain.times import wire_day, wire_time
from almanac.domain.units import currency_of
from almanac.store.companies import rows as company_rows
from almanac.store.companies.rows import Company

_FILINGS, _PEERS = 10, 8
#: What begins a further word of a score's name on the wire.
_CAPITAL = re.compile(r"[A-Z]")
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
    """Return the endpoint, given what a process remembers and what explains scores (this layer has no formulas)."""

    def profile(ctx: Context) -> ItemAnswer:
        company = company_of(ctx)
        standing = CompanyScoring(cache, ctx)
        record, relatives = company.record, Relatives.of(ctx, company)
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
                "formerNames": _former_names(company, relatives),
                "predecessorOf": relatives.predecessor_of,
                "successorOf": relatives.successor_of,
                "latestFilings": _filings(ctx, company),
                "keyFigures": {name: _figure(standing.peers, slug, company) for name, slug in FIGURES.items()},
                "scoreDetail": _detail(ctx, company, explain, standing.peers),
                "scorePeers": _score_peers(ctx, standing.peers, company),
                "peers": _alike(standing, company),
            }
        )
        return ItemAnswer(whole)

    return Endpoint(
        path="/companies/{idOrLookup}/profile",
        operation_id="getCompanyProfile",
        summary="Profile of one company",
        description="Names, identifiers, latest filings, figures over twelve months, each test of each score, and up to eight "
        "companies of its industry, the nearest in revenue first. By entity id, ticker, CIK, LEI, slug or any name that /entities/resolve finds exactly.",
        handler=profile,
        braces=(COMPANY_IN_PATH,),
        scope="companies:read",
        record=Profile,
        dated=True,
        cost="thread",
        tag="Companies",
    )


def _former_names(company: Company, relatives: Relatives) -> list[dict[str, Any]]:
    told = [{"name": one.name, "from": _day(one.from_), "to": _day(one.to)} for one in company.record.former_names]
    before = relatives.successor_of
    if before is not None:
        told.insert(0, {"name": before["name"], "from": None, "to": f"{before['since'][:10]}T00:00:00Z"})
    return told


def _day(text: str | None) -> str | None:
    """Return a stated day as the wire writes it."""
    return None if text is None else f"{text[:10]}T00:00:00Z"


def _midnight(ordinal: int) -> str:
    return wire_day(date.fromordinal(ordinal))


def _filings(ctx: Context, company: Company) -> list[dict[str, Any]]:
    """Return the newest filings that the plan reaches."""
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
    """Return the latest reading of one figure, None where there is none."""
    row = peers.table.row.get(company.entity)
    if row is None:
        return None
    found = peers.readings(slug, failed_too=True)
    if found.places[row] < 0:
        return None
    value, unit, quality = float(found.values[row]), found.unit(row), found.quality(row)
    return {
        "value": None if math.isnan(value) or quality == "failed" else wire_number(value),
        "unit": unit,
        "currency": currency_of(unit, None),
        "periodEnd": wire_day(found.end(row)),
        "observedAt": wire_time(found.known(row)),
        "quality": quality,
    }


def _detail(ctx: Context, company: Company, explain: ScoreExplainer, peers: Peers) -> dict[str, Any]:
    """
    Each test of each score; nothing where the values behind it may not be shown. A score that rests on a statement which
    fails a grave check has its tests, and no value.
    """
    if of_source(ctx, company.source).value_withheld:
        return {}
    told = explain(ctx.view, company.entity, ctx.as_of, ctx.window_start)
    row = peers.table.row.get(company.entity)
    found: dict[str, Any] = {}
    for name, one in told.items():
        reading = peers.readings(_CAPITAL.sub(lambda big: f"_{big[0].lower()}", name), failed_too=True)
        there = row is not None and reading.places[row] >= 0
        quality = reading.quality(row) if there and row is not None else "ok"
        found[name] = {**one, "quality": quality}
        if quality == "failed":
            found[name] |= {"value": None, "verdict": None}
    return found


def _score_peers(ctx: Context, peers: Peers, company: Company) -> dict[str, int] | None:
    """Among whom it is scored; None where it takes no part, or its figures may not be shown."""
    row = peers.table.row.get(company.entity)
    if row is None or not peers.taking_part[row] or of_source(ctx, company.source).value_withheld:
        return None
    found = peers.compared(row)
    return {
        "sector": found.sector,
        "all": found.all,
        "measures": found.measures,
        "measuresWithinSector": found.measures_within_sector,
    }


def _alike(standing: CompanyScoring, company: Company) -> list[dict[str, Any]]:
    """
    Companies of the same industry: those that take part, the nearest in revenue first and those without one behind, by
    name; then the others that have a statement, by name.
    """
    peers = standing.peers
    table = peers.table
    row = table.row.get(company.entity)
    if row is None or company.industry is None:
        return []
    same = (table.industries.codes == table.industries.codes[row]) & peers.enterprises()
    same[row] = False
    others = np.flatnonzero(same & peers.taking_part)
    comparable = table.currencies.codes[others] == table.currencies.codes[row]
    readings = peers.readings(_REVENUE).values
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = np.abs(np.log(np.where(comparable, readings[others], np.nan)) - np.log(readings[row]))
    # Sorts last what has no distance; a stable sort keeps the order of names.
    nearest = np.argsort(apart, kind="stable")[:_PEERS]
    found = [
        _peer(standing, one, int(peers.newest[one]), compared=not math.isnan(distance))
        for one, distance in zip(others[nearest].tolist(), apart[nearest].tolist(), strict=True)
    ]
    for one in np.flatnonzero(same & ~peers.taking_part).tolist():
        if len(found) == _PEERS:
            break
        last = standing.last(table.companies.ids[one], one)
        if last is not None:
            found.append(_peer(standing, one, last, compared=False))
    return found


def _peer(standing: CompanyScoring, row: int, last: int, *, compared: bool) -> dict[str, Any]:
    companies, score = standing.peers.table.companies, float(standing.scores.score[row])
    return {
        "entityId": companies.ids[row],
        "name": companies.names[row],
        "ticker": companies.tickers[row],
        "basis": "industry, revenue_ttm" if compared else "industry",
        "score": None if math.isnan(score) else plain(score),
        "lastPeriodEnd": wire_day(end_of(last)),
    }
