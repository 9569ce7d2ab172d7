"""SDMX-ML 2.1 data messages, Generic and StructureSpecific, read as a stream: one series is in memory at a time.

Nothing outside the message is read, no entity is expanded, libxml2's own limits stay on, and a document type
declaration is refused whatever it declares.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

from lxml import etree

from almanac.catalog.services import Flow
from almanac.sources.base import SourceChanged
from almanac.sources.formats import strict
from almanac.sources.formats.sdmx_message import (
    Action,
    Asked,
    MessageSeries,
    NotData,
    SdmxObservation,
    confidentiality,
)

_MESSAGE = "{http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message}"
_GENERIC = {f"{_MESSAGE}GenericData", f"{_MESSAGE}GenericTimeSeriesData"}
_SPECIFIC = {f"{_MESSAGE}StructureSpecificData", f"{_MESSAGE}StructureSpecificTimeSeriesData"}
#: Attributes that belong to the message, not to the data; those with a namespace do too.
_FRAME = frozenset(
    [
        *("action", "structureRef", "setID", "dataScope", "validFromDate", "validToDate", "publicationYear"),
        *("publicationPeriod", "reportingBeginDate", "reportingEndDate"),
    ]
)
#: Parts of a header that say nothing of the data. Services of statistical offices call all their answers a test.
_HEADER = frozenset(
    [
        *("ID", "Test", "Prepared", "Sender", "Receiver", "Name", "Structure", "DataProvider", "DataSetAction"),
        *("DataSetID", "Extracted", "ReportingBegin", "ReportingEnd", "Source"),
    ]
)
#: What makes an observation of a StructureSpecific message, beside its status and confidentiality.
_PERIOD, _VALUE = "TIME_PERIOD", "OBS_VALUE"
_OBSERVED = frozenset([_PERIOD, _VALUE])


def read(body: bytes, asked: Asked) -> Iterator[MessageSeries]:
    """Series of a message. Raises NotData for a structure message, SourceChanged for anything else that is no data."""
    events = etree.iterparse(io.BytesIO(body), events=("start", "end"), **strict.XML_BOUNDS)
    try:
        yield from _Reader(asked).run(events)
    except etree.XMLSyntaxError as error:
        raise SourceChanged(f"{asked.where} is not well-formed XML: {error.msg}") from None


class _Reader:
    """Reads one message."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._generic = True
        self._names: list[str] = []
        #: The flow with its version, where the header refers to it.
        self._reference = ""
        self._name = ""
        self._flow: Flow | None = None
        self._above: dict[str, str] = {}
        self._groups: list[tuple[dict[str, str], dict[str, str]]] = []
        self._begun = False
        #: What the header wants done with data sets that do not say it themselves, and what this one wants.
        self._header_action = ""
        self._action = Action.whole
        #: Rows of this data set so far.
        self._rows = 0

    def run(self, events: Iterator[tuple[str, etree._Element]]) -> Iterator[MessageSeries]:
        """Walk the message: header, data set, groups, series."""
        depth = 0
        inside = False
        for event, element in events:
            if event == "start":
                depth += 1
                if depth == 1:
                    self._root(element)
                elif depth == 2 and _local(element) == "DataSet":
                    self._data_set(element)
                    inside = True
                continue
            depth -= 1
            if depth == 1:
                if _local(element) == "DataSet":
                    inside = False
                    self._asked.listed(self._action, self._rows)
                else:
                    self._part(element)
                _forget(element)
            elif depth == 2 and inside:
                yield from self._child(element)
                _forget(element)
        if not self._begun:
            raise SourceChanged(f"{self._asked.where} has no data set")

    def _root(self, root: etree._Element) -> None:
        where = self._asked.where
        if root.getroottree().docinfo.internalDTD is not None:
            raise SourceChanged(f"{where} has a document type declaration (DOCTYPE)")
        if root.tag == f"{_MESSAGE}Structure":
            raise NotData("a structure message (SDMX-ML), which has no observations")
        if root.tag not in _GENERIC | _SPECIFIC:
            raise SourceChanged(f"{where} starts with element {root.tag}, expected SDMX-ML 2.1 data")
        self._generic = root.tag in _GENERIC

    def _part(self, element: etree._Element) -> None:
        """A part of the message beside the data: its header names the flow, a footer says that data are missing."""
        name = _local(element)
        if name == "Header":
            self._names = _naming(element)
            self._reference = _reference(element)
            self._header(element)
        elif name == "Footer":
            said = " ".join("".join(map(str, element.itertext())).split())
            raise SourceChanged(f"{self._asked.where} ends with a notice of the service: {strict.shown(said)}")
        else:
            raise SourceChanged(f"{self._asked.where} has element {name}, which nobody reads")

    def _header(self, header: etree._Element) -> None:
        """Read what a header says of all data. Raises SourceChanged for an embargo, and for rows of another kind."""
        names = {_local(part) for part in header}
        if "EmbargoDate" in names:
            raise SourceChanged(f"{self._asked.where} is under an embargo (EmbargoDate), which nobody reads")
        self._asked.parsed.meet(sorted(names - _HEADER), "header")
        for part in header:
            if _local(part) == "DataSetAction":
                self._header_action = (part.text or "").strip()
            elif _local(part) == "Structure":
                over = part.get("dimensionAtObservation", _PERIOD)
                if over not in {_PERIOD, "TIME"}:
                    raise SourceChanged(
                        f"{self._asked.where}: observations lie over {strict.shown(over)}, not {_PERIOD}"
                    )
                if part.get("explicitMeasures") in {"true", "1"}:
                    raise SourceChanged(f"{self._asked.where}: a measure for each observation, which nobody reads")

    def _data_set(self, element: etree._Element) -> None:
        self._begun = True
        frame = _frame(element)
        self._name, self._flow = self._asked.flow([*self._names, frame.get("setID", "")], self._reference)
        self._above = _plain(element)
        self._groups = []
        self._action = self._asked.action(frame.get("action") or self._header_action)
        self._rows = 0
        self._asked.current(frame.get("validToDate"))
        self._checked(self._above)

    def _child(self, element: etree._Element) -> Iterator[MessageSeries]:
        """A child of the data set: a group, or a series, which is returned, by what is to be done with its rows."""
        name = _local(element)
        if name == "Series":
            yield from self._series(element)
        elif name == "Group":
            if self._flow is not None:
                self._groups.append(self._group(element, self._flow))
        elif name == "Attributes":
            self._above |= self._checked(_values(element))
        elif name not in {"Annotations", "DataProvider"}:
            raise SourceChanged(f"{self._asked.where}: element {name} in the data set, which nobody reads")

    def _group(self, element: etree._Element, flow: Flow) -> tuple[dict[str, str], dict[str, str]]:
        """What a group covers (codes by dimension) and its attributes."""
        if self._generic:
            parts = {_local(part): _values(part) for part in element}
            return parts.get("GroupKey", {}), self._checked(parts.get("Attributes", {}))
        stated = _plain(element)
        covers = {name: value for name, value in stated.items() if name in flow.dimensions}
        return covers, self._checked({name: value for name, value in stated.items() if name not in covers})

    def _checked(self, attributes: dict[str, str]) -> dict[str, str]:
        if self._flow is not None:
            self._asked.known(self._flow, attributes)
        return self._asked.by_calendar(attributes)

    def _series(self, element: etree._Element) -> Iterator[MessageSeries]:
        own_action = self._own_action(element, self._action)
        rows: dict[Action, list[SdmxObservation]] = {}
        for part in element:
            if _local(part) == "Obs":
                action = self._own_action(part, own_action)
                rows.setdefault(action, []).append(self._row(part, action))
        others = sorted({_local(part) for part in element} - {"Obs", "SeriesKey", "Attributes", "Annotations"})
        if others:
            raise SourceChanged(f"{self._asked.where}: element {others[0]} in a series, which nobody reads")
        flow = self._flow
        self._rows += self._asked.listed(own_action, sum(map(len, rows.values())))
        rows = rows or {own_action: []}
        if flow is None:
            for action, listed in rows.items():
                yield MessageSeries(self._name, {}, None, listed, action)
            return
        if self._generic:
            parts = {_local(part): _values(part) for part in element if _local(part) != "Obs"}
            key, own = parts.get("SeriesKey", {}), parts.get("Attributes", {})
            self._asked.in_order(flow, key)
        else:
            stated = _plain(element)
            key = {name: value for name, value in stated.items() if name in flow.dimensions}
            own = {name: value for name, value in stated.items() if name not in key}
        self._checked(own)
        attributes = dict(self._above)
        for covers, more in self._groups:
            if all(key.get(name) == value for name, value in covers.items()):
                attributes |= more
        native = self._asked.native(flow, key)
        for action, listed in rows.items():
            yield MessageSeries(native, attributes | own, flow, listed, action)

    def _own_action(self, element: etree._Element, above: Action) -> Action:
        """What a series or an observation itself wants done (SDMX 3.0), else what the part above it wants."""
        stated = _frame(element).get("action")
        return above if stated is None else self._asked.action(stated)

    def _row(self, element: etree._Element, action: Action) -> SdmxObservation:
        stated = self._generic_row(element) if self._generic else _plain(element)
        if _PERIOD not in stated:
            raise SourceChanged(f"{self._asked.where}: an observation without {_PERIOD}")
        more = self._checked({name: value for name, value in stated.items() if name not in _OBSERVED})
        if action is Action.deletion:
            return self._asked.deleted(stated[_PERIOD], stated.get(_VALUE), more.values())
        service = self._asked.service
        return SdmxObservation(
            stated[_PERIOD],
            stated.get(_VALUE),
            stated.get(service.status, ""),
            stated.get(confidentiality(self._flow, service), ""),
        )

    def _generic_row(self, element: etree._Element) -> dict[str, str]:
        stated: dict[str, str] = {}
        for part in element:
            name = _local(part)
            if name == "Attributes":
                stated |= _values(part)
            elif name in {"ObsDimension", "ObsValue"}:
                own = {"ObsDimension": _PERIOD, "ObsValue": _VALUE}[name]
                if part.get("id", own) != own:
                    raise SourceChanged(f"{self._asked.where}: {name} {part.get('id')}, expected {own}")
                stated[own] = part.get("value") or ""
            else:
                raise SourceChanged(f"{self._asked.where}: element {name} in an observation, which nobody reads")
        return stated


def _local(element: etree._Element) -> str:
    return element.tag.rpartition("}")[2]


def _reference(header: etree._Element) -> str:
    """The flow with its version, of the first reference to a flow that has both (`StructureUsage`); else nothing."""
    for usage in header.iter():
        if _local(usage) == "StructureUsage":
            for ref in usage:
                if ref.get("version"):
                    return f"{ref.get('agencyID', '')}:{ref.get('id', '')}({ref.get('version')})"
    return ""


def _naming(header: etree._Element) -> list[str]:
    """Names of the flow or its data structure in a header, best first: a reference, a URN, the message's own mark."""
    references: list[str] = []
    marks: list[str] = []
    for part in header.iter():
        name = _local(part)
        if name == "Ref":
            references.append(part.get("id") or "")
        elif name == "URN":
            references.append((part.text or "").strip())
        elif name == "Structure":
            marks.append(part.get("structureID") or "")
    return [*references, *marks]


def _values(element: etree._Element) -> dict[str, str]:
    """Codes of a generic element: `<Value id="FREQ" value="M"/>`, in their order."""
    return {part.get("id") or "": part.get("value") or "" for part in element}


def _plain(element: etree._Element) -> dict[str, str]:
    """Attributes of an element that belong to the data: those with a namespace, and those of a frame, are the message's."""
    stated: Mapping[str, str] = element.attrib  # type: ignore[assignment]  # text both ways: the input is parsed text
    return {name: value for name, value in stated.items() if not name.startswith("{") and name not in _FRAME}


def _frame(element: etree._Element) -> dict[str, str]:
    """Attributes of an element that belong to the message, by their local names: services write them with a namespace or without."""
    stated: Mapping[str, str] = element.attrib  # type: ignore[assignment]
    local = {name.rpartition("}")[2]: value for name, value in stated.items()}
    return {name: value for name, value in local.items() if name in _FRAME}


def _forget(element: etree._Element) -> None:
    """Free what was read, and the emptied elements before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
