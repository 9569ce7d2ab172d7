"""Point in time: readings as known on given dates, and joined to your own rows, without looking ahead."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from almanac_client import _generated_models as m
from almanac_client._errors import ChoiceWarning, InvalidArgument, MissingExtra, warn
from almanac_client._frames import Column, Kind, Table
from almanac_client._lookups import MOST_NAMES, Way, indicator, places, walk
from almanac_client._query import day_end, day_or_time, moment
from almanac_client._readings import Row, Step, reading, steps
from almanac_client._series import When
from almanac_client._transport import Plan

_COLUMNS: dict[str, Kind] = {
    "at": "time", "entity": "string", "indicator": "string", "period_end": "date", "value": "float", "observed_at": "time",
    "age_days": "int", "frequency": "string", "unit": "string", "source_id": "string", "value_withheld": "bool",
    "withheld_reason": "string",
}  # fmt: skip


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
    """Plan a panel: a row for each date, place and indicator with the latest reading as known then."""
    asked = _moments_asked_for(at)
    moments = sorted(asked)
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
            way, meant.slug, entities.values(), moments[-1], source_id, frequency
        )
        attrs["data_version"] = max(filter(None, (attrs["data_version"], more["data_version"])), default=None)
        attrs["request_ids"] += more["request_ids"]
    # Pairs without a reading by the last date. They give rows of nulls, because warnings for each would be too many.
    attrs["without"] = [
        f"{slug} of {entity}"
        for slug, histories in found.items()
        for entity in dict.fromkeys(entities.values())
        if reading(histories.get(entity, ()), moments[-1]) is None
    ]
    cells: list[tuple[Any, ...]] = [
        _row(then, entity, slug, reading(histories.get(entity, ()), then), oldest)
        for then in moments
        for entity in dict.fromkeys(entities.values())
        for slug, histories in found.items()
    ]
    columns = {
        name: Column(name, kind, list(values))
        for (name, kind), values in zip(_COLUMNS.items(), zip(*cells, strict=True), strict=True)
    }
    labels = [asked[then] for then in columns["at"].cells]
    if not any(isinstance(one, datetime) for one in labels):
        # Rows are found by the values that were given: by days if all were days.
        columns["at"] = Column("at", "date", labels)
    return Table(columns.values(), attrs, index="at")


def _moments_asked_for(at: When | Iterable[When]) -> dict[datetime, date | datetime]:
    """Return the moments meant, each with the value that was given. A day means its end."""
    one = isinstance(at, (str, date, datetime)) or not isinstance(at, Iterable)
    given = [day_or_time("at", part) for part in ([at] if one else at)]  # type: ignore[union-attr]  # told apart
    zoned = [then for then in given if isinstance(then, datetime)]
    if len(zoned) > 1 and len({then.time() for then in zoned}) == 1 and _at_midnight(at):
        warn(
            f"'at' are midnights with a zone, such as {zoned[0].isoformat()}: what was known when those days began. Give "
            "dates, or times without a zone, for what was known at their end",
            ChoiceWarning,
        )
    return {then if isinstance(then, datetime) else day_end(then): then for then in given}


def _at_midnight(at: Any) -> bool:
    return all(getattr(part, "hour", 1) == getattr(part, "minute", 1) == getattr(part, "second", 1) == 0 for part in at)


def _histories(
    way: Way, slug: str, entities: Iterable[str], until: datetime | None, source_id: str | None, frequency: str | None
) -> Plan[tuple[dict[str, list[Step]], dict[str, Any]]]:
    """Return the steps of each entity's latest reading, from one walk through the vintages of all eligible series."""
    attrs: dict[str, Any] = {"data_version": None, "request_ids": []}
    histories: dict[str, list[Row]] = {}
    ids = sorted(set(entities))
    for start in range(0, len(ids), MOST_NAMES):
        found = yield from walk(
            way.options, way.pace, m.LIST_VINTAGES, indicator=slug, entity_id=ids[start : start + MOST_NAMES],
            sources="all", as_of=until, source_id=source_id, frequency=frequency, quiet=True,
        )  # fmt: skip
        attrs = {
            "data_version": found.attrs["data_version"],
            "request_ids": attrs["request_ids"] + found.attrs["request_ids"],
        }
        for row in found.rows:
            histories.setdefault(row.entity_id, []).append(row)
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


def join_as_of(
    way: Way, df: Any, *, slug: str, place: str | None, on: str, by: str | None, frequency: str | None
) -> Plan[Any]:
    """
    Add three columns to a frame: the latest reading known at the time of each row, its period end, and since when it
    was known.

    `place` names the place of all rows, or `by` the column that names each row's.
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
    histories, _ = yield from _histories(way, meant.slug, entities.values(), None, None, frequency)
    named = [(name, step) for name, entity in entities.items() for step in histories.get(entity, ())]
    added = _added(slug)
    when, index = "__almanac_moment__", "__almanac_row__"
    right = {
        when: [step.since for _, step in named],
        added[0]: [None if step.row is None else step.row.value_numeric for _, step in named],
        added[1]: [None if step.row is None else step.row.period_end for _, step in named],
        added[2]: [None if step.row is None else step.since for _, step in named],
    }
    utc = nw.Datetime("us", "UTC")
    kinds: dict[str, Any] = {when: utc, added[0]: nw.Float64(), added[1]: utc, added[2]: utc}
    if by is not None:
        right[by], kinds[by] = [name for name, _ in named], nw.String()
    known = nw.from_dict(right, schema=kinds, backend=frame.implementation)
    if by is not None:
        known = known.with_columns(nw.col(by).cast(frame.schema[by]))
    ordered = frame.with_row_index(index).with_columns(_moments(frame.schema[on], on).alias(when))
    ordered = ordered.sort(when, nulls_last=True)
    empty = ordered.filter(nw.col(when).is_null())
    joined = ordered.filter(~nw.col(when).is_null()).join_asof(known.sort(when), on=when, by=by, strategy="backward")
    _say_frequencies(slug, histories, joined[added[2]].drop_nulls().to_list())
    if len(empty):
        nothing = [nw.lit(None).cast(kinds[name]).alias(name) for name in added]
        joined = nw.concat([joined, empty.with_columns(*nothing)], how="vertical")
    native = joined.sort(index).drop(index, when).to_native()
    if frame.implementation.is_pandas():
        native.index = df.index
    return native


def _say_frequencies(slug: str, histories: Mapping[str, Sequence[Step]], since: Sequence[datetime]) -> None:
    """
    Warn if readings of several frequencies end up in one column, because flows of a year and of a quarter are not
    comparable.
    """
    if not since:
        return
    for entity, found in histories.items():
        told = {
            step.row.frequency: step.since
            for step in reversed(found)
            if step.row is not None and min(since) <= step.since <= max(since)
        }
        if len(told) > 1:
            parts = ", ".join(
                f"{name} from {first:%Y-%m-%d}" for name, first in sorted(told.items(), key=lambda x: x[1])
            )
            warn(f"readings of {slug} for {entity} are {parts}: frequency= keeps to one", ChoiceWarning)


def _midnights(times: Any) -> bool:
    """Return whether times without a zone are all midnights, which is how pandas writes days."""
    some = times.drop_nulls()
    return bool((some == some.dt.truncate("1d")).all())


def _moments(kind: Any, on: str) -> Any:
    """Return the moments that a column means, in UTC. A day means its last second."""
    import narwhals as nw  # noqa: PLC0415 - an extra

    if isinstance(kind, nw.Datetime) and kind.time_zone is not None:
        return nw.col(on).cast(nw.Datetime("us", "UTC"))
    last = nw.lit(timedelta(days=1, seconds=-1))
    return nw.col(on).cast(nw.Datetime("us")).dt.replace_time_zone("UTC") + last


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
    days = isinstance(kind, nw.Datetime) and kind.time_zone is None and _midnights(frame[on])
    if not isinstance(kind, nw.Date) and not days and (not isinstance(kind, nw.Datetime) or kind.time_zone is None):
        raise InvalidArgument(
            f"column {on!r} is {kind}, and has to be times with a zone, or days: which moment of a day, or of which zone, "
            "decides what was known then"
        )
    taken = set(_added(slug)) & set(frame.columns)
    if taken:
        raise InvalidArgument(f"the frame has a column {min(taken)!r} already")
