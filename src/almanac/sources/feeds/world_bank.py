"""World Bank: version 2 of the Indicators API, JSON. A native code is `PLACE/INDICATOR` (`ARG/NY.GDP.MKTP.CN`).

An answer is a list of two: what page this is, and rows, newest year first, with null where there is no value. The day
of the last update is the whole data base's: it is kept with each row and dates none. So is the base that the name of an
indicator states. The list of countries is read too,
and compared with the catalogue, which holds regions and income groups; it feeds no series.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec

from almanac.catalog.currencies import UnknownCurrency
from almanac.catalog.load import shipped
from almanac.domain.observations import PROJECTION, UNKNOWN
from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec, Source
from almanac.sources.base import Connector, Parsed, Payload, Request, SourceChanged, Specs
from almanac.sources.formats import notes, strict, tables
from almanac.sources.formats.sdmx_message import period_of

_HOST = "api.worldbank.org"
_DATA = re.compile(r"/v2/(?:[a-z]{2}/)?countr(?:y|ies)/([^/]+)/indicators?/([^/]+)/?")
_COUNTRIES = re.compile(r"/v2/(?:[a-z]{2}/)?countr(?:y|ies)(?:/[^/]+)?/?")
_YEAR = re.compile(r"[0-9]{4}")
#: Rows to a page: more than any indicator has (about 270 places and 66 years), as many as the service gives.
_PAGE = 20_000
#: More places than these are asked for as all there are.
_FEW = 20
#: Values of `region` of an aggregate, and of the income group of a place without one.
_AGGREGATE, _UNCLASSIFIED = "Aggregates", "Not classified"
_TOLD = 5
#: What the name of an indicator says of its base or its prices: `(2010 = 100)`, `(constant 2015 US$)`.
_BASIS = re.compile(r"\(([0-9]{4}) ?= ?100\)")
_PRICES = re.compile(r"\b(constant (?:[0-9]{4} )?(?:US\$|LCU|international \$))")
#: Letter of `obs_status` of a value that is a forecast; E, an estimate, is one of what was.
_FORECAST = "F"


class _Page(msgspec.Struct, forbid_unknown_fields=True):
    page: int
    pages: int
    per_page: int | str
    total: int
    sourceid: str | None = None
    sourcename: str | None = None
    lastupdated: str | None = None


class _Named(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    value: str
    iso2code: str | None = None


class _Row(msgspec.Struct, forbid_unknown_fields=True):
    indicator: _Named
    country: _Named
    countryiso3code: str
    date: str
    value: strict.JsonNumber | None
    unit: str = ""
    obs_status: str = ""
    decimal: int = 0
    scale: str | None = None
    footnote: str | None = None


class _Country(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    id: str
    iso2_code: str = msgspec.field(name="iso2Code")
    name: str
    region: _Named
    adminregion: _Named
    income_level: _Named
    lending_type: _Named
    capital_city: str
    longitude: str
    latitude: str


class WorldBank(Connector):
    """Indicators and the list of countries."""

    version = 4
    hosts = frozenset({_HOST})
    leads_further = True

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """Plan the list of countries, then one request for each indicator, for the places named or for all there are."""
        wanted: dict[str, list[str]] = {}
        for native in sorted(series):
            place, _, indicator = native.partition("/")
            wanted.setdefault(indicator, []).append(place)
        years = "" if since is None else f"&date={since.year}:{today.year}"
        planned = [Request(f"https://{_HOST}/v2/country?format=json&per_page=400")]
        for indicator, places in sorted(wanted.items()):
            named = ";".join(places) if len(places) <= _FEW else "all"
            address = f"https://{_HOST}/v2/country/{named}/indicator/{indicator}"
            planned.append(Request(f"{address}?format=json&per_page={_PAGE}{years}"))
        return planned

    def follow(self, payload: Payload, source: Source, key: str | None) -> list[Request]:
        """Return requests for the pages after the first, if an answer says that there are more. Raise SourceChanged."""
        url = urlsplit(payload.url)
        if _DATA.fullmatch(url.path) is None or "page" in parse_qs(url.query):
            return []
        page, _ = _parts(payload, unquote(url.path), Parsed())
        return [Request(f"{payload.url}&page={number}") for number in range(2, page.pages + 1)]

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """
        Read one page, one block for each mapped series, complete from its first year listed to its last; one that lists less
        than it says is reported, and claims to be complete in nothing.

        Raises SourceChanged naming place, indicator and year, also for the API's own word that it knows no such code.
        """
        path = unquote(urlsplit(payload.url).path)
        asked = _DATA.fullmatch(path)
        parsed = Parsed()
        if asked is None:
            if _COUNTRIES.fullmatch(path):
                parsed.ignored = _compared(_read(_parts(payload, path, parsed)[1], list[_Country], path, parsed), path)
                return parsed
            return Parsed(ignored=f"{path}: a kind of response nobody reads")
        where = f"indicator {asked[2]}"
        page, raw = _parts(payload, where, parsed)
        rows = _read(raw, list[_Row], where, parsed)
        # How many rows a page says that it has, and has not: it was cut on the way.
        most = int(page.per_page)
        stated = min(most, page.total - (page.page - 1) * most) if page.page > 0 else page.total
        lacking = max(0, stated - len(rows))
        if lacking:
            parsed.missing.add(f"{lacking} of {page.total} rows of {where}")
        if not rows and page.total == 0 and "date" not in parse_qs(urlsplit(payload.url).query):
            raise SourceChanged(f"{where} has no rows at all")
        published = notes.published_at(page.lastupdated, None, f"{where}: lastupdated") if page.lastupdated else None
        fetched = datetime.fromtimestamp(payload.fetched_at, UTC).date()
        edition = date.fromisoformat(published[:10]) if published else fetched
        for native, found in _by_series(rows, where).items():
            if native not in series:
                parsed.unmapped[native] = sum(row.value is not None for row in found.values())
                continue
            try:
                counted = _in_currency(native, series[native], found, edition)
            except UnknownCurrency as unknown:
                parsed.meet([f"{strict.shown(str(unknown))} of {native}"], "currency")
                continue
            tables.add_block(parsed, counted, _cells(native, found, published), updated=notes.updated(published))
            if lacking:  # what a page that was cut leaves out is no withdrawal
                parsed.blocks[-1] = replace(parsed.blocks[-1], complete=None)
        return parsed


def _parts(payload: Payload, where: str, parsed: Parsed) -> tuple[_Page, msgspec.Raw]:
    """Return what page an answer is, and its rows undecoded. Raise SourceChanged for a message in their place."""
    parts = strict.json(payload.body, list[msgspec.Raw], where, parsed)
    if len(parts) == 1:
        answer: Any = msgspec.json.decode(parts[0])
        try:
            message = answer["message"][0].get("value")
        except (TypeError, LookupError, AttributeError):
            message = answer
        raise SourceChanged(f"{where}: the service says {strict.shown(str(message))}")
    if len(parts) != 2:
        raise SourceChanged(f"{where}: a list of {len(parts)}, expected the page and its rows")
    return strict.json(bytes(parts[0]), _Page, where, parsed), parts[1]


def _read(raw: msgspec.Raw, shape: type[list[Any]], where: str, parsed: Parsed) -> list[Any]:
    """Rows; null stands for none."""
    return strict.json(bytes(raw), shape, where, parsed) if bytes(raw).strip() != b"null" else []


def _by_series(rows: Sequence[_Row], where: str) -> dict[str, dict[str, _Row]]:
    """Rows by native code and date, each code in the order of its dates."""
    found: dict[str, dict[str, _Row]] = {}
    for row in rows:
        # Some groups of countries have no code of three letters.
        native = f"{row.countryiso3code or row.country.id}/{row.indicator.id}"
        dated = found.setdefault(native, {})
        if row.date in dated:
            raise SourceChanged(f"{where}: {native} {row.date} is there twice")
        dated[row.date] = row
    return {native: dict(sorted(dated.items())) for native, dated in found.items()}


def _cells(native: str, rows: Mapping[str, _Row], published: str | None) -> Iterator[tables.Cell]:
    for text, row in rows.items():
        if _YEAR.fullmatch(text) is None:
            raise SourceChanged(f"{native}: {strict.shown(text)} is not a year")
        basis, prices = _BASIS.search(row.indicator.value), _PRICES.search(row.indicator.value)
        note = notes.note(
            flags=tuple(row.obs_status),
            footnotes=(row.footnote,) if row.footnote else (),
            published=published,
            basis=f"{basis[1]}=100" if basis else None,
            price_basis=prices[1] if prices else None,
        )
        flags = UNKNOWN | (PROJECTION if _FORECAST in row.obs_status.upper() else 0)
        yield tables.Cell(period_of(text, Frequency.ANNUAL, native).key, row.value, f"{native} {text}", note, flags)


def _in_currency(native: str, spec: SeriesSpec, rows: Mapping[str, _Row], edition: date) -> str:
    """Return the native code with the currency of amounts: that of the rows, else that of the edition's day."""
    stated = {row.unit for row in rows.values() if row.value is not None}
    if len(stated) > 1:
        raise UnknownCurrency(", ".join(sorted(stated)))
    return shipped().money.native(native, spec, next(iter(stated), ""), edition)


def _compared(countries: Sequence[_Country], where: str) -> str:
    """Return a description of how the list of countries differs from the catalogue's."""
    ours = {
        e.iso3 or e.id.removeprefix("country_").upper(): e for e in shipped().entities.values() if e.kind == "country"
    }
    differing: list[str] = []
    for country in countries:
        if country.region.value.strip() == _AGGREGATE:
            continue
        held = ours.get(country.id)
        if held is None:
            differing.append(f"{country.id} ({country.name}) is not in the catalogue")
            continue
        income = country.income_level.value.strip()
        pairs = (
            ("region", held.region, country.region.value.strip()),
            ("income group", held.income_group, None if income == _UNCLASSIFIED else income),
        )
        differing += [
            f"{country.id} has {what} {theirs}, the catalogue {mine}" for what, mine, theirs in pairs if mine != theirs
        ]
    told = f"{where}: the list of countries, {len(countries)} places, for reference only"
    if not differing:
        return f"{told}; it agrees with the catalogue"
    more = f" and {len(differing) - _TOLD} more" if len(differing) > _TOLD else ""
    return f"{told}; {'; '.join(differing[:_TOLD])}{more}"


CONNECTOR = WorldBank()
