"""GET /companies/{idOrLookup}/financials: statements, assembled from the latest versions known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, Lines
from almanac.api.contract.params import Param
from almanac.api.endpoints.companies.records import Financials, StatementLine
from almanac.api.endpoints.companies.rows import Relatives, company_of
from almanac.api.rows.filters import AS_OF, COMPANY_IN_PATH
from almanac.api.rows.rights import of_source
from almanac.domain.times import wire_time
from almanac.store.companies.rows import last_tickers
from almanac.store.companies.statements import BALANCE, CASH_FLOW, FREQUENCIES, INCOME, StatementRow, newest

#: `frequency` as asked → what is looked for.
_FREQUENCIES = {None: FREQUENCIES, "A": ("A",), "Q": ("Q", "S")}


def financials(ctx: Context) -> ItemAnswer:
    """Statements of one company."""
    company = company_of(ctx)
    asked = ctx.params["frequency"]
    told = {
        kind: newest(
            ctx.view,
            company.entity,
            kind,
            _FREQUENCIES[asked],
            version=ctx.version,
            known_by=ctx.as_of,
            ends_from=ctx.window_start,
            limit=ctx.params["limit"],
        )
        for kind in (INCOME, BALANCE, CASH_FLOW)
    }
    used = [one.known for found in told.values() for one in found]
    as_of = ctx.params["as_of"]
    moment = as_of if as_of is not None else max(used, default=None)
    rights = of_source(ctx, company.source)
    withheld = rights.reason if rights.value_withheld else None
    relatives = Relatives.of(ctx, company)
    data: bytes = msgspec.json.encode(
        {
            "entityId": company.entity,
            "ticker": company.ticker
            if as_of is None
            else company.ticker or last_tickers(ctx.view, [company.entity], as_of).get(company.entity),
            "cik": f"{company.cik:010d}",
            "currency": company.currency if as_of is None else _currency_then(told.values()),
            "asOf": None if moment is None else wire_time(moment),
            "predecessorOf": relatives.predecessor_of,
            "successorOf": relatives.successor_of,
            "incomeStatements": _joined(told[INCOME], withheld),
            "balanceSheets": _joined(told[BALANCE], withheld),
            "cashFlowStatements": _joined(told[CASH_FLOW], withheld),
        }
    )
    return ItemAnswer(data)


class _InCurrency(msgspec.Struct):
    currency: str


def _currency_then(told: Iterable[Sequence[StatementRow]]) -> str | None:
    """Return the currency of the newest statement given, since the company may report in another one today; None without any."""
    newest_one = max((one for found in told for one in found), key=lambda one: (one.period, one.known), default=None)
    return None if newest_one is None else msgspec.json.decode(newest_one.body, type=_InCurrency).currency


def _joined(told: list[StatementRow], reason: str | None) -> msgspec.Raw:
    """Bodies as a JSON list. `reason`: why their values may not be sent."""
    bodies = [one.body if reason is None else _masked(one.body, reason) for one in told]
    return msgspec.Raw(b"[" + b",".join(bodies) + b"]")


def _masked(body: bytes, reason: str) -> bytes:
    """Return a statement without its values and without the results of its checks."""
    statement: dict[str, Any] = msgspec.json.decode(body)
    check = {"name": "rights", "status": "withheld", "detail": reason}
    statement |= {"items": {}, "derivedItems": {}, "quality": {"status": "withheld", "checks": [check]}}
    return msgspec.json.encode(statement)


#: The lists of statements, and what a line calls each.
_STATEMENTS = {"incomeStatements": "income", "balanceSheets": "balance", "cashFlowStatements": "cash_flow"}
_OF_STATEMENT = ("items", "derivedItems", "quality")


def statement_lines(data: bytes) -> list[bytes]:
    """Return the lines of the statements of a company, one after the other."""
    company = msgspec.json.decode(data)
    about = {name: company[name] for name in ("entityId", "ticker", "cik")}
    return [
        msgspec.json.encode({**about, "statement": name, **line})
        for key, name in _STATEMENTS.items()
        for statement in company[key]
        for line in _lines_of(statement)
    ]


def _lines_of(statement: dict[str, Any]) -> Iterator[dict[str, Any]]:
    said = {name: value for name, value in statement.items() if name not in _OF_STATEMENT}
    quality = statement["quality"]
    is_withheld = quality["status"] == "withheld"
    said |= {"quality": quality["status"], "reason": quality["checks"][0]["detail"] if is_withheld else None}
    for item, value in (statement["items"] or {None: None}).items():
        derived = statement["derivedItems"].get(item, {})
        yield {
            **said,
            "item": item,
            "value": value,
            "method": derived.get("method"),
            "derivedFrom": derived.get("derivedFrom", []),
        }


ENDPOINT = Endpoint(
    path="/companies/{idOrLookup}/financials",
    operation_id="getCompanyFinancials",
    summary="Financial statements of one company",
    description="Income statements, balance sheets and cash-flow statements, newest first, one per period: each assembled from what was "
    "known at the moment asked. By entity id, ticker, CIK, LEI, slug or any name that /entities/resolve finds exactly. Quarters that a filing does not state are derived "
    "where that can be done, and say how. Values are as filed, never adjusted for splits.",
    handler=financials,
    braces=(COMPANY_IN_PATH,),
    scope="companies:read",
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
    dated=True,
    tag="Companies",
)
