"""
The declaration of a tool: its name, its description for a model, its parameters as a small schema, and its read-only
mark.
"""

from __future__ import annotations

import difflib
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.mcpserver.tools import Tool
from mcp_types import CallToolResult, TextContent, ToolAnnotations
from pydantic import ValidationError

from .text.answers import Answer, cut
from .text.refusals import RefusalError

logger = logging.getLogger(__name__)

#: Our wording for faults whose pydantic messages are meant for programmers.
_FAULTS = {
    "missing": "is missing",
    "extra_forbidden": "is no parameter of this tool",
}


def tool(name: str, title: str, description: str, work: Callable[..., Awaitable[Answer]]) -> Tool:
    """Build a tool that always answers in text alone: no output schema, no structured content."""
    made = Tool.from_function(
        work,
        name=name,
        title=title,
        description=description,
        annotations=ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
        structured_output=False,
    )
    model = made.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    made.parameters = _slim(model.model_json_schema(by_alias=True))
    return made


def _slim(schema: dict[str, Any]) -> dict[str, Any]:
    """Reduce the schema to what a model needs, without titles, `or null` and defaults of null."""
    return {
        "type": "object",
        "properties": {name: _property(one) for name, one in schema.get("properties", {}).items()},
        **({"required": schema["required"]} if schema.get("required") else {}),
        "additionalProperties": False,
    }


def _property(schema: dict[str, Any]) -> dict[str, Any]:
    choices = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    merged = {**(choices[0] if len(choices) == 1 else {}), **schema}
    dropped = {"title", "anyOf"} if len(choices) == 1 else {"title"}
    return {
        name: value
        for name, value in merged.items()
        if name not in dropped and not (name == "default" and value is None)
    }


def said(text: str, *, is_error: bool = False) -> CallToolResult:
    """Wrap a text as the result of a tool."""
    return CallToolResult(content=[TextContent(type="text", text=cut(text))], is_error=is_error)


async def answered(work: Awaitable[Answer]) -> CallToolResult:
    """Await an answer and return it as text, or its refusal as a tool error."""
    try:
        return said((await work).text())
    except RefusalError as error:
        return said(error.text(), is_error=True)


def checked(made: Tool, arguments: dict[str, Any]) -> RefusalError | None:
    """Check the arguments of a call. Return a refusal in the tool's own words, or None if they are valid."""
    try:
        made.fn_metadata.validate_arguments(arguments)
    except ValidationError as error:
        return _refusal(made, error)
    return None


def _refusal(made: Tool, error: ValidationError) -> RefusalError:
    known = list(made.parameters["properties"])
    faults = error.errors(include_url=False, include_input=False)
    # A misspelt name also counts as missing; report the misspelling first.
    first = min(faults, key=lambda one: one["type"] != "extra_forbidden")
    name = str(first["loc"][0]) if first["loc"] else ""
    if first["type"] == "extra_forbidden":
        near = difflib.get_close_matches(name, known, 1)
        return RefusalError(
            f"{name!r} is no parameter of {made.name}", allowed=known, suggestion=near[0] if near else None
        )
    schema = made.parameters["properties"].get(name, {})
    fault = _FAULTS.get(first["type"]) or f"cannot be taken: {first['msg'].lower()}"
    if first["type"] == "missing" and schema.get("type") == "string" and "enum" not in schema:
        # "It must be a text" doesn't help, but the description says which text.
        return RefusalError(f"{name!r} {fault}", suggestion=schema.get("description"))
    return RefusalError(f"{name!r} {fault}", allowed=schema.get("enum") or _bounds(schema))


def _bounds(schema: dict[str, Any]) -> object:
    least = schema.get("minimum", schema.get("minItems", schema.get("minLength")))
    most = schema.get("maximum", schema.get("maxItems", schema.get("maxLength")))
    what = {"array": "names", "string": "characters"}.get(schema.get("type", ""), "")
    if least is None or most is None:
        return schema.get("type")
    return f"{least} to {most} {what}".strip()
