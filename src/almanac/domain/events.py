"""Official events: publications past and planned, and how the knowledge about them changed."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Literal, get_args

import msgspec

Category = Literal[
    "macro_release",
    "central_bank",
    "issuer_filing",
    "issuer_disclosure",
    "regulator_notice",
    "corporate_action",
    "other",
]
Status = Literal["scheduled", "released", "revised", "rescheduled", "canceled", "tentative"]
#: The served status: `unknown` if the announced time has passed and nothing confirms the event.
ServedStatus = Literal["scheduled", "released", "revised", "rescheduled", "canceled", "tentative", "unknown"]
Precision = Literal["minute", "day"]
CATEGORIES: tuple[str, ...] = get_args(Category)
STATUSES: tuple[str, ...] = get_args(Status)
SERVED_STATUSES: tuple[str, ...] = get_args(ServedStatus)
#: States of future events.
COMING = ("scheduled", "rescheduled", "tentative")
PRECISIONS: tuple[str, ...] = get_args(Precision)


def event_id(source: str, release: str, period: str | None = None) -> str:
    """
    Return `evt_` and 26 base32 characters of a hash of source, release (or accession number) and reference period.

    The date is not part of it, so an event that is moved keeps its id.
    """
    content = json.dumps([source, release, period], separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(content.encode()).digest()
    return f"evt_{base64.b32encode(digest)[:26].decode().lower()}"


class EventState(msgspec.Struct, frozen=True, kw_only=True):
    """
    One state of an event, as known from a moment on. Times are unix seconds.

    Raises ValueError for an unknown category, status or precision, and for numbers without a unit.
    """

    #: Id (`event_id`).
    event: str
    known_at: int
    #: Time of the event. For an event known by its day, the first second of that day.
    occurred_at: int
    precision: str
    #: IANA name of the zone the source states the time in.
    time_zone: str
    category: str
    type: str
    title: str
    status: str
    source: str
    entity: str | None = None
    #: Entity id of a country or region. For a company's event, None means its domicile.
    country: str | None = None
    #: Slug of the indicator that is released.
    indicator: str | None = None
    #: Reference period, as people write it: `2026-10`, `2026-Q3`, `2026-09-30`.
    period: str | None = None
    #: The first print, and the present value if it differs.
    actual: float | None = None
    revised_actual: float | None = None
    previous: float | None = None
    revised_previous: float | None = None
    unit: str | None = None
    #: Sources of the released numbers, starting with the one that was first.
    data: tuple[str, ...] = ()
    form: str | None = None
    accession: str | None = None
    url: str | None = None

    def __post_init__(self) -> None:
        for name, value, allowed in (
            ("category", self.category, CATEGORIES),
            ("status", self.status, STATUSES),
            ("precision", self.precision, PRECISIONS),
        ):
            if value not in allowed:
                raise ValueError(f"event {self.event}: {name} must be one of {', '.join(allowed)}, not {value!r}")
        numbers = (self.actual, self.revised_actual, self.previous, self.revised_previous)
        if self.unit is None and any(number is not None for number in numbers):
            raise ValueError(f"event {self.event} has numbers and no unit")

    @property
    def state(self) -> EventState:
        """The state without its knowledge time, for comparisons."""
        return msgspec.structs.replace(self, known_at=0)


def settle(states: list[EventState]) -> list[EventState]:
    """
    Return the served states of one event, ascending by knowledge time.

    `states` comes in order of arrival: of several with one knowledge time the last counts. Of equal consecutive states
    only the earliest is served.
    """
    winners = {state.known_at: state for state in states}
    served: list[EventState] = []
    for known in sorted(winners):
        if not served or served[-1].state != winners[known].state:
            served.append(winners[known])
    return served
