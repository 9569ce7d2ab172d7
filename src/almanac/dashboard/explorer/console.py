"""The reference of the interface, from its own description: a list that all can read, and the same in Swagger UI."""

from __future__ import annotations

import functools
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

import msgspec

from almanac.config import Settings
from almanac.dashboard.page import Page
from almanac.dashboard.visit import Answer, Download, Html, Visit

DOCUMENT = "/openapi.json"


def description(visit: Visit) -> Answer:
    """The OpenAPI document, as the interface has it."""
    return Download(visit.api.document(DOCUMENT), "application/json")


def reference(visit: Visit) -> Answer:
    """Every operation with its parameters."""
    return Html("explorer/console.html", {"groups": _operations(visit.api.document(DOCUMENT))})


def swagger(visit: Visit) -> Answer:
    """Show every operation in Swagger UI, which sends requests only where the interface answers pages of this address."""
    sends = may_ask(visit.settings)
    loads = {"img-src": ("data:",)} | ({"connect-src": (_origin(visit.settings.api_address),)} if sends else {})
    return Html(
        "explorer/swagger.html", {"sends": sends, "origin": _origin(visit.settings.dashboard_address)}, loads=loads
    )


def may_ask(settings: Settings) -> bool:
    """Whether the interface answers scripts of the dashboard's pages."""
    return bool({"*", _origin(settings.dashboard_address)} & set(settings.cors_origins))


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


@functools.lru_cache(maxsize=1)
def _operations(document: bytes) -> list[tuple[str, list[dict[str, Any]]]]:
    """Operations by their tags, in the document's order."""
    rows = []
    told = msgspec.json.decode(document)
    for path, methods in told["paths"].items():
        # A HEAD is a GET without its body, and would say all of it twice.
        one = methods["get"]
        parameters = [_parameter(row) for row in one["parameters"]]
        tag = one.get("tags", ["Other"])[0]
        rows.append({
            "tag": tag, "id": one["operationId"], "method": "GET", "path": path, "summary": one["summary"],
            "description": [text for text in one["description"].split("\n\n") if text], "parameters": parameters,
        })  # fmt: skip
    order = {tag: number for number, tag in enumerate(dict.fromkeys(row["tag"] for row in rows))}
    rows.sort(key=lambda row: order[row["tag"]])
    return [(tag, list(of)) for tag, of in groupby(rows, key=lambda row: row["tag"])]


def _parameter(row: dict[str, Any]) -> dict[str, Any]:
    schema = row["schema"]
    inner = schema.get("items", schema)
    words = [inner.get("format") or schema["type"]]
    if "anyOf" in schema:
        words = [" or ".join(one["format"] for one in schema["anyOf"])]
    if "minimum" in schema:
        words.append(
            f"{schema['minimum']} to {schema['maximum']}" if "maximum" in schema else f"{schema['minimum']} or more"
        )
    if "enum" in inner:
        words.append("one of " + ", ".join(map(str, inner["enum"])))
    if "default" in schema:
        words.append(f"{schema['default']} if not given")
    return {
        "name": row["name"],
        "kind": "in the path" if row["in"] == "path" else "required" if row.get("required") else "",
        "about": "; ".join(words),
        "description": row.get("description", ""),
    }


PAGES = (
    Page("/console", reference),
    Page("/console/swagger", swagger),
    Page(DOCUMENT, description),
)
