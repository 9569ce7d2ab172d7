"""The rooms of the stand-in, one for each publisher."""

from tests.publishers.figures import Figures
from tests.publishers.room import Room
from tests.publishers.rooms import banks, sdmx, sec, statistics, treasuries


def every(figures: Figures) -> list[Room]:
    """All rooms, with these figures."""
    return [room(figures) for room in [*sdmx.ROOMS, *treasuries.ROOMS, *banks.ROOMS, *statistics.ROOMS, *sec.ROOMS]]
