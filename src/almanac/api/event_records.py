"""The shape of an event, for the machine-readable description."""

from __future__ import annotations

from typing import Literal

from almanac.api.records import Record, RowRights, Time


class Event(Record):
    """
    Something official that was or will be made public, as known from `observedAt`.

    `id` stays the same when the event is moved. Where `timePrecision` is day, `occurredAt` is the first second of that day.
    """

    id: str
    category: Literal[
        "macro_release",
        "central_bank",
        "issuer_filing",
        "issuer_disclosure",
        "regulator_notice",
        "corporate_action",
        "other",
    ]
    type: str
    title: str
    status: Literal["scheduled", "released", "revised", "rescheduled", "canceled", "tentative"]
    occurred_at: Time
    time_precision: Literal["minute", "day"]
    time_zone: str
    entity_id: str | None
    country: str | None
    indicator_id: str | None
    period: str | None
    actual: float | None
    previous: float | None
    revised_previous: float | None
    unit: str | None
    form: str | None
    accession: str | None
    url: str | None
    source_id: str
    provider_id: str
    observed_at: Time
    rights: RowRights
