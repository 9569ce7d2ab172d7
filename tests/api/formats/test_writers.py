"""Writers of forms: what each makes of any record, whatever stands in it, as other programs read it."""

import csv
import io
import json
import random
from typing import Annotated, Any

import msgspec
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.api.contract.records import Record, RowRights
from almanac.api.formats.columns import Table
from almanac.api.formats.forms import ARROW, CSV, FORMS, NDJSON, Form
from almanac.domain.fields import Day, Time, says
from tests.support.forms import CutError, arrow_rows, arrow_table, assert_same, cells_of, csv_rows, csv_text


class Inner(Record):
    """A record in a record."""

    word: str | None
    rights: RowRights | None
    marks: list[str] | msgspec.UnsetType = msgspec.UNSET
    much: float | msgspec.UnsetType = msgspec.UNSET


class Outer(Record):
    """A record of every kind of field."""

    id: str
    name: Annotated[str | None, says("A name.")]
    at: Time | None
    day: Day
    value: float | None
    count: int
    is_so: bool
    inner: Inner | None
    parts: list[Inner]
    values: dict[str, float | str]
    either: float | str | None


TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12) | st.sampled_from(
    ["=1+1", "+1", "-1", "@x", "'", "''", "'=", "a,b", 'a"b', "a\nb", "a\r\nb", "\r", "\t", "", " ", ";", "null", "é €"]
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**15), 10**15)
TIMES = st.sampled_from(["2026-10-31T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
RIGHTS = st.fixed_dictionaries(
    {
        "exposure": st.just("public"), "redistributable": st.booleans(), "valueWithheld": st.booleans(),
        "reason": st.none() | TEXTS, "license": TEXTS, "licenseClass": st.just("open"), "attribution": TEXTS,
    }
)  # fmt: skip
INNER = st.fixed_dictionaries(
    {"word": st.none() | TEXTS, "rights": st.none() | RIGHTS},
    optional={"marks": st.lists(TEXTS, max_size=2), "much": NUMBERS},
)
OUTER = st.fixed_dictionaries(
    {
        "id": TEXTS, "name": st.none() | TEXTS, "at": st.none() | TIMES, "day": st.sampled_from(["2026-10-31", "0001-01-01"]),
        "value": st.none() | NUMBERS, "count": st.integers(-(2**53), 2**53), "isSo": st.booleans(), "inner": st.none() | INNER,
        "parts": st.lists(INNER, max_size=2), "values": st.dictionaries(st.sampled_from("ab"), NUMBERS), "either": st.none() | NUMBERS | TEXTS,
    }
)  # fmt: skip
ROWS = st.lists(OUTER, max_size=5)


def encoded(rows: list[dict[str, Any]]) -> list[bytes]:
    return [msgspec.json.encode(row) for row in rows]


def written(form: Form, rows: list[dict[str, Any]], *, whole: bool, batches: int = 1, **opened: Any) -> bytes:
    writer = form.writer(Table(Outer, opened), whole=whole)
    size = max(1, -(-len(rows) // batches))
    parts = [rows[place : place + size] for place in range(0, len(rows), size)] or [[]]
    return b"".join(writer.write(encoded(part), last=part is parts[-1]) for part in parts)


def read(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows as a reader of JSON has them: whole numbers are written without a point."""
    return [json.loads(row) for row in encoded(rows)]


@given(ROWS, st.booleans(), st.integers(1, 3))
def test_every_form_says_all_of_every_row(rows: list[dict[str, Any]], whole: bool, batches: int) -> None:
    for form in FORMS:
        body = written(form, rows, whole=whole, batches=batches)
        if form is NDJSON:
            assert_same("ndjson", body, read(rows), whole=whole)
            continue
        names = [column.name for column in Table(Outer).columns]
        cells = [
            {name: json_text(value) if name == "either" else value for name, value in cells_of(row, names).items()}
            for row in read(rows)
        ]
        if form is CSV:
            header, lines = csv_rows(body, whole=whole)
            assert header == names
            assert lines == [[csv_text(value) for value in row.values()] for row in cells]
        else:
            table = arrow_table(body, whole=whole)
            assert table.column_names == names
            assert arrow_rows(table) == cells


def json_text(value: Any) -> str | None:
    """What stands for a value that may be a number or a text."""
    return None if value is None else msgspec.json.encode(value).decode()


def test_the_columns_are_those_of_the_record() -> None:
    rights = ["exposure", "redistributable", "valueWithheld", "reason", "license", "licenseClass", "attribution"]
    assert [(column.name, column.kind) for column in Table(Outer).columns] == [
        ("id", "text"), ("name", "text"), ("at", "time"), ("day", "day"), ("value", "number"), ("count", "integer"), ("isSo", "flag"),
        ("inner.word", "text"),
        *((f"inner.rights.{name}", "flag" if name in {"redistributable", "valueWithheld"} else "text") for name in rights),
        ("inner.marks", "json"), ("inner.much", "number"),
        ("parts", "json"), ("values", "json"), ("either", "json"),
    ]  # fmt: skip


def test_keys_that_the_question_names_become_columns() -> None:
    rows = [{**EXAMPLE, "values": {"a": 1.5}}, {**EXAMPLE, "values": {"b": "=x"}}]
    opened = {"a": "number", "b": "text"}
    header, lines = csv_rows(written(CSV, rows, whole=False, **opened))
    assert [dict(zip(header, line, strict=True))[name] for line in lines for name in ("values.a", "values.b")] == [
        "1.5",
        "",
        "",
        "'=x",
    ]
    table = arrow_table(written(ARROW, rows, whole=False, **opened))
    assert table["values.a"].to_pylist() == [1.5, None]
    assert table["values.b"].to_pylist() == [None, "=x"]


EXAMPLE: dict[str, Any] = {
    "id": "one", "name": 'é, "€"', "at": "2026-10-31T00:00:00Z", "day": "2026-10-31", "value": -0.5, "count": 3, "isSo": True,
    "inner": None, "parts": [], "values": {}, "either": "2",
}  # fmt: skip


def test_types_of_arrow() -> None:
    words = pa.dictionary(pa.int32(), pa.string())
    for rows in ([EXAMPLE], []):
        schema = pa.ipc.open_stream(written(ARROW, rows, whole=True)).schema
        for name, kind in (
            ("id", pa.string()), ("name", words), ("at", pa.timestamp("s", "UTC")), ("day", pa.date32()), ("value", pa.float64()),
            ("count", pa.int64()), ("isSo", pa.bool_()), ("inner.word", words), ("parts", words), ("rowsInAll", pa.int64()),
        ):  # fmt: skip
            assert schema.field(name).type == kind


ROWS_OF_THREE = [{**EXAMPLE, "id": str(number), "name": f"name {number}"} for number in range(9)]


def test_other_readers_read_what_is_whole() -> None:
    """pandas and polars, of three batches with other texts in each, whose dictionaries differ."""
    names = [row["name"] for row in ROWS_OF_THREE]
    text, stream = (written(form, ROWS_OF_THREE, whole=True, batches=3) for form in (CSV, ARROW))
    for frame in (pd.read_csv(io.BytesIO(text)), pa.ipc.open_stream(stream).read_pandas()):
        assert frame.pop("rowsInAll").iloc[-1] == len(frame) == 9
        assert list(frame["name"]) == names
        assert list(frame["value"]) == [-0.5] * 9
        assert list(pd.to_datetime(frame["at"])) == [pd.Timestamp("2026-10-31", tz="UTC")] * 9
    for told in (pl.read_csv(text), pl.read_ipc_stream(stream), pl.from_arrow(pa.ipc.open_stream(stream).read_all())):
        assert isinstance(told, pl.DataFrame)
        assert told["rowsInAll"][-1] == len(told) == 9
        assert told["name"].cast(pl.String).to_list() == names
    lines = pd.read_json(io.BytesIO(written(NDJSON, ROWS_OF_THREE, whole=True)), lines=True)
    assert lines["end"].iloc[-1] == {"rows": 9}


@pytest.mark.parametrize("batches", [1, 3, 9])
def test_other_readers_know_what_was_cut(batches: int) -> None:
    """Wherever pandas and polars read a cut file at all, its last row does not say how many rows there are."""
    text, stream = (written(form, ROWS_OF_THREE, whole=True, batches=batches) for form in (CSV, ARROW))
    read, drawn = 0, random.Random(batches)
    for place in drawn.sample(range(1, len(text) - 2), 150):  # without the last end of a line all is there
        try:
            frame = pd.read_csv(io.BytesIO(text[:place]))
        except (ValueError, pd.errors.ParserError):
            continue
        read += 1
        assert "rowsInAll" not in frame or not len(frame) or frame["rowsInAll"].iloc[-1] != len(frame)
    for place in drawn.sample(range(1, len(stream) - 8), 150):  # nor does anybody ask for the mark of the end
        for reader in (
            lambda body: pa.ipc.open_stream(body).read_all(),
            lambda body: pl.read_ipc_stream(io.BytesIO(body)),
        ):
            try:
                table = reader(stream[:place])
            except (OSError, ValueError, pl.exceptions.PolarsError):
                continue
            read += 1
            assert (
                not len(table) or table["rowsInAll"].to_pylist()[-1] != len(table)
                if isinstance(table, pa.Table)
                else (not len(table) or table["rowsInAll"][-1] != len(table))
            )
    assert read


def test_a_csv_that_was_cut_in_its_count_is_known() -> None:
    """`12` of `123` is no count of 123 rows."""
    rows = [{**EXAMPLE, "id": str(number)} for number in range(123)]
    body = written(CSV, rows, whole=True)
    assert body.endswith(b",123\r\n")
    with pytest.raises(CutError):
        csv_rows(body[:-3] + b"\r\n", whole=True)


def test_no_text_is_a_formula() -> None:
    """Nothing that a spreadsheet would compute begins a cell, numbers aside."""
    rows = [
        {**EXAMPLE, "name": text, "inner": {"word": text, "rights": None}}
        for text in ("=A1", "+1", "-1", "@SUM(1)", "\t=1", "'x")
    ]
    for line in list(csv.reader(io.StringIO(written(CSV, rows, whole=False).decode(), newline="")))[1:]:
        for name in ("name", "inner.word"):
            assert line[[column.name for column in Table(Outer).columns].index(name)].startswith("'")
        assert line[4] == "-0.5"
