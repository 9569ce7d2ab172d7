"""What a connector is: it plans requests and reads payloads. It never writes, never fetches, never asks the clock."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

from almanac.domain.observations import Statement
from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.rights import Exposure


class SourceChanged(Exception):  # noqa: N818  (the name says what happened upstream)
    """
    A payload is not what the publisher used to send. It is quarantined; the last good data stays served.

    The message names the culprit (column, element, value) and, where known, what was expected.
    """


@dataclass(frozen=True, slots=True)
class Request:
    """One GET. `secret` holds query parameters (an API key) that are added on the wire only: never kept, never logged."""

    url: str
    secret: Mapping[str, str] = field(default_factory=dict, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Payload:
    """One upstream response, byte for byte, and the time it counts as fetched (unix seconds)."""

    url: str
    body: bytes
    fetched_at: int
    media_type: str


@dataclass(frozen=True, slots=True)
class Block:
    """
    What one payload says of one native series.

    `complete` is the span of period keys, inclusive, that the payload lists completely: a cell of that span known
    before and not listed is withdrawn. None: no such claim, no withdrawal.
    """

    native: str
    statements: Sequence[Statement]
    complete: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Release:
    """A publication series of the publisher (the Employment Situation), by the publisher's own id."""

    native: str
    name: str
    url: str | None = None


@dataclass(frozen=True, slots=True)
class ReleaseDate:
    """One day on which a release was or will be published. Feeds of this shape state a day, never an hour."""

    release: str
    day: date


@dataclass(slots=True)
class Parsed:
    """All that a payload held. Nothing is dropped silently: what is not taken is counted or named here."""

    blocks: list[Block] = field(default_factory=list)
    #: Native series the catalogue does not map, with the number of rows passed over.
    unmapped: dict[str, int] = field(default_factory=dict)
    #: Why the whole payload was not read (a kind of response that carries no observations for us); None if it was.
    ignored: str | None = None
    #: Native series whose own metadata tightens their rights, with the reason served beside the withheld value.
    tightened: dict[str, tuple[Exposure, str]] = field(default_factory=dict)
    releases: list[Release] = field(default_factory=list)
    release_dates: list[ReleaseDate] = field(default_factory=list)


class Connector(Protocol):
    """One module of this package has one object `CONNECTOR` of this shape; `Source.connector` names the module."""

    #: Grows by one whenever the same payload would be read differently; kept with each run.
    version: int

    def owns(self, url: str) -> bool:
        """Whether a mirrored response of this URL belongs to this connector's publisher (mapped or not)."""
        ...

    def plan(
        self, source: Source, series: Mapping[str, SeriesSpec], since: date | None, today: date, key: str | None
    ) -> list[Request]:
        """
        Requests that bring the mapped series up to date, in a fixed order. `since` None: the whole history.

        Raises ValueError naming the setting when the source needs a key and has none.
        """
        ...

    def parse(self, payload: Payload, source: Source, series: Mapping[str, SeriesSpec]) -> Parsed:
        """Read one payload. `series` maps the native codes of this source. Raises SourceChanged."""
        ...


def connector(name: str) -> Connector:
    """
    The connector in module `almanac.sources.<name>`. A missing module is an error, never a default.

    `sdmx:ecb-yc`: the module serves several sources, and its function `connector` makes the one of that name.
    """
    module, _, one = name.partition(":")
    read = importlib.import_module(f"almanac.sources.{module}")
    found: Connector = read.connector(one) if one else read.CONNECTOR
    return found


def leftover(where: str, names: Iterable[str]) -> None:
    """Raise SourceChanged if a record still has fields after all known ones were taken out of it."""
    left = sorted(names)
    if left:
        raise SourceChanged(f"{where} has fields nobody reads: {', '.join(left)}")
