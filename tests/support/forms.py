"""Readers of lists in the forms beside JSON, none of which knows the code that writes them."""

import csv
import io
import json
from datetime import UTC, date, datetime
from typing import Any

import msgspec
import pyarrow as pa

FORMS = ("csv", "ndjson", "arrows")
TYPES = {"csv": "text/csv", "ndjson": "application/x-ndjson", "arrows": "application/vnd.apache.arrow.stream"}
ROWS_IN_ALL = "rowsInAll"


class CutError(Exception):
    """A whole list without its mark at the end, or with another one than its rows ask for."""


def cells_of(row: dict[str, Any], columns: list[str]) -> dict[str, Any]:
    """Return what each column is to have of a row of JSON; assert that nothing of the row is left over."""
    left = set(_leaves(row, "", set(columns))) - set(columns)
    assert not left, left
    return {name: _cell(row, name) for name in columns}


def _leaves(value: dict[str, Any], prefix: str, columns: set[str]) -> list[str]:
    found = []
    for key, inner in value.items():
        name = prefix + key
        opens = isinstance(inner, dict) and name not in columns
        found += _leaves(inner, f"{name}.", columns) if opens else [] if inner is None else [name]
    return found


def _cell(value: Any, name: str) -> Any:
    for key in name.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return msgspec.json.encode(value).decode() if isinstance(value, list | dict) else value


def csv_rows(body: bytes, *, whole: bool = False) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a CSV."""
    text = body.decode()
    if whole and not text.endswith("\r\n"):
        raise CutError
    lines = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    assert not text or text.endswith("\r\n")
    header, rows = lines[0], lines[1:]
    if whole:
        if header[-1] != ROWS_IN_ALL or not rows or len(rows[-1]) != len(header):
            raise CutError
        if any(row[-1] for row in rows[:-1]):
            raise CutError
        if rows[-1][-1] == "0" and len(rows) == 1 and not any(rows[0][:-1]):
            return header[:-1], []
        if rows[-1][-1] != str(len(rows)):
            raise CutError
        header, rows = header[:-1], [row[:-1] for row in rows]
    assert all(len(row) == len(header) for row in rows)
    return header, rows


def csv_text(value: Any) -> str:
    """Return what a cell of a CSV is to say."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return msgspec.json.encode(value).decode()
    return f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r", "'")) else value


def ndjson_rows(body: bytes, *, whole: bool = False) -> list[dict[str, Any]]:
    """Return the rows of an NDJSON."""
    lines = body.split(b"\n")
    if lines.pop() != b"":
        raise CutError
    rows = [json.loads(line) for line in lines]
    if whole:
        if not rows or rows[-1] != {"end": {"rows": len(rows) - 1}}:
            raise CutError
        rows.pop()
    return rows


def arrow_table(body: bytes, *, whole: bool = False) -> pa.Table:
    """Return an Arrow stream as a table."""
    table = pa.ipc.open_stream(body).read_all()
    if whole:
        if table.column_names[-1] != ROWS_IN_ALL or not len(table):
            raise CutError
        ends = table.column(ROWS_IN_ALL).to_pylist()
        if any(end is not None for end in ends[:-1]):
            raise CutError
        table = table.drop_columns([ROWS_IN_ALL])
        if ends == [0]:
            return table.slice(0, 0)
        if ends[-1] != len(ends):
            raise CutError
    return table


def arrow_rows(table: pa.Table) -> list[dict[str, Any]]:
    """Return the rows of a table with times and days as JSON has them."""
    return [{name: _wired(value) for name, value in row.items()} for row in table.to_pylist()]


def _wired(value: Any) -> Any:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC).isoformat()[:19]}Z"
    return value.isoformat() if isinstance(value, date) else value


def assert_same(form: str, body: bytes, rows: list[dict[str, Any]], *, whole: bool = False) -> None:
    """Assert that a body in a form says of every field what the rows of JSON say."""
    if form == "ndjson":
        assert ndjson_rows(body, whole=whole) == rows
    elif form == "csv":
        header, lines = csv_rows(body, whole=whole)
        assert lines == [[csv_text(cell) for cell in cells_of(row, header).values()] for row in rows]
    else:
        table = arrow_table(body, whole=whole)
        assert arrow_rows(table) == [cells_of(row, table.column_names) for row in rows]
