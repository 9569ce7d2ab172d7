"""Companies: the scored list, and what is known of one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from typing import Any, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, Lines, ListAnswer
from almanac.api.contract.errors import ApiError, quoted
from almanac.api.contract.params import Param
from almanac.api.contract.records import wire_number
from almanac.api.endpoints.companies.records import (
    CompanySchema,
    CompanyScores,
    Financials,
    Profile,
    ScorePeers,
    StatementLine,
)
from almanac.api.endpoints.screeners.peers import Peers
from almanac.api.endpoints.screeners.screening import AlignedColumn, ProcessCache, cut_page, newest_ends
from almanac.api.rows.filters import AS_OF, COMPANY_IN_PATH, DOMICILE, entities
from almanac.api.rows.names import exactly, suggested_word
from almanac.api.rows.redaction import of_source
from almanac.domain.filings import page_of
from almanac.domain.names import folded, normal
from almanac.domain.numbers import plain
from almanac.domain.periods import end_of
from almanac.domain.times import wire_day, wire_time
from almanac.domain.units import currency_of
from almanac.reports.scoring import MODEL, PILLARS
from almanac.reports.screener import Column, Mask, Texts
from almanac.store.companies import filings
from almanac.store.companies import rows as company_rows
from almanac.store.companies.rows import Company, beginning, by_id, by_ids, by_lookup, last_tickers
from almanac.store.companies.statements import (
    BALANCE,
    CASH_FLOW,
    FREQUENCIES,
    INCOME,
    KINDS,
    StatementRow,
    newest,
)
from almanac.store.companies.succession import known_successions
from almanac.store.companies.universe import reporting
from almanac.store.observations.reading.reader import View

K = TypeVar("K")
R = TypeVar("R", bound=CompanySchema)

#: Explains the scores of a company to the interface, which knows no formulas: of (view, entity, moment in unix seconds, `ends_from`)
#: it gives score (`piotroskiF`, `altmanZ2`, `beneishM`) → its detail (the fields of `ScoreDetailSchema`) as known at the moment. Of
#: periods that end before `ends_from` no input has a value. Empty where nothing can be computed, and where the scores are of such
#: a period themselves.
ScoreExplainer = Callable[[View, str, int, date | None], Mapping[str, Mapping[str, Any]]]

_COMPANIES = partial(Endpoint, scope="companies:read", dated=True, tag="Companies")
PIOTROSKI, ALTMAN, _BENEISH = "piotroski_f", "altman_z2", "beneish_m"
#: Tests whose scores a row shows.
TESTS = (PIOTROSKI, ALTMAN)


#: Companies told of where a name is none's alone.
_CANDIDATES = 5


def company_of(ctx: Context) -> Company:
    """Return the company that the path names. Raises ApiError 404."""
    name = ctx.path["idOrLookup"]
    found = by_lookup(ctx.view, name)
    if found is None:
        meant = exactly(ctx, name, ["company"])
        found = None if meant is None else by_id(ctx.view, meant.entity)
    if found is None:
        # Companies whose name, or former name, is these words or begins with them.
        norm = normal(name)
        ids = {alias.entity for alias in beginning(ctx.view, norm)} if norm else set()
        likely = sorted(by_ids(ctx.view, ids).values(), key=lambda company: (company.name, company.entity))[
            :_CANDIDATES
        ]
        named = ", ".join(f"{company.name} ({company.slug})" for company in likely)
        candidates = [{"entityId": company.entity, "name": company.name, "slug": company.slug} for company in likely]
        raise ApiError(
            404,
            f"there is no company {quoted(name)}{f'; it may be {named}' if named else ''}: give an entity id, ticker, CIK, LEI or "
            "slug, or a name that is exactly its own; /entities/resolve finds one by likeness",
            {"parameter": "idOrLookup"} | ({"candidates": candidates} if candidates else {}),
        )
    return found


def _relatives(ctx: Context, company: Company) -> dict[str, dict[str, Any] | None]:
    """Return the registrants that continue a company and that it continues: of two the nearest in time, for a chain goes on from there."""
    links = known_successions(ctx.view, ctx.as_of)
    after = min(((link.since, link.successor) for link in links if link.predecessor == company.entity), default=None)
    before = max(((link.since, link.predecessor) for link in links if link.successor == company.entity), default=None)

    def relative(since: int, entity: str) -> dict[str, Any] | None:
        registrant = by_id(ctx.view, entity)
        return None if registrant is None else {"entityId": entity, "name": registrant.name, "since": wire_time(since)}

    return {
        "predecessor_of": None if after is None else relative(*after),
        "successor_of": None if before is None else relative(*before),
    }


class CompanyScoring:
    """Scores of companies, as one request may see them."""

    def __init__(self, cache: ProcessCache, ctx: Context) -> None:
        self._ctx = ctx
        self.peers = Peers(cache, ctx)
        self.scores = self.peers.scores()
        told = {name: self.peers.readings(name) for name in (PIOTROSKI, ALTMAN, _BENEISH)}
        self.tests = {name: values for name, values in of_the_newest_end(told).items() if name in TESTS}

    def record(self, company: Company, kind: type[R], **fields: Any) -> R:
        """Return the record of a company: a row of /companies or, with more fields, another kind."""
        place = self.peers.table.row.get(company.entity)
        end = company.record.fiscal_year_end
        last = self.last(company.entity, place)
        scores = self.scores
        return kind.from_attributes(
            company,
            entity_id=company.entity,
            cik=f"{company.cik:010d}",
            fiscal_year_end=f"{end[:2]}-{end[2:]}" if end is not None and len(end) == 4 else None,
            last_period_end=None if last is None else wire_day(end_of(last)),
            score=_shown(scores.score, place),
            scores={name: _shown(scores.pillars[name], place) for name in CompanyScores.__struct_fields__},
            piotroski_f=_shown(self.tests[PIOTROSKI], place),
            altman_z2=_shown(self.tests[ALTMAN], place),
            score_coverage=0 if place is None else plain(float(scores.coverage[place])),
            score_model=MODEL,
            **fields,
        )

    def last(self, entity: str, place: int | None) -> int | None:
        """Return the key of the newest period that a company has a statement for: known for those that take part, else looked up."""
        if place is not None and self.peers.newest[place]:
            return int(self.peers.newest[place])
        ctx = self._ctx
        statements = newest(
            ctx.view,
            entity,
            KINDS,
            FREQUENCIES,
            version=ctx.version,
            known_by=ctx.as_of,
            ends_from=ctx.window_start,
            limit=1,
        )
        return statements[0].period if statements else None


def of_the_newest_end(columns: Mapping[K, AlignedColumn]) -> dict[K, npt.NDArray[np.float64]]:
    """
    Return the values of each score by company, NaN for none: only those of the newest twelve months that any score is for.
    An older column beside it would rest on other accounts.
    """
    newest = newest_ends(columns.values())
    return {name: column.ending(newest).values for name, column in columns.items()}


def _shown(values: Any, place: int | None) -> float | int | None:
    return None if place is None or np.isnan(values[place]) else plain(float(values[place]))


_FILINGS, _PEERS = 10, 8
#: What begins a further word of a score's name on the wire.
_CAPITAL = re.compile(r"[A-Z]")
_REVENUE = "revenue_ttm"
#: Fields of a profile that the register of companies states.
_REGISTERED = ("sic", "sic_description", "lei", "state_of_incorporation", "website")
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


def profile(cache: ProcessCache, explain: ScoreExplainer, ctx: Context) -> ItemAnswer:
    """Return all that is known of one company. `explain` explains scores: this layer has no formulas."""
    company = company_of(ctx)
    standing = CompanyScoring(cache, ctx)
    record, relatives = company.record, _relatives(ctx, company)
    registered = {name: getattr(record, name) for name in _REGISTERED}
    whole = standing.record(
        company,
        Profile,
        **registered,
        legal_name=record.legal_name or company.name,
        tickers=company_rows.tickers(ctx.view, company),
        former_names=_former_names(company, relatives["successor_of"]),
        **relatives,
        latest_filings=_filings(ctx, company),
        key_figures={name: _figure(standing.peers, slug, company) for name, slug in FIGURES.items()},
        score_detail=_detail(ctx, company, explain, standing.peers),
        score_peers=_score_peers(ctx, standing.peers, company),
        peers=_alike(standing, company),
    )
    return ItemAnswer(msgspec.json.encode(whole))


def _former_names(company: Company, before: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Return the names that a company had, and that of the registrant whose accounts it continues."""

    def day(text: str | None) -> str | None:
        return None if text is None else f"{text[:10]}T00:00:00Z"

    continued = [] if before is None else [{"name": before["name"], "from": None, "to": day(before["since"])}]
    return continued + [
        {"name": former.name, "from": day(former.from_), "to": day(former.to)} for former in company.record.former_names
    ]


def _filings(ctx: Context, company: Company) -> list[dict[str, Any]]:
    """Return the newest filings that the plan reaches."""
    since = 1 if ctx.window_start is None else ctx.window_start.toordinal()
    source = ctx.view.directory.sources.get(company.source)
    invented = source is not None and source.simulated
    return [
        {
            "form": one.form,
            "filedAt": wire_day(date.fromordinal(one.filed)),
            "periodEnd": None if one.report_date is None else wire_day(date.fromordinal(one.report_date)),
            "url": None if invented else page_of(company.cik, one.accession, one.document),
        }
        for one in filings.newest(ctx.view, company.entity, known_by=ctx.as_of, filed_from=since, limit=_FILINGS)
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
    Return each test of each score; nothing where the values behind it may not be shown. A score that rests on a statement
    which fails a grave check has its tests, and no value.
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


def _score_peers(ctx: Context, peers: Peers, company: Company) -> ScorePeers | None:
    """Return the number of companies it is scored among; None where it takes no part, or its figures may not be shown."""
    row = peers.table.row.get(company.entity)
    if row is None or not peers.taking_part[row] or of_source(ctx, company.source).value_withheld:
        return None
    return ScorePeers.from_attributes(peers.compared(row))


def _alike(standing: CompanyScoring, company: Company) -> list[dict[str, Any]]:
    """
    Return companies of the same industry: those that take part, the nearest in revenue first and those without one behind, by
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


#: `frequency` as asked → what is looked for.
_FREQUENCIES = {None: FREQUENCIES, "A": ("A",), "Q": ("Q", "S")}


def financials(ctx: Context) -> ItemAnswer:
    """Return the statements of one company."""
    company = company_of(ctx)
    asked = ctx.params["frequency"]
    told = {
        kind: newest(
            ctx.view,
            company.entity,
            [kind],
            _FREQUENCIES[asked],
            version=ctx.version,
            known_by=ctx.as_of,
            ends_from=ctx.window_start,
            limit=ctx.params["limit"],
        )
        for kind in (INCOME, BALANCE, CASH_FLOW)
    }
    every = [statement for statements in told.values() for statement in statements]
    as_of, currency = ctx.params["as_of"], company.currency
    moment = as_of if as_of is not None else max((statement.known for statement in every), default=None)
    if as_of is not None:  # that of the newest statement known then: the company may report in another one today
        last = max(every, key=lambda statement: (statement.period, statement.known), default=None)
        currency = None if last is None else msgspec.json.decode(last.body)["currency"]
    rights = of_source(ctx, company.source)
    withheld = rights.reason if rights.value_withheld else None
    relatives = _relatives(ctx, company)
    data: bytes = msgspec.json.encode(
        {
            "entityId": company.entity,
            "ticker": company.ticker
            if as_of is None
            else company.ticker or last_tickers(ctx.view, [company.entity], as_of).get(company.entity),
            "cik": f"{company.cik:010d}",
            "currency": currency,
            "asOf": None if moment is None else wire_time(moment),
            "predecessorOf": relatives["predecessor_of"],
            "successorOf": relatives["successor_of"],
            "incomeStatements": _joined(told[INCOME], withheld),
            "balanceSheets": _joined(told[BALANCE], withheld),
            "cashFlowStatements": _joined(told[CASH_FLOW], withheld),
        }
    )
    return ItemAnswer(data)


def _joined(told: list[StatementRow], reason: str | None) -> msgspec.Raw:
    """Return bodies as a JSON list; without values and results of checks where there is a reason why these may not be sent."""
    bodies = []
    for row in told:
        body = row.body
        if reason is not None:
            check = {"name": "rights", "status": "withheld", "detail": reason}
            masked = {"items": {}, "derivedItems": {}, "quality": {"status": "withheld", "checks": [check]}}
            body = msgspec.json.encode(msgspec.json.decode(body) | masked)
        bodies.append(body)
    return msgspec.Raw(b"[" + b",".join(bodies) + b"]")


#: The lists of statements, and what a line calls each.
_STATEMENTS = {"incomeStatements": "income", "balanceSheets": "balance", "cashFlowStatements": "cash_flow"}
_OF_STATEMENT = ("items", "derivedItems", "quality")


def statement_lines(data: bytes) -> list[bytes]:
    """Return the lines of the statements of a company, one after the other."""
    company = msgspec.json.decode(data)
    lines = []
    for key, name in _STATEMENTS.items():
        for statement in company[key]:
            quality = statement["quality"]
            said = {
                **{field: company[field] for field in ("entityId", "ticker", "cik")},
                "statement": name,
                **{field: value for field, value in statement.items() if field not in _OF_STATEMENT},
                "quality": quality["status"],
                "reason": quality["checks"][0]["detail"] if quality["status"] == "withheld" else None,
            }
            for item, value in (statement["items"] or {None: None}).items():
                derived = statement["derivedItems"].get(item, {})
                how = {"method": derived.get("method"), "derivedFrom": derived.get("derivedFrom", [])}
                lines.append(msgspec.json.encode({**said, "item": item, "value": value, **how}))
    return lines


_FINANCIALS = _COMPANIES(
    path="/companies/{idOrLookup}/financials",
    operation_id="getCompanyFinancials",
    summary="Financial statements of one company",
    description="Income statements, balance sheets and cash-flow statements, newest first, one per period: each assembled from what was "
    "known at the moment asked. By entity id, ticker, CIK, LEI, slug or any name that /entities/resolve finds exactly. Quarters that a filing does not state are derived "
    "where that can be done, and say how. Values are as filed, never adjusted for splits.",
    handler=financials,
    braces=(COMPANY_IN_PATH,),
    params=(
        Param(
            "frequency",
            "Only annual or only quarterly statements: quarters, and half-years where no quarter ends with them.",
            "enum",
            choices={"annual": "A", "quarterly": "Q"},
        ),
        Param(
            "limit",
            "Statements per type, annual and quarterly together.",
            "integer",
            default=12,
            minimum=1,
            maximum=100,
        ),
        AS_OF,
    ),
    record=Financials,
    lines=Lines(StatementLine, statement_lines),
)


_SORTS = ("name", "ticker", "score", *PILLARS, *TESTS)


def listed(cache: ProcessCache, ctx: Context) -> ListAnswer:
    """Return one page of companies that have statements."""
    params = ctx.params
    standing = CompanyScoring(cache, ctx)
    table, scores = standing.peers.table, standing.scores
    columns: dict[str, Column | None] = {
        "name": None, "ticker": table.tickers, "score": scores.score, **scores.pillars, **standing.tests,
    }  # fmt: skip
    wanted = _wanted(cache, ctx, standing.peers)
    numbers, following, _ = cut_page(ctx, wanted, table.ties, columns[params["sort"]])
    found = by_ids(ctx.view, [table.companies.ids[number] for number in numbers])
    rows = [
        msgspec.json.encode(standing.record(found[table.companies.ids[number]], CompanySchema)) for number in numbers
    ]
    return ListAnswer(rows, following)


def _wanted(cache: ProcessCache, ctx: Context, peers: Peers) -> Mask:
    """Return the companies that pass every filter that is given."""
    params, table = ctx.params, peers.table
    passed: Mask = (
        np.ones(len(table.ties), dtype=np.bool_)
        if ctx.version == ctx.view.version
        else reporting(ctx.view, table.companies, ctx.version)
    )
    for name, texts in (("sector", table.sectors), ("industry", table.industries)):
        if (asked := params[name]) is not None:
            matches = [word.casefold() == asked.casefold() for word in texts.words]
            if not any(matches):
                near = suggested_word(ctx, name, asked, texts.words)
                ctx.warn(name, asked, f"is the {name} of no company", near)
            passed &= _among(texts, matches)
    domiciles = entities(ctx, "country")
    if domiciles is not None:
        passed &= _among(table.countries, [word in domiciles for word in table.countries.words])
    if params["q"] is not None:
        words = folded(params["q"]).split()
        # The text that they are looked for in: name and ticker.
        named = zip(table.companies.names, table.companies.tickers, strict=True)
        described = cache.once(
            ctx.view, "words", make=lambda: [f"{folded(name)} {(ticker or '').lower()}" for name, ticker in named]
        )
        passed &= np.array([bool(words) and all(word in text for word in words) for text in described], dtype=np.bool_)
    return passed


def _among(texts: Texts, matches: list[bool]) -> Mask:
    """Return the rows whose text matches; `matches` says it word by word, and a row without a text has none."""
    return np.array([*matches, False], dtype=np.bool_)[texts.codes]


def endpoints(cache: ProcessCache, explain: ScoreExplainer) -> tuple[Endpoint, ...]:
    """Return the endpoints about companies. `explain` computes a company's scores test by test."""
    return (
        _COMPANIES(
            path="/companies",
            operation_id="listCompanies",
            summary="Scored companies",
            description="Companies that have statements. The score compares a company with those of its sector that have a statement of the last "
            "18 months, from values that may be shown; it is computed when asked. Any company that is known by name only is found by "
            "/entities/resolve.",
            handler=partial(listed, cache),
            params=(
                Param("sector", "Only companies of this sector; case does not matter.", example="Technology"),
                Param("industry", "Only companies of this industry; case does not matter."),
                DOMICILE,
                Param(
                    "q",
                    "Words to look for in name and ticker; case and accents do not matter.",
                    longest=100,
                    example="apple",
                ),
                Param(
                    "sort",
                    "Sort field; companies without the value come last either way, ties are by name, then id.",
                    "enum",
                    "name",
                    choices=_SORTS,
                ),
            ),
            kind="list",
            record=CompanySchema,
            cached=True,
            cost="thread",
        ),
        _COMPANIES(
            path="/companies/{idOrLookup}/profile",
            operation_id="getCompanyProfile",
            summary="Profile of one company",
            description="Names, identifiers, latest filings, figures over twelve months, each test of each score, and up to eight "
            "companies of its industry, the nearest in revenue first. By entity id, ticker, CIK, LEI, slug or any name that /entities/resolve finds exactly.",
            handler=partial(profile, cache, explain),
            braces=(COMPANY_IN_PATH,),
            record=Profile,
            cost="thread",
        ),
        _FINANCIALS,
    )
