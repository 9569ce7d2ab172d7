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


#: File, the table that is read from it, a change that breaks it, and what is said.
BROKEN: list[tuple[str, Callable[[], object], Callable[[File], None], list[str]]] = [
    (
        "units.toml",
        load.shipped,
        _first("unit", scale="six"),
        ["units.toml: unit percent: Expected int, got str at scale"],
    ),
    (
        "sources.toml",
        load.shipped,
        _first("source", turn="second"),
        [
            "sources.toml: source us-treasury-par: Invalid enum value 'second' at turn, allowed are first, then, last",
        ],
    ),
    (
        "sources.toml",
        load.shipped,
        _first("source", colour="red"),
        ["sources.toml: source us-treasury-par: unknown field colour, allowed are id, provider, name, "],
    ),
    (
        "providers.toml",
        load.shipped,
        lambda file: file.update(publisher=[]),
        ["providers.toml: unknown table [[publisher]], allowed are unit, provider, source, "],
    ),
    (
        "derived.toml",
        load.shipped,
        _first("derived", inputs=["cpi_indices"]),
        ["derived.toml: derived cpi_inflation_yoy: unknown input cpi_indices"],
    ),
    (
        "series/fred.toml",
        load.shipped,
        lambda file: file["series"][0]["codes"][0].update(frequency="X"),
        ["series/fred.toml: series fred ", "Invalid enum value 'X' at frequency, allowed are A, S, Q, N, M, W, D"],
    ),
    (
        "series/fred.toml",
        load.shipped,
        lambda file: file["series"][0].update(codes=["GDP"]),
        ["series/fred.toml: series fred: codes: Expected object, got str at [0]"],
    ),
    (
        "companies/items.toml",
        companies.items,
        _first("item", kind="stock", formulas="a"),
        ["companies/items.toml: item revenue: ", "allowed are flow, average, per_share, instant, cover"],
    ),
    (
        "companies/items.toml",
        companies.items,
        _first("item", us_gaap=["Revenues or Sales"]),
        ["companies/items.toml: item revenue: 'Revenues or Sales' is no sum of names such as 'A + B - C?' at us_gaap[0]"],
    ),
    (
        "companies/measures.toml",
        measures.measures,
        _first("measure", **{"except": ["shop"]}),
        ["measures.toml: measure gross_margin: Invalid enum value 'shop' at except[0], allowed are industrial, bank, "],
    ),
    (
        "companies/sectors.toml",
        sectors.shipped,
        lambda file: file.pop("unclassified"),
        ["companies/sectors.toml: unclassified is missing"],
    ),
    (
        "companies/events.toml",
        filing_events.shipped,
        lambda file: file["nobody"].update(form=["1"]),
        ["companies/events.toml: nobody: unknown field form, allowed are forms"],
    ),
    (
        "events/releases.toml",
        releases.shipped,
        _first("release", frequencies=["monthly"]),
        ["events/releases.toml: release consumer_prices: Invalid enum value 'monthly' at frequencies[0], allowed are A, "],
    ),
    (
        "events/schedules.toml",
        releases.shipped,
        _first("schedule", native="Prices"),
        ["events/schedules.toml: schedule bls-calendar Prices: no calendar has it"],
    ),
    (
        "events/meetings.toml",
        releases.meetings,
        _first("bank", at="noon", zone="Mars"),
        ["events/meetings.toml: bank federal-reserve: Invalid RFC3339 encoded time at at"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "table", "change", "said"), BROKEN)
def test_a_mistake_is_named_with_its_file_its_place_and_what_is_allowed(
    instead: Any, name: str, table: Callable[[], object], change: Callable[[File], None], said: list[str]
) -> None:
    file = copy.deepcopy(tables.packaged(name))
    instead(table, {name: file})
    change(file)
    with pytest.raises(CatalogError) as caught:
        instead(table, {name: file})
    for words in said:
        assert words in str(caught.value)


def test_what_is_no_toml_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "units.toml").write_text("unit = [\n")
    monkeypatch.setattr(tables, "files", lambda package: tmp_path)
    with pytest.raises(CatalogError, match=r"^units.toml: Invalid value"):
        tables.packaged("units.toml")
