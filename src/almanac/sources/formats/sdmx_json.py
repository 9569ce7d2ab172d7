"""SDMX-JSON 1.0 and 2.0 data messages: series under `0:0:1`, places in lists of codes that the message carries.

A data set in JSON-stat, which some services send in its place, is told apart here and read by `jsonstat`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from almanac.sources.formats import jsonstat, strict
from almanac.sources.formats.sdmx_message import Action, Asked, MessageSeries, NotData, SdmxObservation

_PERIOD = "TIME_PERIOD"


class Code(msgspec.Struct):
    """One value of a component; an uncoded one (2.0) has `value` or only a name."""

    id: str | None = None
    value: str | int | float | None = None
    name: str | None = None

    @property
    def text(self) -> str:
        """Return the code as a key has it."""
        return str(next((text for text in (self.id, self.value, self.name) if text is not None), ""))


class Component(msgspec.Struct):
    """A dimension, an attribute or a measure."""

    id: str
    values: list[Code] = []
    keyPosition: int | None = None  # noqa: N815  (the standard's spelling)


class Link(msgspec.Struct):
    """A reference; the one to a dataflow or a data structure names the flow."""

    rel: str | None = None
    urn: str | None = None


class Structure(msgspec.Struct):
    """The components of a data set, by the level they are attached to: what each place in its arrays means."""

    dimensions: dict[str, list[Component]]
    attributes: dict[str, list[Component]] = {}
    measures: dict[str, list[Component]] = {}
    links: list[Link] = []


class Values(msgspec.Struct):
    """A series: places of its attributes, and rows by place of their period."""

    observations: dict[str, list[str | float | None]]
    attributes: list[int | str | None] = []


class DataSet(msgspec.Struct, forbid_unknown_fields=True):
    """Series by key of places. Observations without series (another arrangement) are refused."""

    series: dict[str, Values]
    structure: int = 0
    attributes: list[int | str | None] = []
    dimensionGroupAttributes: dict[str, list[int | str | None]] = {}  # noqa: N815  (the standard's spelling)
    links: list[Link] = []
    action: str = ""
    validTo: str | None = None  # noqa: N815  (the standard's spelling)
    observations: dict[str, Any] = {}
    #: Known, and nothing to us: what the data set covers, since when it stands, where it was published.
    validFrom: Any = None  # noqa: N815  (the standard's spelling)
    reportingBegin: Any = None  # noqa: N815  (the standard's spelling)
    reportingEnd: Any = None  # noqa: N815  (the standard's spelling)
    publicationYear: Any = None  # noqa: N815  (the standard's spelling)
    publicationPeriod: Any = None  # noqa: N815  (the standard's spelling)
    annotations: Any = None


class Data(msgspec.Struct):
    """The payload of a message: version 1.0 has `structure`, 2.0 has `structures`."""

    dataSets: list[DataSet]  # noqa: N815  (the standard's spelling)
    structure: Structure | None = None
    structures: list[Structure] = []


class Message(msgspec.Struct):
    """A data message."""

    data: Data


class _Kind(msgspec.Struct):
    data: dict[str, msgspec.Raw] | None = None
    errors: list[Any] = []
    #: Of JSON-stat, which some services send in place of SDMX-JSON.
    kind: str | None = msgspec.field(name="class", default=None)
    error: Any = None
    warning: Any = None


def read(body: bytes, asked: Asked) -> Iterator[MessageSeries]:
    """Yield the series of a message. Raise NotData for a structure message, SourceChanged for anything else that is no data."""
    kind = strict.json(body, _Kind, asked.where, asked.parsed)
    if kind.kind == "dataset":
        yield from jsonstat.read(body, asked)
        return
    if kind.data is None:
        told = kind.errors[0] if kind.errors else kind.error or kind.warning
        raise asked.error(" has no data" + (f": {strict.shown(str(told))}" if told else ""))
    if "dataSets" not in kind.data:
        if any(name in kind.data for name in ("dataStructures", "dataflows", "codelists")):
            raise NotData("a structure message (SDMX-JSON), which has no observations")
        raise asked.error(f" has no data.dataSets; it has {', '.join(sorted(kind.data))}")
    data = strict.json(body, Message, asked.where, asked.parsed).data
    structures = [data.structure] if data.structure is not None else data.structures
    for one in data.dataSets:
        if not 0 <= one.structure < len(structures):
            raise asked.error(f": no structure {one.structure} for the data set")
        if one.observations:
            raise asked.error(": observations beside the series of a data set, which nobody reads")
        asked.current(one.validTo)
        yield from _Reader(asked, structures[one.structure], one).series()


class _Reader:
    """Reads one data set."""

    def __init__(self, asked: Asked, structure: Structure, data: DataSet) -> None:
        self._asked, self._data = asked, data
        self._name, self._flow = asked.flow([link.urn for link in (*structure.links, *data.links) if link.urn])
        levels = dict(structure.dimensions)
        over = levels.pop("observation", [])
        if [one.id for one in over] != [_PERIOD]:
            raise asked.error(f": observations lie over {[one.id for one in over]}, not {_PERIOD}")
        self._periods = [code.text for code in over[0].values]
        #: Dimensions of every row, then those of a series, as the key counts them.
        self._fixed = levels.pop("dataset", levels.pop("dataSet", []))
        self._keyed = levels.pop("series", [])
        if levels:
            raise asked.error(f": dimensions of level {', '.join(sorted(levels))}, which nobody reads")
        measures = [one.id for one in structure.measures.get("observation", [])]
        if measures not in ([], ["OBS_VALUE"]):
            raise asked.error(f": measures {', '.join(measures)}, expected OBS_VALUE")
        self._levels = structure.attributes
        self._action = asked.action(data.action)
        asked.listed(self._action, len(data.series))
        whole = [*self._fixed, *self._keyed]
        if all(one.keyPosition is not None for one in whole):
            whole.sort(key=lambda one: one.keyPosition or 0)
        asked.in_order(self._flow, [one.id for one in whole])
        asked.known(self._flow, [one.id for level in self._levels.values() for one in level])

    def series(self) -> Iterator[MessageSeries]:
        """Yield the series of the data set, one for each key."""
        level = "dataset" if "dataset" in self._levels else "dataSet"
        above = self._attributes(level, self._data.attributes, "the data set")
        fixed = {one.id: self._code(one, 0, "the data set") for one in self._fixed}
        for places, values in self._data.series.items():
            rows = [self._row(place, cells, places) for place, cells in values.observations.items()]
            self._asked.listed(self._action, len(rows))
            key, attributes = fixed, above
            if self._flow is not None:
                parts = places.split(":")
                if len(parts) != len(self._keyed) or not all(map(_is_place, parts)):
                    raise self._asked.error(f": series key {strict.shown(places)}, expected {len(self._keyed)} places")
                numbered = zip(self._keyed, map(int, parts), strict=True)
                key = fixed | {one.id: self._code(one, place, places) for one, place in numbered}
                attributes = above | self._group(parts) | self._attributes("series", values.attributes, places)
            yield self._asked.series(self._name, self._flow, key, attributes, rows, self._action)

    def _group(self, parts: Sequence[str]) -> dict[str, str]:
        """Return the attributes of the groups (2.0) that this key belongs to: `0::` covers every series whose first place is 0."""
        found: dict[str, str] = {}
        for pattern, values in self._data.dimensionGroupAttributes.items():
            wanted = pattern.split(":")
            if len(wanted) == len(parts) and all(w in {"", p} for w, p in zip(wanted, parts, strict=True)):
                found |= self._attributes("dimensionGroup", values, pattern)
        return found

    def _code(self, component: Component, place: int, within: str) -> str:
        if not 0 <= place < len(component.values):
            raise self._asked.error(f": {within} has {component.id} {place}, which is not in the list")
        return component.values[place].text

    def _attributes(self, level: str, values: Sequence[Any], within: str) -> dict[str, str]:
        """Return the attributes at a level: values are places in lists of codes, or the text itself."""
        components = self._levels.get(level, [])
        if len(values) > len(components):
            raise self._asked.error(f": {within} has {len(values)} attributes, the structure {len(components)}")
        found: dict[str, str] = {}
        for component, value in zip(components, values, strict=False):  # absent ones at the end may be left out
            if isinstance(value, int | float):
                if value != int(value):
                    raise self._asked.error(f": {within} has {component.id} {value}, not a place")
                if value == 0 and not component.values:
                    continue  # an attribute of which the message lists no value is not set
                found[component.id] = self._code(component, int(value), within)
            elif value is not None:
                found[component.id] = value
        return self._asked.by_calendar(found)

    def _row(self, place: str, cells: Sequence[str | float | None], within: str) -> SdmxObservation:
        if not _is_place(place) or int(place) >= len(self._periods):
            raise self._asked.error(f": {within} has a row at {strict.shown(place)}, not a listed period")
        if not cells and self._action is not Action.deletion:
            raise self._asked.error(f": {within} has an empty row at {place}")
        more = self._attributes("observation", cells[1:], within)
        value = cells[0] if cells else None
        return self._asked.row(self._flow, self._periods[int(place)], value, more, self._action)


def _is_place(text: str) -> bool:
    return text.isascii() and text.isdigit()
