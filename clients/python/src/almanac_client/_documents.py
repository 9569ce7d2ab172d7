"""Statements, curves, briefs and screener fields as tables, flattened from the interface's nested records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from almanac_client import _generated_models as m
from almanac_client._errors import InvalidArgument
from almanac_client._frames import Column, Kind, Table, days, flat
from almanac_client._lookups import Way
from almanac_client._operations import Operation
from almanac_client._pages import Question, data_version, item, prefixed
from almanac_client._series import When
from almanac_client._transport import Plan

_KINDS = (("income", "income_statements"), ("balance", "balance_sheets"), ("cash_flow", "cash_flow_statements"))
_WITHHELD = "its source does not allow redistribution"


class _Told(NamedTuple):
    record: Any
    attrs: dict[str, Any]


def _ask(way: Way, operation: Operation[Any], braces: Mapping[str, str], **query: Any) -> Plan[_Told]:
    asked = Question(way.options, operation, braces, query)
    record, reply = yield from item(way.options, way.pace, asked)
    request = reply.headers.get("x-request-id")
    attrs = {
        "data_version": data_version(reply),
        "as_of": asked.as_of,
        "request_ids": [] if request is None else [request],
    }
    return _Told(record, attrs)


class Statements:
    """
    The statements of one company at one frequency, the newest first.

    income, balance, cash_flow: tables with a row for each line and a column for each period, named by its last day.
    Money is in `currency`, per-share lines in it per share. A line that was not reported is null, never zero.

    quality: a row for each statement with its fiscal period, its filing and the results of its checks.
    """

    def __init__(self, told: m.Financials, frequency: str, attrs: Mapping[str, Any]) -> None:
        self.entity_id = told.entity_id
        self.ticker = told.ticker
        self.currency = told.currency
        self.frequency = frequency
        self.attrs = {**attrs, "entity_id": told.entity_id, "currency": told.currency, "frequency": frequency}
        #: The interface's record.
        self.record = told
        self.income, self.balance, self.cash_flow = (
            _sheet(getattr(told, field), self.attrs, kind) for kind, field in _KINDS
        )
        self.quality = _quality(told, self.attrs)

    def table(self) -> Table:
        """Return a table with a row for each line of all three statements, and the method of lines that no filing states."""
        lines = [
            (kind, one, key, value)
            for kind, field in _KINDS
            for one in getattr(self.record, field)
            for key, value in one.items.items()
        ]
        derived = [one.derived_items.get(key) for _, one, key, _ in lines]
        columns: list[tuple[str, Kind, list[Any]]] = [
            ("statement", "string", [kind for kind, *_ in lines]),
            ("period_end", "date", days([one.period_end for _, one, *_ in lines])),
            ("fiscal_year", "int", [one.fiscal_year for _, one, *_ in lines]),
            ("fiscal_period", "string", [one.fiscal_period for _, one, *_ in lines]),
            ("item", "string", [key for _, _, key, _ in lines]),
            ("value", "float", [value for *_, value in lines]),
            ("currency", "string", [one.currency for _, one, *_ in lines]),
            ("method", "string", [None if one is None else one.method for one in derived]),
            ("observed_at", "time", [one.observed_at for _, one, *_ in lines]),
        ]
        return Table([Column(*one) for one in columns], self.attrs)

    def __repr__(self) -> str:
        return (
            f"<Statements of {self.entity_id}, {self.frequency}, in {self.currency}: {len(self.income.columns) - 1} income, "
            f"{len(self.balance.columns) - 1} balance, {len(self.cash_flow.columns) - 1} cash_flow>"
        )


def _sheet(found: Sequence[m.Statement], attrs: Mapping[str, Any], kind: str) -> Table:
    keys = list(dict.fromkeys(key for one in found for key in one.items))
    columns = [Column("item", "string", list(keys))]
    columns += [Column(f"{one.period_end:%Y-%m-%d}", "float", [one.items.get(key) for key in keys]) for one in found]
    periods = {f"{one.period_end:%Y-%m-%d}": _fiscal(one) for one in found}
    held = [_WITHHELD for one in found if one.quality.status == "withheld"]
    return Table(columns, {**attrs, "statement": kind, "periods": periods}, held, index="item")


def _fiscal(one: m.Statement) -> str | None:
    """Return the fiscal period as FY2024 or FY2024-Q3, or None if the company doesn't state it."""
    if one.fiscal_year is None or one.fiscal_period is None:
        return None
    return f"FY{one.fiscal_year}" if one.fiscal_period == "FY" else f"FY{one.fiscal_year}-{one.fiscal_period}"


def _quality(told: m.Financials, attrs: Mapping[str, Any]) -> Table:
    rows = [(kind, one) for kind, field in _KINDS for one in getattr(told, field)]
    failed = [[check for check in one.quality.checks if check.status == "failed"] for _, one in rows]
    columns = [
        Column("statement", "string", [kind for kind, _ in rows]),
        *(one for one in flat(m.Statement, [one for _, one in rows]) if one.name not in {"items", "derived_items"}),
        Column("failed", "strings", [[check.name for check in some] for some in failed]),
        Column("failed_items", "strings", [[key for check in some for key in check.items or ()] for some in failed]),
    ]
    return Table((one for one in columns if one.name != "quality_checks"), attrs)


def statements(
    way: Way,
    company: str,
    *,
    frequency: Literal["annual", "quarterly"] = "annual",
    limit: int | None = None,
    as_of: When | None = None,
) -> Plan[Statements]:
    """Request the statements of a company by ticker, CIK, LEI, name, id or slug."""
    if frequency not in ("annual", "quarterly"):
        raise InvalidArgument(f"'frequency' of statements is 'annual' or 'quarterly', and cannot be {frequency!r}")
    told_by = prefixed(company)
    name = company if told_by is None else told_by[1]
    told = yield from _ask(
        way, m.GET_COMPANY_FINANCIALS, {"idOrLookup": name}, frequency=frequency, limit=limit, as_of=as_of
    )
    return Statements(told.record, frequency, told.attrs)


class Curve:
    """
    A sovereign yield curve as three tables: `yields` by tenor, `spreads` to each peer, and `slopes` of it and its
    peers, both in basis points. `notes` says what limits comparisons.
    """

    def __init__(self, told: m.Rates, attrs: Mapping[str, Any]) -> None:
        self.scope, self.currency, self.notes = told.scope, told.currency, list(told.comparability)
        #: The interface's record.
        self.record = told
        self.attrs = {**attrs, "scope": told.scope, "currency": told.currency}
        self.yields = Table(flat(m.CurvePoint, told.curve), self.attrs, index="tenor")
        pairs = [(one, peer) for one in told.spreads for peer in one.peers]
        self.spreads = Table(
            [
                Column("tenor", "string", [one.tenor for one, _ in pairs]),
                *flat(m.SpreadPeer, [peer for _, peer in pairs]),
                Column("peer_mean", "float", [one.peer_mean for one, _ in pairs]),
                Column("spread_to_mean_bp", "float", [one.spread_to_mean_bp for one, _ in pairs]),
            ],
            self.attrs,
        )
        slopes = [(told.scope, one) for one in told.slopes] + [(one.scope, one) for one in told.peer_slopes]
        self.slopes = Table(
            [
                Column("scope", "string", [scope for scope, _ in slopes]),
                *(one for one in flat(m.Slope, [one for _, one in slopes]) if one.name != "legs"),
            ],
            self.attrs,
        )

    def __repr__(self) -> str:
        return f"<Curve of {self.scope}: {', '.join(map(str, self.yields['tenor']))}>"


def curve(way: Way, scope: str) -> Plan[Curve]:
    """Request the yields, spreads and slopes of a scope."""
    told = yield from _ask(way, m.GET_RATES, {"scope": scope})
    return Curve(told.record, told.attrs)


class BriefTables:
    """
    A country brief: `headline`, `text` by section, and its underlying tables: `readings`, coming `events`, and recent
    `releases` with a row for each measure.
    """

    def __init__(self, told: m.Brief, attrs: Mapping[str, Any]) -> None:
        self.entity_id, self.name, self.headline = told.entity_id, told.name, told.headline
        self.text = {one.key: one.text for one in told.sections}
        #: The interface's record.
        self.record = told
        self.attrs = {**attrs, "entity_id": told.entity_id}
        pairs = [(one, reading) for one in told.sections for reading in one.readings]
        self.readings = Table(
            [
                Column("section", "string", [one.key for one, _ in pairs]),
                *flat(m.BriefReading, [one for _, one in pairs]),
            ],
            self.attrs,
        )
        self.events = Table(flat(m.Event, told.upcoming_events), self.attrs)
        measures = [(one, reading) for one in told.recent_releases for reading in one.readings]
        self.releases = Table(
            [
                Column("release", "string", [one.release for one, _ in measures]),
                Column("period", "string", [one.period for one, _ in measures]),
                Column("released_at", "time", [one.released_at for one, _ in measures]),
                *flat(m.ReleaseReading, [reading for _, reading in measures]),
            ],
            self.attrs,
        )

    def __repr__(self) -> str:
        return f"<Brief of {self.name}: {len(self.readings)} readings>\n{self.headline}"


def brief(way: Way, country: str, *, as_of: When | None = None) -> Plan[BriefTables]:
    """Request the brief of a country or region."""
    told = yield from _ask(way, m.GET_COUNTRY_BRIEF, {"country": country}, as_of=as_of)
    return BriefTables(told.record, told.attrs)


def fields(way: Way, universe: Literal["countries", "companies"]) -> Plan[Table]:
    """Request the fields that a screen of countries or companies may use, one row each."""
    operations = {"countries": m.LIST_SCREENER_FILTERS, "companies": m.LIST_EQUITY_SCREENER_FILTERS}
    if universe not in operations:
        raise InvalidArgument(f"screens are of 'countries' or 'companies', not of {universe!r}")
    told = yield from _ask(way, operations[universe], {})
    return Table(flat(m.ScreenerField, told.record.fields), {**told.attrs, "syntax": told.record.syntax}, index="field")
