"""JSON-stat 2.0 data sets (Eurostat): one cube of numbers, read as the series of an SDMX message.

The cube lists every period that was asked for, so a series has a row for each of them, without a value where the cube
has none. A series without any value is not there at all: a cube is as large as the product of its dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from almanac.sources.base import SourceChanged
from almanac.sources.formats import strict
from almanac.sources.formats.sdmx_message import Asked, MessageSeries, SdmxObservation

#: Cells of the largest cube that is read; several times what any request of ours brings.
_CELLS = 20_000_000
_TIME = "time"


class Category(msgspec.Struct):
    """Codes of a dimension. A dimension of one code may have only its label."""

    index: dict[str, int] | list[str] | None = None
    label: dict[str, str] = {}


class Dimension(msgspec.Struct):
    """A dimension of the cube."""

    category: Category


class JsonStatStructure(msgspec.Struct):
    """The data structure that a publisher's extension names."""

    id: str


class Extension(msgspec.Struct):
    """What a publisher says beyond the standard; Eurostat names the data set."""

    id: str | None = None
    datastructure: JsonStatStructure | None = None


class Dataset(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of the standard. Values and statuses are by place in the cube, or lists over all of it."""

    version: str
    kind: str = msgspec.field(name="class")
    id: list[str]
    size: list[int]
    dimension: dict[str, Dimension]
    value: dict[str, strict.JsonNumber | None] | list[strict.JsonNumber | None]
    status: dict[str, str | None] | list[str | None] | str | None = None
    updated: str | None = None
    extension: Extension | None = None
    role: dict[str, list[str]] = {}
    label: str | None = None
    source: str | None = None
    href: str | None = None
    note: Any = None
    link: Any = None
    error: Any = None


def read(body: bytes, asked: Asked) -> Iterator[MessageSeries]:
    """Series of a data set, in the order of its cells. Raises SourceChanged."""
    cube = strict.json(body, Dataset, asked.where, asked.parsed)
    if cube.version != "2.0":
        raise SourceChanged(f"{asked.where} is JSON-stat {strict.shown(cube.version)}, expected 2.0")
    return _Reader(asked, cube).series()


class _Reader:
    """Reads one data set."""

    def __init__(self, asked: Asked, cube: Dataset) -> None:
        self._asked, self._cube = asked, cube
        extension = cube.extension or Extension()
        named = [extension.id, extension.datastructure.id if extension.datastructure else None]
        self._name, self._flow = asked.flow([name for name in named if name])
        self._time = self._place_of_time()
        self._codes = [self._listed(name, size) for name, size in zip(cube.id, self._sizes(), strict=True)]
        #: Distance between neighbours of each dimension.
        self._strides = [math.prod(cube.size[place + 1 :]) for place in range(len(cube.size))]
        if self._flow is not None:
            asked.in_order(self._flow, [name for place, name in enumerate(cube.id) if place != self._time])

    def series(self) -> Iterator[MessageSeries]:
        """One for each combination of codes that has a value."""
        found: dict[tuple[int, ...], dict[int, strict.JsonNumber]] = {}
        for cell, number in self._values():
            *places, period = self._places(cell)
            found.setdefault(tuple(places), {})[period] = number
        statuses = self._statuses()
        published = self._asked.service.published
        attributes = {published: self._cube.updated} if published and self._cube.updated else {}
        for at, numbers in found.items():
            rows = [
                SdmxObservation(period, numbers.get(number, ""), self._status(statuses, at, number))
                for number, period in enumerate(self._codes[self._time])
            ]
            if self._flow is None:
                yield MessageSeries(self._name, {}, None, rows)
                continue
            own = [name for place, name in enumerate(self._cube.id) if place != self._time]
            key = {name: self._codes[self._cube.id.index(name)][place] for name, place in zip(own, at, strict=True)}
            yield MessageSeries(self._asked.native(self._flow, key), dict(attributes), self._flow, rows)

    def _place_of_time(self) -> int:
        names = self._cube.role.get("time", [_TIME])
        if len(names) != 1 or names[0] not in self._cube.id:
            raise SourceChanged(f"{self._asked.where} has no dimension {', '.join(names)} among {self._cube.id}")
        return self._cube.id.index(names[0])

    def _sizes(self) -> Sequence[int]:
        cube, where = self._cube, self._asked.where
        if len(cube.size) != len(cube.id) or any(size < 0 for size in cube.size):
            raise SourceChanged(f"{where} has dimensions {cube.id} of sizes {cube.size}")
        if math.prod(cube.size) > _CELLS:
            raise SourceChanged(f"{where} has {math.prod(cube.size)} cells, more than the {_CELLS} that are read")
        return cube.size

    def _listed(self, name: str, size: int) -> list[str]:
        """Codes of a dimension in their order."""
        dimension = self._cube.dimension.get(name)
        if dimension is None:
            raise SourceChanged(f"{self._asked.where} does not describe its dimension {name}")
        index = dimension.category.index
        if index is None:
            codes = list(dimension.category.label)
        elif isinstance(index, dict):
            codes = sorted(index, key=index.__getitem__)
            places = sorted(index.values())
            if places and (places[0] != 0 or any(after != before + 1 for before, after in pairwise(places))):
                raise SourceChanged(f"{self._asked.where}: the codes of {name} are not counted from 0 without a gap")
        else:
            codes = index
        if len(codes) != size:
            raise SourceChanged(f"{self._asked.where}: {name} has {len(codes)} codes, its size is {size}")
        return codes

    def _values(self) -> Iterator[tuple[int, strict.JsonNumber]]:
        value = self._cube.value
        whole = math.prod(self._cube.size)
        if isinstance(value, list):
            if len(value) != whole:
                raise SourceChanged(f"{self._asked.where} has {len(value)} values, the cube {whole} cells")
            yield from ((cell, number) for cell, number in enumerate(value) if number is not None)
            return
        for text, number in value.items():
            cell = self._cell(text, whole)
            if number is not None:
                yield cell, number

    def _cell(self, text: str, whole: int) -> int:
        if not (text.isascii() and text.isdigit()) or int(text) >= whole:
            raise SourceChanged(f"{self._asked.where} has a value at {strict.shown(text)}, the cube {whole} cells")
        return int(text)

    def _places(self, cell: int) -> list[int]:
        """Place of a cell along each dimension, time last."""
        places = []
        for stride in self._strides:
            place, cell = divmod(cell, stride)
            places.append(place)
        places.append(places.pop(self._time))
        return places

    def _statuses(self) -> Mapping[int, str]:
        """Statuses by cell, those that are not of all cells."""
        status, whole = self._cube.status, math.prod(self._cube.size)
        if isinstance(status, str):
            return {}  # an entry for each cell would be as many as the product of the dimensions
        if isinstance(status, list):
            return {cell: mark for cell, mark in enumerate(status) if mark}
        return {self._cell(text, whole): mark for text, mark in (status or {}).items() if mark}

    def _status(self, statuses: Mapping[int, str], places: Sequence[int], period: int) -> str:
        whole = [*places[: self._time], period, *places[self._time :]]
        cell = sum(place * stride for place, stride in zip(whole, self._strides, strict=True))
        status = self._cube.status
        return status if isinstance(status, str) else statuses.get(cell, "")
