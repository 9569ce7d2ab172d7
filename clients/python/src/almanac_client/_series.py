"""One series as rows in order, and several beside each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal

from almanac_client import _generated_models as m
from almanac_client._errors import InvalidArgument
from almanac_client._frames import Column, Kind, Table, of_records
from almanac_client._lookups import Way, indicator, places, walk
from almanac_client._transport import Plan

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

When = str | date | datetime


class Series:
    """Values of one indicator for one place at one frequency, oldest first."""

    __slots__ = ("attrs", "entity_id", "frequency", "indicator", "rows")

    def __init__(self, indicator: str, entity_id: str, rows: Sequence[m.Observation], attrs: Mapping[str, Any]) -> None:
        #: Slug of the indicator.
        self.indicator = indicator
        self.entity_id = entity_id
        self.rows = sorted(rows, key=lambda row: row.period_end)
        #: None: there are no rows.
        self.frequency: str | None = rows[0].frequency if rows else None
        self.attrs = dict(attrs)

    @property
    def unit(self) -> str | None:
        """What the numbers count. None: a score, or there are no rows."""
        return self.rows[0].unit if self.rows else None

    @property
    def source_ids(self) -> list[str]:
        """Ids of the sources that its rows come from."""
        return list(dict.fromkeys(row.source_id for row in self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[m.Observation]:
        return iter(self.rows)

    def table(self) -> Table:
        """The rows as a table of fixed columns."""
        return of_records(m.Observation, self.rows, self.attrs)

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a frame of pandas."""
        return self.table().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The rows as a frame of polars."""
        return self.table().to_polars()

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table."""
        return self.table().to_arrow()

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw it, and give the axes back. Needs matplotlib; `options` go to its `plot`."""
        from almanac_client._plot import series  # noqa: PLC0415 - an extra

        return series(self, ax, **options)

    def __repr__(self) -> str:
        return f"{self.indicator} of {self.entity_id}, {self.frequency}, in {self.unit}\n{self._short()!r}"

    def _repr_html_(self) -> str:
        return self._short()._repr_html_()

    def _short(self) -> Table:
        whole = self.table()
        names = ("period_end", "value", "observed_at", "revision_status", "source_id", "value_withheld")
        return Table([Column(name, whole.kind(name), whole[name]) for name in names], self.attrs)


def series(
    way: Way,
    name: str,
    place: str,
    *,
    frequency: str | None = None,
    start: When | None = None,
    end: When | None = None,
    as_of: When | None = None,
) -> Plan[Series]:
    """One series. Raises InvalidArgument where the indicator has several frequencies for the place and none was chosen."""
    meant = yield from indicator(way, name)
    entity = (yield from places(way, [place]))[place]
    operation = m.LIST_DERIVED_OBSERVATIONS if meant.kind == "derived" else m.LIST_OBSERVATIONS
    found = yield from walk(
        way.options, way.pace, operation, indicator=meant.slug, entity_id=entity, frequency=frequency,
        period_start=start, period_end=end, as_of=as_of,
    )  # fmt: skip
    frequencies = sorted({row.frequency for row in found.rows})
    if len(frequencies) > 1:
        raise InvalidArgument(
            f"{meant.slug} of {place} is {' and '.join(frequencies)}: say frequency={frequencies[0]!r}"
        )
    return Series(meant.slug, entity, found.rows, found.attrs)


_LONG: dict[str, Kind] = {
    "name": "string", "indicator_id": "string", "entity_id": "string", "frequency": "string", "period_end": "date",
    "value": "float", "unit": "string", "observed_at": "time", "source_id": "string", "value_withheld": "bool",
    "withheld_reason": "string",
}  # fmt: skip


def frame(
    way: Way,
    wanted: Mapping[str, tuple[str, str]],
    *,
    how: Literal["wide", "long"] = "wide",
    frequency: str | None = None,
    start: When | None = None,
    end: When | None = None,
    as_of: When | None = None,
) -> Plan[Table]:
    """Several series, by name. Wide: a row for each period end and a column for each name; long: a row for each value."""
    if how not in {"wide", "long"}:
        raise InvalidArgument(f"'how' has to be 'wide' or 'long', not {how!r}")
    taken = {"period_end"} & set(wanted) if how == "wide" else set()
    if not wanted or taken:
        raise InvalidArgument(f"a column cannot be called {taken.pop()!r}" if taken else "no series is asked for")
    found: dict[str, Series] = {}
    for name, (slug, place) in wanted.items():
        found[name] = yield from series(
            way, slug, place, frequency=frequency, start=start, end=end, as_of=as_of
        )  # fmt: skip
    ids = [one for series_ in found.values() for one in series_.attrs["request_ids"]]
    attrs = {**next(iter(found.values())).attrs, "request_ids": ids}
    # Each series has its own walk: what was taken in between two of them is in the later one alone.
    attrs["data_version"] = max((s.attrs["data_version"] for s in found.values()), default=None)
    return _long(found, attrs) if how == "long" else _wide(found, attrs)


def _long(found: Mapping[str, Series], attrs: Mapping[str, Any]) -> Table:
    held = [(name, one.table()) for name, one in found.items()]
    columns = [Column("name", "string", [name for name, table in held for _ in range(len(table))])]
    for column, kind in list(_LONG.items())[1:]:
        columns.append(Column(column, kind, [value for _, table in held for value in table[column]]))
    return Table(columns, attrs)


def _wide(found: Mapping[str, Series], attrs: Mapping[str, Any]) -> Table:
    frequencies = {one.frequency for one in found.values() if one.frequency is not None}
    if len(frequencies) > 1:
        told = ", ".join(f"{name} is {one.frequency}" for name, one in found.items())
        raise InvalidArgument(f"series of different frequencies have no common rows ({told}): say how='long'")
    ends = sorted({row.period_end for one in found.values() for row in one})
    columns = [Column("period_end", "date", [end.date() for end in ends])]
    withheld: list[str | None] = []
    for name, one in found.items():
        values = {row.period_end: row.value_numeric for row in one}
        columns.append(Column(name, "float", [values.get(end) for end in ends]))
        withheld += [row.rights.reason for row in one if row.rights.value_withheld]
    return Table(columns, attrs, withheld)
