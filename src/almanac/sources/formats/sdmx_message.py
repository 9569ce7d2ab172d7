"""The content common to every form of an SDMX data message: series with a key, attributes and rows."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import Enum
from typing import NamedTuple

from almanac.catalog.services import Flow, Service
from almanac.domain.periods import Frequency, Period
from almanac.sources.base import Parsed, SourceChanged
from almanac.sources.formats import strict

#: Codes of CL_OBS_STATUS (SDMX cross-domain code list 2.2) that say there is no value.
_MISSING = frozenset("HJKLMOQ")
#: Value of an observation that is missing on purpose (SDMX 3.1, all formats; XML Schema's NaN before).
_INTENTIONALLY_MISSING = "NaN"
#: Statuses of a value of which there is nothing to say.
_PLAIN = frozenset(["", "A"])
#: Codes of CL_CONF_STATUS that say everyone may see the value.
_FREE = frozenset(["F", ""])
#: Attributes of which a row may not be read without knowing what they say.
_DECISIVE = re.compile(r"CONF|MULT", re.IGNORECASE)
#: Attributes of a series with the period that an index is 100 in, or whose prices a volume counts in.
BASES = ("BASE_PER", "BASE_PERIOD", "REF_YEAR_PRICE", "BASE_YEAR")
_URN = re.compile(r"=[^:=]+:([^():]+)\(")
#: Major version in `AGENCY:FLOW(1.1.0)`, and in an address of `AGENCY,FLOW,1.1.0`.
_VERSION = re.compile(r"\(([0-9]+)[0-9.]*\)$|,([0-9]+)\.[0-9.]+(?=/|$)")
#: A flow with its version.
_STATED = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*:[A-Za-z0-9_@$-]+\([0-9][0-9.]*\)")
_MONTH = re.compile(r"([0-9]{4})-M([0-9]{2})")
_WEEK = re.compile(r"([0-9]{4})-W([0-9]{2})")
#: Attribute that moves quarters and half years off the calendar's.
_YEAR_START, _JANUARY = "REPORTING_YEAR_START_DAY", "--01-01"


class NotData(Exception):  # noqa: N818  (the name says what arrived)
    """A message of another kind than data; it is named and set aside."""


class Action(Enum):
    """The action that a data set asks for, by the words of SDMX-ML and SDMX-JSON and the letters of SDMX-CSV."""

    #: All there is of its series between the first period listed and the last.
    whole = ("information", "replace", "i", "r", "")
    #: What is new or other than before, and nothing of the rest.
    changes = ("append", "merge", "a", "m")
    #: Observations that are no more. The values beside them are placeholders.
    deletion = ("delete", "d")


class SdmxObservation(NamedTuple):
    """One observation as written. `value` None: the message has none."""

    period: str
    value: str | float | None
    status: str = ""
    confidentiality: str = ""

    def number(self, service: Service, where: str) -> float | None:
        """
        Return the number; None where the publisher says there is none. NaN is SDMX's word for a number that is missing on
        purpose, whatever the status.

        Raise SourceChanged for a value that is no number, an absence the status does not explain, and a number with a
        status that says there is none; of its kind NotFiniteError for an infinity.
        """
        text, missing = self.value, self.status in _MISSING
        if text is None or text == _INTENTIONALLY_MISSING or text in service.absent or (missing and text == ""):
            if text is None and not missing and "" not in service.absent:
                raise SourceChanged(f"{where}: no value, and status {self.status!r} does not say why")
            return None
        number = strict.number(text if isinstance(text, str) else repr(text), where)
        if missing:
            raise SourceChanged(f"{where}: value {text} with status {self.status}, which means there is none")
        return number

    def is_free(self, service: Service) -> bool:
        """Tell whether the publisher lets everyone see the value, if there is one."""
        if self.confidentiality not in _FREE:
            return False
        return not set(self.status) & set(service.confidential) or self.value is None or self.value in service.absent

    def flags(self, service: Service, where: str) -> tuple[str, ...]:
        """Return the letters of the status that the row keeps, as written. Raise SourceChanged for one that nobody knows."""
        if not service.flags or self.status in _PLAIN | _MISSING or self.status in service.absent:
            return ()
        if not set(self.status) <= set(service.flags):
            raise SourceChanged(f"{where}: status {strict.shown(self.status)}, known are the letters {service.flags}")
        return tuple(self.status)


@dataclass(slots=True)
class MessageSeries:
    """Rows under one key. `native` is the catalogue's code, or the name of a flow that the catalogue does not have."""

    native: str
    attributes: dict[str, str]
    flow: Flow | None = None
    rows: list[SdmxObservation] = field(default_factory=list)
    action: Action = Action.whole


@dataclass(frozen=True, slots=True)
class Asked:
    """Origin of a message: the service, the words of the address and its path, and where unknown names are reported."""

    service: Service
    words: tuple[str, ...]
    #: Path of the address, with which messages about errors begin.
    where: str
    parsed: Parsed
    #: Id of a flow → the flow with its version as the message states it (`IMF.RES:WEO(9.0.0)`).
    versions: dict[str, str] = field(default_factory=dict)

    def error(self, text: str) -> SourceChanged:
        """Return the error to raise for this message; the text follows the path directly (`: …`, ` is …`)."""
        return SourceChanged(self.where + text)

    def flow(self, said: Iterable[str], reference: str = "") -> tuple[str, Flow | None]:
        """
        Return name and record of the flow that a message is about, by what it says of itself and by its address.

        `reference`: the flow with its version, where that is not among what is said.

        Raise SourceChanged where the two name different flows, or neither names any, or it is of a version that none
        of the flows of that name is.
        """
        told = [text for text in said if text]
        names = [name_in(text) for text in told]
        version = next(filter(None, map(version_in, [*told, self.where])), None)
        own, asked = self.service.find(names, version), self.service.find(self.words, version)
        if own is not None and asked is not None and own is not asked:
            raise self.error(f" is about {own.id}, the address asks for {asked.id}")
        found = own or asked
        if found is not None:
            if found.version is not None and version not in {None, found.version}:
                raise self.error(f": {found.id} in version {version}, expected {found.version}")
            stated = next(filter(None, map(dataflow_in, [*told, reference])), None)
            if stated is not None:
                self.versions.setdefault(found.id, stated)
            return found.id, found
        if not names:
            raise self.error(" names no dataflow")
        return names[0], None

    def native(self, flow: Flow, key: Mapping[str, str]) -> str:
        """Return the catalogue's code of a key, whose dimensions must be the catalogue's, in any order. Raise SourceChanged."""
        missing = [name for name in flow.dimensions if not key.get(name)]
        if missing:
            raise self.error(f": {flow.id} without dimension {', '.join(missing)}")
        extra = sorted(set(key) - set(flow.dimensions))
        if extra:
            raise self.error(f": {flow.id} with unknown dimension {', '.join(extra)}")
        return ".".join([flow.id, *(key[name] for name in flow.dimensions)])

    def series(
        self, name: str, flow: Flow | None, key: Mapping[str, str], attributes: dict[str, str],
        rows: list[SdmxObservation], action: Action = Action.whole,
    ) -> MessageSeries:  # fmt: skip
        """Return the rows under one key; of a flow that the catalogue does not have, under its name alone. Raise SourceChanged."""
        if flow is None:
            return MessageSeries(name, {}, None, rows, action)
        return MessageSeries(self.native(flow, key), attributes, flow, rows, action)

    def row(
        self, flow: Flow | None, period: str, value: str | float | None, attributes: Mapping[str, str], action: Action
    ) -> SdmxObservation:
        """
        Return one observation. The standard lets any valid value stand beside one that is deleted, so none is kept.

        Raise SourceChanged where attributes are all that is deleted of it: its value stands.
        """
        if action is not Action.deletion:
            status, shut = self.service.status, confidentiality(flow, self.service)
            return SdmxObservation(period, value, attributes.get(status, ""), attributes.get(shut, ""))
        if value in (None, "") and any(attributes.values()):
            raise self.error(f": {period} has attributes alone deleted, which nobody reads")
        return SdmxObservation(period, None)

    def action(self, text: str | None) -> Action:
        """Return what a data set or a line is for, as written; nothing written is information. Raise SourceChanged."""
        found = next((one for one in Action if (text or "").lower() in one.value), None)
        if found is None:
            allowed = "Information, Append, Replace, Merge, Delete and their first letters"
            raise self.error(f": action {strict.shown(text)}, allowed are {allowed}")
        return found

    def current(self, valid_to: str | None) -> None:
        """Raise SourceChanged for a data set that says until when it was valid: a past state, read as today's."""
        if valid_to:
            raise self.error(f": a data set that was valid to {strict.shown(valid_to)}, which nobody reads")

    def listed(self, action: Action, rows: int) -> int:
        """Return the number of rows listed. Raise SourceChanged where one deletes and lists none: it means more than it lists."""
        if action is Action.deletion and not rows:
            raise self.error(": something is deleted and no observation listed, which nobody reads")
        return rows

    def by_calendar(self, attributes: dict[str, str]) -> dict[str, str]:
        """Return the attributes. Raise SourceChanged where they say that reporting years begin on another day than 1 January."""
        start = attributes.get(_YEAR_START)
        if start and start != _JANUARY:
            raise self.error(f": {_YEAR_START} {strict.shown(start)}, expected {_JANUARY}")
        return attributes

    def in_order(self, flow: Flow | None, dimensions: Iterable[str]) -> None:
        """Raise SourceChanged unless the dimensions are the catalogue's, in its order."""
        found = tuple(dimensions)
        if flow is not None and found != flow.dimensions:
            raise self.error(f": {flow.id} has the dimensions {'.'.join(found)}, expected {'.'.join(flow.dimensions)}")

    def known(self, flow: Flow | None, names: Iterable[str]) -> None:
        """Report attributes that nobody reads and the catalogue does not list.

        Raise SourceChanged for one that by its name bears on who may see a value, or on its power of ten.
        """
        if flow is None:
            return
        unknown = self.unknown(flow, names)
        decisive = [name for name in unknown if _DECISIVE.search(name)]
        if decisive:
            raise self.error(f": {flow.id} has {', '.join(decisive)}, which nobody reads")
        self.parsed.meet(unknown, f"{flow.id} attribute")

    def unknown(self, flow: Flow, names: Iterable[str]) -> list[str]:
        """Return those names that are no attribute we know, sorted."""
        service = self.service
        read = {service.status, confidentiality(flow, service), *self.of_series(flow)}
        return sorted(set(names) - read - {*service.attributes, *flow.attributes})

    def of_series(self, flow: Flow) -> list[str]:
        """Return the attributes of a whole series that are read."""
        service = self.service
        of_flow = (flow.release, flow.corrected, flow.last_actual, flow.reporting_year, flow.year_mapping)
        named = (service.multiplier, service.published, service.currency, *BASES, *of_flow, _YEAR_START)
        return [name for name in named if name is not None]


def confidentiality(flow: Flow | None, service: Service) -> str:
    """Return the name of the attribute with an observation's confidentiality."""
    return (flow.confidentiality if flow else None) or service.confidentiality


def name_in(text: str) -> str:
    """Return the bare name in a URN or in `AGENCY:FLOW(VERSION)`, without the view of it (`FLOW$VIEW`); other text as it is."""
    match = _URN.search("=" + text if "=" not in text else text)
    return match[1].partition("$")[0] if match else text


def version_in(text: str) -> str | None:
    """Return the major version of a flow in `AGENCY:FLOW(1.1.0)`, in a URN or in the path of an address, if it is stated."""
    match = _VERSION.search(text)
    return (match[1] or match[2]) if match else None


def dataflow_in(text: str) -> str | None:
    """Parse a dataflow reference (`AGENCY:FLOW(version)` or a URN) to `AGENCY:FLOW(version)`. Return None for anything else."""
    stated = text.rpartition("Dataflow=")[2]
    return stated if _STATED.fullmatch(stated) else None


def period_of(text: str, frequency: Frequency, where: str) -> Period:
    """Parse a period as SDMX writes it (`2026`, `2026-S1`, `2026-Q3`, `2026-10`, `2026-M10`, `2026-W05`, `2026-10-31`).

    Raise SourceChanged if it is none, or not one of that frequency.
    """
    period = _period(text)
    if period is None:
        raise SourceChanged(f"{where}: {strict.shown(text)} is not a period")
    if Period.ending(period.end, frequency) != period:
        raise SourceChanged(f"{where}: {strict.shown(text)} is not a {frequency.word} period")
    return period


# The series of one message have the same periods over and over.
@functools.lru_cache(maxsize=65_536)
def _period(text: str) -> Period | None:
    try:
        if week := _WEEK.fullmatch(text):
            monday = date.fromisocalendar(int(week[1]), int(week[2]), 1)
            return Period(monday, monday + timedelta(days=6))
        month = _MONTH.fullmatch(text)
        return Period.parse(f"{month[1]}-{month[2]}" if month else text)
    except ValueError:
        return None
