"""Downloads of whole lists as Arrow streams, with the check that nothing is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from almanac_client._errors import Incomplete, InvalidArgument, ServerWarning, Unreadable, warn
from almanac_client._frames import require
from almanac_client._pages import Question, Said, data_version, named
from almanac_client._settings import Options, is_loopback
from almanac_client._transport import Pace, Plan, Reply, exchange

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

T = TypeVar("T")

#: The column that proves a list complete: its last cell is the number of rows.
_ROWS_IN_ALL = "rowsInAll"


class WholeList:
    """
    A whole list, complete and of one state of the data, with the columns that the interface names: `entityId`,
    `rights.reason`. Texts are dictionaries in Arrow, categories in pandas and polars.
    """

    def __init__(self, table: pa.Table, reply: Reply) -> None:
        self._table = table
        self.data_version = data_version(reply)
        #: The moment that its rows are of, in the format of the interface.
        self.as_of = reply.headers.get("x-as-of")
        self.request_id = reply.headers.get("x-request-id")

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def to_arrow(self) -> pa.Table:
        """Return the list as an Arrow table."""
        return self._table

    def to_pandas(self) -> pd.DataFrame:
        """Return the list as a pandas frame. Its `attrs` state the data version and the moment of the list."""
        require("pandas")
        frame = self._table.to_pandas()
        frame.attrs.update({"data_version": self.data_version, "as_of": self.as_of, "request_id": self.request_id})
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Return the list as a polars frame."""
        require("polars")
        import polars as pl  # noqa: PLC0415 - an extra

        frame = pl.from_arrow(self._table)
        assert isinstance(frame, pl.DataFrame)
        return frame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return f"<WholeList of {len(self)} rows, data version {self.data_version}>"


def whole(options: Options, pace: Pace, asked: Question[T]) -> Plan[WholeList]:
    """
    Download a whole list. Raises Incomplete if it was cut, and InvalidArgument if a part of the list was asked for.

    It is not stored in the client's cache, which holds answers in memory and on disk as they are.
    """
    require("arrow")
    limits = [name for name in ("limit", "cursor") if name in asked.query]
    if asked.most is not None or limits:
        raise InvalidArgument(f"{(limits or ['limit'])[0]!r} asks for a part, and whole() downloads the whole list")
    asked = yield from named(options, pace, asked)
    from urllib.parse import urlsplit  # noqa: PLC0415 - importing this package must stay quick

    # On this machine, to compress takes longer than to send.
    coding = {"accept-encoding": "identity"} if is_loopback(urlsplit(options.url).hostname or "") else {}
    reply = yield from exchange(
        msgspec.structs.replace(options, cache=None), pace, f"{asked.operation.path}.arrows", asked.braces,
        {**asked.query, "all": "true"}, coding,
    )  # fmt: skip
    for said in msgspec.json.decode(reply.headers.get("x-warnings", "[]"), type=list[Said]):
        warn(str(said), ServerWarning)
    return WholeList(_checked(reply), reply)


def _checked(reply: Reply) -> Any:
    """Return the table of a reply without the column that proves it complete. Raises Incomplete and Unreadable."""
    import pyarrow as pa  # noqa: PLC0415 - an extra

    request = reply.headers.get("x-request-id", "without an id")
    if reply.headers.get("content-type") != "application/vnd.apache.arrow.stream":
        raise Unreadable(f"the answer is no Arrow stream; request {request}")
    try:
        table = pa.ipc.open_stream(pa.py_buffer(reply.content)).read_all()
    except (pa.ArrowInvalid, OSError):
        raise Incomplete(f"the list was cut on its way; request {request}") from None
    told = table.column(_ROWS_IN_ALL)[-1].as_py() if table.num_rows and _ROWS_IN_ALL in table.column_names else None
    rows = 0 if told == 0 and table.num_rows == 1 else table.num_rows
    if told != rows:
        raise Incomplete(f"the list was cut behind its row {table.num_rows}; request {request}")
    return table.drop_columns([_ROWS_IN_ALL]).slice(0, rows)
