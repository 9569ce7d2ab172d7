"""Responses of the FRED API, field by field: a field too many or too few is an error that names it."""

from __future__ import annotations

from datetime import date

import msgspec

from almanac.sources.base import SourceChanged
from almanac.sources.formats.strict import StrictRecord


class Head(msgspec.Struct):
    """The fields of a response that tell its kind."""

    error_code: int | None = None
    error_message: str = ""
    output_type: int | None = None
    units: str | None = None


class RealtimeRow(StrictRecord):
    start: date = msgspec.field(name="realtime_start")
    end: date = msgspec.field(name="realtime_end")
    day: date = msgspec.field(name="date")
    value: str


class Observations(StrictRecord):
    realtime_start: date
    realtime_end: date
    observation_start: date
    observation_end: date
    units: str
    output_type: int
    file_type: str
    order_by: str
    sort_order: str
    count: int
    offset: int
    limit: int
    observations: list[RealtimeRow]

    @property
    def whole(self) -> bool:
        return len(self.observations) == self.count


class ListHead(StrictRecord, kw_only=True):
    """The head of every list that is not of observations."""

    realtime_start: date
    realtime_end: date
    order_by: str | None = None
    sort_order: str | None = None
    count: int | None = None
    offset: int | None = None
    limit: int | None = None

    def check(self, listed: int, where: str) -> None:
        """Raise SourceChanged for a list that holds less than it says, whatever is on further pages."""
        if self.count is None:
            return
        left = max(0, self.count - (self.offset or 0))
        stated = left if self.limit is None else min(left, self.limit)
        if listed != stated:
            raise SourceChanged(
                f"{where}: lists {listed}, says {self.count} from {self.offset or 0} with limit {self.limit}"
            )

    @property
    def next(self) -> int | None:
        """Return the offset of the next page; None if there is none."""
        if self.count is None or self.limit is None:
            return None
        following = (self.offset or 0) + self.limit
        return following if self.limit > 0 and following < self.count else None


class SeriesTag(StrictRecord):
    name: str
    group_id: str
    notes: str | None
    created: str
    popularity: int
    series_count: int


class Tags(ListHead, kw_only=True):
    tags: list[SeriesTag]


class ReleaseRow(StrictRecord, kw_only=True):
    id: int
    realtime_start: date
    realtime_end: date
    name: str
    press_release: bool
    link: str | None = None
    notes: str | None = None


class Releases(ListHead, kw_only=True):
    releases: list[ReleaseRow]


class ReleaseDateRow(StrictRecord, kw_only=True):
    release_id: int
    day: date = msgspec.field(name="date")
    release_name: str | None = None
    #: Only in answers that include dates without data.
    release_last_updated: str | None = None


class ReleaseDates(ListHead, kw_only=True):
    release_dates: list[ReleaseDateRow]


class SeriesRow(StrictRecord, kw_only=True):
    id: str
    realtime_start: date
    realtime_end: date
    title: str
    observation_start: date
    observation_end: date
    frequency: str
    frequency_short: str
    units: str
    units_short: str
    seasonal_adjustment: str
    seasonal_adjustment_short: str
    last_updated: str
    popularity: int
    group_popularity: int | None = None
    notes: str | None = None


class SeriesList(ListHead, kw_only=True):
    seriess: list[SeriesRow]
