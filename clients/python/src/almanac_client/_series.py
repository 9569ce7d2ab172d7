"""One series as sorted rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal

from almanac_client import _generated_models as m
from almanac_client._codes import meant
from almanac_client._errors import ChoiceWarning, warn
from almanac_client._frames import Column, Table, of_records
from almanac_client._lookups import Way, walk
from almanac_client._query import bound
from almanac_client._readings import rank
from almanac_client._transport import Plan

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

When = str | date | datetime
#: A bound of periods. An int is a year.
Bound = int | str | date | datetime


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
        """The unit of the numbers, or None for a score or without rows."""
        return self.rows[0].unit if self.rows else None

    @property
    def source_ids(self) -> list[str]:
        """Ids of the sources of its rows."""
        return list(dict.fromkeys(row.source_id for row in self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[m.Observation]:
        return iter(self.rows)

    def table(self) -> Table:
        """Return the rows as a table with fixed columns."""
        return of_records(m.Observation, self.rows, self.attrs)

    def to_pandas(self, *, dtype_backend: Literal["pyarrow"] | None = None) -> pd.DataFrame:
        """Return the rows as a pandas frame, with `dtype_backend="pyarrow"` in Arrow types."""
        return self.table().to_pandas(dtype_backend=dtype_backend)

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a polars frame."""
        return self.table().to_polars()

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table."""
        return self.table().to_arrow()

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Plot the series and return the axes. Needs matplotlib; `options` are passed to its `plot`."""
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
    place: str | None,
    *,
    frequency: str | None = None,
    start: Bound | None = None,
    end: Bound | None = None,
    as_of: When | None = None,
) -> Plan[Series]:
    """Plan one series. Of several frequencies the highest is taken, with a ChoiceWarning that names the others."""
    found = yield from every(way, name, place, frequency=frequency, start=start, end=end, as_of=as_of)
    there = sorted({row.frequency for row in found.rows}, key=rank)
    if len(there) < 2:
        return found
    warn(
        f"{found.indicator} of {place or found.entity_id} is {' and '.join(there)}: {there[0]} is taken, "
        f"{' or '.join(f'frequency={one!r}' for one in there[1:])} gives the other",
        ChoiceWarning,
    )
    rows = [row for row in found.rows if row.frequency == there[0]]
    return Series(found.indicator, found.entity_id, rows, found.attrs)


def one_of_each(name: object, place: object) -> None:
    """Raise TypeError if several indicators or places are given, or no indicator."""
    for what, given in (("indicator", name), ("place", place)):
        if not isinstance(given, str) and (given is not None or what == "indicator"):
            raise TypeError(
                f"{what!r} is one name, and cannot be {given!r}: frame({{'usa': ('cpi_index', 'USA'), …}}) gives several "
                "series beside each other, panel() the readings of many places"
            )


def every(
    way: Way,
    name: str,
    place: str | None,
    *,
    frequency: str | None = None,
    start: Bound | None = None,
    end: Bound | None = None,
    as_of: When | None = None,
) -> Plan[Series]:
    """Plan the series of an indicator and place, at all existing frequencies."""
    one_of_each(name, place)
    first, last = bound("start", start, last=False), bound("end", end, last=True)
    what, entity, code = yield from meant(way, name, place)
    operation = m.LIST_DERIVED_OBSERVATIONS if what.kind == "derived" else m.LIST_OBSERVATIONS
    # A publisher's code names one series, whether or not it is preferred.
    source, every_source = (None, None) if code is None else (code.source_id, "all")
    found = yield from walk(
        way.options, way.pace, operation, indicator=what.slug, entity_id=entity, frequency=frequency,
        period_start=first, period_end=last, as_of=as_of, source_id=source, sources=every_source,
    )  # fmt: skip
    rows = [row for row in found.rows if code is None or row.metadata.series_id == code.id]
    return Series(what.slug, entity, rows, found.attrs)
