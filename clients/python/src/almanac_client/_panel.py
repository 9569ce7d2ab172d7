"""Point in time: readings as known on given dates, and joined to rows of one's own, without looking ahead."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from almanac_client import _generated_models as m
from almanac_client._errors import InvalidArgument, MissingExtra
from almanac_client._frames import Column, Kind, Table
from almanac_client._lookups import MOST_NAMES, Way, indicator, places, series, walk
from almanac_client._query import moment
from almanac_client._series import When
from almanac_client._transport import Plan

Row = m.DerivedObservation

_COLUMNS: dict[str, Kind] = {
    "at": "time", "entity": "string", "indicator": "string", "period_end": "date", "value": "float", "observed_at": "time",
    "age_days": "int", "frequency": "string", "unit": "string", "source_id": "string", "value_withheld": "bool",
    "withheld_reason": "string",
}  # fmt: skip


class Step(NamedTuple):
    """From a moment on, the latest reading of a series. None: it has none, everything was withdrawn."""

    since: datetime
    row: Row | None


def steps(rows: Iterable[Row]) -> list[Step]:
    """
    How the latest reading of one series went on in the course of time: the newest period that is no forecast, as it
    was stated last. `rows` are all its published states.
    """
    found: list[Step] = []
    states: dict[datetime, Row] = {}
    newest: datetime | None = None
    for row in sorted(rows, key=lambda row: (row.observed_at, row.period_end)):
        end = row.period_end
        if row.metadata.withdrawn or row.metadata.forecast:
            states.pop(end, None)
            if end == newest:
                newest = max(states, default=None)
        else:
            states[end] = row
            newest = end if newest is None or end > newest else newest
        reading = None if newest is None else states[newest]
        if found and found[-1].since == row.observed_at:
            found[-1] = Step(row.observed_at, reading)
        elif not found or found[-1].row is not reading:
            found.append(Step(row.observed_at, reading))
    return found


def reading(found: Sequence[Step], at: datetime) -> Row | None:
    """The latest reading at a moment."""
    place = bisect_right(found, at, key=lambda step: step.since)
    return found[place - 1].row if place else None


def panel(
    way: Way,
    indicators: str | Iterable[str],
    names: str | Iterable[str],
    *,
    at: When | Iterable[When],
    max_age: int | timedelta | None = None,
    source_id: str | None = None,
    frequency: str | None = None,
) -> Plan[Table]:
    """A row for each date, place and indicator: the latest reading as known then."""
    moments = sorted(
        {moment("at", one) for one in ([at] if isinstance(at, (str, datetime)) or not isinstance(at, Iterable) else at)}
    )
    slugs, wanted = _names("indicators", indicators), _names("places", names)
    if not moments:
        raise InvalidArgument("'at' names no date")
    bound = way.options.as_of
    if bound is not None and moments[-1] > moment("as_of", bound):
        raise InvalidArgument(
            f"'at' goes to {moments[-1]:%Y-%m-%dT%H:%M:%SZ}, beyond the {bound} that this client asks as of"
        )
    oldest = _age(max_age)
    entities = yield from places(way, wanted)
    found: dict[str, dict[str, list[Step]]] = {}
    attrs: dict[str, Any] = {"data_version": None, "as_of": None, "request_ids": []}
    for slug in slugs:
        meant = yield from indicator(way, slug)
        found[meant.slug], more = yield from _histories(
            way, meant.slug, list(entities.values()), moments[-1], source_id, frequency
        )
        attrs["data_version"] = max(filter(None, (attrs["data_version"], more["data_version"])), default=None)
        attrs["request_ids"] += more["request_ids"]
    cells: list[tuple[Any, ...]] = [
        _row(then, entity, slug, reading(histories.get(entity, ()), then), oldest)
        for then in moments
        for entity in dict.fromkeys(entities.values())
        for slug, histories in found.items()
    ]
    columns = zip(*cells, strict=True)
    return Table(
        (Column(name, kind, list(values)) for (name, kind), values in zip(_COLUMNS.items(), columns, strict=True)),
        attrs,
    )


def _histories(
    way: Way, slug: str, entities: Sequence[str], until: datetime | None, source_id: str | None, frequency: str | None
) -> Plan[tuple[dict[str, list[Step]], dict[str, Any]]]:
    """Entity → its steps, of one series each, from one walk of vintages."""
    chosen = yield from series(way, slug, entities, source_id, frequency)
    attrs: dict[str, Any] = {"data_version": None, "request_ids": []}
    histories: dict[str, list[Row]] = {entity: [] for entity in chosen}
    ids = sorted(chosen)
    for start in range(0, len(ids), MOST_NAMES):
        some = ids[start : start + MOST_NAMES]
        found = yield from walk(
            way.options, way.pace, m.LIST_VINTAGES, indicator=slug, entity_id=some, sources="all", as_of=until,
            source_id=sorted({chosen[entity].source_id for entity in some}),
        )  # fmt: skip
        attrs = {
            "data_version": found.attrs["data_version"],
            "request_ids": attrs["request_ids"] + found.attrs["request_ids"],
        }
        for row in found.rows:
            if row.metadata.series_id == chosen[row.entity_id].id:
                histories[row.entity_id].append(row)
    return {entity: steps(rows) for entity, rows in histories.items()}, attrs


def _row(at: datetime, entity: str, slug: str, row: Row | None, oldest: int | None) -> tuple[Any, ...]:
    age = None if row is None else (at.date() - row.period_end.date()).days
    if row is None or (oldest is not None and age is not None and age > oldest):
        return (at, entity, slug, None, None, None, None, None, None, None, False, None)
    return (
        at, entity, slug, row.period_end.date(), row.value_numeric, row.observed_at, age, row.frequency, row.unit, row.source_id,
        row.rights.value_withheld, row.rights.reason,
    )  # fmt: skip


def _names(what: str, given: str | Iterable[str]) -> list[str]:
    names = list(dict.fromkeys([given] if isinstance(given, str) else given))
    if not names:
        raise InvalidArgument(f"{what!r} names none")
    return names


def _age(given: int | timedelta | None) -> int | None:
    days = given.days if isinstance(given, timedelta) else given
    if days is not None and (isinstance(days, bool) or not isinstance(days, int) or days < 0):
        raise InvalidArgument(f"'max_age' is days or a timedelta, and cannot be {given!r}")
    return days


def join_as_of(way: Way, df: Any, *, slug: str, place: str | None, on: str, by: str | None) -> Plan[Any]:
    """
    The frame with three more columns: the latest reading known at the time of each row, its period, and since when it
    was known. `place` names the place of all rows, or `by` the column that names each row's.
    """
    try:
        import narwhals as nw  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtra("narwhals", "pandas") from None
    frame = nw.from_native(df, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or not (
        frame.implementation.is_pandas() or frame.implementation.is_polars()
    ):
        raise InvalidArgument(f"rows are joined to a frame of pandas or polars, not to a {type(df).__name__}")
    _check(frame, slug, place, on, by)
    names = [str(place)] if by is None else frame[by].drop_nulls().unique().to_list()
    meant = yield from indicator(way, slug)
    entities = yield from places(way, names)
    histories, _ = yield from _histories(way, meant.slug, list(entities.values()), None, None, None)
    named = [(name, step) for name, entity in entities.items() for step in histories.get(entity, ())]
    added = _added(slug)
    right = {
        on: [step.since for _, step in named],
        added[0]: [None if step.row is None else step.row.value_numeric for _, step in named],
        added[1]: [None if step.row is None else step.row.period_end for _, step in named],
        added[2]: [None if step.row is None else step.since for _, step in named],
    }
    utc = nw.Datetime("us", "UTC")
    kinds: dict[str, Any] = {on: utc, added[0]: nw.Float64(), added[1]: utc, added[2]: utc}
    if by is not None:
        right[by], kinds[by] = [name for name, _ in named], nw.String()
    known = nw.from_dict(right, schema=kinds, backend=frame.implementation)
    known = known.with_columns(nw.col(on).cast(frame.schema[on]), *([nw.col(by).cast(frame.schema[by])] if by else []))
    index = "__almanac_row__"
    ordered = frame.with_row_index(index).sort(on, nulls_last=True)
    empty = ordered.filter(nw.col(on).is_null())
    joined = ordered.filter(~nw.col(on).is_null()).join_asof(known.sort(on), on=on, by=by, strategy="backward")
    if len(empty):
        nothing = [nw.lit(None).cast(kinds[name]).alias(name) for name in added]
        joined = nw.concat([joined, empty.with_columns(*nothing)], how="vertical")
    native = joined.sort(index).drop(index).to_native()
    if frame.implementation.is_pandas():
        native.index = df.index
    return native


def _added(slug: str) -> tuple[str, str, str]:
    return slug, f"{slug}_period_end", f"{slug}_observed_at"


def _check(frame: Any, slug: str, place: str | None, on: str, by: str | None) -> None:
    import narwhals as nw  # noqa: PLC0415 - an extra

    if (place is None) == (by is None):
        raise InvalidArgument("give either place=, one for all rows, or by=, the column that names it")
    for name in (on, by):
        if name is not None and name not in frame.columns:
            raise InvalidArgument(f"the frame has no column {name!r}; it has {', '.join(frame.columns)}")
    kind = frame.schema[on]
    if not isinstance(kind, nw.Datetime) or kind.time_zone is None:
        raise InvalidArgument(
            f"column {on!r} is {kind}, and has to be times with a zone: which moment of a day, or of which zone, decides "
            "what was known then"
        )
    taken = set(_added(slug)) & set(frame.columns)
    if taken:
        raise InvalidArgument(f"the frame has a column {min(taken)!r} already")
