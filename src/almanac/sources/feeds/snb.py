"""Swiss National Bank: cubes of the data portal and of its warehouse, CSV with semicolons.

Two lines name the cube and the time of publishing, then come a blank line, a header (`Date`, one name per dimension,
`Value`) and one line per date and item. An empty value is none. Native codes are written as the bank writes its keys,
`rendoblid{10J0}`: cube, then one item for each dimension, in order. `rendoblid{10J1}` is a foreign yield beside the
Swiss ones and is never mapped. The time of publishing is the whole file's, so it dates no value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from urllib.parse import parse_qs, unquote, urlsplit

from almanac.catalog.succession import stretches
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import Source
from almanac.sources.base import Connector, Parsed, Payload, Request, SourceChanged, Specs
from almanac.sources.formats import notes, strict, tables

_HOST = "data.snb.ch"
_CUBE = re.compile(r"/api/(?:cube|warehouse/cube)/([A-Za-z0-9_.]+)/data/csv/(?:de|en|fr|it)")
_NATIVE = re.compile(r"([A-Za-z0-9_.]+)\{([A-Za-z0-9_,]+)\}")
_PUBLISHED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}")
_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")
_SELECTED = re.compile(r"\b(\w+)\(([^()]*)\)")
#: Dimensions of the warehouse's cube; its answers are asked for by item, those of the portal's cubes whole.
_WAREHOUSE = {"SNB1A.SNB.NSS.KZS.EID": ("LAUFZEIT", "ZEITPUNKT", "frequency", "AGGREGATIONSMETHODE")}
#: Asked for where the whole history is wanted: without a date the bank sends the latest part only.
_BEGINNING = date(1950, 1, 1)


class Snb(Connector):
    """Cubes by name."""

    version = 3
    hosts = frozenset({_HOST})

    def plan(self, source: Source, series: Specs, since: date | None, today: date, key: str | None) -> list[Request]:
        """Plan one request for each cube, by name, from `since` on. A cube that only repeats another is not asked for,
        nor one whose successor speaks for the whole time asked for.
        """
        by_code = stretches(series)
        cubes: dict[str, list[str]] = {}
        for native in sorted(series):
            stretch = by_code[native]
            if not stretch.copy and (since is None or stretch.last is None or since <= stretch.last):
                cubes.setdefault(_parts(native)[0], []).append(native)
        return [Request(_url(cube, natives, series, since)) for cube, natives in sorted(cubes.items())]

    def parse(self, payload: Payload, source: Source, series: Specs) -> Parsed:
        """Read one cube, one block for each mapped item, complete from the item's first date listed to its last.

        Raises SourceChanged naming item and date, also where none of the mapped items asked for is there.
        """
        url = urlsplit(payload.url)
        path = _CUBE.fullmatch(url.path)
        if path is None:
            return Parsed(ignored=f"{url.path}: not a cube in CSV")
        cube = path[1]
        rows = strict.rows(payload.body, "utf-8", cube, delimiter=";")
        dimensions = _header(rows, cube)
        items = _items(rows[4:], dimensions, cube)
        query = parse_qs(url.query)
        if not items:
            if "fromDate" in query:
                return Parsed()  # nothing yet since the day asked for
            raise SourceChanged(f"{cube} has a header and no rows")
        mapped = {native: spec for native, spec in series.items() if _parts(native)[0] == cube}
        parsed = Parsed()
        parsed.lack(_expected(mapped, dimensions, query, cube), items, cube)
        try:
            updated = notes.updated(rows[1][1])
        except ValueError:
            raise SourceChanged(f"{cube}: {strict.shown(rows[1][1])}, expected PublishingDate and a time") from None
        for native, cells in items.items():
            if native not in mapped:
                parsed.unmapped[native] = sum(bool(value) for value in cells.values())
                continue
            frequency = mapped[native].frequency
            read = (
                tables.Cell(_key(text, frequency, native), cell or None, f"{native} {text}")
                for text, cell in cells.items()
            )
            tables.add_block(parsed, native, read, updated=updated)
        return parsed


def _parts(native: str) -> tuple[str, tuple[str, ...]]:
    """Split a native code into cube and items. Raise ValueError for one of another form."""
    match = _NATIVE.fullmatch(native)
    if match is None:
        raise ValueError(f"{native} is not a native code like rendoblid{{10J0}}")
    return match[1], tuple(match[2].split(","))


def _url(cube: str, natives: Sequence[str], series: Specs, since: date | None) -> str:
    begins = min(series[native].from_date or _BEGINNING for native in natives)
    start = begins if since is None else max(since, begins)
    daily = any(series[native].frequency is Frequency.DAILY for native in natives)
    asked = f"fromDate={start if daily else f'{start:%Y-%m}'}"
    names = _WAREHOUSE.get(cube)
    if names is None:
        return f"https://{_HOST}/api/cube/{cube}/data/csv/en?{asked}"
    columns = zip(*(_parts(native)[1] for native in natives), strict=True)
    chosen = ",".join(f"{name}({','.join(dict.fromkeys(items))})" for name, items in zip(names, columns, strict=True))
    return f"https://{_HOST}/api/warehouse/cube/{cube}/data/csv/en?dimSel={chosen}&{asked}"


def _header(rows: Sequence[list[str]], cube: str) -> list[str]:
    """Check the head of a file and return the names of the dimensions."""
    if len(rows) < 4:
        raise SourceChanged(f"{cube} has {len(rows)} lines, expected CubeId, PublishingDate, a blank one and a header")
    named, published, blank, header = rows[:4]
    if len(named) != 2 or named[0] != "CubeId" or named[1].replace("@", ".") != cube:
        raise SourceChanged(f"{cube}: starts with {strict.shown(';'.join(named))}, expected CubeId;{cube}")
    if len(published) != 2 or published[0] != "PublishingDate" or _PUBLISHED.fullmatch(published[1]) is None:
        raise SourceChanged(f"{cube}: {strict.shown(';'.join(published))}, expected PublishingDate and a time")
    if any(blank):
        raise SourceChanged(f"{cube}: {strict.shown(';'.join(blank))}, expected a blank line before the header")
    if len(header) < 3 or header[0] != "Date" or header[-1] != "Value":
        raise SourceChanged(f"{cube}: header {strict.shown(';'.join(header))}, expected Date;…;Value")
    return header[1:-1]


def _items(rows: Sequence[list[str]], dimensions: Sequence[str], cube: str) -> dict[str, dict[str, str]]:
    """Return values as written, by native code and date, each code in the order of its dates."""
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        if not any(row):
            continue
        if len(row) != len(dimensions) + 2:
            line = strict.shown(";".join(row))
            raise SourceChanged(f"{cube}: {line} has {len(row)} cells, the header {len(dimensions) + 2}")
        cells = found.setdefault(f"{cube}{{{','.join(row[1:-1])}}}", {})
        if row[0] in cells:
            raise SourceChanged(f"{cube}: {';'.join(row[:-1])} is there twice")
        cells[row[0]] = row[-1]
    return {native: dict(sorted(cells.items())) for native, cells in sorted(found.items())}


def _expected(
    mapped: Iterable[str], dimensions: Sequence[str], query: Mapping[str, Sequence[str]], cube: str
) -> Iterator[str]:
    """Yield the mapped items that the request did not leave out itself. Raise SourceChanged for a cube of other dimensions."""
    selected = {
        name: set(chosen.split(",")) for name, chosen in _SELECTED.findall(unquote(",".join(query.get("dimSel", []))))
    }
    for native in sorted(mapped):
        coordinates = _parts(native)[1]
        if len(coordinates) != len(dimensions):
            raise SourceChanged(f"{cube} has dimensions {', '.join(dimensions)}, {native} another number")
        if all(item in selected.get(name, {item}) for name, item in zip(dimensions, coordinates, strict=True)):
            yield native


def _key(text: str, frequency: Frequency, native: str) -> int:
    if frequency is Frequency.MONTHLY:
        if _MONTH.fullmatch(text) is None:
            raise SourceChanged(f"{native}: {strict.shown(text)} is not a month like 2026-10")
        return Period.ending(strict.day(f"{text}-01", native), frequency).key
    return Period.ending(strict.day(text, native), frequency).key


CONNECTOR = Snb()
