"""What a rehearsal comes to, for people: by publisher, and by day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

from almanac.catalog.load import shipped
from almanac.domain.cadence import Cadence
from tests.publishers.figures import Figures
from tests.publishers.standin import Logged, StandIn


class Lateness(NamedTuple):
    """A release that was fetched, or should have been: when it was published, until when it was due, when it came."""

    room: str
    native: str
    released: float
    due: float
    fetched: float | None

    @property
    def hours(self) -> float:
        """From its publication until it was fetched, in hours."""
        return ((self.fetched or float("inf")) - self.released) / 3_600


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


def by_publisher(stand_in: StandIn, late: Iterable[Lateness]) -> list[str]:
    """A line for each publisher."""
    worst: dict[str, float] = defaultdict(float)
    for one in late:
        worst[one.room] = max(worst[one.room], one.hours)
    lines = [_line("publisher", "requests", "kB", "304", "404", "failed", "limit touched", "oldest unserved, h")]
    for name in sorted(stand_in.rooms):
        logged = [one for one in stand_in.log if one.room == name]
        if not logged:
            continue
        lines.append(_line(name, *_sums(logged), stand_in.touched[name], f"{worst[name]:.1f}"))
    lines.append(
        _line("all", *_sums(stand_in.log), sum(stand_in.touched.values()), f"{max(worst.values(), default=0.0):.1f}")
    )
    return lines


def by_day(stand_in: StandIn, late: Iterable[Lateness]) -> list[str]:
    """A line for each day."""
    days: dict[str, list[Logged]] = defaultdict(list)
    for one in stand_in.log:
        days[_day(one.at)].append(one)
    worst: dict[str, float] = defaultdict(float)
    for release in late:
        day = _day(release.released)
        worst[day] = max(worst[day], release.hours)
    lines = [_line("day", "requests", "kB", "304", "404", "failed", "publishers", "oldest unserved, h")]
    for day, logged in sorted(days.items()):
        asked = len({one.room for one in logged})
        lines.append(_line(day, *_sums(logged), asked, f"{worst[day]:.1f}"))
    return lines


def _sums(logged: list[Logged]) -> tuple[int, int, int, int, int]:
    return (
        len(logged),
        sum(one.size for one in logged) // 1_000,
        sum(one.status == 304 for one in logged),
        sum(one.status == 404 for one in logged),
        sum(one.failed for one in logged),
    )


def _line(name: str, *cells: object) -> str:
    return f"{name:<14}" + "".join(f"{cell!s:>{width}}" for cell, width in zip(cells, _WIDTHS, strict=True))


_WIDTHS = (9, 9, 7, 6, 8, 15, 20)


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()
