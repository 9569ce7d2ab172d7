"""Tables of what publishers are asked: each source's way."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

from almanac.catalog.load import shipped
from almanac.domain.reference import Source
from almanac.pipeline.ingest.newest import parted
from almanac.sources.base import Request, connector

from .markdown import table

#: The tables are of one day, since windows grow with the calendar.
_NOW = datetime(2026, 11, 25, 12, tzinfo=UTC)


def asked() -> str:
    """How each source is asked each turn."""
    rows = []
    for source in sorted(shipped().sources.values(), key=lambda one: one.id):
        if source.connector and source.cadence is not None and not source.simulated:
            plan = _plan(source)
            past = sum(request.closed for request in plan)
            rows.append((f"`{source.id}`", str(len(plan) - past), way(plan), str(past)))
    return table(("Source", "Requests of a turn", "What they ask for", "Of the slow round"), rows)


def way(plan: list[Request]) -> str:
    """By which words of a publisher a turn asks for what is new."""
    narrowed = [request for request in plan if request.newest]
    wholes = [urlsplit(request.url) for request in plan if not request.newest]
    words = set()
    for request in narrowed:
        url = urlsplit(request.url)
        query = parse_qs(url.query)
        others = [parse_qs(whole.query) for whole in wholes if whole.path == url.path]
        words |= {name for name, value in query.items() if others and all(other.get(name) != value for other in others)}
    told = [f"from a day on: {', '.join(f'`{word}`' for word in sorted(words))}"] if words else []
    if any(request.news_since is not None for request in plan):
        told.append("what the publisher's lists of news name, and what they lead to")
    if any(request.closed for request in plan) and not narrowed:
        told.append("the newest file or window")
    if not told:
        told.append("all there is: a file, or an answer that is as small")
    return "; ".join(told)


def _plan(source: Source) -> list[Request]:
    key = "a-key" if source.key_required else None
    return parted(connector(source.connector), source, shipped().series.get(source.id, {}), _NOW.date(), key)


TABLES: dict[str, Callable[..., str]] = {"asked": asked}
