"""Both screeners: countries and regions by the latest readings of macro indicators, companies by fundamentals, scores, sector and industry."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from typing import Annotated

import msgspec
import numpy as np
import numpy.typing as npt

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.contract.errors import quoted, refuse
from almanac.api.contract.params import Param
from almanac.api.contract.records import Cik, CompanyName, Domicile, Quality, Record, wire_number
from almanac.api.endpoints.screeners import screening
from almanac.api.endpoints.screeners.peers import CompanyTable, Peers
from almanac.api.endpoints.screeners.screening import AlignedColumn, ScreenerField
from almanac.api.rows.names import place, suggested_place
from almanac.api.rows.redaction import Redaction, redaction_of
from almanac.domain.fields import Currency, EntityId, FreshnessStatus, ObservedAt, PeriodEnd, SeriesId, Time, Unit, says
from almanac.domain.periods import end_of
from almanac.domain.reference import Entity, Indicator
from almanac.domain.times import wire_day, wire_time
from almanac.domain.units import CURRENCY, CURRENCY_PER_SHARE, currency_of, is_amount, is_money
from almanac.reports.filter_text import Clause
from almanac.reports.scoring import MEASURES
from almanac.reports.screener import Column, Numbers, Texts, matching
from almanac.store.companies.rows import last_tickers
from almanac.store.observations.reading.metadata import MetadataCache
from almanac.store.observations.reading.newest import QUALITIES
from almanac.store.observations.reading.reader import View


class ScreenerMatch(Record):
    """The latest reading of one filtered, sorted or further field, with the day it is of."""

    field: Annotated[str, says("Slug of the field.", "cpi_inflation_yoy")]
    value: Annotated[float | str, says("The reading, in `unit`; words for an indicator of words.")]
    unit: Unit
    currency: Currency
    period_end: PeriodEnd
    observed_at: ObservedAt
    freshness_status: FreshnessStatus
    series_id: SeriesId


class ScreenerRow(Record):
    """A country or region that satisfies every clause."""

    entity_id: EntityId
    name: Annotated[str, says("Name of the country or region.")]
    country: Annotated[str, says("Its ISO code; where it has none, what the parameter `country` takes.", "USA")]
    matches: Annotated[list[ScreenerMatch], says("Its readings of the filter's, sort's and further fields.")]


class EquityScreenerRow(Record):
    """A company that satisfies every clause."""

    entity_id: EntityId
    name: CompanyName
    ticker: Annotated[str | None, says("Its ticker; under `as_of` the last one it had. Null: none.", "AAPL")]
    cik: Cik
    country: Domicile
    sector: Annotated[str, says("Its sector today.")]
    industry: Annotated[str | None, says("Its industry today. Null: not known.")]
    period_end: Annotated[Time, says("Last day of the values' period; without values, of its newest statement.")]
    observed_at: Annotated[Time, says("From when on all of the values were known; likewise.")]
    values: Annotated[
        dict[str, float | str],
        says(
            "The filtered and sorted fields, and those named in `fields`, that it has a value for, by field: ratios as fractions, money in the currency it "
            "reports in, which is US dollars unless a clause names `currency`."
        ),
    ]
    quality: Annotated[Quality | None, says("Of the statements its numbers rest on. Null: it has no numbers.")]


_MACRO_EXAMPLE = "cpi_inflation_yoy:gt:3,policy_rate:lte:5"
_MACRO_PATH = "/screener"
#: A sort field that no clause may name.
_NAME = "name"


class MacroScreener:
    """The macro screener of one process."""

    def __init__(self, cache: screening.ProcessCache) -> None:
        self._cache = cache

    def screen(self, ctx: Context) -> ListAnswer:
        """Return one page of the countries and regions that satisfy the filter."""
        fields = _macro_fields(ctx.view.directory)
        query = screening.read_query(ctx, screening.ScreenFields(ctx, fields), (_NAME,), (_NAME, "country"))
        places = screening.places(self._cache, ctx.view)
        wanted = _wanted(ctx, places)
        screening.check_window(ctx)
        redaction = redaction_of(ctx)
        readings = {name: self._aligned(ctx, redaction, name, places) for name in query.fields}
        columns: dict[str, Column] = {
            name: Texts.of(column.texts()) if screening.is_text(fields[name]) else column.values
            for name, column in readings.items()
        }
        screening.warn_of_texts(ctx, query.clauses, columns)
        passed = matching(query.clauses, columns, wanted)
        by = None if query.sort is None else columns.get(query.sort)
        rows, following, total = screening.cut_page(ctx, passed, places.ties, by)
        return ListAnswer(
            [self._row(ctx, redaction, places.entities[row], readings, row) for row in rows], following, total
        )

    def filters(self, ctx: Context) -> ItemAnswer:
        """Return the fields, operators and syntax of the filter."""
        places, fields = screening.places(self._cache, ctx.view), _macro_fields(ctx.view.directory)
        described = [self._describe(ctx, indicator, places) for _, indicator in sorted(fields.items())]
        return screening.described_filters(described, _MACRO_EXAMPLE)

    def warm(self, view: View, _: int) -> None:
        """Line up all fields: else whoever asks first waits for it."""
        for name in _macro_fields(view.directory):
            self._cache.readings.column(view, name, version=view.version, as_of=None)

    def _aligned(self, ctx: Context, redaction: Redaction, slug: str, places: screening.Places) -> AlignedColumn:
        """Return readings of one field; under `freshness=fresh` only those that are."""
        found = screening.aligned(self._cache, ctx, slug, places.numbers)
        if ctx.params["freshness"] is None:
            return found
        series = ctx.view.directory.series
        fresh = [
            at >= 0 and redaction.freshness(series(found.series(row))) == "fresh" for row, at in enumerate(found.places)
        ]
        return found.only(np.array(fresh, dtype=np.bool_))

    def _row(
        self, ctx: Context, redaction: Redaction, entity: Entity, found: dict[str, AlignedColumn], row: int
    ) -> bytes:
        directory = ctx.view.directory
        matches = []
        for name, reading in found.items():
            # What is only sorted by, or told beside, may have no value that can be shown.
            if reading.places[row] < 0 or (np.isnan(reading.values[row]) and reading.text(row) is None):
                continue
            series = directory.series(reading.series(row))
            text = reading.text(row)
            matches.append(
                {
                    "field": name,
                    "value": wire_number(float(reading.values[row])) if text is None else text,
                    "unit": series.unit,
                    "currency": series.currency,
                    "periodEnd": wire_day(reading.end(row)),
                    "observedAt": wire_time(reading.known(row)),
                    "freshnessStatus": redaction.freshness(series),
                    "seriesId": series.id,
                }
            )
        return msgspec.json.encode(
            {"entityId": entity.id, "name": entity.name, "country": screening.place_code(entity), "matches": matches}
        )

    def _describe(self, ctx: Context, indicator: Indicator, places: screening.Places) -> ScreenerField:
        found = screening.aligned(self._cache, ctx, indicator.slug, places.numbers)
        if screening.is_text(indicator):
            return screening.described_field(indicator.slug, indicator.name, indicator.description, found.texts())
        directory, there = ctx.view.directory, np.flatnonzero(~np.isnan(found.values)).tolist()
        units = {found.unit(row) for row in there}
        unit, description = indicator.unit or (units.pop() if len(units) == 1 else None), indicator.description
        currency = None
        if unit is not None and is_money(unit):
            currencies = {directory.series(found.series(row)).currency for row in there}
            currency = currencies.pop() if len(currencies) == 1 else currency_of(unit, None)
            if currency is None:
                # Amounts in different currencies have no unit in common.
                named, unit = directory.units.get(unit), None
                description += f" In {named.label}, each place's own." if named is not None else ""
        return screening.described_field(indicator.slug, indicator.name, description, found.values, unit, currency)


def _macro_fields(directory: MetadataCache) -> dict[str, Indicator]:
    """Return indicators that may be screened by: all but those of companies."""
    return {i.slug: i for i in directory.indicators.values() if i.screenable and i.category != "fundamentals"}


def _wanted(ctx: Context, places: screening.Places) -> npt.NDArray[np.bool_]:
    """Return a mask of all places, or of the one country requested; of none for an unknown one."""
    asked = ctx.params["country"]
    if asked is None:
        return np.ones(len(places.ties), dtype=np.bool_)
    if "," in asked:
        raise refuse("country", f"takes one country, not {quoted(asked)}", code="type")
    country = place(ctx, asked)
    if country is None:
        ctx.warn("country", asked, "names no country or region", suggested_place(ctx, asked))
    return np.array([country is not None and e.id == country.id for e in places.entities], dtype=np.bool_)


_EQUITY_EXAMPLE = "revenue_ttm:gt:1e9,net_margin:gte:0.1"
_EQUITY_PATH = "/equity-screener"
_SCORE = "score"
_CURRENCY = (
    "ISO code of the currency the company reports in. With a clause on it, amounts of money are compared as they stand; "
    "without one, companies that report in another currency than USD are left out of clauses on money, and sort last by it."
)
_QUALITIES_TOLD = (
    "What checks say of the statements that the row's other filtered and sorted numbers rest on: ok, warning, and with "
    "`quality=all` failed. A company of which no number is asked has none."
)
_TEXTS = {
    "sector": ("Sector", "Sector of the company, from its industry code; today's."),
    "industry": ("Industry", "Industry of the company, as the regulator names it; today's."),
    "currency": ("Reporting currency", _CURRENCY),
    "country": (
        "Country",
        "Country of the company's domicile, by its id; a clause may name it by ISO code, slug or name. Today's.",
    ),
    "quality": ("Quality", _QUALITIES_TOLD),
}
_QUALITY = "quality"

_FRACTION = "As a fraction: 0.25 is 25 %."
_DOLLARS = (
    "In the currency each company reports in; without a clause on currency only companies that report in US dollars."
)
#: Sort fields that no clause may name.
_IDENTITY = ("ticker", "name")


class EquityScreener:
    """The equity screener of one process."""

    def __init__(self, cache: screening.ProcessCache) -> None:
        self._cache = cache

    def screen(self, ctx: Context) -> ListAnswer:
        """Return one page of the companies that satisfy the filter."""
        fields = screening.ScreenFields(
            ctx, _equity_fields(ctx.view.directory), {**dict.fromkeys(_TEXTS, True), _SCORE: False}
        )
        query = screening.read_query(ctx, fields, _IDENTITY, _IDENTITY)
        clauses = tuple(_of_place(ctx, clause) for clause in query.clauses)
        screening.check_window(ctx)
        peers = Peers(self._cache, ctx)
        table, scores = peers.table, peers.scores().score if _SCORE in query.fields else None
        dollars = not any(clause.field.name == "currency" for clause in clauses)
        indicators = [name for name in query.fields if name not in _TEXTS and name != _SCORE]
        readings = {name: peers.readings(name, dollars=dollars) for name in indicators}
        # The period that each row is of: the newest of the numbers in its clauses, else of those that it is sorted by or
        # tells; 0 where it has none. Values of other periods are none of the row's.
        ends = {name: one.ends() for name, one in readings.items()}
        if scores is not None:
            ends[_SCORE] = peers.score_ends()
        in_clauses = {clause.field.name for clause in clauses} & ends.keys()
        nothing = np.zeros(len(peers.newest), dtype=np.int64)
        row_ends: npt.NDArray[np.int64] = np.maximum.reduce([nothing, *(ends[name] for name in in_clauses or ends)])
        readings = {name: one.ending(row_ends) for name, one in readings.items()}
        if scores is not None:
            scores = np.where(ends[_SCORE] == row_ends, scores, np.nan)
        quality = _quality(peers, readings.values(), scores)
        of_row: dict[str, Column] = {name: one.values for name, one in readings.items()}
        of_row |= {**_texts(table), _QUALITY: quality} | ({} if scores is None else {_SCORE: scores})
        columns = {name: of_row[name] for name in query.fields}
        screening.warn_of_texts(ctx, clauses, columns)
        by = None if query.sort is None else {**columns, "ticker": table.tickers}.get(query.sort)
        passed = matching(clauses, columns, peers.taking_part)
        rows, following, total = screening.cut_page(ctx, passed, table.ties, by)
        return ListAnswer(
            _rows(ctx, peers, columns, readings, row_ends, quality, rows), following, total,
            {name: "text" if isinstance(column, Texts) else "number" for name, column in columns.items()},
        )  # fmt: skip

    def filters(self, ctx: Context) -> ItemAnswer:
        """Return the fields, operators and syntax of the filter."""
        peers = Peers(self._cache, ctx)
        told = [self._describe(peers, indicator) for _, indicator in sorted(_equity_fields(ctx.view.directory).items())]
        scores = peers.scores().score
        description = "From 0 to 100: where the company stands among its sector in profitability, growth, strength, efficiency and quality."
        told.append(screening.described_field(_SCORE, "Score", description, scores))
        texts = {**_texts(peers.table), _QUALITY: _quality(peers, (), scores)}
        for name, (title, description) in _TEXTS.items():
            values = [texts[name].at(row) for row in np.flatnonzero(peers.taking_part).tolist()]
            told.append(screening.described_field(name, title, description, values))
        return screening.described_filters(told, _EQUITY_EXAMPLE)

    def warm(self, view: View, _: int) -> None:
        """Line up what scores are made of, and the companies: else whoever asks first waits for it."""
        self._cache.universe.companies(view)
        # The measures first: whoever screens by score needs them all, and the list of fields needs every field.
        for name in dict.fromkeys([*MEASURES, *_equity_fields(view.directory)]):
            self._cache.readings.column(view, name, version=view.version, as_of=None)

    @staticmethod
    def _describe(peers: Peers, indicator: Indicator) -> ScreenerField:
        found = peers.readings(indicator.slug, dollars=True)
        values = np.where(peers.taking_part, found.values, np.nan)
        unit, currency, notes = _unit(indicator, found), None, []
        if unit in {CURRENCY, CURRENCY_PER_SHARE}:
            # Each company counts in its own; bounds are of those that count in dollars.
            currency, notes = "USD", [_DOLLARS]
        elif unit == "ratio":
            notes = [_FRACTION]
        description = " ".join([indicator.description, *notes])
        return screening.described_field(indicator.slug, indicator.name, description, values, unit, currency)


def _equity_fields(directory: MetadataCache) -> dict[str, Indicator]:
    """Return indicators that companies may be screened by."""
    return {
        i.slug: i
        for i in directory.indicators.values()
        if i.screenable and i.kind == "derived" and i.category == "fundamentals" and i.slug not in {_SCORE, *_TEXTS}
    }


def _unit(indicator: Indicator, found: AlignedColumn) -> str | None:
    """Return the unit of a field as it is listed: `currency` of money, which each company counts in its own; None of a score."""
    if indicator.unit is None and any(is_money(one) for one in found.column.units):
        return CURRENCY if any(is_amount(one) for one in found.column.units) else CURRENCY_PER_SHARE
    return indicator.unit


def _of_place(ctx: Context, clause: Clause) -> Clause:
    """Return a clause on the country with ids in place of its names, as far as they name one."""
    if clause.field.name != "country":
        return clause
    found = [place(ctx, name) for name in clause.written]
    ids = (value if one is None else one.id for one, value in zip(found, clause.values, strict=True))
    return clause._replace(values=tuple(str(value) for value in ids))


def _texts(table: CompanyTable) -> dict[str, Texts]:
    """Return the columns of texts, but for what checks say."""
    return {
        "sector": table.sectors,
        "industry": table.industries,
        "currency": table.currencies,
        "country": table.countries,
    }


def _quality(peers: Peers, readings: Iterable[AlignedColumn], scores: Numbers | None) -> Texts:
    """Return what checks say of what each row's numbers rest on; of a score that is what it was made of."""
    worst = np.full(len(peers.newest), -1, dtype=np.int8)
    for one in readings:
        worst = np.maximum(worst, one.qualities())
    if scores is not None:
        worst = np.maximum(worst, np.where(np.isnan(scores), np.int8(-1), peers.qualities()))
    return Texts(worst.astype(np.int32), QUALITIES).in_order()


def _rows(
    ctx: Context,
    peers: Peers,
    columns: dict[str, Column],
    readings: dict[str, AlignedColumn],
    ends: npt.NDArray[np.int64],
    quality: Texts,
    rows: list[int],
) -> list[bytes]:
    companies, as_of = peers.table.companies, ctx.params["as_of"]
    delisted = {} if as_of is None else last_tickers(ctx.view, [companies.ids[row] for row in rows])
    dated = {row: [one for one in readings.values() if not np.isnan(one.values[row])] for row in rows}
    known = peers.statement_known([row for row, found in dated.items() if not found])
    encoded = []
    for row in rows:
        found = dated[row]
        end = date.fromordinal(int(ends[row])) if ends[row] else end_of(int(peers.newest[row]))
        at = max((one.known(row) for one in found), default=known.get(row, 0))
        encoded.append(
            msgspec.json.encode(
                {
                    "entityId": companies.ids[row],
                    "name": companies.names[row],
                    "ticker": companies.tickers[row] or delisted.get(companies.ids[row]),
                    "cik": f"{companies.ciks[row]:010d}",
                    "country": companies.countries[row],
                    "sector": companies.sectors[row],
                    "industry": companies.industries[row],
                    "periodEnd": wire_day(end),
                    "observedAt": wire_time(at),
                    "values": _values(columns, row),
                    "quality": quality.at(row),
                }
            )
        )
    return encoded


def _values(columns: dict[str, Column], row: int) -> dict[str, msgspec.Raw | str]:
    """Return what the row has of the filtered and sorted fields, and the further ones."""
    found: dict[str, msgspec.Raw | str] = {}
    for name, column in columns.items():
        if isinstance(column, Texts):
            text = column.at(row)
            if text is not None:
                found[name] = text
        elif not np.isnan(column[row]):
            found[name] = wire_number(float(column[row]))
    return found


def endpoints(cache: screening.ProcessCache) -> tuple[Endpoint, ...]:
    """Return both screeners and their fields."""
    countries, companies = MacroScreener(cache), EquityScreener(cache)
    return (
        screening.SCREEN(
            path=_MACRO_PATH,
            operation_id="screenEntities",
            summary="Countries and regions by macro readings",
            description="Those whose latest readings satisfy every clause of the filter; one without a value that may be shown "
            "for a filtered field is left out. `total` counts all matches, not only this page's.",
            handler=countries.screen,
            params=(
                screening.filter_param(_MACRO_EXAMPLE, "GET /screener/filters"),
                Param(
                    "country",
                    "Only this country or region: an ISO code or its name; EUR for the euro area.",
                    example="USA",
                ),
                Param(
                    "sort",
                    "Any field of the filter or `name`, which is the default; those without the value come last either way, ties are by "
                    "name, then id.",
                    example="cpi_inflation_yoy",
                ),
                replace(screening.FURTHER, example="unemployment_rate"),
                Param("freshness", "Only fresh readings are considered.", "enum", choices=("fresh",)),
                screening.SCREEN_AS_OF,
            ),
            record=ScreenerRow,
            warm=countries.warm,
        ),
        screening.FILTERS(
            path=f"{_MACRO_PATH}/filters",
            operation_id="listScreenerFilters",
            summary="Fields of the macro screener",
            handler=countries.filters,
        ),
        screening.SCREEN(
            path=_EQUITY_PATH,
            operation_id="screenCompanies",
            summary="Companies by fundamentals, ratios, sector, industry and country",
            description="Companies whose newest statement ends within 18 months before the moment asked and whose latest readings, "
            "of these months too, satisfy every clause of the filter; one without a value that may be shown for a filtered field is left out. Ratios are "
            "fractions (0.25 is 25 %). Companies that report in another currency than USD are left out of clauses on money, and sort "
            "last by it, unless the filter has a clause on `currency`. `total` counts all matches, not only this page's.",
            handler=companies.screen,
            params=(
                screening.filter_param(_EQUITY_EXAMPLE, f"GET {_EQUITY_PATH}/filters"),
                Param(
                    "sort",
                    "Any field of the filter, `ticker` or `name`; companies without the value come last either way.",
                    example="revenue_ttm",
                ),
                replace(screening.FURTHER, example="return_on_equity,country"),
                screening.SCREEN_AS_OF,
                Param(
                    "quality",
                    "`ok`: what rests on a statement that fails a grave check (a sign, an identity, a part for the whole, a "
                    "warning not to rely on it) is no value; such a company is left out by a clause on it. `all`: it is one, "
                    "and the row says `failed`.",
                    kind="enum",
                    choices=("ok", "all"),
                    default="ok",
                    example="all",
                ),
            ),
            record=EquityScreenerRow,
            max_limit=200,
            warm=companies.warm,
        ),
        screening.FILTERS(
            path=f"{_EQUITY_PATH}/filters",
            operation_id="listEquityScreenerFilters",
            summary="Fields of the equity screener",
            handler=companies.filters,
        ),
    )
