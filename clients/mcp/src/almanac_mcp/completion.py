"""Completion of indicator slugs, ISO codes of places, companies and source ids for what a person has typed so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mcp.server.mcpserver import MCPServer
from mcp_types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference

from .asking import Api
from .text.refusals import RefusalError

#: The protocol's limit for one answer.
_MOST = 100


def add(server: MCPServer, api: Callable[[], Api]) -> None:
    """Register the completion with the server."""

    @server.completion()  # type: ignore[no-untyped-call,untyped-decorator]  # the library's own has no annotations
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        what = _kind_of_name(ref, argument.name)
        if what is None:
            return None
        try:
            found = await _found(api(), what, argument.value.strip().lower())
        except RefusalError:
            return None
        return Completion(values=found[:_MOST], total=len(found), has_more=len(found) > _MOST)


def _kind_of_name(ref: PromptReference | ResourceTemplateReference, argument: str) -> str | None:
    """Return the kind of name that an argument takes, or None."""
    if isinstance(ref, ResourceTemplateReference):
        return {"almanac://indicator/{slug}": "indicator", "almanac://source/{id}": "source"}.get(ref.uri)
    return {"country": "place", "place": "place", "indicator": "indicator", "company": "company"}.get(argument)


async def _found(api: Api, what: str, typed: str) -> list[str]:
    if what == "indicator":
        page = await api.page("indicators.list", q=typed[:100] or None, limit=500)
        return _ranked(typed, ((row["slug"], row["name"]) for row in page.rows))
    if what == "source":
        page = await api.page("sources.list", limit=500)
        return _ranked(typed, ((row["id"], row["name"]) for row in page.rows))
    if what == "company":
        page = await api.page("companies.list", q=typed[:100] or None, limit=_MOST)
        return _ranked(typed, ((row["ticker"] or row["entityId"], row["name"]) for row in page.rows))
    page = await api.page("countries.list", limit=500)
    return _ranked(typed, ((row["isoAlpha3"] or row["id"], row["name"]) for row in page.rows))


def _ranked(typed: str, named: Iterable[tuple[str, str]]) -> list[str]:
    """Return the ids of entries whose id or name contains the typed text, those that begin with it first."""
    fitting = [(key, name.lower()) for key, name in named if typed in key.lower() or typed in name.lower()]
    ranked = sorted(
        fitting, key=lambda one: (not one[0].lower().startswith(typed), not one[1].startswith(typed), one[0])
    )
    return [key for key, _ in ranked]
