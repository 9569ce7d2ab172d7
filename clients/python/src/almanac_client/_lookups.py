"""Look-ups of names: indicators, places and series. Each is looked up once, because the meaning doesn't change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec

from almanac_client import _generated_models as m
from almanac_client._errors import InvalidArgument, NotFound
from almanac_client._operations import Operation
from almanac_client._pages import Question, Walk, item, of_scheme, prefixed
from almanac_client._settings import Options
from almanac_client._transport import Pace, Plan

T = TypeVar("T")

#: The service's limit for a list of values.
MOST_NAMES = 100


class Known:
    """Indicators and places that were looked up, by the given names."""

    def __init__(self) -> None:
        self.indicators: dict[str, m.Indicator] = {}
        #: Series by their publishers' codes.
        self.codes: dict[str, list[m.Series]] = {}
        self.places: dict[str, str] = {}
        self.listed = False


class Way(NamedTuple):
    """The context of a plan with several requests: options, pace, and known names."""

    options: Options
    pace: Pace
    known: Known

    @property
    def today(self) -> Options:
        """Options for looking up names, without as_of."""
        return msgspec.structs.replace(self.options, as_of=None)


class Walked(NamedTuple):
    """All rows of a list, with their origin."""

    rows: list[Any]
    attrs: dict[str, Any]


def walk(
    options: Options,
    pace: Pace,
    operation: Operation[Any],
    *braces: tuple[str, str],
    quiet: bool = False,
    **query: Any,
) -> Plan[Walked]:
    """Request all rows of a list. `quiet` suppresses the service's warnings, because the caller reports what is missing."""
    found = Walk(Question(options, operation, dict(braces), query), quiet=quiet)
    rows = yield from found.rest(options, pace)
    attrs = {"data_version": found.data_version, "as_of": found.asked.as_of, "request_ids": found.request_ids}
    return Walked(rows, attrs)


def indicator(way: Way, name: str) -> Plan[m.Indicator]:
    """Return the indicator that a name means. Raises NotFound with a suggestion."""
    if name not in way.known.indicators:
        asked = Question(way.today, m.GET_INDICATOR, {"idOrSlug": name}, {})
        way.known.indicators[name], _ = yield from item(way.today, way.pace, asked)
    return way.known.indicators[name]


def places(way: Way, names: Sequence[str]) -> Plan[dict[str, str]]:
    """Map names of countries, regions and companies to their ids. Raises NotFound with a suggestion."""
    known = way.known.places
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise InvalidArgument(
                f"place {position + 1} of {len(names)} is {name!r}, of type {type(name).__name__}, and no name: some regions "
                "have no ISO code, take their id or leave missing ones out"
            )
    if not way.known.listed and any(name not in known for name in names):
        countries = yield from walk(way.today, way.pace, m.LIST_COUNTRIES)
        for one in countries.rows:
            for name in (one.id, one.slug, one.iso_alpha2, one.iso_alpha3):
                if name:
                    known[name.lower()] = one.id
        way.known.listed = True
    found: dict[str, str] = {}
    for name in names:
        if name.lower() not in known:
            known[name.lower()] = yield from _place(way, name)
        found[name] = known[name.lower()]
    return found


def _place(way: Way, name: str) -> Plan[str]:
    """Return the id of a place that the list of countries doesn't contain under this name."""
    if (told := prefixed(name)) is not None:
        return (yield from of_scheme(way.today, way.pace, name, *told))
    try:
        asked = Question(way.today, m.GET_COUNTRY, {"idOrIso": name}, {})
        country, _ = yield from item(way.today, way.pace, asked)
    except NotFound as unknown:
        aliases = Question(way.today, m.LIST_ENTITY_ALIASES, {"idOrSlug": name}, {"limit": 1})
        try:
            page = yield from Walk(aliases).step(way.today, way.pace)
        except NotFound as error:
            # Of the two errors, raise the one with a suggestion.
            raise (unknown if error.suggestion is None else error) from None
        if not page.rows:
            raise
        return page.rows[0].entity_id
    return country.id
