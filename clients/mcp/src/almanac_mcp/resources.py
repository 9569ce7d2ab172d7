"""Resources: the guide, and the descriptions of indicators and sources."""

from __future__ import annotations

from collections.abc import Callable

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError

from . import names
from .asking import Api, Record
from .guide import GUIDE
from .text import words
from .text.answers import cut
from .text.refusals import RefusalError


def add(server: MCPServer, api: Callable[[], Api]) -> None:
    """Register the resources with the server."""

    @server.resource("almanac://guide", name="guide", title="How to use Almanac", mime_type="text/markdown")
    def guide() -> str:
        return GUIDE

    @server.resource(
        "almanac://indicator/{slug}", name="indicator", title="One indicator", mime_type="text/plain",
        description="Definition, unit, formula, aliases and span of an indicator.",
    )  # fmt: skip
    async def indicator(slug: str) -> str:
        try:
            return cut(_indicator(await names.indicator(api(), slug)))
        except RefusalError as error:
            raise ResourceNotFoundError(error.text()) from error

    @server.resource(
        "almanac://source/{id}", name="source", title="One source", mime_type="text/plain",
        description="Licence, attribution and terms of a source, and how fresh it is.",
    )  # fmt: skip
    async def source(id: str) -> str:  # noqa: A002  (the name in the address)
        try:
            page = await api().page("sources.list", limit=500)
        except RefusalError as error:
            raise ResourceError(error.text()) from error
        found = {row["id"].lower(): row for row in page.rows}
        if id.lower() not in found:
            near = [{"id": key, "name": row["name"]} for key, row in found.items() if id.lower() in key]
            raise ResourceNotFoundError(f"there is no source {words.plain(id)!r}; {_near(near)}")
        return cut(_source(found[id.lower()]))


def _near(found: list[Record]) -> str:
    return (
        "candidates: " + ", ".join(one["id"] for one in found[:3]) if found else "answers name sources in their footers"
    )


def _indicator(record: Record) -> str:
    lines = [
        f"{record['slug']}: {record['name']}",
        record["description"],
        f"kind: {record['kind']}; category: {record['category']}; unit: {record['unitLabel'] or 'that of each series'}",
        (
            f"frequencies: {', '.join(record['frequencies']) or 'none'}; series: {record['seriesCount']}; "
            f"entities: {record['entityCount']}"
        ),
        f"periods: {words.day(record['firstPeriod'])} to {words.day(record['lastPeriod'])}",
    ]
    if record["formula"]:
        inputs = ", ".join(words.slug(one) for one in record["inputs"])
        lines.append(f"formula: {record['formula']} of {inputs}")
    if record["aliases"]:
        lines.append(f"aliases: {', '.join(record['aliases'])}")
    return "\n".join(words.plain(line) for line in lines)


def _source(record: Record) -> str:
    rights = record["rights"]
    shown = "are shown" if rights["redistributable"] else f"are withheld: {rights['reason']}; do not estimate"
    lines = [
        f"{record['id']}: {record['name']}, of {record['providerId']}",
        record["description"],
        f"licence: {rights['license']}; attribution: {rights['attribution']}",
        f"values {shown}",
        f"commercial use: {rights['commercialUse']}",
        f"terms: {rights['termsUrl'] or 'nowhere public'}",
        (
            f"periods: {words.day(record['firstPeriod'])} to {words.day(record['lastPeriod'])}; "
            f"{'keeps' if record['storesVintages'] else 'does not keep'} former states of its values"
        ),
        f"health: {record['health']}; {record['freshnessStatus']}; last read {words.instant(record['lastSuccessAt'])}",
    ]
    return "\n".join(words.plain(line) for line in lines)
