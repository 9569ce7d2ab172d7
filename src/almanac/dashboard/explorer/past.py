"""The day that a page is asked for: read from the address, and chosen by a slider or by links."""

from __future__ import annotations

from datetime import date, timedelta

import msgspec

from almanac.api.contract.errors import ApiError
from almanac.dashboard.formatting.dates import day, day_of
from almanac.dashboard.visit import FieldProblem, Visit


def day_asked(visit: Visit) -> tuple[str | None, list[FieldProblem]]:
    """`as_of` of the address, None for today; and what the interface has against it, in its own words."""
    if visit.as_of is None:
        return None, []
    try:
        visit.look_up("/observations/latest", indicator_id="gov_yield_10y", limit=1, as_of=visit.as_of)
    except ApiError as error:
        if (error.details or {}).get("parameter") != "as_of":
            raise
        return None, [FieldProblem("as_of", f"{error.message}.")]
    return visit.as_of, []


#: Ends of months that a slider goes back over.
MONTHS = 120


class PastSlider(msgspec.Struct, frozen=True):
    """Days as places, the last of them today: `days` as addresses have them, `words` as people read them."""

    days: tuple[str, ...]
    words: tuple[str, ...]
    #: The place of the day of the page: the newest that is no later.
    now: int
    #: Addresses of the place before, of the one after, and of today; empty where there is none.
    back: str
    ahead: str
    today: str
    #: Places of the first end of a month of each year, for marks.
    ticks: tuple[int, ...]

    @property
    def last(self) -> int:
        return len(self.days) - 1

    @property
    def said(self) -> str:
        """The day of the page, for who hears the slider."""
        return f"Known {'today' if self.now == self.last else f'on {self.words[self.now]}'}"


def past_slider(visit: Visit) -> PastSlider:
    """Return the slider of the page that is visited, over ends of months that the plan reaches, as far as was asked by now."""
    since = None if visit.history_from is None else day_of(visit.history_from)
    days: list[date] = []
    end = visit.today.replace(day=1) - timedelta(days=1)
    while len(days) < MONTHS and (since is None or end >= since):
        days.insert(0, end)
        end = end.replace(day=1) - timedelta(days=1)
    known = visit.known_on
    words = [*map(day, days), f"{day(visit.today)}, today"]
    last = len(days)
    now = last if known is None else max((place for place, one in enumerate(days) if one <= known), default=0)
    # Between two ends of months the one before is a step back already.
    between = known is not None and bool(days) and days[min(now, last - 1)] < known
    back = now if between else now - 1
    ahead = now + 1

    def to(place: int) -> str:
        return visit.here(as_of=days[place].isoformat() if place < last else None, page=None)

    return PastSlider(
        tuple([one.isoformat() for one in days] + [visit.today.isoformat()]),
        tuple(words),
        now,
        to(back) if back >= 0 else "",
        to(ahead) if known is not None and ahead <= last else "",
        visit.here(as_of=None, page=None) if known is not None else "",
        tuple(place for place, one in enumerate(days) if one.month == 1),
    )
