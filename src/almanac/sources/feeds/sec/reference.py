"""The SEC's lists of tickers: which company today's tickers mean, and where they are listed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from almanac.domain.companies import CompanyRecord, Listing
from almanac.sources.base import Parsed, SourceChanged
from almanac.sources.feeds.sec.facts import number
from almanac.sources.formats import strict


class Ticker(NamedTuple):
    """One line of a list. A company with several has its main one first."""

    cik: int
    name: str
    ticker: str
    exchange: str | None = None


class _Entry(msgspec.Struct, forbid_unknown_fields=True):
    cik_str: int | str
    ticker: str
    title: str


_Field = int | str | None


class _Table(msgspec.Struct, forbid_unknown_fields=True):
    fields: list[str]
    data: list[list[_Field]]


_EXCHANGE_FIELDS = ["cik", "name", "ticker", "exchange"]


def tickers(body: bytes, parsed: Parsed) -> list[Ticker]:
    """Read `company_tickers.json`, in its order. Raise SourceChanged naming the entry."""
    where = "company_tickers.json"
    entries = strict.json(body, dict[str, _Entry], where, parsed)
    return [_ticker(f"{where}: entry {key}", line.cik_str, line.title, line.ticker) for key, line in entries.items()]


def tickers_with_exchanges(body: bytes, parsed: Parsed) -> list[Ticker]:
    """Read `company_tickers_exchange.json`, in its order. Raise SourceChanged naming the row."""
    where = "company_tickers_exchange.json"
    table = strict.json(body, _Table, where, parsed)
    if sorted(table.fields) != sorted(_EXCHANGE_FIELDS):
        raise SourceChanged(f"{where}: fields are {', '.join(table.fields)}, expected {', '.join(_EXCHANGE_FIELDS)}")
    listed: list[Ticker] = []
    for place, row in enumerate(table.data, 1):
        row_name = f"{where}: row {place}"
        if len(row) != len(table.fields):
            raise SourceChanged(f"{row_name} has {len(row)} fields, expected {len(table.fields)}")
        fields = dict(zip(table.fields, row, strict=True))
        listed.append(_ticker(row_name, *(fields[name] for name in _EXCHANGE_FIELDS)))
    return listed


def _ticker(where: str, cik: _Field, name: _Field, ticker: _Field, exchange: _Field = None) -> Ticker:
    if cik is None or not isinstance(name, str) or not isinstance(ticker, str) or not ticker.strip():
        stated = f"cik {cik!r}, name {name!r}, ticker {ticker!r}"
        raise SourceChanged(f"{where}: {stated}: one is missing or of another kind")
    if isinstance(exchange, int):
        raise SourceChanged(f"{where}: exchange {exchange} is a number")
    return Ticker(number(cik, where), name.strip(), ticker.strip(), exchange or None)


def companies(entries: Iterable[Ticker]) -> list[CompanyRecord]:
    """Return one record for each company, all its tickers in the order of the list."""
    names: dict[int, str] = {}
    listings: dict[int, dict[str, Listing]] = {}
    for entry in entries:
        names.setdefault(entry.cik, entry.name)
        listings.setdefault(entry.cik, {}).setdefault(entry.ticker, Listing(entry.ticker, entry.exchange))
    return [
        CompanyRecord(cik=cik, part="tickers", name=name or f"CIK {cik}", listings=tuple(listings[cik].values()))
        for cik, name in names.items()
    ]
