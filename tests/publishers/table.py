"""Releases of a rehearsal: when each was due, and when it came."""

from collections.abc import Iterator
from typing import NamedTuple

from almanac.catalog.load import shipped
from almanac.domain.cadence import Cadence
from tests.publishers.figures import Figures
from tests.publishers.standin import StandIn


class Lateness(NamedTuple):
    """A release that was fetched, or should have been: when it was published, until when it was due, when it came."""

    room: str
    native: str
    released: float
    due: float
    fetched: float | None


def releases(stand_in: StandIn, figures: Figures, first: float, last: float, allowance: float) -> Iterator[Lateness]:
    """
    Every release of a span of time, of series that were ever fetched: due by the next turn of its source, and so many
    seconds more. Those that are not due at the end of the span are left out.
    """
    for room in stand_in.rooms.values():
        for native, fetched in stand_in.fetched[room.name].items():
            spec = room.series[native]
            if spec.discontinued:
                continue
            cadence = Cadence(shipped().sources[spec.source].cadence or "")
            for at in sorted(set(figures.releases(spec.frequency, room.rules.publishes))):
                due = cadence.next(int(at)) + allowance
                if first <= at and due <= last and figures.known(spec, due):
                    came = next((when for when, newest in fetched if newest >= at), None)
                    yield Lateness(room.name, native, at, due, came)
