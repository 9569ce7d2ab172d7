"""Rates: the seven curves, and one scope's curve, spreads and slopes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from almanac.dashboard.drawing.figure import ChartFigure
from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.known import FieldProblem, day_asked
from almanac.dashboard.explorer.rates import slopes
from almanac.dashboard.explorer.rates.curves import Row, Scope, Yields, figure, scopes, year_before, yields
from almanac.dashboard.explorer.rates.slopes import Slopes
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, Redirect, Visit
from almanac.reports.rates import SCOPES, SLOPES, TENORS
from almanac.reports.wording import listed

#: What the templates of both pages are given beside their models.
_ALWAYS = {"tenors": TENORS, "slope_names": tuple(SLOPES), "series_address": series_address}


class RatesPage(msgspec.Struct, frozen=True):
    """All scopes: their yields and slopes."""

    #: The day that they are known on, None for today; and what the interface has against the one that was asked for.
    as_of: str | None
    errors: list[FieldProblem]
    scopes: list[Scope]
    yields: Yields
    slopes: Slopes
    figure: ChartFigure


class PeerLink(msgspec.Struct, frozen=True):
    """A link that draws the curve of a peer or, where it is drawn already, leaves it out."""

    title: str
    href: str
    current: bool
    aloud: str


class ScopePage(msgspec.Struct, frozen=True):
    """One scope: its curve, spreads and slopes."""

    #: As those of `RatesPage`.
    as_of: str | None
    errors: list[FieldProblem]
    own: Scope
    others: list[Scope]
    #: Those of the others whose curves are drawn too.
    peers: list[Scope]
    compared: list[PeerLink]
    #: The analytics, as the interface has them; None where nothing was known on the day.
    rates: dict[str, Any] | None
    yields: Yields
    #: The yields of a year before, by tenor.
    before: Mapping[str, Row]
    slopes: Slopes
    figure: ChartFigure
    #: Scopes in the order of the tables, its own first.
    rows: list[Scope]


def listing(visit: Visit) -> Answer:
    """All scopes: their yields and slopes, as known on any day."""
    there = scopes(visit)
    as_of, refused = day_asked(visit)
    found = yields(visit, there, as_of, *slopes.SLUGS)
    page = RatesPage(
        as_of=as_of,
        errors=refused,
        scopes=there,
        yields=found,
        slopes=slopes.as_known(there, found),
        figure=figure(found, None, there, {}),
    )
    return Html("explorer/rates.html", _ALWAYS | msgspec.structs.asdict(page))


def scope(visit: Visit) -> Answer:
    """One scope: what the analytics say of it, today or as known on a past day."""
    there = scopes(visit)
    name = visit.values["scope"]
    as_of, refused = day_asked(visit)
    # The analytics of today take no day: of a past one they tell which scope is meant, and no number of theirs is shown.
    told = (visit.ask_known if as_of is None else visit.look_up)(f"/rates/{name}")
    if told is None:
        return Html("explorer/rates_none.html", {"text": _unsupported(name), "scopes": there}, 404)
    rates = told.data
    if rates["scope"] != name:
        return Redirect(visit.here().replace(visit.path, f"/rates/{rates['scope']}", 1), 301)
    own = next(one for one in there if one.code == rates["scope"])
    chosen = _chosen(visit)
    peers = [one for one in there if one.code in chosen and one != own]
    if as_of is not None:
        past = visit.ask(f"/rates/{own.code}/history", as_of=as_of).data
        rates = past[0] if past else None
    found = yields(visit, there, as_of)
    before = year_before(visit, own, found.newest(own), as_of)
    others = [one for one in there if one != own]
    page = ScopePage(
        as_of=as_of,
        errors=refused,
        own=own,
        others=others,
        peers=peers,
        compared=_compared(visit, there, own, peers),
        rates=rates,
        yields=found,
        before=before,
        slopes=slopes.of_scope(there, own, rates),
        figure=figure(found, own, peers, before),
        rows=[own, *others],
    )
    return Html("explorer/rates_scope.html", _ALWAYS | msgspec.structs.asdict(page))


def _unsupported(name: str) -> str:
    return f"There are no rates for “{name[:80]}”. There are for {listed(SCOPES)}."


def _chosen(visit: Visit) -> list[str]:
    """Codes in `with`, whether joined by commas or given several times."""
    given = [value for key, value in parse_qsl(visit.query_string) if key == "with"]
    return [code.strip().upper() for value in given for code in value.split(",")]


def _compared(visit: Visit, there: Sequence[Scope], own: Scope, peers: Sequence[Scope]) -> list[PeerLink]:
    found = []
    for one in there:
        if one == own:
            continue
        codes = [peer.code for peer in peers if peer != one] + ([] if one in peers else [one.code])
        address = visit.here(**{"with": ",".join(codes) or None})
        found.append(
            PeerLink(
                title=one.code,
                href=address,
                current=one in peers,
                aloud=f"{one.name}{', drawn' if one in peers else ''}",
            )
        )
    return found


PAGES = (Page("/rates", listing), Page("/rates/{scope}", scope))
