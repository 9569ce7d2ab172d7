"""SDMX-CSV: one line per observation, columns by name.

Version 1.0 (`DATAFLOW`), 2.0 (`STRUCTURE`…), and what publishers write who have neither column (BIS) or one with the
whole key (`KEY`, ECB).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from almanac.catalog.services import Flow
from almanac.sources.formats import strict
from almanac.sources.formats.sdmx_message import Action, Asked, MessageSeries

_PERIOD, _VALUE = "TIME_PERIOD", "OBS_VALUE"
#: Columns that say whose numbers these are; the first there is names the flow.
_NAMING = ("STRUCTURE_ID", "DATAFLOW", "KEY")
_FRAME = frozenset([*_NAMING, "STRUCTURE", "STRUCTURE_NAME", "ACTION", _PERIOD, _VALUE])


def read(body: bytes, asked: Asked) -> Iterator[MessageSeries]:
    """Yield the series of a message, in the order in which their keys first appear. Raise SourceChanged."""
    lines = _lines(body, asked)
    header = next(lines, [])
    for name in (_PERIOD, _VALUE):
        if name not in header:
            raise asked.error(f": header {strict.shown(','.join(header))} has no column {name}")
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise asked.error(f": column {', '.join(twice)} is there twice")
    naming = next((name for name in _NAMING if name in header), None)
    found: dict[tuple[str, Action], MessageSeries] = {}
    last: str | None = None
    name, flow, others, read_names = "", None, [""], [""]
    for number, cells in enumerate(lines, start=2):
        if not cells:
            continue
        if len(cells) != len(header):
            raise asked.error(f": line {number} has {len(cells)} cells, the header {len(header)}")
        line = dict(zip(header, cells, strict=True))
        said = "" if naming is None else line[naming]
        if naming == "KEY":
            said = said.partition(".")[0]
        if said != last:
            last = said
            name, flow = asked.flow([said])
            others = _attributes(asked, flow, header) if flow is not None else []
            read_names = [one for one in asked.of_series(flow) if one in line] if flow is not None else []
        action = asked.action(line["ACTION"]) if "ACTION" in line else Action.whole
        native, attributes = name, {}
        if flow is not None:
            key = {one: asked.service.labels.get(line[one], line[one]) for one in flow.dimensions}
            native = ".".join([flow.id, *key.values()])
            if action is not Action.deletion:
                attributes = {one: line[one] for one in read_names if line[one]}
        series = found.get((native, action))
        row_attributes = {one: line[one] for one in others} if action is Action.deletion else line
        row = asked.row(flow, line[_PERIOD], line[_VALUE], row_attributes, action)
        if series is None:
            if flow is not None:
                asked.native(flow, key)
                if line.get("KEY") and line["KEY"] != native:
                    raise asked.error(f": KEY {strict.shown(line['KEY'])} in the line of {native}")
            series = found[native, action] = MessageSeries(native, asked.by_calendar(attributes), flow, action=action)
        elif series.attributes != attributes:
            raise asked.error(f": {native} {row.period} has other attributes than the lines before it")
        series.rows.append(row)
    yield from found.values()


def _lines(body: bytes, asked: Asked) -> Iterator[list[str]]:
    strict.bounded(body, b",", asked.where)
    text = strict.text(body, "utf-8", asked.where)
    try:
        yield from csv.reader(io.StringIO(text, newline=""), strict=True)
    except csv.Error as error:
        raise asked.error(f" is not CSV: {error}") from None


def _attributes(asked: Asked, flow: Flow, header: Sequence[str]) -> list[str]:
    """Return the columns that are attributes. Raise SourceChanged for a header that is not the flow's."""
    missing = [name for name in flow.dimensions if name not in header]
    if missing:
        raise asked.error(f": {flow.id} has no column {', '.join(missing)}")
    asked.in_order(flow, [name for name in header if name in flow.dimensions])
    others = [name for name in header if name not in flow.dimensions and name not in _FRAME]
    # The standard puts dimensions before the period and attributes after the value; who writes no name of the flow
    # has attributes right after the dimensions.
    end = header.index(_PERIOD if any(name in _NAMING for name in header) else flow.dimensions[-1])
    extra = asked.unknown(flow, [name for name in others if header.index(name) < end])
    if extra:
        raise asked.error(f": {flow.id} with unknown dimension {', '.join(extra)}")
    asked.known(flow, others)
    return others
