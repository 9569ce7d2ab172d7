"""
The states of events about releases, meetings and policy rates, from what calendars and vintages say. Pure.

A state follows from all that is known of its event, never from the order in which that arrived.
"""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from itertools import groupby
from typing import NamedTuple

from almanac.domain.events import EventState, event_id, settle
from almanac.domain.periods import Frequency, Period
from almanac.domain.releases import (
    Published,
    Release,
    ReleaseCalendar,
    ReleaseCalendarEntry,
    period_due,
    period_name,
)
from almanac.domain.times import DAY_SECONDS, midnight

#: Type of the events that are a calendar's and no release of ours.
NOTICE = "publication"

#: What a calendar said of a period: since when, when it happens (unix seconds), `minute` or `day`, status, page.
Planned = tuple[int, int, str, str, str | None]
#: What a calendar said of an entry, and since when.
Statement = tuple[int, ReleaseCalendarEntry]
States = dict[str, list[EventState]]
#: For each period the calendar that tells of it, and what it said.
Announced = dict[int, tuple[ReleaseCalendar, list[Planned]]]


def by_days(
    days: Iterable[tuple[int, int]], calendar: ReleaseCalendar, spoken: Collection[int] = ()
) -> dict[int, list[Planned]]:
    """
    Announcements of each period, from days that a calendar lists and since when (`store.releases.days`).

    Only what was announced before it happened, and not on days `spoken` for: of which an entry of another calendar tells. A later word on a period is a move where a period has one publication.
    """
    found: dict[int, list[Planned]] = defaultdict(list)
    if calendar.after_days is None:
        return {}
    for day, known in sorted(days, key=lambda one: (one[1], one[0])):
        begins = midnight(day)
        if known >= begins + DAY_SECONDS or day in spoken:
            continue
        planned = found[period_due(date.fromordinal(day), calendar)]
        if not planned:
            planned.append((known, begins, "day", "scheduled", None))
        elif calendar.estimates == 1 and planned[-1][0] < known < planned[-1][1]:
            planned.append((known, begins, "day", "rescheduled", None))
    return dict(found)


class Entries(NamedTuple):
    """Announcements by what they are about, and by uid those that are a publication of their own."""

    by_period: dict[int, list[Planned]]
    #: With the period, None where nothing says it.
    others: dict[str, tuple[int | None, list[Planned]]]


def by_entries(
    entries: Iterable[Statement], calendar: ReleaseCalendar, publications: Iterable[Published] = ()
) -> Entries:
    """
    Announcements from entries of a calendar (`store.releases.entries`).

    What an entry is about is what it says itself, else what the publisher's schedule says of its day, else what came out
    with it: never a guess from the day. No entry stands in for another: of two that one payload lists for one period the
    first has it, the other is a publication of its own.
    """
    said = {uid: list(group) for uid, group in groupby(entries, key=lambda one: one[1].uid)}
    about = {uid: key for uid, states in said.items() if (key := _stated(states, calendar)) is not None}
    about |= _came_out_with(said, about, publications)
    found = Entries(defaultdict(list), {})
    listed: dict[int, set[int]] = defaultdict(set)
    for uid in sorted(said, key=lambda uid: (said[uid][-1][1].day, uid)):
        period, moments = about.get(uid), {known for known, _ in said[uid]}
        if period is None or listed[period] & moments:
            found.others[uid] = period, planned(said[uid])
        else:
            listed[period] |= moments
            found.by_period[period] = sorted([*found.by_period[period], *planned(said[uid])])
    return found


def _stated(states: Sequence[Statement], calendar: ReleaseCalendar) -> int | None:
    """What an entry is about by its own word, or by the publisher's schedule; the latest word counts."""
    newest_first = [entry for _, entry in reversed(states)]
    told = [entry.period for entry in newest_first] + [calendar.schedule.get(entry.day) for entry in newest_first]
    return next((Period.parse(name).key for name in told if name is not None), None)


def _came_out_with(
    said: Mapping[str, Sequence[Statement]], about: Mapping[str, int], publications: Iterable[Published]
) -> dict[str, int]:
    """
    What the numbers say of entries of which nothing else says the period: what they brought.

    Numbers with a stated time came with the entry of that day. Others were first seen by chance at some time: they came
    with the last entry before it, if the calendar lists the next one too, so that none is missing between.
    """
    held = sorted((_begins(states[-1][1]), uid) for uid, states in said.items() if states[-1][1].status != "canceled")
    begins, claimed = [begin for begin, _ in held], set(about.values())
    found: dict[str, int] = {}
    for one in sorted(publications):
        last = one.occurred + DAY_SECONDS - 1 if one.by_day else one.occurred
        place = bisect_right(begins, last if one.stated else one.known) - 1
        if place < 0 or not one.newest or one.period in claimed:
            continue
        begin, uid = held[place]
        sure = begin // DAY_SECONDS == last // DAY_SECONDS if one.stated else place + 1 < len(held)
        if sure and uid not in about:
            found[uid] = one.period
    return found


def _begins(entry: ReleaseCalendarEntry) -> int:
    return midnight(entry.day) if entry.start is None else entry.start


def planned(said: Iterable[Statement]) -> list[Planned]:
    """States of one entry, as its calendar said them over time: one that is elsewhere than before is rescheduled."""
    states: list[Planned] = []
    moved = False
    for known, entry in said:
        begins = _begins(entry)
        moved = moved or bool(states and states[-1][1] != begins)
        status = "rescheduled" if moved and entry.status == "scheduled" else entry.status
        states.append((known, begins, "day" if entry.start is None else "minute", status, entry.url))
    return states


def release_states(
    release: Release,
    place: tuple[str, str],
    announced: Announced,
    published: Iterable[tuple[str, Iterable[Published]]],
    frequency: Frequency,
) -> States:
    """
    States of the events of a release of one place (id, name): announced, released, revised. One event for each period.

    `announced` by the first calendar, in order of preference, that tells of a period; `published` by each source of the
    numbers, in order of preference. What is published without having been announced is a release where it was news, else
    history that came along. It is out when the first source has its number; of those that have it within a day, the
    preferred one's counts.
    """
    out: dict[int, list[tuple[str, Published]]] = defaultdict(list)
    for data, publications in published:
        for publication in publications:
            out[publication.period].append((data, publication))
    by_event: States = {}
    for period in sorted(announced.keys() | out.keys()):
        calendar, told = announced.get(period, (None, ()))
        news = [pair for pair in out[period] if pair[1].news or _announced(pair[1], told)]
        if out[period] and not news:
            # A publication that is still to come is one all the same, of numbers that were out before.
            told = [plan for plan in told if plan[1] > min(one.known for _, one in out[period])]
            if not told:
                continue
        first = min((publication.known for _, publication in news), default=0)
        news.sort(key=lambda pair: pair[1].known >= first + DAY_SECONDS)
        # What a calendar says only afterwards is no announcement.
        before = [plan for plan in told if not news or plan[0] < news[0][1].known]
        if not before:
            calendar = None
        source = news[0][0] if calendar is None else calendar.source
        native = f"{release.type}:{place[0]}" if calendar is None else calendar.native
        about = period_name(period, frequency)
        identifier = event_id(source, native, about)
        zone = "UTC" if calendar is None else calendar.zone
        state = functools.partial(_state, identifier, release, source, place, about, zone)
        states = [state(*plan) for plan in before]
        if news:
            having = tuple(dict.fromkeys(name for name, _ in [*news, *out[period]]))
            states += _out(state, news[0][1], before, having)
        by_event[identifier] = settle(states)
    return by_event


def _announced(publication: Published, told: Iterable[Planned]) -> bool:
    """
    Whether a calendar had announced a publication. Where its time is not stated, it was out before what is announced for
    later: numbers of a first load are no release of the next one.
    """
    known = publication.known
    return any(plan[0] < known and (publication.stated or plan[1] <= known) for plan in told)


def other_states(
    release: Release,
    place: tuple[str, str],
    calendar: ReleaseCalendar,
    others: Mapping[str, tuple[int | None, list[Planned]]],
) -> States:
    """
    States of the events of a release that are named by their entry: nothing says what they are about, or another one is
    about the same. One that is still listed after its time has come out.
    """
    by_event: States = {}
    for uid, (period, states) in others.items():
        about = None if period is None else period_name(period, calendar.frequency)
        identifier = event_id(calendar.source, calendar.native, uid)
        state = functools.partial(_state, identifier, release, calendar.source, place, about, calendar.zone)
        by_event[identifier] = settle(
            [
                state(known, begins, precision, _status_after(status, known, begins, precision), url)
                for known, begins, precision, status, url in states
            ]
        )
    return by_event


def _out(
    state: Callable[..., EventState], publication: Published, before: Sequence[Planned], data: tuple[str, ...]
) -> list[EventState]:
    """A release that is out, and revised if it was."""
    occurred, precision = publication.occurred, "day" if publication.by_day else "minute"
    last = before[-1] if before else None
    if last is not None and last[1] <= publication.known and last[3] != "canceled":
        # Where the publisher does not say when it was, what it had announced is nearer than the time of fetching;
        # and an announced hour says more than a bare day.
        same_day = publication.by_day and last[1] // DAY_SECONDS == publication.occurred // DAY_SECONDS
        if not publication.stated or (same_day and last[2] == "minute"):
            occurred, precision = last[1], last[2]
    url = None if last is None else last[4]
    states = [state(publication.known, occurred, precision, "released", url, data)]
    if publication.revised is not None:
        states.append(state(publication.revised, occurred, precision, "revised", url, data))
    return states


def _state(
    identifier: str, release: Release, source: str, place: tuple[str, str], about: str | None, zone: str,
    known: int, occurred: int, precision: str, status: str, url: str | None = None, data: tuple[str, ...] = (),
) -> EventState:  # fmt: skip
    entity, name = place
    title = f"{name}: {release.name}" if about is None else f"{name}: {release.name}, {about}"
    return EventState(
        event=identifier, known_at=known, occurred_at=occurred, precision=precision, time_zone=zone, category="macro_release",
        type=release.type, title=title, status=status, source=source, entity=entity,
        country=entity, indicator=release.headline, period=about, url=url, data=data,
    )  # fmt: skip


def notice_states(
    entries: Iterable[tuple[int, ReleaseCalendarEntry]], source: str, native: str, place: tuple[str, str]
) -> States:
    """
    States of what a calendar announces and no release of ours is about: a publication of one place (id, name), without
    an indicator. Entries of one period are one event. One that is still listed after its time has come out.
    """
    country, name = place
    said: dict[str, list[tuple[int, ReleaseCalendarEntry]]] = defaultdict(list)
    for _, group in groupby(entries, key=lambda one: one[1].uid):
        statements = list(group)
        told = next((entry.period for _, entry in statements if entry.period is not None), None)
        said[statements[0][1].uid if told is None else told] += statements
    by_event: States = {}
    for about, statements in said.items():
        statements.sort(key=lambda one: (one[0], one[1].uid))
        period = next((entry.period for _, entry in statements if entry.period is not None), None)
        identifier = event_id(source, native, about)
        states = []
        for (known, begins, precision, status, url), (_, entry) in zip(planned(statements), statements, strict=True):
            states.append(
                EventState(
                    event=identifier,
                    known_at=known,
                    occurred_at=begins,
                    precision=precision,
                    time_zone=entry.zone,
                    category="other",
                    type=NOTICE,
                    title=f"{name}: {native}" if period is None else f"{name}: {native}, {period}",
                    status=_status_after(status, known, begins, precision),
                    source=source,
                    entity=country,
                    country=country,
                    period=period,
                    url=url,
                )
            )
        by_event[identifier] = settle(states)
    return by_event


def _status_after(status: str, known: int, begins: int, precision: str) -> str:
    """The status of an entry that its calendar lists: after its time it has happened."""
    over = known >= begins + (DAY_SECONDS if precision == "day" else 0)
    return "released" if over and status in {"scheduled", "rescheduled"} else status


def meeting_states(
    entries: Iterable[tuple[int, ReleaseCalendarEntry]], source: str, native: str, name: str, country: str
) -> States:
    """States of the meetings in a calendar. One that a calendar still lists after its time has been held."""
    found: States = {}
    for uid, said in groupby(entries, key=lambda one: one[1].uid):
        statements = list(said)
        identifier = event_id(source, native, uid)
        states = []
        for (known, begins, precision, status, url), (_, entry) in zip(planned(statements), statements, strict=True):
            held = _status_after(status, known, begins, precision)
            states.append(meeting(identifier, known, begins, precision, entry.zone, held, source, name, country, url))
        found[identifier] = settle(states)
    return found


def meeting(
    identifier: str, known: int, begins: int, precision: str, zone: str, status: str, source: str, name: str,
    country: str, url: str | None,
) -> EventState:  # fmt: skip
    """One state of a meeting at which a bank decides on its policy rate."""
    return EventState(
        event=identifier,
        known_at=known,
        occurred_at=begins,
        precision=precision,
        time_zone=zone,
        category="central_bank",
        type="policy_meeting",
        title=f"{name}: monetary policy decision",
        status=status,
        source=source,
        entity=country,
        country=country,
        indicator="policy_rate",
        url=url,
    )
