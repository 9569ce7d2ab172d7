"""NDJSON: each row a line, the JSON that it is in the list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec

from almanac.api.formats.columns import Batch, Rows, Table

_encoder = msgspec.json.Encoder()


class NdjsonWriter:
    """Writes the rows of a list. `whole`: with a last line `{"end":{"rows":…}}`, without which it was cut."""

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
            lines = _encoder.encode_lines(rows)
        return lines + b'{"end":{"rows":%d}}\n' % self._count if last and self._whole else lines
