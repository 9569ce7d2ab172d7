"""A series and its rights as a reader holds them in memory, with what is the same for all its rows encoded already."""

from __future__ import annotations

import msgspec

from almanac.domain.reference import SeriesSpec, Source
from almanac.domain.rights import Exposure


class SeriesRights(msgspec.Struct, frozen=True):
    """What may be sent of a series' rows, and the `rights` objects that say so, encoded."""

    exposure: Exposure
    reason: str | None
    license: str
    #: Of LICENSE_CLASSES, that of the source.
    license_class: str
    attribution: str
    #: `,"attribution":…,"freshnessStatus":`
    credit: bytes
    #: `},"rights":{…}}`, which ends a row.
    encoded: bytes

    @property
    def withheld(self) -> bool:
        return self.exposure is not Exposure.public


class SeriesInfo(msgspec.Struct, frozen=True):
    """A series as a reader knows it, with the parts of a row that are the same for all its rows, encoded."""

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
    names: bytes  # ,"entityId":… to "providerId":… (without derivedFrom)
    derived_from: bytes  # ,"derivedFrom":[…]
    unit: bytes  # ,"unit":…,"frequency":…
    tail: bytes  # ,"sourceUrl":…
    metadata: bytes  # ,"metadata":{…   (open)
