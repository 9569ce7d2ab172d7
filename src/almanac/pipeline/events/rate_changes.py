"""Policy rate changes as events, from daily rates. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from msgspec.structs import replace

from almanac.domain.events import EventState, event_id, settle
from almanac.domain.numbers import exact_sum
from almanac.domain.periods import Frequency, end_of
from almanac.domain.releases import HeadlineVintage, is_before
from almanac.domain.times import midnight
from almanac.pipeline.events.release_states import Planned, States, event_of, in_state

#: Smaller differences of a policy rate, in percentage points, are new definitions (a midpoint, a mean), not moves.
SMALLEST_MOVE = 0.05


def rate_changes(vintages: Sequence[HeadlineVintage], source: str, place: tuple[str, str]) -> States:
    """
    Return the changes of a daily policy rate, dated by the day they take effect, from vintages sorted by (period,
    known).

    A change is reported only between neighbouring days, because after a gap nobody knows when the rate moved. If a
    later correction reverses it, it is canceled. A day whose value was withdrawn counts as absent: the next day is
    compared with the one before it.
    """
    entity, name = place
    by_event: States = {}
    #: The day before, and if that day's value was ever withdrawn, earlier days too; the nearest first.
    before: list[list[HeadlineVintage]] = []
    for period, group in groupby(vintages, key=lambda one: one.period):
        now = list(group)
        if before and not is_before(before[0][0].period, period, Frequency.DAILY):
            before = []
        told = [one for day_ in before for one in day_]
        if told and (len(told) > 1 or len(now) > 1 or _moved(told[0].value, now[0].value)):
            states: list[EventState] = []
            day = end_of(period)
            identifier = event_id(source, f"policy_rate_change:{entity}", day.isoformat())
            event = event_of(
                identifier,
                "central_bank",
                "policy_rate_change",
                f"{name}: policy rate change, effective",
                source,
                entity,
            )
            event = replace(event, indicator="policy_rate", period=day.isoformat())
            for known in sorted({one.known for one in (*told, *now)}):
                moved = _moved(_nearest(before, known), _at(now, known))
                if moved or states:
                    status = "released" if moved else "canceled"
                    states.append(in_state(event, Planned(known, midnight(day.toordinal()), "day", status)))
            if states:
                by_event[identifier] = settle(states)
        before = [now, *before] if any(one.value is None for one in now) else [now]
    return by_event


def _moved(before: float | None, now: float | None) -> bool:
    return before is not None and now is not None and abs(exact_sum(now, -before)) >= SMALLEST_MOVE


def _at(states: Sequence[HeadlineVintage], known: int) -> float | None:
    return next((one.value for one in reversed(states) if one.known <= known), None)


def _nearest(days: Iterable[Sequence[HeadlineVintage]], known: int) -> float | None:
    """Return the value of the first of these days that was not withdrawn by then, or None if that one was not yet known."""
    for states in days:
        value = _at(states, known)
        if value is not None or states[0].known > known:
            return value
    return None
