"""Rights: who may see a value, and which rights a derived value has."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Literal

import msgspec


class Exposure(IntEnum):
    """
    The audience of a value, from open to shut. Only `public` values are sent. A series may tighten its source's
    exposure but never loosen it.
    """

    public = 0
    internal_only = 1
    restricted = 2
    blocked = 3


#: What a source's terms require, from nothing to consent, with an explanation.
LICENSE_CLASSES = {
    "open": "nothing is asked",
    "attribution": "the source is named",
    "non-commercial": "not for money, or not for more of it",
    "consent": "the owner is asked first",
}


class Consent(msgspec.Struct, frozen=True):
    """An operator's record that the owner of a channel allowed its use. All three parts are required."""

    by: str
    on: str
    reference: str


class Rights(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"):
    """The terms of a source. `exposure` applies to the data, `channel` to the feed; a consent lifts only the latter."""

    exposure: Exposure = Exposure.public
    channel: Exposure = Exposure.public
    license: str
    attribution: str
    #: The class, if the other fields don't imply it.
    license_class: Literal["open", "attribution", "non-commercial", "consent"] | None = None
    reason: str | None = None
    channel_reason: str | None = None
    commercial_use: str = "yes"
    derivatives_allowed: bool = False
    modification_rule: str | None = None
    terms_url: str | None = None
    terms_read_on: str | None = None

    @property
    def asks_for(self) -> str:
        """
        The licence class. Anything not public needs consent, and limits on commercial use make it non-commercial;
        otherwise it is the declared class, or attribution.
        """
        if max(self.exposure, self.channel) is not Exposure.public:
            return "consent"
        if self.commercial_use != "yes":
            return "non-commercial"
        return self.license_class or "attribution"


def effective(rights: Rights, own: Exposure, consent: Consent | None) -> Exposure:
    """
    Return the exposure of a raw series: the strictest of the data's, the series' own and, without consent, the
    channel's.
    """
    channel = Exposure.public if consent is not None else rights.channel
    return max(rights.exposure, own, channel)


def derived(inputs: Iterable[tuple[Exposure, bool]]) -> Exposure:
    """
    Return the exposure of a value computed from inputs, each given as (exposure, whether its terms allow derivatives).

    The strictest exposure wins; an input whose terms allow derivatives counts as public. A value without known inputs
    is blocked.
    """
    return max((Exposure.public if allowed else exposure for exposure, allowed in inputs), default=Exposure.blocked)
