"""Tables of the interface: endpoints, parameters, records, errors, plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from almanac.api.contract.endpoint import Endpoint
from almanac.api.contract.errors import CODES
from almanac.api.contract.openapi import document
from almanac.api.contract.params import Param
from almanac.api.interface import endpoints

from .markdown import code, table

_ANSWERS = {"list": "list", "item": "single object", "json": "bare JSON", "text": "plain text"}


def every() -> tuple[Endpoint, ...]:
    """All endpoints as declared. The formulas are not needed to describe them."""
    return endpoints(lambda _view, _row: None)


def overview() -> str:
    """One line per endpoint."""
    rows = [
        (f"`GET {one.path}`", one.summary, f"`{one.scope}`" if one.scope else "any live key", _ANSWERS[one.kind])
        for one in every()
    ]
    return table(("Operation", "Returns", "Scope", "Answer"), rows)


def endpoint(path: str) -> str:
    """One endpoint: what it does, then its parameters. Raises KeyError for a path that is not declared."""
    one = {e.path: e for e in every()}[path]
    scope = f"Scope `{one.scope}`." if one.scope else "Any live key will do."
    return "\n\n".join(
        (f"{one.summary}. {one.description}".strip(), f"Answer: {answer(one)}. {scope}", parameters(one))
    )


def parameters(one: Endpoint) -> str:
    """The query parameters of an endpoint, or a sentence that there are none."""
    if not one.by_name:
        return "It takes no query parameter."
    rows = [(f"`{p.name}`", _kind(p), _default(p), meaning(p)) for p in one.by_name.values()]
    return table(("Parameter", "Value", "Default", "Meaning"), rows)


def answer(one: Endpoint) -> str:
    """Return a description of an endpoint's answer."""
    name = f" of `{one.record.__name__}`" if one.record is not None else ""
    return {
        "list": f"list{name}",
        "item": f"single object{name}",
        "json": "a JSON document outside the envelope",
        "text": "plain text outside the envelope",
    }[one.kind]


def _kind(param: Param) -> str:
    if param.kind == "integer":
        low = param.minimum or 0
        return f"{low} or more" if param.maximum is None else f"{low} to {param.maximum}"
    if param.kind == "enum":
        return code(param.names)
    if param.kind == "list":
        return f"comma-separated, at most {param.maximum} of {param.longest} characters"
    if param.kind == "time":
        return "date or time"
    if param.kind == "period":
        return "period"
    return f"text, at most {param.longest:,} characters"


def _default(param: Param) -> str:
    if param.required:
        return "required"
    return "" if param.default is None else f"`{param.default}`"


def meaning(param: Param) -> str:
    """Return the description of a parameter, with an example."""
    example = f" Example: `{param.example}`." if param.example else ""
    return param.description + example


def errors() -> str:
    """One line per status."""
    responses = document(every())["components"]["responses"]
    rows = [(str(status), f"`{word}`", responses[str(status)]["description"]) for status, word in CODES.items()]
    return table(("Status", "`error.code`", "Meaning"), rows)


def records() -> str:
    """Every record that an endpoint answers with, and the records inside it, each once, as /openapi.json describes them."""
    schemas = document(every())["components"]["schemas"]
    names = dict.fromkeys(
        name for one in every() if one.record is not None for name in with_inner(schemas, one.record.__name__)
    )
    return "\n\n".join(f"#### {name}\n\n{record(schemas[name])}" for name in names)


def with_inner(schemas: Mapping[str, Any], name: str) -> Iterator[str]:
    """A record's name, and those of the records inside it, as they come."""
    yield name
    for field in schemas[name]["properties"].values():
        for inner in _refs(field):
            yield from with_inner(schemas, inner)


def _refs(schema: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in schema:
        yield schema["$ref"].rpartition("/")[2]
    for inner in (schema.get("items"), schema.get("additionalProperties"), *schema.get("anyOf", ())):
        if isinstance(inner, dict):
            yield from _refs(inner)


def record(schema: Mapping[str, Any]) -> str:
    """Return the description of a record and the table of its fields."""
    rows = [
        (f"`{field}`" + ("" if field in schema["required"] else ", if it applies"), _type(told), told["description"])
        for field, told in schema["properties"].items()
    ]
    words = " ".join(schema["description"].split())
    return f"{words}\n\n{table(('Field', 'Type', 'Meaning'), rows)}"


_WORDS = {"string": "string", "integer": "integer", "number": "number", "boolean": "true or false"}
_FORMATS = {"date-time": "time", "date": "day", "uri": "address", "uri-reference": "address"}


def _type(schema: Mapping[str, Any]) -> str:
    """Words for a type, and whether it may be null."""
    if "anyOf" in schema:
        return " or ".join("null" if one.get("type") == "null" else _type(one) for one in schema["anyOf"])
    if "$ref" in schema:
        return f"`{schema['$ref'].rpartition('/')[2]}`"
    if "enum" in schema:
        return code(schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema['items'])}"
    if schema.get("type") == "object":
        inner = schema.get("additionalProperties")
        return f"object of {_type(inner)}" if isinstance(inner, dict) else "object"
    return _FORMATS.get(schema.get("format", "")) or _WORDS[schema["type"]]


TABLES: dict[str, Callable[..., str]] = {
    "endpoints": overview,
    "endpoint": endpoint,
    "errors": errors,
    "records": records,
}
