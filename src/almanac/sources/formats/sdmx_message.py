"""What every form of an SDMX data message comes down to: series with a key, attributes and rows."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import NamedTuple

from almanac.catalog.services import Flow, Service
from almanac.domain.periods import Frequency, Period
from almanac.sources.base import Parsed, SourceChanged
from almanac.sources.formats import strict

#: Codes of CL_OBS_STATUS (SDMX cross-domain code list 2.2) that say there is no value.
_MISSING = frozenset("HJKLMOQ")
#: Statuses of a value of which there is nothing to say.
_PLAIN = frozenset(["", "A"])
#: Codes of CL_CONF_STATUS that say everyone may see the value.
_FREE = frozenset(["F", ""])
#: Attributes of which a row may not be read without knowing what they say.
_DECISIVE = re.compile(r"CONF|MULT", re.IGNORECASE)
_URN = re.compile(r"=[^:=]+:([^():]+)\(")
#: Major version in `AGENCY:FLOW(1.1.0)`, and in an address of `AGENCY,FLOW,1.1.0`.
_VERSION = re.compile(r"\(([0-9]+)[0-9.]*\)$|,([0-9]+)\.[0-9.]+(?=/|$)")
_MONTH = re.compile(r"([0-9]{4})-M([0-9]{2})")
_WEEK = re.compile(r"([0-9]{4})-W([0-9]{2})")


class NotData(Exception):  # noqa: N818  (the name says what arrived)
    """A message of another kind than data; it is named and set aside."""


class SdmxObservation(NamedTuple):
    """One observation as written. `value` None: the message has none."""

    period: str
    value: str | float | None
    status: str = ""
    confidentiality: str = ""


@dataclass(slots=True)
class MessageSeries:
    """Rows under one key. `native` is the catalogue's code, or the name of a flow that the catalogue does not have."""

    native: str
    attributes: dict[str, str]
    flow: Flow | None = None
    rows: list[SdmxObservation] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Asked:
    """Whose message is read: the service, the words of the address and its path, and who is told of more."""

    service: Service
    words: tuple[str, ...]
    #: Path of the address.
    path: str
    parsed: Parsed

    @property
    def where(self) -> str:
        """How messages about errors begin."""
        return self.path

    def flow(self, said: Iterable[str]) -> tuple[str, Flow | None]:
        """
        Name and record of the flow that a message is about, by what it says of itself and by its address.

        Raises SourceChanged where the two name different flows, or neither names any, or it is of a version that none
        of the flows of that name is.
        """
        told = [text for text in said if text]
        names = [name_in(text) for text in told]
        version = next(filter(None, map(version_in, [*told, self.path])), None)
        own, asked = self.service.find(names, version), self.service.find(self.words, version)
        if own is not None and asked is not None and own is not asked:
            raise SourceChanged(f"{self.where} is about {own.id}, the address asks for {asked.id}")
        found = own or asked
        if found is not None:
            if found.version is not None and version not in {None, found.version}:
                raise SourceChanged(f"{self.where}: {found.id} in version {version}, expected {found.version}")
            return found.id, found
        if not names:
            raise SourceChanged(f"{self.where} names no dataflow")
        return names[0], None

    def native(self, flow: Flow, key: Mapping[str, str]) -> str:
        """The catalogue's code of a key. The dimensions must be the catalogue's, in any order. Raises SourceChanged."""
        missing = [name for name in flow.dimensions if not key.get(name)]
        if missing:
            raise SourceChanged(f"{self.where}: {flow.id} without dimension {', '.join(missing)}")
        extra = sorted(set(key) - set(flow.dimensions))
        if extra:
            raise SourceChanged(f"{self.where}: {flow.id} with unknown dimension {', '.join(extra)}")
        return ".".join([flow.id, *(key[name] for name in flow.dimensions)])

    def in_order(self, flow: Flow, dimensions: Iterable[str]) -> None:
        """Raise SourceChanged unless the dimensions are the catalogue's, in its order."""
        found = tuple(dimensions)
        if found != flow.dimensions:
            raise SourceChanged(
                f"{self.where}: {flow.id} has the dimensions {'.'.join(found)}, expected {'.'.join(flow.dimensions)}"
            )

    def known(self, flow: Flow, names: Iterable[str]) -> None:
        """Report attributes that nobody reads and the catalogue does not list.

        Raises SourceChanged for one that by its name bears on who may see a value, or on its power of ten.
        """
        unknown = self.unknown(flow, names)
        decisive = [name for name in unknown if _DECISIVE.search(name)]
        if decisive:
            raise SourceChanged(f"{self.where}: {flow.id} has {', '.join(decisive)}, which nobody reads")
        self.parsed.meet(unknown, f"{flow.id} attribute")

    def unknown(self, flow: Flow, names: Iterable[str]) -> list[str]:
        """Those names that are no attribute we know, sorted."""
        service = self.service
        read = {service.multiplier, service.status, confidentiality(flow, service), service.published}
        read |= {flow.release, flow.corrected, flow.last_actual}
        return sorted(set(names) - read - {*service.attributes, *flow.attributes})


def confidentiality(flow: Flow | None, service: Service) -> str:
    """Name of the attribute with an observation's confidentiality."""
    return (flow.confidentiality if flow else None) or service.confidentiality


def name_in(text: str) -> str:
    """The bare name in a URN or in `AGENCY:FLOW(VERSION)`, without the view of it (`FLOW$VIEW`); other text as it is."""
    match = _URN.search("=" + text if "=" not in text else text)
    return match[1].partition("$")[0] if match else text


def version_in(text: str) -> str | None:
    """Major version of a flow in `AGENCY:FLOW(1.1.0)`, in a URN or in the path of an address, if it is stated."""
    match = _VERSION.search(text)
    return (match[1] or match[2]) if match else None


def value_of(row: SdmxObservation, service: Service, where: str) -> float | None:
    """
    The number of a row; None where the publisher says there is none.

    Raises SourceChanged for a value that is no number, an absence the status does not explain, and a number with a
    status that says there is none.
    """
    text = row.value
    missing = row.status in _MISSING
    if text is None or text in service.absent or (missing and text in {"", "NaN"}):
        if text is None and not missing and "" not in service.absent:
            raise SourceChanged(f"{where}: no value, and status {row.status!r} does not say why")
        return None
    number = strict.number(text if isinstance(text, str) else repr(text), where)
    if missing:
        raise SourceChanged(f"{where}: value {text} with status {row.status}, which means there is none")
    return number


def is_free(row: SdmxObservation, service: Service) -> bool:
    """Whether the publisher lets everyone see the value, if there is one."""
    if row.confidentiality not in _FREE:
        return False
    return not set(row.status) & set(service.confidential) or row.value is None or row.value in service.absent


def flags(row: SdmxObservation, service: Service, where: str) -> tuple[str, ...]:
    """Letters of the status that the row keeps, as written. Raises SourceChanged for one that nobody knows."""
    if not service.flags or row.status in _PLAIN | _MISSING or row.status in service.absent:
        return ()
    if not set(row.status) <= set(service.flags):
        raise SourceChanged(f"{where}: status {strict.shown(row.status)}, known are the letters {service.flags}")
    return tuple(row.status)


def period_of(text: str, frequency: Frequency, where: str) -> Period:
    """A period as SDMX writes it (`2026`, `2026-S1`, `2026-Q3`, `2026-10`, `2026-M10`, `2026-W05`, `2026-10-31`).

    Raises SourceChanged if it is none, or not one of that frequency.
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
