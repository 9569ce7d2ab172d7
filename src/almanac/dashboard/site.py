"""All pages, in the order of the navigation; and what every template knows beside a page's own values."""

from __future__ import annotations

from datetime import UTC, datetime

from jinja2 import Environment

from almanac.config import Settings
from almanac.dashboard.account import keys, profile, sign_in, sign_up, usage
from almanac.dashboard.drawing import marks
from almanac.dashboard.explorer import (
    calendar,
    countries,
    indicators,
    morning,
    search,
    sources,
)
from almanac.dashboard.explorer.companies import companies, company
from almanac.dashboard.explorer.comparing import compare
from almanac.dashboard.explorer.rates import rates
from almanac.dashboard.explorer.screening import screeners
from almanac.dashboard.explorer.series import lineage, series
from almanac.dashboard.explorer.watching import watchlist
from almanac.dashboard.operate import accounts, feeds
from almanac.dashboard.page import Page
from almanac.dashboard.rendering import environment
from almanac.dashboard.statics import Statics
from almanac.dashboard.words.filters import FILTERS


def pages() -> tuple[Page, ...]:
    """Every page of the dashboard."""
    rooms = (
        sign_in, sign_up, morning, search, indicators, series, lineage, countries, rates, screeners, calendar, sources,
        companies, company, compare, watchlist, keys, usage, profile, feeds, accounts,
    )  # fmt: skip
    return tuple(page for room in rooms for page in room.PAGES)


def templates(settings: Settings, statics: Statics) -> Environment:
    """The templates of all pages."""
    names = {
        "api_url": settings.api_address,
        "dashboard_url": settings.dashboard_address,
        "percentile": marks.percentile,
        "meter": marks.meter,
        "bar": marks.bar,
    }
    return environment(statics.address, FILTERS | {"unix": _unix}, names)


def _unix(seconds: int) -> datetime:
    """A time of the accounts, unix seconds, for the filters that write times."""
    return datetime.fromtimestamp(seconds, UTC)
