"""Statements, curves, briefs and fields of screeners as frames: every number of the nested answer, in its place."""

import asyncio
import warnings
from datetime import date

import pandas as pd
import pytest

import almanac_client as a

from .served import async_client, client

KINDS = {"income": "incomeStatements", "balance": "balanceSheets", "cash_flow": "cashFlowStatements"}


@pytest.mark.parametrize("frequency", ["annual", "quarterly"])
@pytest.mark.parametrize("as_of", [None, "2026-02-01"])
def test_a_sheet_has_every_line_of_every_period(almanac, service, frequency, as_of):
    asked = {"frequency": frequency, **({"as_of": as_of} if as_of else {})}
    raw = service.ok("/companies/ACW/financials", "pro", **asked)
    found = almanac.statements("ACW", frequency=frequency, as_of=as_of)
    assert (found.entity_id, found.ticker, found.currency) == (raw["entityId"], raw["ticker"], raw["currency"])
    lines = 0
    for name, field in KINDS.items():
        sheet = getattr(found, name)
        assert sheet.columns == ["item", *(one["periodEnd"][:10] for one in raw[field])]
        for one in raw[field]:
            column = dict(zip(sheet["item"], sheet[one["periodEnd"][:10]], strict=True))
            assert {key: value for key, value in column.items() if value is not None} == one["items"]
            lines += len(one["items"])
    assert len(found.table()) == lines
    frame = found.table().to_pandas()
    assert set(frame["statement"]) == ({"income", "balance", "cash_flow"} if lines else set())
    assert len(found.quality) == sum(len(raw[field]) for field in KINDS.values())
    assert found.quality["quality_status"] == [one["quality"]["status"] for f in KINDS.values() for one in raw[f]]
    assert found.attrs["as_of"] == as_of
    assert found.attrs["data_version"] == 18


def test_a_sheet_is_a_frame_with_lines_as_its_index(almanac):
    found = almanac.statements("ACW", limit=1)
    frame = found.income.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame.index.name == "item"
    assert list(frame.columns) == list(frame.attrs["periods"]) == ["2025-12-31"]
    assert str(frame.dtypes.iloc[0]) == "float64"
    assert found.income.to_polars().columns == found.income.to_arrow().column_names == ["item", "2025-12-31"]
    quality = found.quality.to_polars()
    assert {"statement", "period_end", "fiscal_year", "fiscal_period", "form", "filed_at", "accession"} <= set(
        quality.columns
    )
    assert quality["period_end"].to_list()[0] == date(2025, 12, 31)
    assert repr(found) == f"<Statements of {found.entity_id}, annual, in USD: 1 income, 1 balance, 1 cash_flow>"


def test_statements_that_cannot_be_meant(almanac):
    with pytest.raises(a.InvalidArgument, match="'annual' or 'quarterly', and cannot be 'monthly'"):
        almanac.statements("ACW", frequency="monthly")
    with pytest.raises(a.NotFound):
        almanac.statements("no such company")
    assert almanac.statements("ticker:USA").entity_id == almanac.statements("USA").entity_id == "company_0000005002"


def test_a_curve_is_three_tables(sandbox):
    almanac = client(sandbox)
    raw = sandbox.ok("/rates/USA")
    found = almanac.curve("USA")
    assert dict(zip(found.yields["tenor"], found.yields["yield"], strict=True)) == {
        one["tenor"]: one["yield"] for one in raw["curve"]
    }
    assert found.yields.to_pandas().index.name == "tenor"
    assert list(zip(found.spreads["tenor"], found.spreads["scope"], found.spreads["spread_bp"], strict=True)) == [
        (one["tenor"], peer["scope"], peer["spreadBp"]) for one in raw["spreads"] for peer in one["peers"]
    ]
    slopes = [("USA", one) for one in raw["slopes"]] + [(one["scope"], one) for one in raw["peerSlopes"]]
    assert list(zip(found.slopes["scope"], found.slopes["name"], found.slopes["value_bp"], strict=True)) == [
        (scope, one["name"], one["valueBp"]) for scope, one in slopes
    ]
    assert len(found.spreads) > 6
    assert found.notes == raw["comparability"]
    with pytest.raises(a.AsOfUnsupported):
        almanac.at("2026-10-01").curve("USA")


def test_a_brief_is_words_and_the_readings_behind_them(almanac, service):
    raw = service.ok("/briefs/USA", "pro", as_of="2026-11-10")
    found = almanac.brief("USA", as_of="2026-11-10")
    assert (found.headline, found.text) == (raw["headline"], {one["key"]: one["text"] for one in raw["sections"]})
    rows = [(one["key"], reading) for one in raw["sections"] for reading in one["readings"]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", a.WithheldWarning)
        frame = found.readings.to_polars()
    assert frame.select(
        "section",
        "indicator_id",
        "value",
        "value_withheld",
    ).rows() == [(key, one["indicatorId"], one["value"], one["rights"]["valueWithheld"]) for key, one in rows]
    assert len(rows) > 3
    assert len(found.events) == len(raw["upcomingEvents"])
    assert len(found.releases) == sum(len(one["readings"]) for one in raw["recentReleases"])
    assert repr(found).splitlines()[1] == raw["headline"]


@pytest.mark.parametrize(
    ("universe", "path"), [("countries", "/screener/filters"), ("companies", "/equity-screener/filters")]
)
def test_the_fields_of_a_screen_are_a_frame(almanac, service, universe, path):
    raw = service.ok(path)
    frame = almanac.fields(universe).to_pandas()
    assert list(frame.index) == [one["field"] for one in raw["fields"]]
    assert frame.index.name == "field"
    assert list(frame["entity_count"]) == [one["entityCount"] for one in raw["fields"]]
    assert [list(one) for one in frame["operators"]] == [one["operators"] for one in raw["fields"]]
    assert frame.attrs["syntax"] == raw["syntax"]
    with pytest.raises(a.InvalidArgument, match="of 'countries' or 'companies', not of 'planets'"):
        almanac.fields("planets")


def test_awaited_they_are_the_same(service):
    awaited, almanac = async_client(service), client(service)

    async def all_of_them():
        return (
            (await awaited.statements("ACW")).income, (await awaited.curve("USA")).yields,
            (await awaited.brief("USA")).readings, await awaited.fields("companies"),
        )  # fmt: skip

    found = asyncio.run(all_of_them())
    own = (
        almanac.statements("ACW").income,
        almanac.curve("USA").yields,
        almanac.brief("USA").readings,
        almanac.fields("companies"),
    )
    assert [one.to_records() for one in found] == [one.to_records() for one in own]
    assert all(len(one) for one in found)
