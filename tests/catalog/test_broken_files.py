"""A mistake in any file of the catalogue is named with its file, its place and what is allowed there."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from almanac.catalog import companies, filing_events, load, measures, releases, sectors, tables
from almanac.catalog.records import CatalogError

File = dict[str, Any]


def _first(table: str, **fields: Any) -> Callable[[File], None]:
    """Return a change that sets fields of the first line of a table."""
    return lambda file: file[table][0].update(fields)


#: What reads a file, where it is not the catalogue of series.
READERS: dict[str, Callable[[], object]] = {
    "companies/items.toml": companies.items, "companies/measures.toml": measures.measures, "companies/sectors.toml": sectors.shipped,
    "companies/events.toml": filing_events.shipped, "events/releases.toml": releases.shipped, "events/schedules.toml": releases.shipped,
    "events/meetings.toml": releases.meetings,
}  # fmt: skip
#: File, a change that breaks it, and what is said behind its name.
BROKEN: list[tuple[str, Callable[[File], None], str]] = [
    ("units.toml", _first("unit", scale="six"), "unit percent: Expected int, got str at scale"),
    ("sources.toml", _first("source", turn="second"), "source us-treasury-par: Invalid enum value 'second' at turn, allowed are first, then, last"),
    ("sources.toml", _first("source", colour="red"), "source us-treasury-par: unknown field colour, allowed are id, provider, name, "),
    ("providers.toml", lambda file: file.update(publisher=[]), "unknown table [[publisher]], allowed are unit, provider, source, "),
    ("derived.toml", _first("derived", inputs=["cpi_indices"]), "derived cpi_inflation_yoy: unknown input cpi_indices"),
    (
        "series/fred.toml", lambda file: file["series"][0]["codes"][0].update(frequency="X"),
        "series fred CPIAUCSL: Invalid enum value 'X' at frequency, allowed are A, S, Q, N, M, W, D",
    ),
    ("series/fred.toml", lambda file: file["series"][0].update(codes=["GDP"]), "series fred: codes: Expected object, got str at [0]"),
    ("companies/items.toml", _first("item", kind="stock"), "item revenue: Invalid enum value 'stock' at kind, allowed are flow, average, "),
    (
        "companies/items.toml", _first("item", us_gaap=["Revenues or Sales"]),
        "item revenue: 'Revenues or Sales' is no sum of names such as 'A + B - C?' at us_gaap[0]",
    ),
    (
        "companies/measures.toml", _first("measure", **{"except": ["shop"]}),
        "measure gross_margin: Invalid enum value 'shop' at except[0], allowed are industrial, bank, ",
    ),
    ("companies/sectors.toml", lambda file: file.pop("unclassified"), "unclassified is missing"),
    ("companies/events.toml", lambda file: file["nobody"].update(form=["1"]), "nobody: unknown field form, allowed are forms"),
    (
        "events/releases.toml", _first("release", frequencies=["monthly"]),
        "release consumer_prices: Invalid enum value 'monthly' at frequencies[0], allowed are A, ",
    ),
    ("events/schedules.toml", _first("schedule", native="Prices"), "schedule bls-calendar Prices: no calendar has it"),
    ("events/meetings.toml", _first("bank", at="noon", zone="Mars"), "bank federal-reserve: Invalid RFC3339 encoded time at at"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "change", "said"), BROKEN)
def test_a_mistake_is_named_with_its_file_its_place_and_what_is_allowed(
    instead: Any, name: str, change: Callable[[File], None], said: str
) -> None:
    table, file = READERS.get(name, load.shipped), copy.deepcopy(tables.packaged(name))
    instead(table, {name: file})
    change(file)
    with pytest.raises(CatalogError) as caught:
        instead(table, {name: file})
    assert f"{name}: {said}" in str(caught.value)


def test_what_is_no_toml_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "units.toml").write_text("unit = [\n")
    monkeypatch.setattr(tables, "files", lambda package: tmp_path)
    with pytest.raises(CatalogError, match=r"^units.toml: Invalid value"):
        tables.packaged("units.toml")
