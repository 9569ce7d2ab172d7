"""Frames have the same columns and types whatever the filter and the library, and say what is withheld."""

import json
import warnings
from datetime import date, datetime, timezone

import msgspec
import narwhals as nw
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import almanac_client as a
from almanac_client import _generated_models as m
from almanac_client._frames import of_records
from almanac_client._operations import Operation

from .served import asked, client

LISTS = [one for one in vars(m).values() if isinstance(one, Operation) and one.kind == "list"]
ASK = {"indicator": "gov_yield_10y", "country": "USA"}
NOTHING = {"data_version": None, "as_of": None, "request_ids": []}


def schema_of(frame):
    return dict(nw.from_native(frame, eager_only=True).schema)


@pytest.mark.parametrize("operation", LISTS, ids=lambda one: one.id)
def test_the_schema_of_an_empty_frame_is_that_of_every_library(operation):
    table = of_records(operation.record, [], NOTHING)
    assert table.columns
    assert schema_of(table.to_pandas(dtype_backend="pyarrow")) == schema_of(table.to_polars())
    assert schema_of(table.to_polars()) == schema_of(table.to_arrow())
    assert schema_of(table.to_pandas()) == {
        name: nw.Datetime("us") if kind == nw.Date() else kind for name, kind in schema_of(table.to_polars()).items()
    }
    assert len(table.to_pandas()) == len(table.to_polars()) == len(table.to_arrow()) == 0


@pytest.mark.parametrize(
    "ask",
    [
        lambda almanac: almanac.observations.list(**ASK),
        lambda almanac: almanac.derived.observations(country="USA"),
        lambda almanac: almanac.indicators.series("gov_yield_10y"),
        lambda almanac: almanac.companies.list(),
        lambda almanac: almanac.screener.screen(filter="gov_yield_10y:gt:0"),
    ],
)
def test_the_schema_does_not_depend_on_the_rows(almanac, ask):
    rows = ask(almanac)
    assert rows.first() is not None
    empty = of_records(rows._asked.operation.record, [], NOTHING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", a.WithheldWarning)
        frames = [rows.to_pandas(), rows.to_polars(), rows.to_arrow()]
        assert frames[1].equals(pl.DataFrame(rows.table()))
    for frame, nothing in zip(frames, [empty.to_pandas(), empty.to_polars(), empty.to_arrow()], strict=True):
        assert schema_of(frame) == schema_of(nothing)
        if isinstance(frame, pd.DataFrame):
            assert frame.dtypes.equals(nothing.dtypes)


def test_days_are_dates_times_have_a_zone_and_values_are_floats(almanac):
    rows = almanac.observations.list(**ASK)
    first = rows.first()
    frame = rows.to_polars()
    assert schema_of(frame)["period_end"] == nw.Date()
    assert schema_of(frame)["observed_at"] == nw.Datetime("us", "UTC")
    assert schema_of(frame)["value"] == nw.Float64()
    row = frame.row(0, named=True)
    assert row["period_end"] == first.period_end.date() == date(2023, 11, 13)
    assert row["observed_at"] == first.observed_at == datetime(2023, 11, 13, 23, 59, 59, tzinfo=timezone.utc)
    assert (row["value"], row["series_id"], row["license"]) == (
        first.value_numeric, first.metadata.series_id, first.rights.license,
    )  # fmt: skip
    assert (row["value_withheld"], row["withheld_reason"], row["withdrawn"]) == (False, None, False)
    same = rows.to_pandas().iloc[0]
    assert (same["period_end"].date(), same["observed_at"], same["value"]) == (
        row["period_end"],
        row["observed_at"],
        row["value"],
    )


def test_a_frame_of_pandas_does_what_pandas_does_with_times(almanac):
    frame = almanac.series("gov_yield_10y", "USA").to_pandas()
    assert (str(frame["period_end"].dtype), str(frame["observed_at"].dtype)) == (
        "datetime64[us]",
        "datetime64[us, UTC]",
    )
    values = frame.set_index("period_end")["value"]
    assert len(values.loc["2026-11":]) == (frame["period_end"] >= "2026-11-01").sum() > 0
    assert values.resample("ME").last().loc["2026-11-30"] == values.iloc[-1]
    assert values.rolling("7D").mean().notna().all()
    days = pd.DataFrame({"day": pd.date_range("2026-11-01", "2026-11-19").astype("datetime64[us]")})
    merged = pd.merge_asof(days, frame[["period_end", "value"]], left_on="day", right_on="period_end")
    assert merged["value"].iloc[-1] == values.iloc[-1]
    arrow = almanac.series("gov_yield_10y", "USA").to_pandas(dtype_backend="pyarrow")
    assert str(arrow["period_end"].dtype) == "date32[day][pyarrow]"
    assert {type(kind) for kind in arrow.dtypes} == {pd.ArrowDtype}
    with pytest.raises(a.InvalidArgument, match="'dtype_backend' is 'pyarrow' or None"):
        almanac.series("gov_yield_10y", "USA").to_pandas(dtype_backend="numpy")


def test_where_a_frame_comes_from_goes_with_it(almanac):
    rows = almanac.at("2026-11-10").observations.list(**ASK)
    expected = {"data_version": 18, "as_of": "2026-11-10", "request_ids": rows.request_ids or None}
    frame = rows.to_pandas()
    expected["request_ids"] = rows.request_ids
    assert frame.attrs == expected
    assert json.loads(rows.to_arrow().schema.metadata[b"almanac"]) == expected


def test_a_companys_rows_say_what_it_calls_their_periods(service):
    first, second = service.ok("/observations", indicator="gov_yield_10y", limit=2)
    first["metadata"] |= {"fiscalYear": 2024, "fiscalPeriod": "Q4"}
    rows = msgspec.json.decode(json.dumps([first, second]), type=list[m.Observation])
    for frame in (
        of_records(m.Observation, rows, NOTHING).to_polars(),
        of_records(m.Observation, rows, NOTHING).to_arrow(),
    ):
        told = nw.from_native(frame, eager_only=True).select("fiscal_year", "fiscal_period")
        assert told.rows() == [(2024, "Q4"), (None, None)]
        assert told.schema == {"fiscal_year": nw.Int64(), "fiscal_period": nw.String()}


def test_withheld_rows_stay_null_with_one_warning(sandbox):
    rows = client(sandbox).observations.list(indicator="gov_yield_10y", country="CAN", sources="all", page_size=20)
    withheld = [row for row in rows if row.rights.value_withheld]
    assert 20 < len(withheld) < len(rows.all())
    with pytest.warns(a.WithheldWarning) as caught:
        frame = rows.to_pandas()
    assert len(caught) == 1
    (told,) = caught
    assert str(told.message).startswith(f"{len(withheld)} of {len(frame)} rows have no value")
    assert withheld[0].rights.reason in str(told.message)
    assert told.filename == __file__
    assert frame[frame["value_withheld"]]["value"].isna().all()
    assert frame[~frame["value_withheld"]]["value"].notna().all()
    assert set(frame[frame["value_withheld"]]["withheld_reason"]) == {withheld[0].rights.reason}
    assert repr(rows).endswith(f"{len(withheld)} withheld")


def test_screens_give_a_row_for_each_reading(almanac):
    frame = almanac.screener.screen(filter="gov_yield_10y:gt:0,gov_yield_2y:gt:0").to_polars()
    assert frame.select("entity_id", "field").rows() == [
        (entity, field) for entity in ("country_jpn", "country_usa") for field in ("gov_yield_10y", "gov_yield_2y")
    ]
    assert frame["value"].null_count() == 0
    texts = almanac.equities.screen(filter="sector:in:technology").to_polars()
    assert texts.select("ticker", "field", "value", "value_text").rows() == [("ACW", "sector", None, "Technology")]


def test_what_has_no_column_type_is_json(almanac):
    rows = almanac.sources.list()
    texts = [text for text in rows.to_polars()["rights_consent"] if text is not None]
    assert [json.loads(text)["reference"] for text in texts] == ["an invented letter"]
    assert rows.to_polars().schema["frequencies"] == pl.List(pl.String)
    assert rows.to_polars()["attribution"].null_count() == 0


def test_a_library_that_is_not_there_is_named_with_its_extra(almanac, monkeypatch):
    rows = almanac.observations.list(**ASK)
    for library, extra, ask in (("pandas", "pandas", rows.to_pandas), ("polars", "polars", rows.to_polars), ("pyarrow", "arrow", rows.to_arrow)):  # fmt: skip
        monkeypatch.setitem(__import__("sys").modules, library, None)
        with pytest.raises(a.MissingExtra, match=rf"this needs {library}: .*pip install './clients/python\[{extra}\]'"):
            ask()
    with pytest.raises(ImportError):
        rows.to_polars()
    assert asked(almanac) == []


def test_a_table_goes_to_any_library_over_arrow(almanac):
    assert pa.table(almanac.observations.list(**ASK)).column_names[5] == "value"


def test_a_table_shows_five_rows_and_what_should_be_known(almanac):
    table = almanac.observations.list(**ASK).table()
    lines = repr(table).splitlines()
    assert len(lines) == 7
    assert lines[-1] == f"{len(table)} rows of 28 columns, data version 18, as known now"
    assert len(lines[0].split()) == 9
    assert table._repr_html_().count("<tr>") == 6


def test_what_is_shown_in_a_notebook_is_escaped(almanac):
    rows = almanac.countries.list()
    html = rows._repr_html_()
    assert html.startswith("<table>")
    assert f"{len(rows.all())} rows, data version 18" in html
    evil = m.Country(
        id="<script>alert(1)</script>", slug="a&b", name="x", kind="country", aliases=[], indicator_count=0,
        rates_scope=False, freshness_status="fresh",
    )  # fmt: skip
    assert "<script>" not in of_records(m.Country, [evil], NOTHING)._repr_html_()
    rows._all = [evil]
    assert "&lt;script&gt;" in rows._repr_html_()


def test_rows_show_what_they_have_without_asking(almanac):
    rows = almanac.observations.list(**ASK, page_size=7)
    assert repr(rows) == "<Rows of /observations, not asked yet>"
    rows.first()
    assert repr(rows).splitlines()[-1] == "7 rows so far, data version 18, as known now"
    count = len(rows.all())
    assert repr(rows).splitlines()[-1] == f"{count} rows, data version 18, as known now"
    assert len(repr(rows).splitlines()) == 7
