"""GET /screener: countries and regions by the latest readings of macro indicators."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.contract.errors import quoted, refuse
from almanac.api.contract.params import Param
from almanac.api.contract.records import wire_number
from almanac.api.endpoints.screeners import screening
from almanac.api.endpoints.screeners.aligned_columns import AlignedColumn
from almanac.api.endpoints.screeners.records import ScreenerField, ScreenerRow
from almanac.api.rows.names import place as place_called
from almanac.api.rows.names import suggested_place
from almanac.api.rows.redaction import Redaction, redaction_of
from almanac.domain.reference import Entity, Indicator
from almanac.domain.times import wire_day, wire_time
from almanac.domain.units import currency_of, is_money
from almanac.reports.filter_text import Field
from almanac.reports.screener import Column, Texts, matching, page, place
from almanac.store.observations.reading.metadata import MetadataCache
from almanac.store.observations.reading.reader import View

_EXAMPLE = "cpi_inflation_yoy:gt:3,policy_rate:lte:5"
_PATH = "/screener"
#: A sort field that no clause may name.
_NAME = "name"


class _Places(NamedTuple):
    """Countries and regions in the order of (name, id)."""

    entities: tuple[Entity, ...]
    ties: list[tuple[str, str]]
    numbers: npt.NDArray[np.int32]


class MacroScreener:
    """The macro screener of one process."""

    def __init__(self, cache: screening.ProcessCache) -> None:
        self._cache = cache

    def screen(self, ctx: Context) -> ListAnswer:
        """One page of the countries and regions that satisfy the filter."""
        fields = _fields(ctx.view.directory)
        screened = screening.ScreenFields(
            lambda name: _find(ctx.view.directory, fields, name),
            {slug: (one.name, *one.other_names) for slug, one in fields.items()},
        )
        asked = screening.clauses(ctx, screened)
        by = screening.sort_field(ctx, screened, _NAME)
        further = screening.further_fields(ctx, screened, _NAME, "country")
        places = self._places(ctx)
        wanted = _wanted(ctx, places)
        screening.check_window(ctx)
        named = dict.fromkeys(clause.field.name for clause in asked)
        if by is not None and by != _NAME:
            named[by] = None
        named |= dict.fromkeys(further)
        redaction = redaction_of(ctx)
        found = {name: self._aligned(ctx, redaction, name, places) for name in named}
        columns: dict[str, Column] = {
            name: Texts.of(column.texts()) if name in fields and _is_text(fields[name]) else column.values
            for name, column in found.items()
        }
        screening.warn_of_texts(ctx, asked, columns)
        mask = matching(asked, columns, wanted)
        key = None if by is None or by == _NAME else columns[by]
        cut = page(
            mask, places.ties, key,
            descending=ctx.params["order"] == "desc", after=ctx.after, limit=ctx.params["limit"],
        )  # fmt: skip
        rows = [self._row(ctx, redaction, places.entities[row], found, row) for row in cut.rows.tolist()]
        following = place(int(cut.rows[-1]), places.ties, key) if cut.more else None
        return ListAnswer(rows, following, total=cut.total)

    def filters(self, ctx: Context) -> ItemAnswer:
        """Return the fields, operators and syntax of the filter."""
        places, directory = self._places(ctx), ctx.view.directory
        told = [self._describe(ctx, indicator, places) for _, indicator in sorted(_fields(directory).items())]
        return ItemAnswer(screening.encoded_filters(told, _EXAMPLE))

    def warm(self, view: View, _: int) -> None:
        """Line up all fields: else whoever asks first waits for it."""
        for name in _fields(view.directory):
            self._cache.readings.column(view, name, version=view.version, as_of=None)

    def _places(self, ctx: Context) -> _Places:
        directory = ctx.view.directory

        def make() -> _Places:
            there = [e for e in directory.entities.values() if e.kind in {"country", "region"}]
            there.sort(key=lambda e: (e.name, e.id))
            return _Places(
                tuple(there), [(e.name, e.id) for e in there], self._cache.readings.numbers(e.id for e in there)
            )

        places: _Places = self._cache.table("places", (ctx.view.epoch, directory.reference), make)
        return places

    def _aligned(self, ctx: Context, redaction: Redaction, slug: str, places: _Places) -> AlignedColumn:
        """Return readings of one field; under `freshness=fresh` only those that are."""
        found = screening.aligned(self._cache, ctx, slug, places.numbers)
        if ctx.params["freshness"] is None:
            return found
        directory = ctx.view.directory
        return found.only(
            np.array(
                [
                    at >= 0 and redaction.freshness(directory.series(found.series(row))) == "fresh"
                    for row, at in enumerate(found.places)
                ],
                dtype=np.bool_,
            )
        )

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

    def _describe(self, ctx: Context, indicator: Indicator, places: _Places) -> ScreenerField:
        found = screening.aligned(self._cache, ctx, indicator.slug, places.numbers)
        if _is_text(indicator):
            return screening.text_field(indicator.slug, indicator.name, indicator.description, found.texts())
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
        return screening.number_field(indicator.slug, indicator.name, unit, description, found.values, currency)


def _fields(directory: MetadataCache) -> dict[str, Indicator]:
    """Return indicators that may be screened by: all but those of companies."""
    return {i.slug: i for i in directory.indicators.values() if i.screenable and i.category != "fundamentals"}


def _find(directory: MetadataCache, fields: dict[str, Indicator], name: str) -> Field | None:
    indicator = directory.indicator(name)
    if indicator is None or indicator.slug not in fields:
        return None
    return Field(indicator.slug, _is_text(indicator))


def _is_text(indicator: Indicator) -> bool:
    return indicator.unit == "text"


def _wanted(ctx: Context, places: _Places) -> npt.NDArray[np.bool_]:
    """All places, or the one country that is asked for; an unknown one is none of them."""
    asked = ctx.params["country"]
    if asked is None:
        return np.ones(len(places.ties), dtype=np.bool_)
    if "," in asked:
        raise refuse("country", f"takes one country, not {quoted(asked)}", code="type")
    country = place_called(ctx, asked)
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
        Endpoint(
            path=_PATH,
            operation_id="screenEntities",
            summary="Countries and regions by macro readings",
            description="Those whose latest readings satisfy every clause of the filter; one without a value that may be shown "
            "for a filtered field is left out. `total` counts all matches, not only this page's.",
            handler=screener.screen,
            scope="screeners:read",
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
            kind="list",
            record=ScreenerRow,
            dated=True,
            total=True,
            warm=screener.warm,
            cost=screening.where_screened,
            cached=True,
            tag="Screeners",
        ),
        screening.filters_endpoint(
            f"{_PATH}/filters",
            "listScreenerFilters",
            "Fields of the macro screener",
            screener.filters,
        ),
    )
