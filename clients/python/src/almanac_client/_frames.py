"""Tables with fixed columns, and their conversion to pandas, polars and Arrow."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from functools import cache
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import msgspec

from almanac_client import _generated_models as m
from almanac_client import _repr
from almanac_client._errors import InvalidArgument, MissingExtra, WithheldWarning, warn

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Kind = Literal["string", "float", "int", "bool", "time", "date", "strings"]
_EPOCH, _MICROSECOND = datetime(1970, 1, 1, tzinfo=timezone.utc), timedelta(microseconds=1)
_SHOWN, _COLUMNS_SHOWN = 5, 9
#: Libraries that each extra's frames need.
_NEEDED = {"pandas": ("pandas", "pyarrow"), "polars": ("polars",), "arrow": ("pyarrow",)}
#: Metadata fields with a column of their own; `to_records()` has all of them.
_METADATA = (
    "series_id", "fiscal_year", "fiscal_period", "currency", "seasonal_adjustment", "forecast", "withdrawn",
)  # fmt: skip
_RENAMED = {"value_numeric": "value"}
_RIGHTS = {
    "rights.value_withheld": "value_withheld",
    "rights.reason": "withheld_reason",
    "rights.license": "license",
    "rights.attribution": "attribution",
}


class Column(NamedTuple):
    """A column: its name, its type and its cells. None means null."""

    name: str
    kind: Kind
    cells: list[Any]


class Table:
    """Columns of equal length. The same question always gives the same columns and types, whatever the data."""

    def __init__(
        self,
        columns: Iterable[Column],
        attrs: Mapping[str, Any],
        withheld: Sequence[str | None] | None = None,
        *,
        index: str | None = None,
    ) -> None:
        #: The column that becomes the index of a pandas frame.
        self._index = index
        self._columns = {column.name: column for column in columns}
        #: Reasons of withheld values, if no columns identify them.
        self._withheld = withheld
        #: The origin of the data: data_version, as_of, request_ids.
        self.attrs = dict(attrs)
        self._told = False

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self._columns)

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())).cells) if self._columns else 0

    def __getitem__(self, name: str) -> list[Any]:
        return self._columns[name].cells

    def kind(self, name: str) -> Kind:
        """Return the type of a column."""
        return self._columns[name].kind

    @property
    def withheld(self) -> int:
        """The number of withheld values."""
        return len(self._reasons())

    def _reasons(self) -> Sequence[str | None]:
        if self._withheld is not None:
            return self._withheld
        held, why = self._columns.get("value_withheld"), self._columns.get("withheld_reason")
        if held is None:
            return ()
        reasons = why.cells if why is not None else [None] * len(held.cells)
        return [reason for withheld, reason in zip(held.cells, reasons, strict=True) if withheld]

    def to_records(self) -> list[dict[str, Any]]:
        """Return the rows as dictionaries."""
        return [dict(zip(self._columns, row, strict=True)) for row in self._rows()]

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        return zip(*(column.cells for column in self._columns.values()), strict=True)

    def to_arrow(self) -> pa.Table:
        """Convert to an Arrow table. `attrs` are stored in the schema's metadata, as JSON under `almanac`."""
        require("arrow")
        import pyarrow as pa  # noqa: PLC0415 - an extra

        self._say()
        types = _arrow_types(pa)
        arrays = [pa.array(column.cells, types[column.kind]) for column in self._columns.values()]
        fields = [pa.field(column.name, types[column.kind]) for column in self._columns.values()]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields, {"almanac": json.dumps(self.attrs)}))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self, *, dtype_backend: Literal["pyarrow"] | None = None) -> pd.DataFrame:
        """
        Convert to a pandas frame. Days are `datetime64[us]` without a zone, times `datetime64[us, UTC]`; `attrs` become
        the frame's own.

        dtype_backend: `pyarrow` for Arrow types in every column, with days as dates.
        """
        require("pandas")
        import pandas as pd  # noqa: PLC0415 - an extra
        import pyarrow as pa  # noqa: PLC0415 - an extra

        if dtype_backend not in {None, "pyarrow"}:
            raise InvalidArgument(f"'dtype_backend' is 'pyarrow' or None, and cannot be {dtype_backend!r}")
        table = self.to_arrow().replace_schema_metadata(None)
        if dtype_backend == "pyarrow":
            frame = table.to_pandas(types_mapper=pd.ArrowDtype)
        else:
            try:
                text = pd.StringDtype(na_value=float("nan"))
            except TypeError:  # before pandas 2.3
                text = pd.StringDtype()
            kinds = {pa.string(): text, pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}
            kinds[pa.list_(pa.string())] = pd.ArrowDtype(pa.list_(pa.string()))
            # pandas resamples, slices and merges by times, so a day becomes its midnight without a zone.
            days = [
                field.with_type(pa.timestamp("us")) if pa.types.is_date(field.type) else field for field in table.schema
            ]
            frame = table.cast(pa.schema(days)).to_pandas(types_mapper=kinds.get)
        if self._index is not None:
            frame = frame.set_index(self._index)
        frame.attrs.update(self.attrs)
        return frame

    def to_polars(self) -> pl.DataFrame:
        """Convert to a polars frame. Days are `Date`, times `Datetime("us", "UTC")`."""
        require("polars")
        import polars as pl  # noqa: PLC0415 - an extra

        self._say()
        kinds: dict[str, Any] = {
            "string": pl.String, "float": pl.Float64, "int": pl.Int64, "bool": pl.Boolean, "date": pl.Date,
            "strings": pl.List(pl.String),
        }  # fmt: skip
        made = []
        for name, kind, values in self._columns.values():
            if kind == "time":
                since = pl.Series(name, _microseconds(values), dtype=pl.Int64)
                made.append(since.cast(pl.Datetime("us", "UTC")))
            else:
                made.append(pl.Series(name, values, dtype=kinds[kind]))
        return pl.DataFrame(made)

    def _say(self) -> None:
        if self._told or not self.withheld:
            return
        self._told = True
        reasons = Counter(reason for reason in self._reasons() if reason)
        told = "; ".join(f"{count} × {reason}" for reason, count in reasons.most_common(3))
        warn(
            f"{self.withheld} of {len(self)} rows have no value because it may not be passed on{': ' if told else ''}{told}",
            WithheldWarning,
        )

    def __repr__(self) -> str:
        return _repr.text(self.columns[:_COLUMNS_SHOWN], self._cells(), self._about())

    def _repr_html_(self) -> str:
        return _repr.html(self.columns[:_COLUMNS_SHOWN], self._cells(), self._about())

    def _cells(self) -> list[list[str]]:
        return [[_repr.shown(value) for value in row[:_COLUMNS_SHOWN]] for row in islice(self._rows(), _SHOWN)]

    def _about(self) -> str:
        as_of = self.attrs.get("as_of")
        more = len(self.columns) - _COLUMNS_SHOWN
        counted = f"{len(self)} rows" + (f" of {len(self.columns)} columns" if more > 0 else "")
        parts = [counted, f"data version {self.attrs.get('data_version')}"]
        parts.append(f"as of {as_of}" if as_of else "as known now")
        return ", ".join([*parts, *([f"{self.withheld} withheld"] if self.withheld else [])])


def require(extra: Literal["pandas", "polars", "arrow"]) -> None:
    """Raise MissingExtra if a library of an extra isn't installed, before any request is made."""
    for library in _NEEDED[extra]:
        try:
            __import__(library)
        except ImportError:
            raise MissingExtra(library, extra) from None


def _arrow_types(pa: Any) -> dict[str, Any]:
    return {
        "string": pa.string(), "float": pa.float64(), "int": pa.int64(), "bool": pa.bool_(),
        "time": pa.timestamp("us", "UTC"), "date": pa.date32(), "strings": pa.list_(pa.string()),
    }  # fmt: skip


def _microseconds(values: list[datetime | None]) -> list[int | None]:
    return [None if value is None else (value - _EPOCH) // _MICROSECOND for value in values]


def days(values: Sequence[datetime | None]) -> list[date | None]:
    """Convert times that stand for days to dates."""
    return [None if value is None else value.date() for value in values]


class _Source(NamedTuple):
    """The origin of a column: the dotted attribute of a record, and an optional conversion."""

    name: str
    kind: Kind
    path: str
    made: Callable[[list[Any]], list[Any]] | None


def of_records(record: Any, rows: Sequence[Any], attrs: Mapping[str, Any]) -> Table:
    """Build a table from the rows of a list, one row each. Screens give one row for each reading."""
    if record is m.ScreenerRow:
        return _of_readings(rows, attrs)
    if record is m.EquityScreenerRow:
        return _of_values(rows, attrs)
    return Table(_columns(sources(record), rows), attrs)


def flat(record: Any, rows: Sequence[Any]) -> list[Column]:
    """Return the columns of records nested in another record."""
    return [column._replace(name=column.name.rstrip("_")) for column in _columns(sources(record), rows)]


def _columns(wanted: Iterable[_Source], rows: Sequence[Any]) -> Iterator[Column]:
    held: dict[str, Sequence[Any]] = {"": rows}
    for name, kind, path, made in wanted:
        whole, _, field = path.rpartition(".")
        if whole not in held:
            held[whole] = list(map(attrgetter(whole), rows))
        values = list(map(attrgetter(field), held[whole]))
        yield Column(name, kind, values if made is None else made(values))


@cache
def sources(record: Any) -> tuple[_Source, ...]:
    """Return the columns of a record, in the order of its fields."""
    return tuple(_sources(record, "", ""))


def _sources(record: type[Any], path: str, prefix: str) -> Iterator[_Source]:
    hints = get_type_hints(record)
    for name in record.__struct_fields__:
        hint, where = _bare(hints[name]), f"{path}{name}"
        if hint is m.RowRights:
            hints_of_rights = get_type_hints(m.RowRights)
            for inner, column in _RIGHTS.items():
                yield _Source(column, _kind(_bare(hints_of_rights[inner.partition(".")[2]])), inner, None)
        elif hint is m.ObservationMetadata:
            yield from (
                one._replace(made=_marks) if one.kind == "bool" else one
                for one in _sources(hint, f"{where}.", "")
                if one.name in _METADATA
            )
        elif name == "attribution" and hints.get("rights") is m.RowRights:
            continue  # it stands among the rights
        elif isinstance(hint, type) and issubclass(hint, msgspec.Struct) and hint is _bare(hints[name], optional=False):
            yield from _sources(hint, f"{where}.", f"{prefix}{name}_")
        elif name in m.DAYS and hint is datetime:
            yield _Source(prefix + name, "date", where, days)
        else:
            kind = _kind(hint)
            text = kind == "string" and hint is not str
            yield _Source(prefix + _RENAMED.get(name, name), kind, where, _texts if text else None)


def _bare(hint: Any, *, optional: bool = True) -> Any:
    """Return a type without its None. With `optional` False, return None if it had one."""
    parts = [part for part in get_args(hint) if part is not type(None)]
    if type(None) not in get_args(hint):
        return hint
    return parts[0] if optional and len(parts) == 1 else None


def _kind(hint: Any) -> Kind:
    kinds: dict[Any, Kind] = {str: "string", float: "float", int: "int", bool: "bool", datetime: "time", date: "date"}
    if get_origin(hint) is list and get_args(hint)[0] is str:
        return "strings"
    return kinds.get(hint, "string")


def _texts(values: list[Any]) -> list[str | None]:
    """Encode values without a column type of their own as JSON."""
    return [None if value is None else msgspec.json.encode(value).decode() for value in values]


def _marks(values: list[bool | None]) -> list[bool]:
    """Convert marks to booleans. An absent mark counts as False."""
    return [value is True for value in values]


def _number(value: float | str) -> float | None:
    return None if isinstance(value, str) else float(value)


def _text(value: float | str) -> str | None:
    return value if isinstance(value, str) else None


def _of_readings(rows: Sequence[m.ScreenerRow], attrs: Mapping[str, Any]) -> Table:
    pairs = [(row, match) for row in rows for match in row.matches]
    owners, matches = [row for row, _ in pairs], [match for _, match in pairs]
    columns = [one for one in _columns(sources(m.ScreenerRow), owners) if one.name != "matches"]
    for one in _columns(sources(m.ScreenerMatch), matches):
        if one.name == "value":
            columns.append(Column("value", "float", [_number(match.value) for match in matches]))
            columns.append(Column("value_text", "string", [_text(match.value) for match in matches]))
        else:
            columns.append(one)
    return Table(columns, attrs)


def _of_values(rows: Sequence[m.EquityScreenerRow], attrs: Mapping[str, Any]) -> Table:
    pairs = [(row, field, value) for row in rows for field, value in attrgetter("values")(row).items()]
    columns = [
        one for one in _columns(sources(m.EquityScreenerRow), [row for row, _, _ in pairs]) if one.name != "values"
    ]
    columns.append(Column("field", "string", [field for _, field, _ in pairs]))
    columns.append(Column("value", "float", [_number(value) for _, _, value in pairs]))
    columns.append(Column("value_text", "string", [_text(value) for _, _, value in pairs]))
    return Table(columns, attrs)
