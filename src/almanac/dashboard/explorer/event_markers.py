"""
Official events of what lines are of, as marks under the time axis of their chart: none unless the address asks.

`events=own` marks releases of the lines: events that name their indicator or another one that comes out with it; of a company its
reports and results. `events=all` marks every event of their countries, regions and companies. An
event that was not known on the day asked for is not among them: the interface is asked as of that day.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

import msgspec

from almanac.dashboard.drawing.lines import EventMark
from almanac.dashboard.explorer.calendar import targets
from almanac.dashboard.explorer.places import called
from almanac.dashboard.formatting.captions import few
from almanac.dashboard.formatting.dates import day, day_of, event_title
from almanac.dashboard.visit import Visit
from almanac.reports.wording import country
from almanac.store.state_memory import Remembered

Row = Mapping[str, Any]
OWN, ALL = "own", "all"
#: Marks of one page: more are no calm picture, and a page is not to grow with them.
MOST = 120
#: Events of a company that bring numbers of its statements, by type.
REPORTS = ("annual_report", "quarterly_report", "foreign_issuer_report", "results", "statements_not_reliable")
#: Indicators that one request may name; and states of events that need no word.
_NAMED = 100
_HAPPENED = {"released", "revised"}
#: By indicator and entity the indicator that its release is known by. So many are kept.
_HEADLINES: Remembered[dict[tuple[str, str], str]] = Remembered("headlines of releases", lambda _: {})
_KEPT = 5_000
#: What each computed indicator is computed from, both as slugs.
_INPUTS: Remembered[dict[str, tuple[str, ...]]] = Remembered("inputs of indicators", lambda _: {})


class EventSubject(msgspec.Struct, frozen=True):
    """The subject of a line: an indicator (slug) of a country, region or company (id and name)."""

    indicator: str
    entity: str
    place: str
    company: bool = False

    @classmethod
    def of(cls, indicator: str, entity: Row) -> EventSubject:
        """Return the subject of a line, by a record of `/entities/resolve`."""
        return cls(indicator, entity["entityId"], called(entity), entity["type"] == "company")

    @property
    def named(self) -> str:
        """Its place within a sentence: `the United States`."""
        return self.place if self.company else country(self.place)


class MarkedEvent(msgspec.Struct, frozen=True):
    """One event: its mark, where it leads, and the subjects that it is an event of."""

    mark: EventMark
    href: str
    subjects: Collection[EventSubject]


class MarkedEvents(msgspec.Struct, frozen=True):
    """Events of a page, newest first."""

    chosen: str = ""
    events: Sequence[MarkedEvent] = ()
    #: A sentence on what is marked, or on what was asked for and is none.
    words: str = ""
    #: Other choices: words and address.
    links: Sequence[tuple[str, str]] = ()

    @property
    def marks(self) -> list[EventMark]:
        """All marks, oldest first, as they are drawn."""
        return [one.mark for one in reversed(self.events)]

    @property
    def listed(self) -> list[tuple[str, str]]:
        """Each as a text with where it leads, newest first."""
        return [(one.mark.words, one.href) for one in self.events]

    def marks_of(self, subjects: Iterable[EventSubject]) -> list[EventMark]:
        """Return marks of some of the subjects, oldest first."""
        wanted = set(subjects)
        return [one.mark for one in reversed(self.events) if not wanted.isdisjoint(one.subjects)]


def related(visit: Visit, indicator: str) -> list[str]:
    """
    Return indicators that come out with this one by their formulas: itself, what it is computed from, down to what is published, and
    what is computed from that at once. For an event names one number of a release: a growth rate rather than its index, say.
    """
    inputs = _inputs(visit)
    found = [indicator]
    for name in found:  # which grows by what is found
        found += [one for one in inputs.get(name, ()) if one not in found]
    published = {name for name in found if name not in inputs}
    found += sorted(name for name, those in inputs.items() if name not in found and not published.isdisjoint(those))
    return found[:_NAMED]


def _named_by_events(visit: Visit, subject: EventSubject) -> list[str]:
    """Return indicators that an event names which is a release of a subject: those of its formulas, and the headlines of their releases."""
    found = related(visit, subject.indicator)
    kept = visit.api.remembered(_HEADLINES)
    for name in tuple(found):
        key = (name, subject.entity)
        if key not in kept:
            told = visit.look_up("/release-summaries", indicator=name, country=subject.entity, limit=1)
            # The readings of a release begin with its headline, which its event names.
            newest = None if told is None or not told.data else told.data[0]["readings"][0]["indicatorId"]
            if newest is None:
                continue  # which another plan may see
            if len(kept) >= _KEPT:
                kept.clear()
            kept[key] = _slug(newest)
        if kept[key] not in found:
            found.append(kept[key])
    return found[:_NAMED]


def marked(
    visit: Visit,
    charts: Sequence[Sequence[EventSubject]],
    first: date,
    *,
    as_of: str | None,
    until: str | None = None,
) -> MarkedEvents:
    """
    Return the events of the subjects of a page's charts from a day on, as known on `as_of` (None: today) and up to then; `until` is
    that moment as the interface writes it, where the page has it. The newest, as many as make no more marks than a page has.
    Raises ApiError as the interface refuses it.
    """
    chosen = visit.query.get("events", "")
    subjects = list(dict.fromkeys(one for chart in charts for one in chart))
    names = _names(subjects)
    links = [
        (f"Mark {'all ' if name == ALL else ''}{several}", visit.here(events=name))
        for name, (_, several) in names.items()
        if name != chosen
    ]
    if chosen not in names:
        wrong = f"“{chosen[:40]}” in `events` is neither {OWN} nor {ALL}." if chosen else ""
        return MarkedEvents(words=wrong, links=links)
    # By subject the indicators that an event of it names; None: any event of the entity is one.
    own = {one: None if chosen == ALL or one.company else _named_by_events(visit, one) for one in subjects}
    rows: list[Row] = []
    more = False
    for narrowed in _narrowed(own, chosen):
        told = visit.ask(
            "/events",
            **narrowed,
            start_date=first,
            end_date=until or as_of or visit.today,
            order="desc",
            limit=MOST,
            as_of=as_of,
        )
        rows += told.data
        more = more or told.next_cursor is not None
    rows.sort(key=lambda row: (row["occurredAt"], row["id"]), reverse=True)
    more = more or len(rows) > MOST
    leads = targets(visit, rows[:MOST], as_of)
    several = len({one.entity for one in subjects}) > 1
    events = []
    left = MOST
    for row in rows[:MOST]:
        if row["status"] == "canceled":
            continue
        about = _slug(row["indicatorId"] or "")
        whose = [
            one for one, named in own.items() if row["entityId"] == one.entity and (named is None or about in named)
        ]
        left -= sum(not set(whose).isdisjoint(chart) for chart in charts)
        if left < 0:
            more = True
            break
        mark = EventMark(day_of(row["occurredAt"]).toordinal(), _words(row, whose[0].place, several=several))
        events.append(MarkedEvent(mark, leads.get(row["id"], ""), whose))
    links.append(("Mark none", visit.here(events=None)))
    return MarkedEvents(chosen, events, _sentence(*names[chosen], len(events), more=more), links)


def _names(subjects: Sequence[EventSubject]) -> dict[str, tuple[str, str]]:
    """Return what is marked by each choice: one, and several."""
    places = list(dict.fromkeys(one.named for one in subjects))
    companies = sum(one.company for one in subjects)
    if companies == len(subjects):
        whose = "this company" if len(places) == 1 else "these companies"
        own = (f"report of {whose}", f"reports of {whose}")
    else:
        what = ("release or report", "releases and reports") if companies else ("release", "releases")
        whose = "this series" if len(subjects) == 1 else "these series"
        own = (f"{what[0]} of {whose}", f"{what[1]} of {whose}")
    return {OWN: own, ALL: (f"event of {few(places)}", f"events of {few(places)}")}


def _narrowed(own: Mapping[EventSubject, Sequence[str] | None], chosen: str) -> list[dict[str, Any]]:
    """Return what the interface is asked for: one request for all entities of which the same is wanted."""
    if chosen == ALL:
        return [{"entity_id": list(dict.fromkeys(one.entity for one in own))}]
    named: dict[str, dict[str, None]] = {}
    for one, indicators in own.items():
        named.setdefault(one.entity, {}).update(dict.fromkeys(indicators or ()))
    groups: dict[tuple[str, ...], list[str]] = {}
    for entity, names in named.items():
        groups.setdefault(tuple(names)[:_NAMED], []).append(entity)
    return [
        {"entity_id": entities} | ({"indicator_id": list(slugs)} if slugs else {"type": list(REPORTS)})
        for slugs, entities in groups.items()
    ]


def _inputs(visit: Visit) -> Mapping[str, Sequence[str]]:
    """Return what each computed indicator is computed from; the same for everybody."""
    kept = visit.api.remembered(_INPUTS)
    if not kept:
        rows = [row for page in visit.pages("/indicators", kind="derived", limit=500) for row in page.data]
        # Whole or not at all: another thread may read it meanwhile.
        kept.update({row["slug"]: tuple(map(_slug, row["inputs"])) for row in rows})
    return kept


def _slug(indicator: str) -> str:
    return indicator.removeprefix("indicator_")


def _words(row: Row, place: str, *, several: bool) -> str:
    """
    `16 Nov 2026: Consumer prices, October 2026`; with the place where the chart is of several, and with the state where nothing
    came out.
    """
    title = event_title(row["title"])
    state = "" if row["status"] in _HAPPENED else f" ({row['status']})"
    bare = title.removeprefix(f"{place}: ")
    # Titles of filings begin with the company's name as it was filed.
    told = several and (bare != title or not title.casefold().startswith(place.casefold()))
    return f"{day(row['occurredAt'])}{f', {place}' if told else ''}: {bare}{state}"


def _sentence(one: str, several: str, count: int, *, more: bool) -> str:
    if not count:
        return f"No {several} are known in this range."
    if more:
        return f"The newest {count} {several} are marked under the axis; there are more in this range."
    return f"{count} {one if count == 1 else several} {'is' if count == 1 else 'are'} marked under the axis."
