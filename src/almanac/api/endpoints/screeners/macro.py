"""GET /screener: countries and regions by the latest readings of macro indicators."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import numpy.typing as npt

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.contract.errors import quoted, refuse
from almanac.api.contract.params import Param
from almanac.api.contract.records import wire_number
from almanac.api.endpoints.screeners import screening
from almanac.api.endpoints.screeners.records import ScreenerField, ScreenerRow
from almanac.api.endpoints.screeners.screening import AlignedColumn
from almanac.api.rows.names import place, suggested_place
from almanac.api.rows.redaction import Redaction, redaction_of
from almanac.domain.reference import Entity, Indicator
from almanac.domain.times import wire_day, wire_time
from almanac.domain.units import currency_of, is_money
from almanac.reports.screener import Column, Texts, matching
from almanac.store.observations.reading.metadata import MetadataCache
from almanac.store.observations.reading.reader import View

_EXAMPLE = "cpi_inflation_yoy:gt:3,policy_rate:lte:5"
_PATH = "/screener"
#: A sort field that no clause may name.
_NAME = "name"


class MacroScreener:
    """The macro screener of one process."""

    def __init__(self, cache: screening.ProcessCache) -> None:
        self._cache = cache

    def screen(self, ctx: Context) -> ListAnswer:
        """Return one page of the countries and regions that satisfy the filter."""
        fields = _fields(ctx.view.directory)
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
        places, fields = screening.places(self._cache, ctx.view), _fields(ctx.view.directory)
        described = [self._describe(ctx, indicator, places) for _, indicator in sorted(fields.items())]
        return screening.described_filters(described, _EXAMPLE)

    def warm(self, view: View, _: int) -> None:
        """Line up all fields: else whoever asks first waits for it."""
        for name in _fields(view.directory):
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
                    "unit": series.spec.unit,
                    "currency": series.currency,
                    "periodEnd": wire_day(reading.end(row)),
                    "observedAt": wire_time(reading.known(row)),
                    "freshnessStatus": redaction.freshness(series),
                    "seriesId": series.id,
                }
            )
        return msgspec.json.encode(
            {"entityId": entity.id, "name": entity.name, "country": _code(entity), "matches": matches}
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


def _fields(directory: MetadataCache) -> dict[str, Indicator]:
    """Return indicators that may be screened by: all but those of companies."""
    return {i.slug: i for i in directory.indicators.values() if i.screenable and i.category != "fundamentals"}


def _wanted(ctx: Context, places: screening.Places) -> npt.NDArray[np.bool_]:
    """All places, or the one country that is asked for; an unknown one is none of them."""
    asked = ctx.params["country"]
    if asked is None:
        return np.ones(len(places.ties), dtype=np.bool_)
    if "," in asked:
        raise refuse("country", f"takes one country, not {quoted(asked)}", code="type")
    country = place(ctx, asked)
    if country is None:
        ctx.warn("country", asked, "names no country or region", suggested_place(ctx, asked))
    return np.array([country is not None and e.id == country.id for e in places.entities], dtype=np.bool_)


def _code(entity: Entity) -> str:
    """Return what `country` would take for it: an ISO code, where it has one."""
    return entity.iso3 or entity.rates_scope or entity.iso2 or entity.id


def endpoints(cache: screening.ProcessCache) -> tuple[Endpoint, ...]:
    """Return the macro screener and its fields."""
    screener = MacroScreener(cache)
    return (
        screening.SCREEN(
            path=_PATH,
            operation_id="screenEntities",
            summary="Countries and regions by macro readings",
            description="Those whose latest readings satisfy every clause of the filter; one without a value that may be shown "
            "for a filtered field is left out. `total` counts all matches, not only this page's.",
            handler=screener.screen,
            params=(
                screening.filter_param(_EXAMPLE, "GET /screener/filters"),
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
            warm=screener.warm,
        ),
        screening.FILTERS(
            path=f"{_PATH}/filters",
            operation_id="listScreenerFilters",
            summary="Fields of the macro screener",
            handler=screener.filters,
        ),
    )
