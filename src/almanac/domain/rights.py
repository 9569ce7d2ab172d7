"""Who may see a value, and how that flows through derivation."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

import msgspec


class Exposure(IntEnum):
    """Ordered from open to shut. Only `public` values are sent; a series may tighten its source, never loosen it."""

    public = 0
    internal_only = 1
    restricted = 2
    blocked = 3


#: What the terms of a source ask for, from nothing to a consent; each with what it says.
LICENSE_CLASSES = {
    "open": "nothing is asked",
    "attribution": "the source is named",
    "non-commercial": "not for money, or not for more of it",
    "consent": "the owner is asked first",
}


class Consent(msgspec.Struct, frozen=True):
    """An operator's record that the owner of a channel allowed its use. All three parts or none."""

    by: str
    on: str
    reference: str


class Rights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """What a source's terms say. `exposure` is the data's own, `channel` the feed's, which a consent lifts."""

    exposure: Exposure = Exposure.public
    channel: Exposure = Exposure.public
    license: str
    attribution: str
    #: One of LICENSE_CLASSES, where nothing else here says it.
    license_class: str | None = None
    reason: str | None = None
    channel_reason: str | None = None
    commercial_use: str = "yes"
    derivatives_allowed: bool = False
    modification_rule: str | None = None
    terms_url: str | None = None
    terms_read_on: str | None = None

    @property
    def asks_for(self) -> str:
        """The class of the licence: what must be asked for is shut without a consent, and what costs nothing says so."""
        if max(self.exposure, self.channel) is not Exposure.public:
            return "consent"
        if self.commercial_use != "yes":
            return "non-commercial"
        return self.license_class or "attribution"


def effective(rights: Rights, own: Exposure, consent: Consent | None) -> Exposure:
    """Exposure of a raw series: the strictest of the data's, the series' own and (without consent) the channel's."""
    channel = Exposure.public if consent is not None else rights.channel
    return max(rights.exposure, own, channel)


def derived(inputs: Iterable[tuple[Exposure, bool]]) -> Exposure:
    """
    Exposure of a value computed from inputs, each (exposure, derivatives allowed by its source's terms).

    The strictest wins; an input whose terms allow derivatives counts as public. A value whose inputs are lost is shut.
    """
    return max((Exposure.public if allowed else exposure for exposure, allowed in inputs), default=Exposure.blocked)
