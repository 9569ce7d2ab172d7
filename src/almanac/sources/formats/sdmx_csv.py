"""SDMX-CSV: one line per observation, columns by name.

Version 1.0 (`DATAFLOW`), 2.0 (`STRUCTURE`…), and what publishers write who have neither column (BIS) or one with the
whole key (`KEY`, ECB).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from almanac.catalog.services import Flow
from almanac.sources.base import SourceChanged
from almanac.sources.formats import strict
from almanac.sources.formats.sdmx_message import Action, Asked, MessageSeries, SdmxObservation, confidentiality

_PERIOD, _VALUE = "TIME_PERIOD", "OBS_VALUE"
#: Columns that say whose numbers these are; the first there is names the flow.
_NAMING = ("STRUCTURE_ID", "DATAFLOW", "KEY")
_FRAME = frozenset([*_NAMING, "STRUCTURE", "STRUCTURE_NAME", "ACTION", _PERIOD, _VALUE])


def read(body: bytes, asked: Asked) -> Iterator[MessageSeries]:
    """Series of a message, in the order in which their keys first appear. Raises SourceChanged."""
    lines = _lines(body, asked.where)
    header = next(lines, [])
    for name in (_PERIOD, _VALUE):
        if name not in header:
            raise SourceChanged(f"{asked.where}: header {strict.shown(','.join(header))} has no column {name}")
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise SourceChanged(f"{asked.where}: column {', '.join(twice)} is there twice")
    naming = next((name for name in _NAMING if name in header), None)
    found: dict[tuple[str, Action], MessageSeries] = {}
    reader: _Reader | None = None
    for number, cells in enumerate(lines, start=2):
        if not cells:
            continue
        if len(cells) != len(header):
            raise SourceChanged(f"{asked.where}: line {number} has {len(cells)} cells, the header {len(header)}")
        said = "" if naming is None else cells[header.index(naming)]
        if naming == "KEY":
            said = said.partition(".")[0]
        if reader is None or said != reader.said:
            reader = _Reader(asked, header, said)
        reader.take(cells, found)
    yield from found.values()


def _lines(body: bytes, where: str) -> Iterator[list[str]]:
    strict.bounded(body, b",", where)
    text = strict.text(body, "utf-8", where)
    try:
        yield from csv.reader(io.StringIO(text, newline=""), strict=True)
    except csv.Error as error:
        raise SourceChanged(f"{where} is not CSV: {error}") from None


class _Reader:
    """Reads the lines of one flow."""

    def __init__(self, asked: Asked, header: Sequence[str], said: str) -> None:
        self.said = said
        self._asked = asked
        self._place = {name: index for index, name in enumerate(header)}
        self._name, self._flow = asked.flow([said])
        self._confidentiality = confidentiality(self._flow, asked.service)
        if self._flow is not None:
            self._dimensions, self._attributes, self._others = self._layout(self._flow, header)

    def _layout(self, flow: Flow, header: Sequence[str]) -> list[list[int]]:
        """Places of the dimensions, of the attributes of a series, and of all attributes."""
        asked = self._asked
        missing = [name for name in flow.dimensions if name not in self._place]
        if missing:
            raise SourceChanged(f"{asked.where}: {flow.id} has no column {', '.join(missing)}")
        asked.in_order(flow, [name for name in header if name in flow.dimensions])
        others = [name for name in header if name not in flow.dimensions and name not in _FRAME]
        # The standard puts dimensions before the period and attributes after the value; who writes no name of the flow
        # has attributes right after the dimensions.
        ends = _PERIOD if any(name in _NAMING for name in header) else flow.dimensions[-1]
        extra = asked.unknown(flow, [name for name in others if self._place[name] < self._place[ends]])
        if extra:
            raise SourceChanged(f"{asked.where}: {flow.id} with unknown dimension {', '.join(extra)}")
        asked.known(flow, others)
        read = [name for name in asked.of_series(flow) if name in self._place]
        return [[self._place[name] for name in names] for names in (flow.dimensions, read, others)]

    def take(self, cells: Sequence[str], found: dict[tuple[str, Action], MessageSeries]) -> None:
        """Add one line to its series; lines that delete make one of their own."""
        service, where = self._asked.service, self._asked.where
        row = SdmxObservation(
            *(self._cell(cells, name) for name in (_PERIOD, _VALUE, service.status, self._confidentiality))
        )
        action = self._asked.action(self._cell(cells, "ACTION")) if "ACTION" in self._place else Action.whole
        deletes = action is Action.deletion
        if self._flow is None:
            found.setdefault((self._name, action), MessageSeries(self._name, {}, action=action)).rows.append(row)
            return
        if deletes:
            row = self._asked.deleted(row.period, row.value, (cells[place] for place in self._others))
        codes = [service.labels.get(cells[place], cells[place]) for place in self._dimensions]
        native = ".".join([self._flow.id, *codes])
        series = found.get((native, action))
        if series is None:
            self._asked.native(self._flow, dict(zip(self._flow.dimensions, codes, strict=True)))
            stated = self._cell(cells, "KEY")
            if stated and stated != native:
                raise SourceChanged(f"{where}: KEY {strict.shown(stated)} in the line of {native}")
            attributes = {} if deletes else self._asked.by_calendar(self._read(cells))
            series = found[native, action] = MessageSeries(native, attributes, self._flow, action=action)
        elif not deletes and series.attributes != self._read(cells):
            raise SourceChanged(f"{where}: {native} {row.period} has other attributes than the lines before it")
        series.rows.append(row)

    def _cell(self, cells: Sequence[str], name: str) -> str:
        place = self._place.get(name)
        return "" if place is None else cells[place]

    def _read(self, cells: Sequence[str]) -> dict[str, str]:
        names = list(self._place)
        return {names[place]: cells[place] for place in self._attributes if cells[place]}
