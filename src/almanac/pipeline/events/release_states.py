"""
States of events about releases, meetings and policy rates, from calendars and vintages. Pure.

A state follows from everything known about its event, whatever the order of arrival.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from itertools import groupby
from typing import NamedTuple

from msgspec.structs import replace

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

#: Event type of calendar entries without a release of ours.
NOTICE = "publication"

#: A calendar's statement on an entry, with its knowledge time.
Statement = tuple[int, ReleaseCalendarEntry]
States = dict[str, list[EventState]]


class Planned(NamedTuple):
    """A calendar's statement on a publication. `known` and `begins` are unix seconds, `precision` is `minute` or `day`."""

    known: int
    begins: int
    precision: str
    status: str
    url: str | None = None


#: For each period the calendar that covers it, and its statements.
Announced = dict[int, tuple[ReleaseCalendar, list[Planned]]]


def by_days(
    days: Iterable[tuple[int, int]], calendar: ReleaseCalendar, spoken: Collection[int] = ()
) -> dict[int, list[Planned]]:
    """
    Return the announcements of each period, from a calendar's days and when each became known (`store.releases.days`).

    A day counts if it was announced before it was over, and is not in `spoken`, the days covered by entries of another
    calendar. If a period has one publication only, a later day for it is a move.
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
            planned.append(Planned(known, begins, "day", "scheduled"))
        elif calendar.estimates == 1 and planned[-1].known < known < planned[-1].begins:
            planned.append(Planned(known, begins, "day", "rescheduled"))
    return dict(found)


class Entries(NamedTuple):
    """Announcements by period, and by uid those that stand for a publication of their own."""

    by_period: dict[int, list[Planned]]
    #: With the period, or None if it is unknown.
    others: dict[str, tuple[int | None, list[Planned]]]


def by_entries(
    entries: Iterable[Statement], calendar: ReleaseCalendar, publications: Iterable[Published] = ()
) -> Entries:
    """
    Return the announcements from the entries of a calendar (`store.releases.entries`).

    An entry's period is the one it states itself, or else what the publisher's schedule says for its day, or else what
    was published with it; it is never guessed from the day. No entry replaces another: if one payload lists two for one
    period, the first gets it and the other is a publication of its own.
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
    """Return the period of an entry as it says itself, or else by the publisher's schedule. The latest statement counts."""
    newest_first = [entry for _, entry in reversed(states)]
    told = [entry.period for entry in newest_first] + [calendar.schedule.get(entry.day) for entry in newest_first]
    return next((Period.parse(name).key for name in told if name is not None), None)


def _came_out_with(
    said: Mapping[str, Sequence[Statement]], about: Mapping[str, int], publications: Iterable[Published]
) -> dict[str, int]:
    """
    Assign periods to entries by the numbers published with them, for entries whose period nothing else states.

    Numbers with a stated time came with the entry of that day. Others were first seen at a random later time: they came
    with the last entry before it, provided the calendar also lists the next one, so that no entry between them is
    missing.
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
    """Return the states of one entry over time. An entry that has moved is `rescheduled`."""
    states: list[Planned] = []
    moved = False
    for known, entry in said:
        begins = _begins(entry)
        moved = moved or bool(states and states[-1].begins != begins)
        status = "rescheduled" if moved and entry.status == "scheduled" else entry.status
        states.append(Planned(known, begins, "day" if entry.start is None else "minute", status, entry.url))
    return states


def release_states(
    release: Release,
    place: tuple[str, str],
    announced: Announced,
    published: Iterable[tuple[str, Iterable[Published]]],
    frequency: Frequency,
) -> States:
    """
    Return the states of the events of a release in one place (id, name), one event per period: announced, released,
    revised.

    `announced` comes from the first calendar, by preference, that mentions the period; `published` from each source of
    the numbers, by preference. A publication that was not announced counts as a release only if it was news; otherwise
    it is history that came along. The release is out when the first source has its number; among sources that have it
    within a day, the preferred one counts.
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
            # A planned publication counts, even if its numbers were out before.
            told = [plan for plan in told if plan.begins > min(one.known for _, one in out[period])]
            if not told:
                continue
        first = min((publication.known for _, publication in news), default=0)
        news.sort(key=lambda pair: pair[1].known >= first + DAY_SECONDS)
        # What a calendar says only afterwards is not an announcement.
        before = [plan for plan in told if not news or plan.known < news[0][1].known]
        if not before:
            calendar = None
        source = news[0][0] if calendar is None else calendar.source
        native = f"{release.type}:{place[0]}" if calendar is None else calendar.native
        about = period_name(period, frequency)
        identifier = event_id(source, native, about)
        zone = "UTC" if calendar is None else calendar.zone
        event = _release_event(identifier, release, source, place, about, zone)
        states = [in_state(event, plan) for plan in before]
        if news:
            having = tuple(dict.fromkeys(name for name, _ in [*news, *out[period]]))
            states += _out(replace(event, data=having), news[0][1], before)
        by_event[identifier] = settle(states)
    return by_event


def _announced(publication: Published, told: Iterable[Planned]) -> bool:
    """
    Return whether a calendar had announced a publication.

    A publication without a stated time was out before anything announced for later: numbers of a first load do not
    belong to the next release.
    """
    known = publication.known
    return any(plan.known < known and (publication.stated or plan.begins <= known) for plan in told)


def other_states(
    release: Release,
    place: tuple[str, str],
    calendar: ReleaseCalendar,
    others: Mapping[str, tuple[int | None, list[Planned]]],
) -> States:
    """
    Return the states of a release's events that are identified by their entry, because its period is unknown or taken
    by another entry.

    An entry still listed after its time counts as released.
    """
    by_event: States = {}
    for uid, (period, states) in others.items():
        about = None if period is None else period_name(period, calendar.frequency)
        identifier = event_id(calendar.source, calendar.native, uid)
        event = _release_event(identifier, release, calendar.source, place, about, calendar.zone)
        by_event[identifier] = settle([in_state(event, _over(plan)) for plan in states])
    return by_event


def _out(event: EventState, publication: Published, before: Sequence[Planned]) -> list[EventState]:
    """Return the state of a release that is out and, if it was revised, the revised state."""
    occurred, precision = publication.occurred, "day" if publication.by_day else "minute"
    last = before[-1] if before else None
    if last is not None and last.begins <= publication.known and last.status != "canceled":
        # If the publisher doesn't state the time, the announced one is closer than the time of fetching; and an
        # announced hour says more than a day.
        same_day = publication.by_day and last.begins // DAY_SECONDS == publication.occurred // DAY_SECONDS
        if not publication.stated or (same_day and last.precision == "minute"):
            occurred, precision = last.begins, last.precision
    out = Planned(publication.known, occurred, precision, "released", None if last is None else last.url)
    states = [in_state(event, out)]
    if publication.revised is not None:
        states.append(in_state(event, out._replace(known=publication.revised, status="revised")))
    return states


def event_of(
    identifier: str, category: str, kind: str, title: str, source: str, country: str, zone: str = "UTC"
) -> EventState:
    """Build an event of a country without a time; `in_state` adds that."""
    return EventState(
        event=identifier,
        known_at=0,
        occurred_at=0,
        precision="day",
        time_zone=zone,
        category=category,
        type=kind,
        title=title,
        status="scheduled",
        source=source,
        entity=country,
        country=country,
    )


def in_state(event: EventState, plan: Planned) -> EventState:
    """Return the state of an event that a plan describes."""
    known, begins, precision, status, url = plan
    return replace(event, known_at=known, occurred_at=begins, precision=precision, status=status, url=url)


def _release_event(
    identifier: str, release: Release, source: str, place: tuple[str, str], about: str | None, zone: str
) -> EventState:
    country, name = place
    title = f"{name}: {release.name}" if about is None else f"{name}: {release.name}, {about}"
    event = event_of(identifier, "macro_release", release.type, title, source, country, zone)
    return replace(event, indicator=release.headline, period=about)


def _entry_states(event: EventState, statements: Sequence[Statement]) -> list[EventState]:
    """Return the states of an event that calendar entries describe."""
    return settle(
        [
            in_state(replace(event, time_zone=entry.zone), _over(plan))
            for plan, (_, entry) in zip(planned(statements), statements, strict=True)
        ]
    )


def notice_states(
    entries: Iterable[tuple[int, ReleaseCalendarEntry]], source: str, native: str, place: tuple[str, str]
) -> States:
    """
    Return the states of calendar entries without a release of ours: publications of one place (id, name), without an
    indicator.

    Entries for one period form one event. An entry still listed after its time counts as released.
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
        title = f"{name}: {native}" if period is None else f"{name}: {native}, {period}"
        event = event_of(identifier, "other", NOTICE, title, source, country)
        by_event[identifier] = _entry_states(replace(event, period=period), statements)
    return by_event


def _over(plan: Planned) -> Planned:
    """Return a listed entry as released once its time has passed."""
    is_over = plan.known >= plan.begins + (DAY_SECONDS if plan.precision == "day" else 0)
    return plan._replace(status="released") if is_over and plan.status in {"scheduled", "rescheduled"} else plan


def meeting_states(entries: Iterable[Statement], source: str, native: str, name: str, country: str) -> States:
    """Return the states of the meetings in a calendar. A meeting still listed after its time counts as held."""
    found: States = {}
    for uid, said in groupby(entries, key=lambda one: one[1].uid):
        identifier = event_id(source, native, uid)
        found[identifier] = _entry_states(meeting(identifier, source, name, country), list(said))
    return found


def meeting(identifier: str, source: str, name: str, country: str, zone: str = "UTC") -> EventState:
    """Build the event of a bank's policy rate meeting, without a time."""
    title = f"{name}: monetary policy decision"
    event = event_of(identifier, "central_bank", "policy_meeting", title, source, country, zone)
    return replace(event, indicator="policy_rate")
