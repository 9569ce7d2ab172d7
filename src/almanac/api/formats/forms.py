"""The forms of lists beside JSON: how each is asked for, and what writes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Protocol, cast

import msgspec

from almanac.api.formats.columns import Batch, Rows, Table
from almanac.api.formats.csv_writer import CsvWriter


class Writer(Protocol):
    """What writes the rows of one list in one form."""

    def write(self, rows: Rows, *, last: bool) -> bytes:
        """Return the next part of the body. `last`: no more rows follow."""
        ...


class Form(msgspec.Struct, frozen=True):
    """A form: its name, which is also the ending of the paths that have it, and its media type."""

    name: str
    media_type: str
    content_type: bytes
    #: Takes the table of a list, and whether the whole list is written.
    writer: Callable[..., Writer]
    #: It has columns; else its rows are JSON.
    has_columns: bool = True
    #: The library it needs beside those that are always there.
    library: str | None = None

    @property
    def is_available(self) -> bool:
        """Return whether the library that it needs is installed."""
        return self.library is None or find_spec(self.library) is not None


class NdjsonWriter:
    """Writes each row as a line, the JSON that it is in the list. `whole`: with a last line `{"end":{"rows":…}}`, without which it was cut."""

    def __init__(self, _table: Table, *, whole: bool) -> None:
        self._whole = whole
        self._count = 0

    def write(self, rows: Rows, *, last: bool) -> bytes:
        """Return the next lines. Rows do not come as columns: the form has none."""
        assert not isinstance(rows, Batch)
        self._count += len(rows)
        if rows and isinstance(rows[0], bytes):
            lines = b"\n".join(cast("Sequence[bytes]", rows)) + b"\n"
        else:
            lines = msgspec.json.Encoder().encode_lines(rows)
        return lines + b'{"end":{"rows":%d}}\n' % self._count if last and self._whole else lines


def _arrow(table: Table, *, whole: bool) -> Writer:
    from almanac.api.formats.arrow_writer import ArrowWriter  # noqa: PLC0415 - its library is an extra

    return ArrowWriter(table, whole=whole)


CSV = Form("csv", "text/csv", b"text/csv; charset=utf-8; header=present", CsvWriter)
NDJSON = Form("ndjson", "application/x-ndjson", b"application/x-ndjson", NdjsonWriter, has_columns=False)
_ARROW_TYPE = "application/vnd.apache.arrow.stream"
ARROW = Form("arrows", _ARROW_TYPE, _ARROW_TYPE.encode(), _arrow, library="pyarrow")
FORMS = (CSV, NDJSON, ARROW)
