"""What asking would send, found out without sending anything: each request, when it is due, and how long all of them take."""

from __future__ import annotations

import contextlib
from collections.abc import Container, Sequence
from dataclasses import replace

import msgspec

from almanac.catalog.records import Catalog
from almanac.config import Settings
from almanac.domain.cadence import Cadence, Turn
from almanac.domain.reference import Source
from almanac.domain.times import DAY_SECONDS, wire_time
from almanac.pipeline.ingest.asking import plan_of
from almanac.pipeline.ingest.first_load import ANY_KEY, daily
from almanac.pipeline.ingest.register import (
    SLOW_ROUND,
    Portion,
    in_trouble,
    its_day,
    knows_what_it_led_to,
    turns_up,
    wanted,
)
from almanac.pipeline.ingest.worker import all_lacking
from almanac.pipeline.ingest.workload import Workload, in_words, span, together, workload_of
from almanac.sources.base import Request, limit_of
from almanac.sources.formats import strict
from almanac.store.engine import opening
from almanac.store.engine.errors import UnavailableError
from almanac.store.log import requests, schedule


class PlannedRequest(msgspec.Struct, frozen=True, rename="camel"):
    """
    One request. `portion`: `newest`, asked each turn, or `past`, on a slow round. `next`: when it is asked next, None for
    at once. `values`, `bytes`: what its answer holds, as reckoned; `parts`: the separators, of `most` that are read.
    """

    url: str
    portion: str
    next: str | None
    values: int
    bytes: int
    parts: int
    most: int


class SourcePlan(msgspec.Struct, frozen=True, rename="camel"):
    """
    What a source is asked. `next`: when its next turn is, None for at once. `now`: requests that are due at once; `each_turn`:
    those of every turn; `past`: those of the slow round. `seconds`: how long those due take at the publisher's pace, answers
    not counted. `at_once`, `a_day`: what is due at once, and a day on average once all is there, with what answers lead to.
    `answered`: planned requests that have had an answer. `lacks`: what it is not asked without. `leads`: whether answers lead to more than is planned.
    """

    source: str
    turn: str
    next: str | None
    now: int
    each_turn: int
    past: int
    seconds: int
    answered: int
    at_once: Workload
    a_day: Workload
    lacks: list[str]
    leads: bool
    requests: list[PlannedRequest]


def plans(settings: Settings, catalog: Catalog, sources: Sequence[Source]) -> list[SourcePlan]:
    """The plan of each source, by what the store knows of earlier turns; nothing is written, and no store is made."""
    path = opening.place(settings.data_place)
    with contextlib.ExitStack() as stack:
        try:
            db = stack.enter_context(contextlib.closing(opening.connect(path, read_only=True)))
        except UnavailableError:
            db = None
        # A server's database may be there without a store in it, or with that of an earlier version.
        there = () if db is None else db.tables()
        held = schedule.read(db) if db is not None and "turn" in there else {}
        known = {
            source.id: requests.standing(db, source.id) if db is not None and "request" in there else {}
            for source in sources
        }
        return [
            _of_one(settings, catalog, source, held[source.id].turn if source.id in held else Turn(), known[source.id])
            for source in sources
        ]


def _of_one(
    settings: Settings, catalog: Catalog, source: Source, turn: Turn, held: dict[str, requests.RequestState]
) -> SourcePlan:
    lacks, now = all_lacking(settings, source), settings.clock()
    own = settings.sources.get(source.id)
    key = own.key(source.key_setting) if own else None
    reader, plan = plan_of(settings, catalog, source, key=key or (ANY_KEY if source.key_required else None))
    cadence = Cadence(source.cadence) if source.cadence else None
    due = now if cadence is None else turn.due_at(cadence, now)
    portion = Portion.OWED if cadence is not None and turn.owes(cadence, now) else Portion.NEWEST
    asked = wanted(plan, held, portion, now) if due <= now else []
    if not in_trouble(turn.failures, held):
        asked += wanted(plan, held, Portion.PAST, now)
    at_once = {request.url for request in asked}
    stated = catalog.providers[source.provider].limit
    limit = limit_of(source.provider, stated, with_key=bool(key))
    pace = settings.http.requests_per_second
    only_news = knows_what_it_led_to(held)
    if only_news:
        again = turns_up(held, now)
        asked = [
            one if one.news is None or one.news_since is not None else replace(one, news=one.news + again)
            for one in asked
        ]
    at_present = workload_of(asked, pace, limit, only_news=only_news)
    return SourcePlan(
        source=source.id,
        turn=source.turn,
        next=wire_time(due) if due > now else None,
        now=len(asked),
        each_turn=sum(not request.closed for request in plan),
        past=sum(request.closed for request in plan),
        seconds=round(at_present.seconds),
        answered=sum(one.url in held and held[one.url].answered_at is not None for one in plan),
        at_once=at_present.rounded(),
        a_day=daily(source, plan, now, pace, limit).rounded(),
        lacks=lacks,
        leads=reader.leads_further,
        requests=[_request(one, at_once, due, now, known=one.url in held) for one in plan],
    )


def _request(request: Request, at_once: Container[str], due: int, now: int, *, known: bool) -> PlannedRequest:
    slow = request.closed and known
    after = max(due, its_day(request.url, now) + SLOW_ROUND * DAY_SECONDS) if slow else due
    return PlannedRequest(
        url=request.url,
        portion="past" if request.closed else "newest",
        next=None if request.url in at_once else wire_time(after),
        values=request.size.values if request.size else 0,
        bytes=request.size.bytes if request.size else 0,
        parts=request.size.parts if request.size else 0,
        most=strict.PARTS,
    )


def shown(one: SourcePlan) -> dict[str, object]:
    """A source's line of a table."""
    return {
        "source": one.source,
        "turn": one.turn,
        "next": one.next or "now",
        "now": f"{one.now}{' and what they lead to' if one.leads and one.now else ''}",
        "eachTurn": one.each_turn,
        "past": one.past,
        "takes": span(one.seconds),
        "lacks": "; ".join(one.lacks) or "-",
    }


def sums(found: Sequence[SourcePlan]) -> list[str]:
    """What all of them come to: such as are asked today, and what settings would add."""
    asked = [one for one in found if not one.lacks]
    told = [
        f"now: {in_words(together(one.at_once for one in asked))}",
        f"a day, once all is there: {in_words(together(one.a_day for one in asked))}",
    ]
    if lacking := [one for one in found if one.lacks]:
        names = ", ".join(one.source for one in lacking)
        told.append(
            f"more now once {names} have what they lack: {in_words(together(one.at_once for one in lacking))};"
            f" and a day: {in_words(together(one.a_day for one in lacking))}"
        )
    first = [one for one in asked if one.turn == "first" and one.now]
    if first:
        newest = sum(one.at_once.seconds * one.each_turn / one.now for one in first)
        told.append(f"about {span(newest)}, answers not counted, until what rates and briefs need first was asked")
    return told
