"""All pages with their navigation, and the templates with what they know beside a page's own values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from almanac.config import Settings
from almanac.dashboard.account import keys, profile, sign_in, usage
from almanac.dashboard.drawing import columns
from almanac.dashboard.explorer import (
    calendar,
    companies,
    compare,
    countries,
    indicators,
    lineage,
    overview,
    rates,
    screeners,
    search,
    series,
    sources,
    watchlist,
)
from almanac.dashboard.formatting import dates, numbers, values
from almanac.dashboard.formatting.company_names import company_name
from almanac.dashboard.formatting.dates import event_title, fiscal, period, written
from almanac.dashboard.operate import accounts, feeds
from almanac.dashboard.statics import Statics
from almanac.dashboard.visit import Page, Visit
from almanac.reports.wording import country, listed, place

#: Title, address, and the first segments of the addresses that belong to it.
_PARTS = (
    ("Today", "/", ("",)),
    ("Countries", "/countries", ("countries",)),
    ("Indicators", "/indicators", ("indicators",)),
    ("Rates", "/rates", ("rates",)),
    ("Screeners", "/screeners", ("screeners",)),
    ("Companies", "/companies", ("companies",)),
    ("Compare", "/compare", ("compare",)),
    ("Calendar", "/calendar", ("calendar",)),
    ("Watchlist", "/watchlist", ("watchlist",)),
    ("Keys", "/keys", ("keys",)),
    ("Usage", "/usage", ("usage",)),
)
_OPERATE = ("Operate", "/operate", ("operate",))


#: Of the entity in a series' id, which part of the site it is in.
_OF_ENTITY = {"country": "countries", "region": "countries", "company": "companies"}


def _part_of(path: str) -> str:
    """Return the first segment of an address; of a series that of the entity it is of."""
    first, _, rest = path[1:].partition("/")
    entity = rest.split(":")[1] if first == "series" and ":" in rest else ""
    return _OF_ENTITY.get(entity.partition("_")[0], first)


def navigation(visit: Visit) -> list[dict[str, Any]]:
    """Return what a visitor is shown; nobody signed in, nothing."""
    if visit.person is None:
        return []
    parts = (*_PARTS, _OPERATE) if visit.operator else _PARTS
    first = _part_of(visit.path)
    return [{"title": title, "path": path, "current": first in segments} for title, path, segments in parts]


def environment(
    static: Callable[[str], str], filters: Mapping[str, Callable[..., Any]], names: Mapping[str, Any]
) -> Environment:
    """Return the one environment of all templates. `static` gives the address of a file, `names` are known to every template."""
    made = Environment(
        loader=PackageLoader("almanac.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(filters)
    made.globals.update(names)
    made.globals["static"] = static
    return made


#: Filters of templates: functions by their own names, and two by another.
_BY_NAME: tuple[Callable[..., Any], ...] = (
    numbers.number, numbers.change, numbers.percent, numbers.fraction, numbers.compact, numbers.in_words, numbers.many, company_name, numbers.full, dates.day, dates.short_day,
    dates.long_day, dates.day_code, dates.clock, dates.clock_tag, dates.moment, dates.when, dates.time_tag, period,
    written, event_title, fiscal, numbers.unit_of, values.look, values.look_column, values.look_reading, values.look_release, values.look_yield, listed,
    numbers.category, values.reason_for, values.notes_for, values.counted, values.is_forecast, values.look_field, numbers.unit, dates.of_row, dates.between,
)  # fmt: skip
FILTERS = {made.__name__: made for made in _BY_NAME} | {"nth": place, "in_text": country}


def pages() -> tuple[Page, ...]:
    """Every page of the dashboard."""
    rooms = (
        sign_in, overview, search, indicators, series, lineage, countries, rates, screeners, calendar, sources,
        companies, compare, watchlist, keys, usage, profile, feeds, accounts,
    )  # fmt: skip
    return tuple(page for room in rooms for page in room.PAGES)


def templates(settings: Settings, statics: Statics) -> Environment:
    """Return the templates of all pages."""
    names = {
        "api_url": settings.api_address,
        "dashboard_url": settings.dashboard_address,
        "percentile": columns.percentile,
        "meter": columns.meter,
        "bar": columns.bar,
    }
    return environment(statics.address, FILTERS | {"unix": _unix}, names)


def _unix(seconds: int) -> datetime:
    """Return a time of the accounts, unix seconds, for the filters that write times."""
    return datetime.fromtimestamp(seconds, UTC)
