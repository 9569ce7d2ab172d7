"""The shape of a brief, for the machine-readable description."""

from __future__ import annotations

from typing import Literal

from almanac.api.contract.records import Freshness, Record, RowRights, Time
from almanac.api.endpoints.calendar.records import EventSchema, ReleaseSummary


class BriefReading(Record):
    """
    The latest reading of one indicator. `previous` is that of the same series before it, `change` the difference.

    `percentile10y`: mid-rank among the ten years before it, of growth rates only. `peerRank`: place among the `peerCount`
    countries with a fresh public reading in the same unit, 1 the highest value.
    """

    indicator_id: str
    name: str
    value: float | None
    unit: str
    period_end: Time
    previous: float | None
    change: float | None
    percentile10y: float | None
    peer_rank: int | None
    peer_count: int | None
    freshness_status: Freshness
    series_id: str
    rights: RowRights


class BriefSection(Record):
    """One subject: what is to be said, and the readings it is said from."""

    key: Literal["growth", "inflation", "labor", "rates", "external", "fiscal"]
    title: str
    text: str
    readings: list[BriefReading]


class Brief(Record):
    """
    A country in words. Every number in `headline` and in a text is one of the readings, rounded, or part of its date.

    `derivedFrom`: the series of all readings listed. `asOf`: the asked `as_of`, else the latest knowledge time among the
    rows used.
    """

    entity_id: str
    name: str
    country: str
    as_of: Time | None
    headline: str
    sections: list[BriefSection]
    upcoming_events: list[EventSchema]
    recent_releases: list[ReleaseSummary]
    derived_from: list[str]
