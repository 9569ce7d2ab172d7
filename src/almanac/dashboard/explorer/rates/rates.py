"""Rates: the seven curves, and one scope's curve, spreads and slopes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

from almanac.dashboard.explorer.finding import series_address
from almanac.dashboard.explorer.known import FieldProblem, day_asked
from almanac.dashboard.explorer.rates import slopes
from almanac.dashboard.explorer.rates.curves import Scope, figure, scopes, year_before, yields
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Html, Redirect, Visit
from almanac.reports.rates import SCOPES, SLOPES, TENORS
from almanac.reports.wording import listed


def listing(visit: Visit) -> Answer:
    """All scopes: their yields and slopes, as known on any day."""
    there = scopes(visit)
    as_of, refused = day_asked(visit)
    found = yields(visit, there, as_of, *slopes.SLUGS)
    values = {
        **_always(as_of, refused),
        "scopes": there,
        "yields": found,
        "slopes": slopes.as_known(there, found),
        "figure": figure(found, None, there, {}),
    }
    return Html("explorer/rates.html", values)


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
    values: dict[str, Any] = {
        **_always(as_of, refused),
        "own": own,
        "others": [one for one in there if one != own],
        "peers": peers,
        "compared": _compared(visit, there, own, peers),
        "rates": rates,
        "yields": found,
        "before": before,
        "slopes": slopes.of_scope(there, own, rates),
        "figure": figure(found, own, peers, before),
        "rows": [own, *(one for one in there if one != own)],
    }
    return Html("explorer/rates_scope.html", values)


def _always(as_of: str | None, refused: list[FieldProblem]) -> dict[str, Any]:
    return {
        "as_of": as_of,
        "errors": refused,
        "tenors": TENORS,
        "slope_names": tuple(SLOPES),
        "series_address": series_address,
    }


def _unsupported(name: str) -> str:
    return f"There are no rates for “{name[:80]}”. There are for {listed(SCOPES)}."


def _chosen(visit: Visit) -> list[str]:
    """Codes in `with`, whether joined by commas or given several times."""
    given = [value for key, value in parse_qsl(visit.query_string) if key == "with"]
    return [code.strip().upper() for value in given for code in value.split(",")]


def _compared(visit: Visit, there: Sequence[Scope], own: Scope, peers: Sequence[Scope]) -> list[dict[str, Any]]:
    """A link for each peer that draws or leaves out its curve."""
    found = []
    for one in there:
        if one == own:
            continue
        codes = [peer.code for peer in peers if peer != one] + ([] if one in peers else [one.code])
        address = visit.here(**{"with": ",".join(codes) or None})
        found.append(
            {
                "title": one.code,
                "href": address,
                "current": one in peers,
                "aloud": f"{one.name}{', drawn' if one in peers else ''}",
            }
        )
    return found


PAGES = (Page("/rates", listing), Page("/rates/{scope}", scope))
