"""JSON-stat 2.0 data sets (Eurostat): one cube of numbers, read as the series of an SDMX message.

The cube lists every period that was asked for, so a series has a row for each of them, without a value where the cube
has none. A series without any value is not there at all: a cube is as large as the product of its dimensions.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from almanac.sources.formats import strict
from almanac.sources.formats.sdmx_message import Asked, MessageSeries, SdmxObservation

T = TypeVar("T")

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


class Extension(msgspec.Struct):
    """A publisher's extension of the standard; Eurostat names the data set in it."""

    id: str | None = None
    datastructure: Extension | None = None


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
    """Yield the series of a data set that have a value, in the order of its cells. Raise SourceChanged."""
    cube = strict.json(body, Dataset, asked.where, asked.parsed)
    if cube.version != "2.0":
        raise asked.error(f" is JSON-stat {strict.shown(cube.version)}, expected 2.0")
    extension = cube.extension or Extension()
    said = [extension.id, (extension.datastructure or Extension()).id]
    name, flow = asked.flow(filter(None, said))
    times = cube.role.get("time", [_TIME])
    if len(times) != 1 or times[0] not in cube.id:
        raise asked.error(f" has no dimension {', '.join(times)} among {cube.id}")
    if not len(cube.size) == len(cube.id) == len(set(cube.id)) or any(size < 0 for size in cube.size):
        raise asked.error(f" has dimensions {cube.id} of sizes {cube.size}")
    whole = math.prod(cube.size)
    if whole > _CELLS:
        raise asked.error(f" has {whole} cells, more than the {_CELLS} that are read")
    codes = {one: _listed(cube, one, size, asked) for one, size in zip(cube.id, cube.size, strict=True)}
    #: Distance between neighbours of each dimension; of time apart.
    strides = {one: math.prod(cube.size[place + 1 :]) for place, one in enumerate(cube.id)}
    periods, step = codes.pop(times[0]), strides.pop(times[0])
    asked.in_order(flow, codes)
    if isinstance(cube.value, list) and len(cube.value) != whole:
        raise asked.error(f" has {len(cube.value)} values, the cube {whole} cells")
    numbers: dict[int, strict.JsonNumber] = {
        cell: number for cell, number in _by_cell(cube.value, whole, asked) if number is not None
    }
    # One status for all would be as many entries as the product of the dimensions.
    same, listed = (cube.status, {}) if isinstance(cube.status, str) else ("", cube.status or {})
    statuses = dict(_by_cell(listed, whole, asked))
    published = asked.service.published
    attributes = {published: cube.updated} if published and cube.updated else {}
    for first in dict.fromkeys(cell - cell // step % len(periods) * step for cell in numbers):
        cells = range(first, first + step * len(periods), step)
        rows = [
            SdmxObservation(period, numbers.get(cell, ""), same or statuses.get(cell) or "")
            for period, cell in zip(periods, cells, strict=True)
        ]
        key = {one: codes[one][first // stride % len(codes[one])] for one, stride in strides.items()}
        yield asked.series(name, flow, key, dict(attributes), rows)


def _listed(cube: Dataset, name: str, size: int, asked: Asked) -> list[str]:
    """Return the codes of a dimension in their order."""
    dimension = cube.dimension.get(name)
    if dimension is None:
        raise asked.error(f" does not describe its dimension {name}")
    index = dimension.category.index
    codes = list(dimension.category.label) if index is None else list(index)
    if isinstance(index, dict):
        codes.sort(key=index.__getitem__)
        if sorted(index.values()) != list(range(len(index))):
            raise asked.error(f": the codes of {name} are not counted from 0 without a gap")
    if len(codes) != size:
        raise asked.error(f": {name} has {len(codes)} codes, its size is {size}")
    return codes


def _by_cell(held: Mapping[str, T] | list[T], whole: int, asked: Asked) -> Iterator[tuple[int, T]]:
    """Yield what a cube lists by place or over all of it, with the number of its cell. Raise SourceChanged for a place outside."""
    if isinstance(held, list):
        yield from enumerate(held)
        return
    for text, one in held.items():
        if not (text.isascii() and text.isdigit()) or int(text) >= whole:
            raise asked.error(f" has a value at {strict.shown(text)}, the cube {whole} cells")
        yield int(text), one
