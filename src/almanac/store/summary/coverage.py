"""The extent of the stored data, summed from the figures of each series without a scan of vintages."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

import msgspec

from almanac.domain.fields import Time, says
from almanac.domain.periods import end_of
from almanac.domain.times import wire_day, wire_time
from almanac.store.engine.data_schema import meta
from almanac.store.engine.protocol import Queryable
from almanac.store.events import events

#: A line that every statement of its kind has: income statement, balance sheet, cash flow statement.
_ANCHORS = ("net_income", "total_assets", "net_cash_flow_from_operations")


class Indicators(msgspec.Struct, frozen=True):
    """Indicators with rows, by kind."""

    raw: Annotated[int, says("Published by a source.")]
    derived: Annotated[int, says("Computed by a formula.")]


class Coverage(msgspec.Struct, frozen=True, rename="camel"):
    """How much is served. Only series with rows now served count."""

    countries: Annotated[int, says("Countries with rows.")]
    regions: Annotated[int, says("Regions with rows.")]
    companies: Annotated[int, says("Companies that have statements.")]
    indicators: Annotated[Indicators, says("Indicators with rows.")]
    series: Annotated[int, says("Series with rows, raw and derived.")]
    observations: Annotated[int, says("Rows of raw series, under `sources=all`.")]
    derived_observations: Annotated[int, says("Rows of derived series, under `sources=all`.")]
    vintages: Annotated[int, says("Published states of all series, derived ones and withdrawn states too.")]
    statements: Annotated[int, says("Statements of companies, counted by the line each kind of statement always has.")]
    events: Annotated[int, says("Official events.")]
    providers: Annotated[int, says("Providers with rows.")]
    sources: Annotated[int, says("Sources with rows.")]
    first_period: Annotated[Time | None, says("Last day of the oldest period. Null: there are no rows.")]
    last_period: Annotated[
        Time | None, says("Last day of the newest period, forecasts aside. Null: there are no rows.")
    ]
    last_ingested_at: Annotated[Time | None, says("When something was taken in last. Null: never.")]
    data_version: Annotated[int, says("Number of the write that the counts are of; it grows with each change served.")]


class _Named(msgspec.Struct):
    """The field that records are counted by: an entity's kind, a source's provider."""

    kind: str = ""
    provider: str = ""


_decode = msgspec.json.Decoder(_Named).decode


def coverage(db: Queryable) -> Coverage:
    """Count everything. It opens no transaction: call it inside one if other reads must agree with it."""
    kinds = Counter(_decode(body).kind for (body,) in db.execute(_ENTITIES))
    indicators: dict[str, int] = dict(db.execute(_INDICATORS))
    rows: dict[str, int] = dict(db.execute(_ROWS))
    series, vintages, first, last = db.execute(_SERIES).fetchone() or (0, 0, None, None)
    sources = [_decode(body).provider for (body,) in db.execute(_SOURCES)]
    return Coverage(
        countries=kinds["country"],
        regions=kinds["region"],
        companies=db.execute("SELECT count(*) FROM company WHERE reports = 1").get,
        indicators=Indicators(raw=indicators.get("raw", 0), derived=indicators.get("derived", 0)),
        series=series,
        observations=rows.get("raw", 0),
        derived_observations=rows.get("derived", 0),
        vintages=vintages,
        statements=db.execute(_STATEMENTS, _ANCHORS).get,
        events=events.count(db),
        providers=len(set(sources)),
        sources=len(sources),
        first_period=None if first is None else _day(first),
        last_period=None if last is None else _day(last),
        last_ingested_at=last_ingested(db),
        data_version=int(meta(db, "version") or 0),
    )


def written_at(db: Queryable, version: int) -> int | None:
    """Return when a data version was written, in unix seconds, or None if there is no such version, as in an empty store."""
    found: int | None = db.execute("SELECT at FROM version WHERE version = ?", (version,)).get
    return found


def last_ingested(db: Queryable) -> str | None:
    """Return when a source last brought something new, as the wire writes it, or None if none ever did."""
    found: int | None = db.execute("SELECT max(last_ingested_at) FROM source_state").get
    return None if found is None else wire_time(found)


def _day(key: int) -> str:
    return wire_day(end_of(key))


# A series that lost all its rows keeps its line, but doesn't count.
_HELD = "FROM series JOIN topic USING(topic) WHERE rows > 0"
_ENTITIES = (
    f"SELECT record.body FROM (SELECT DISTINCT entity {_HELD}) AS held"
    " JOIN record ON record.kind = 'entity' AND record.id = held.entity"
)
_INDICATORS = f"SELECT kind, count(DISTINCT indicator) {_HELD} GROUP BY kind"
_ROWS = f"SELECT kind, sum(rows) {_HELD} GROUP BY kind"
_SERIES = "SELECT count(*) FILTER (WHERE rows > 0), coalesce(sum(vintages), 0), min(first_period), max(last_period) FROM series"
_SOURCES = (
    "SELECT record.body FROM (SELECT DISTINCT source FROM series WHERE rows > 0) AS held"
    " JOIN record ON record.kind = 'source' AND record.id = held.source"
)
#: A statement from several sources counts once. A source's series in several currencies have separate periods. Company
#: ids share a prefix.
_STATEMENTS = (
    "SELECT coalesce(sum(told), 0) FROM (SELECT max(told) AS told FROM (SELECT topic, sum(rows) AS told"
    " FROM topic JOIN series USING(topic) WHERE indicator IN (?, ?, ?) AND entity BETWEEN 'company_' AND 'company_~'"
    " GROUP BY topic, source) AS of_source GROUP BY topic) AS of_topic"
)
