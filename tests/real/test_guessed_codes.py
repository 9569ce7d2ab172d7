"""
A catalogued native code that no file of its publisher shows is a guess, and the catalogue says so, line by line.

One that is marked `elsewhere` was seen in an answer that is not among the files at hand.
"""

import csv
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
    """(source, natives, whether marked) of each line of the catalogue: one code, or one for every place."""
    folder = files("almanac.catalog").joinpath("data", "series")
    parts = [tomllib.loads(item.read_text("utf-8")) for item in folder.iterdir() if item.name.endswith(".toml")]
    areas = {one["id"]: msgspec.convert(one, Areas) for part in parts for one in part.get("areas", [])}
    for part in parts:
        for group in part.get("series", []):
            for code in group["codes"]:
                plain = {**group, **code}
                marked = plain.pop("guess", False) or plain.pop("elsewhere", False)
                made = list(expanded(plain, areas, catalog.entities))
                yield made[0]["source"], [line["native"] for line in made], marked


def test_every_line_that_no_file_shows_is_marked_and_no_other(catalog):
    rows = [row for row in mirror() if row["status"] == "200" and not row["file"].startswith("sec/")]
    shown = {pair for row in rows for pair in natives_in(catalog, row)}
    assert len(shown) > 80
    told = [
        (
            source,
            natives[0],
            marked,
            any((source, native) in shown or native.startswith(ELSEWHERE) for native in natives),
        )
        for source, natives, marked in lines(catalog)
    ]
    assert [one[:2] for one in told if not one[3] and not one[2]] == []
    assert [one[:2] for one in told if one[3] and one[2]] == []


def test_what_was_looked_up_and_confirmed_is_mapped_and_no_guess(catalog):
    """Codes that somebody compared with answers of their publishers, with the indicator that each is of."""
    with (FOLDER.parent / "spec" / "verified_codes.csv").open(newline="", encoding="utf-8") as file:
        every = list(csv.DictReader(file))
    rows = [row for row in every if row["verdict"] == "confirmed"]
    doubtful = {(row["source"], row["native"]) for row in every if row["verdict"] != "confirmed"}
    assert len(rows) > 200
    for row in rows:
        head, area, tail = row["native"].partition("{area}")
        found = {
            native: spec
            for native, spec in catalog.series[row["source"]].items()
            if native == row["native"] or (area and native.startswith(head) and native.endswith(tail))
        }
        if "{currency}" not in row["native"]:
            assert row["indicator"] in {spec.indicator for spec in found.values()}, row["native"]
            guessed = catalog.guesses - doubtful
            assert [native for native in found if (row["source"], native) in guessed] == []
