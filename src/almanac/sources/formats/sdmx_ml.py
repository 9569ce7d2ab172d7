"""SDMX-ML 2.1 data messages, Generic and StructureSpecific, read as a stream: one series is in memory at a time.

Nothing outside the message is read, no entity is expanded, libxml2's own limits stay on, and a document type
declaration is refused whatever it declares.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping

from lxml import etree

from almanac.catalog.services import Flow
from almanac.sources.formats import strict
from almanac.sources.formats.sdmx_message import Action, Asked, MessageSeries, NotData, SdmxObservation

_MESSAGE = "{http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message}"
_GENERIC = {f"{_MESSAGE}GenericData", f"{_MESSAGE}GenericTimeSeriesData"}
_SPECIFIC = {f"{_MESSAGE}StructureSpecificData", f"{_MESSAGE}StructureSpecificTimeSeriesData"}
#: Attributes that belong to the message, not to the data; those with a namespace do too.
_FRAME = frozenset([
    "action", "structureRef", "setID", "dataScope", "validFromDate", "validToDate", "publicationYear",
    "publicationPeriod", "reportingBeginDate", "reportingEndDate",
])  # fmt: skip
#: Parts of a header that say nothing of the data. Services of statistical offices call all their answers a test.
_HEADER = frozenset([
    "ID", "Test", "Prepared", "Sender", "Receiver", "Name", "Structure", "DataProvider", "DataSetAction", "DataSetID",
    "Extracted", "ReportingBegin", "ReportingEnd", "Source",
])  # fmt: skip
#: What makes an observation of a StructureSpecific message, beside its status and confidentiality.
_PERIOD, _VALUE = "TIME_PERIOD", "OBS_VALUE"
_OBSERVED = frozenset([_PERIOD, _VALUE])


def read(body: bytes, asked: Asked) -> Iterator[MessageSeries]:
    """Yield the series of a message. Raise NotData for a structure message, SourceChanged for anything else that is no data."""
    events = etree.iterparse(io.BytesIO(body), events=("start", "end"), **strict.XML_BOUNDS)
    try:
        yield from _Reader(asked).run(events)
    except etree.XMLSyntaxError as error:
        raise asked.error(f" is not well-formed XML: {error.msg}") from None


class _Reader:
    """Reads one message."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._generic = True
        #: Names of the flow or its data structure in the header, best first; and the flow with its version, if it refers to one.
        self._names: list[str] = []
        self._reference = ""
        self._name = ""
        self._flow: Flow | None = None
        #: Attributes of the data set, and of its groups with the codes that they cover.
        self._above: dict[str, str] = {}
        self._groups: list[tuple[dict[str, str], dict[str, str]]] = []
        #: What the header wants done with data sets that do not say it themselves, and what this one wants.
        self._header_action = ""
        self._action: Action | None = None
        #: Rows of this data set so far.
        self._rows = 0

    def run(self, events: Iterator[tuple[str, etree._Element]]) -> Iterator[MessageSeries]:
        """Walk the message: header, data set, groups, series."""
        depth, inside = 0, False
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
                if inside:
                    self._asked.listed(self._action or Action.whole, self._rows)
                else:
                    self._part(element)
                inside = False
                _forget(element)
            elif depth == 2 and inside:
                yield from self._child(element)
                _forget(element)
        if self._action is None:
            raise self._asked.error(" has no data set")

    def _root(self, root: etree._Element) -> None:
        if root.getroottree().docinfo.internalDTD is not None:
            raise self._asked.error(" has a document type declaration (DOCTYPE)")
        if root.tag == f"{_MESSAGE}Structure":
            raise NotData("a structure message (SDMX-ML), which has no observations")
        if root.tag not in _GENERIC | _SPECIFIC:
            raise self._asked.error(f" starts with element {root.tag}, expected SDMX-ML 2.1 data")
        self._generic = root.tag in _GENERIC

    def _part(self, element: etree._Element) -> None:
        """Read a part of the message beside the data: its header names the flow, a footer says that data are missing."""
        name = _local(element)
        if name == "Header":
            self._header(element)
        elif name == "Footer":
            said = " ".join("".join(map(str, element.itertext())).split())
            raise self._asked.error(f" ends with a notice of the service: {strict.shown(said)}")
        else:
            raise self._asked.error(f" has element {name}, which nobody reads")

    def _header(self, header: etree._Element) -> None:
        """Read what a header says of all data. Raise SourceChanged for an embargo, and for rows of another kind."""
        names = {_local(part) for part in header}
        if "EmbargoDate" in names:
            raise self._asked.error(" is under an embargo (EmbargoDate), which nobody reads")
        self._asked.parsed.meet(sorted(names - _HEADER), "header")
        marks: list[str] = []
        for part in header.iter():
            name, is_top = _local(part), part.getparent() is header
            if name == "Ref":
                self._names.append(part.get("id") or "")
            elif name == "URN":
                self._names.append((part.text or "").strip())
            elif name == "StructureUsage" and not self._reference:
                versioned = (ref for ref in part if ref.get("version"))
                self._reference = next(
                    (f"{ref.get('agencyID', '')}:{ref.get('id', '')}({ref.get('version')})" for ref in versioned), ""
                )
            elif name == "DataSetAction" and is_top:
                self._header_action = (part.text or "").strip()
            elif name == "Structure":
                marks.append(part.get("structureID") or "")
                over = part.get("dimensionAtObservation", _PERIOD)
                if is_top and over not in {_PERIOD, "TIME"}:
                    raise self._asked.error(f": observations lie over {strict.shown(over)}, not {_PERIOD}")
                if is_top and part.get("explicitMeasures") in {"true", "1"}:
                    raise self._asked.error(": a measure for each observation, which nobody reads")
        self._names += marks

    def _data_set(self, element: etree._Element) -> None:
        frame = _frame(element)
        self._name, self._flow = self._asked.flow([*self._names, frame.get("setID", "")], self._reference)
        self._above, self._groups, self._rows = _plain(element), [], 0
        self._action = self._asked.action(frame.get("action") or self._header_action)
        self._asked.current(frame.get("validToDate"))
        self._checked(self._above)

    def _child(self, element: etree._Element) -> Iterator[MessageSeries]:
        """Read a child of the data set: a group, or a series, which is yielded by what is to be done with its rows."""
        name = _local(element)
        if name == "Series":
            yield from self._series(element)
        elif name == "Group":
            covers, own = self._split(element, "GroupKey")
            self._groups.append((covers, own if self._flow is None else self._checked(own)))
        elif name == "Attributes":
            self._above |= self._checked(_values(element))
        elif name not in {"Annotations", "DataProvider"}:
            raise self._asked.error(f": element {name} in the data set, which nobody reads")

    def _split(self, element: etree._Element, key: str) -> tuple[dict[str, str], dict[str, str]]:
        """Return the codes by dimension that a group or a series has, and its attributes."""
        if self._generic:
            parts = {_local(part): _values(part) for part in element if _local(part) != "Obs"}
            return parts.get(key, {}), parts.get("Attributes", {})
        stated, dimensions = _plain(element), self._flow.dimensions if self._flow is not None else ()
        codes = {name: value for name, value in stated.items() if name in dimensions}
        return codes, {name: value for name, value in stated.items() if name not in codes}

    def _checked(self, attributes: dict[str, str]) -> dict[str, str]:
        self._asked.known(self._flow, attributes)
        return self._asked.by_calendar(attributes)

    def _series(self, element: etree._Element) -> Iterator[MessageSeries]:
        own_action = self._own_action(element, self._action or Action.whole)
        rows: dict[Action, list[SdmxObservation]] = {}
        for part in element.iterchildren("{*}Obs"):
            action = self._own_action(part, own_action)
            rows.setdefault(action, []).append(self._row(part, action))
        others = sorted({_local(part) for part in element} - {"Obs", "SeriesKey", "Attributes", "Annotations"})
        if others:
            raise self._asked.error(f": element {others[0]} in a series, which nobody reads")
        self._rows += self._asked.listed(own_action, sum(map(len, rows.values())))
        key, own = self._split(element, "SeriesKey")
        attributes = dict(self._above)
        if self._flow is not None:
            if self._generic:
                self._asked.in_order(self._flow, key)
            self._checked(own)
        for covers, more in self._groups:
            if all(key.get(name) == value for name, value in covers.items()):
                attributes |= more
        for action, listed in (rows or {own_action: []}).items():
            yield self._asked.series(self._name, self._flow, key, attributes | own, listed, action)

    def _own_action(self, element: etree._Element, above: Action) -> Action:
        """Return what a series or an observation itself wants done (SDMX 3.0), else what the part above it wants."""
        stated = _frame(element).get("action")
        return above if stated is None else self._asked.action(stated)

    def _row(self, element: etree._Element, action: Action) -> SdmxObservation:
        stated = self._generic_row(element) if self._generic else _plain(element)
        if _PERIOD not in stated:
            raise self._asked.error(f": an observation without {_PERIOD}")
        more = self._checked({name: value for name, value in stated.items() if name not in _OBSERVED})
        return self._asked.row(self._flow, stated[_PERIOD], stated.get(_VALUE), more, action)

    def _generic_row(self, element: etree._Element) -> dict[str, str]:
        stated: dict[str, str] = {}
        for part in element:
            name = _local(part)
            own = {"ObsDimension": _PERIOD, "ObsValue": _VALUE}.get(name)
            if name == "Attributes":
                stated |= _values(part)
            elif own is None:
                raise self._asked.error(f": element {name} in an observation, which nobody reads")
            elif part.get("id", own) != own:
                raise self._asked.error(f": {name} {part.get('id')}, expected {own}")
            else:
                stated[own] = part.get("value") or ""
        return stated


def _local(element: etree._Element) -> str:
    return element.tag.rpartition("}")[2]


def _values(element: etree._Element) -> dict[str, str]:
    """Return the codes of a generic element: `<Value id="FREQ" value="M"/>`, in their order."""
    return {part.get("id") or "": part.get("value") or "" for part in element}


def _plain(element: etree._Element) -> dict[str, str]:
    """Return the attributes of an element that belong to the data: those with a namespace, and those of a frame, are the message's."""
    stated: Mapping[str, str] = element.attrib  # type: ignore[assignment]  # text both ways: the input is parsed text
    return {name: value for name, value in stated.items() if not name.startswith("{") and name not in _FRAME}


def _frame(element: etree._Element) -> dict[str, str]:
    """Return the attributes of an element that belong to the message, by their local names: services write them with a namespace or without."""
    stated: Mapping[str, str] = element.attrib  # type: ignore[assignment]
    local = {name.rpartition("}")[2]: value for name, value in stated.items()}
    return {name: value for name, value in local.items() if name in _FRAME}


def _forget(element: etree._Element) -> None:
    """Free what was read, and the emptied elements before it."""
    element.clear()
    parent = element.getparent()
    while parent is not None and element.getprevious() is not None:
        del parent[0]
