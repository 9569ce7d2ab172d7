"""The split of a source's plan: requests for recent data every turn, for the whole history on the slow round."""

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
    Return every request of a source's plan: those for its newest part first, and then those for its whole history.

    If the publisher can be asked for recent data alone, the requests for the history are `closed`: they belong to the
    slow round. A request that is the same either way (a file, a year) is simply asked. Discontinued series have no
    newest part.
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
    Return the first day of the period that is asked every turn. It is the first day of a year, so that addresses change
    only once a year.

    Daily and weekly data starts in the year before, because its values hardly change after publication. Monthly and
    longer data starts three years before, so that ordinary revisions arrive on the day they are published.
    """
    years = 1 if not any(frequency.months for frequency in frequencies) else 3
    return date(today.year - years, 1, 1)
