"""Shapes of events and release summaries, for the machine-readable description."""

from __future__ import annotations

import msgspec

from almanac.api.contract.records import Record, RowRights, Time
from almanac.domain.events import Category, Precision, Status


class EventSchema(Record):
    """
    Something official that was or will be made public, as known from `observedAt`.

    `id` stays the same when the event is moved. Where `timePrecision` is day, `occurredAt` is the first second of that day.
    `actual` is the first print and stays, `revisedActual` what it is now where that differs; `previous` is the period
    before as it stood before the release, `revisedPrevious` what that is now where it differs. All are null of a period
    that ends before the plan's window.
    """

    id: str
    category: Category
    type: str
    title: str
    status: Status
    occurred_at: Time
    time_precision: Precision
    time_zone: str
    entity_id: str | None
    country: str | None
    indicator_id: str | None
    period: str | None
    actual: float | None
    revised_actual: float | None
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


class ReleaseReading(Record):
    """
    One measure of a release, as known when it was out. Numbers are in `unit`; `percentile10y` is from 0 to 100.

    It and `zScore10y` are null where the plan does not reach the ten years before.
    """

    indicator_id: str
    unit: str | None
    actual: float | None
    previous: float | None
    revised_previous: float | None
    change: float | None
    z_score_10y: float | None = msgspec.field(name="zScore10y")
    percentile_10y: float | None = msgspec.field(name="percentile10y")
    observation_id: str
    rights: RowRights


class ReleaseSummary(Record):
    """What one publication said, beside what was known before. `releasedAt` is the `occurredAt` of its event."""

    id: str
    release: str
    name: str
    country: str | None
    entity_id: str
    period: str
    period_end: Time
    released_at: Time
    observed_at: Time
    source_id: str
    provider_id: str
    headline: str
    readings: list[ReleaseReading]
