"""A series and its rights as a reader holds them in memory."""

from __future__ import annotations

from typing import Any

import msgspec

from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.rights import Exposure


class SeriesRights(msgspec.Struct, frozen=True):
    """What may be sent of a series' rows, and the `rights` object that says so."""

    exposure: Exposure
    reason: str | None
    license: str
    #: Of LICENSE_CLASSES, that of the source.
    license_class: str
    attribution: str
    #: The `rights` object of a row, as JSON.
    encoded: bytes

    @property
    def withheld(self) -> bool:
        return self.exposure is not Exposure.public


class SeriesInfo(msgspec.Struct, frozen=True):
    """A series as a reader knows it."""

    number: int
    id: str
    #: What the ids of its rows begin with, behind `obs_`.
    id_part: str
    topic: int
    spec: SeriesSpec
    kind: str
    source: Source
    inputs: tuple[str, ...]
    #: Ids of the sources it was read from, of a computed one those of its inputs.
    read_from: tuple[str, ...]
    #: The source is simulated, or one of the series it is computed from is.
    simulated: bool
    #: ISO code of the money it counts in; None where it counts none.
    currency: str | None
    rights: SeriesRights
    #: Unit of its numbers; None where its publisher states another one than the catalogue.
    unit: str | None
    #: The page a person would check a value on; None for what was computed here.
    page: str | None
    #: Its part of the `metadata` object of a row.
    metadata: dict[str, Any]
