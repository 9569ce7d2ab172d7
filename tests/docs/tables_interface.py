"""Tables of the interface: endpoints, parameters, records, errors, plans."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec
from msgspec import inspect

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
    told = [f"{one.summary}. {one.description}".strip(), f"Answer: {_answer(one)}. {scope}"]
    if one.by_name:
        rows = [(f"`{p.name}`", _kind(p), _default(p), _meaning(p)) for p in one.by_name.values()]
        told.append(table(("Parameter", "Value", "Default", "Meaning"), rows))
    else:
        told.append("It takes no query parameter.")
    return "\n\n".join(told)


def _answer(one: Endpoint) -> str:
    name = f" of `{one.record.__name__}`" if one.record is not None else ""
    return {
        "list": f"list{name}",
        "item": f"single object{name}",
        "json": "a JSON document outside the envelope",
        "text": "plain text outside the envelope",
    }[one.kind]


def _kind(param: Param) -> str:
    if param.kind == "integer":
        return f"{param.minimum} to {param.maximum}"
    if param.kind == "enum":
        return code(param.names)
    if param.kind == "list":
        return f"comma-separated, at most {param.maximum}"
    if param.kind == "time":
        return "date or time"
    if param.kind == "period":
        return "period"
    return "text" if param.maximum is None else f"text, at most {param.maximum} characters"


def _default(param: Param) -> str:
    if param.required:
        return "required"
    return "" if param.default is None else f"`{param.default}`"


def _meaning(param: Param) -> str:
    example = f" Example: `{param.example}`." if param.example else ""
    return param.description + example


def errors() -> str:
    """One line per status."""
    responses = document(every())["components"]["responses"]
    rows = [(str(status), f"`{word}`", responses[str(status)]["description"]) for status, word in CODES.items()]
    return table(("Status", "`error.code`", "Meaning"), rows)


def records() -> str:
    """Every record that an endpoint answers with, and the records inside it, each once."""
    seen: dict[str, type[msgspec.Struct]] = {}
    for one in every():
        if one.record is not None:
            for struct in _structs(one.record):
                seen.setdefault(struct.__name__, struct)
    return "\n\n".join(_record(struct) for struct in seen.values())


def _structs(struct: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    yield struct
    for field in _fields(struct):
        yield from _inside(field.type)


def _inside(kind: inspect.Type) -> Iterator[type[msgspec.Struct]]:
    if isinstance(kind, inspect.StructType):
        yield from _structs(kind.cls)
    elif isinstance(kind, inspect.ListType):
        yield from _inside(kind.item_type)
    elif isinstance(kind, inspect.UnionType):
        for one in kind.types:
            yield from _inside(one)


def _fields(struct: type[msgspec.Struct]) -> tuple[inspect.Field, ...]:
    found = inspect.type_info(struct)
    assert isinstance(found, inspect.StructType)
    return found.fields


def _record(struct: type[msgspec.Struct]) -> str:
    rows = [(f"`{field.encode_name}`", *_type(field.type)) for field in _fields(struct)]
    words = " ".join((struct.__doc__ or "").split())
    return f"#### {struct.__name__.lstrip('_')}\n\n{words}\n\n{table(('Field', 'Type', 'May be null'), rows)}"


_SIMPLE = {
    inspect.StrType: "string",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
    inspect.BoolType: "true or false",
    inspect.AnyType: "any",
}


def _type(kind: inspect.Type) -> tuple[str, str]:
    """Words for a type, and whether it may be null."""
    if isinstance(kind, inspect.UnionType):
        rest = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
        return " or ".join(_type(one)[0] for one in rest), "yes" if len(rest) < len(kind.types) else ""
    if isinstance(kind, inspect.ListType):
        return f"list of {_type(kind.item_type)[0]}", ""
    if isinstance(kind, inspect.DictType):
        return "object", ""
    if isinstance(kind, inspect.StructType):
        return f"`{kind.cls.__name__.lstrip('_')}`", ""
    if isinstance(kind, inspect.LiteralType):
        return code(kind.values), ""
    return _SIMPLE[type(kind)], ""


TABLES: dict[str, Callable[..., str]] = {
    "endpoints": overview,
    "endpoint": endpoint,
    "errors": errors,
    "records": records,
}
