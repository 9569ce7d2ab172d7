"""The whole plan of a source, parted: what is new is asked each turn, the whole past on the slow round."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import date

from almanac.domain.periods import Frequency
from almanac.domain.reference import SeriesSpec, Source
from almanac.sources.base import Connector, Request


def parted(
    reader: Connector, source: Source, series: Mapping[str, SeriesSpec], today: date, key: str | None
) -> list[Request]:
    """
    Every request that brings the whole history, and before it what brings its newest part, where the publisher has a way to ask
    for that: then the whole is of the slow round. One that is the same either way (a file, a year) is asked as it is.

    A series of which nothing new comes (`discontinued`) has no newest part.
    """
    whole = reader.plan(source, series, None, today, key)
    alive = [(native, spec) for native, spec in series.items() if not spec.discontinued]
    newest: dict[str, Request] = {}
    for of_months in (False, True):
        part = {native: spec for native, spec in alive if bool(spec.frequency.months) is of_months}
        if part:
            since = _newest_since({spec.frequency for spec in part.values()}, today)
            newest |= {request.url: request for request in reader.plan(source, part, since, today, key)}
    if not series:
        return whole
    addresses = {request.url for request in whole}
    return [replace(request, newest=True) for url, request in newest.items() if url not in addresses] + [
        request if request.url in newest else replace(request, closed=True) for request in whole
    ]


def _newest_since(frequencies: Collection[Frequency], today: date) -> date:
    """
    From when on a series is asked each turn, where what is older comes on the slow round: the first of a year, so that the
    address stays the same for a year. Days and weeks from the year before, whose values hardly change once they are out;
    months and longer from three years before, so that the revisions of ordinary years come the day they are published.
    """
    years = 1 if not any(frequency.months for frequency in frequencies) else 3
    return date(today.year - years, 1, 1)
