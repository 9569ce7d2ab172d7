"""A catalogued native code that no file of its publisher shows is a guess, and the catalogue says so, line by line."""

import gzip
import tomllib
from importlib.resources import files

import msgspec

from almanac.catalog.services import Areas, expanded
from almanac.sources.base import Parsed, Payload, SourceChanged, connector

from .files import FOLDER, REAL, mirror

pytestmark = REAL
#: Shown by a file that is not among those at hand: the monthly cube of 1988 to 2025.
ELSEWHERE = "rendoblim{"


def natives_in(catalog, row):
    """(source, native code) of every mapped series that a file shows."""
    body = (FOLDER / row["file"]).read_bytes()
    payload = Payload(row["url"], gzip.decompress(body) if row["file"].endswith(".gz") else body, 0, "")
    for source in catalog.sources.values():
        if source.connector and not source.simulated and connector(source.connector).owns(row["url"]):
            try:
                read = connector(source.connector).parse(payload, source, catalog.series.get(source.id, {}))
            except SourceChanged:
                read = Parsed()
            yield from ((source.id, native) for native in [*(block.native for block in read.blocks), *read.tightened])


def lines(catalog):
    """(source, natives) of each line of the catalogue: one code, or one for every place."""
    folder = files("almanac.catalog").joinpath("data", "series")
    parts = [tomllib.loads(item.read_text("utf-8")) for item in folder.iterdir() if item.name.endswith(".toml")]
    areas = {one["id"]: msgspec.convert(one, Areas) for part in parts for one in part.get("areas", [])}
    for part in parts:
        for group in part.get("series", []):
            for code in group["codes"]:
                made = list(expanded({**group, **code}, areas, catalog.entities))
                yield made[0]["source"], [line["native"] for line in made]


def test_every_line_that_no_file_shows_is_marked_and_no_other(catalog):
    rows = [row for row in mirror() if row["status"] == "200" and not row["file"].startswith("sec/")]
    shown = {pair for row in rows for pair in natives_in(catalog, row)}
    assert len(shown) > 80
    told = {
        (source, natives[0]): any((source, native) in shown or native.startswith(ELSEWHERE) for native in natives)
        for source, natives in lines(catalog)
    }
    assert {pair for pair, seen in told.items() if not seen and pair not in catalog.guesses} == set()
    assert {pair for pair, seen in told.items() if seen and pair in catalog.guesses} == set()
