"""Writes the methods of the Python client, sync and async, from what the endpoints declare."""

from __future__ import annotations

import textwrap

from almanac.api.contract.params import Param

from .client_models import HEAD
from .client_surface import ABOUT, Method, camel_to_snake, choices, is_boolean, resources

_KINDS = {
    "text": "str",
    "integer": "int",
    "list": "str | Iterable[str]",
    "time": "str | date | datetime",
    "period": "str",
}


class Face:
    """One face of the client: sync or async, and with or without what the answer says beside its data."""

    def __init__(self, *, awaited: bool, raw: bool) -> None:
        self.awaited, self.raw = awaited, raw
        self.prefix = ("Async" if awaited else "") + ("Raw" if raw else "")
        self.base = f"{self.prefix}Resource"

    def opening(self, listed: bool) -> str:
        return "async def" if self.awaited and (self.raw or not listed) else "def"

    def answer(self, method: Method) -> str:
        one = method.endpoint
        inner = "str" if one.kind == "text" else "Mapping[str, Any]" if one.kind == "json" else f"m.{method.record}"
        if one.kind == "list":
            rows = "AsyncRows" if self.awaited else "Rows"
            return f"Response[Sequence[{inner}]]" if self.raw else f"{rows}[{inner}]"
        return f"Response[{inner}]" if self.raw else inner

    def call(self, method: Method) -> str:
        listed = method.endpoint.kind == "list"
        call = f"self._{'rows' if listed else 'item'}"
        return f"await {call}" if self.opening(listed).startswith("async") else call


def written(methods: list[Method], *, awaited: bool) -> str:
    """The whole module of one driver."""
    rows, bases = (
        ("AsyncRows", "AsyncRawResource, AsyncResource, Response")
        if awaited
        else ("Rows", "RawResource, Resource, Response")
    )
    named = choices(methods)
    lines = [
        HEAD.format(
            about=f"Methods of the {'asynchronous' if awaited else 'synchronous'} client, one for each operation."
        ),
        "from __future__ import annotations",
        "",
        "from collections.abc import Iterable, Mapping, Sequence",
        "from datetime import date, datetime",
        "from typing import Any",
        "",
        "from almanac_client import _generated_models as m",
        f"from almanac_client._resources import {bases}",
        f"from almanac_client._rows import {rows}",
        "",
        "",
    ]
    for raw in (False, True):
        face = Face(awaited=awaited, raw=raw)
        for resource, own in resources(methods):
            lines += _resource(face, resource, own, named)
        lines += _client(face, [resource for resource, _ in resources(methods) if resource])
    return "\n".join(lines).rstrip() + "\n"


def _class(face: Face, resource: str) -> str:
    return f"{face.prefix}{resource.title()}"


def _resource(face: Face, resource: str, own: list[Method], named: dict[tuple[str, tuple[str, ...]], str]) -> list[str]:
    about = ABOUT.get(resource, "What the client itself has a method for.")
    more = " Each answer with its headers." if face.raw else ""
    name = _class(face, resource) if resource else f"{face.prefix}Own"
    lines = [f"class {name}({face.base}):", f'    """{about}{more}"""', "", "    __slots__ = ()", ""]
    for method in own:
        lines += [f"    {line}".rstrip() for line in _method(face, method, named)] + [""]
    return [*lines, ""]


def _client(face: Face, names: list[str]) -> list[str]:
    about = "The client's resources, each answer with its headers." if face.raw else "The client's resources."
    lines = [f"class {face.prefix}Resources({face.prefix}Own):", f'    """{about}"""', "", "    __slots__ = ()", ""]
    for name in names:
        lines += [
            "    @property",
            f"    def {name}(self) -> {_class(face, name)}:",
            f'        """{ABOUT[name]}"""',
            f"        return {_class(face, name)}(self._core)",
            "",
        ]
    return [*lines, ""]


def _method(face: Face, method: Method, named: dict[tuple[str, tuple[str, ...]], str]) -> list[str]:
    one = method.endpoint
    lines = [f"{face.opening(one.kind == 'list')} {method.name}("]
    lines += ["    self,", *(f"    {camel_to_snake(brace.name)}: str," for brace in method.braces)]
    if method.braces:
        lines.append("    /,")
    if method.query:
        lines += ["    *,", *(f"    {p.name}: {_kind(p, named)}," for p in method.query)]
        lines += [f"    {_PAGE_SIZE}: int | None = None,"] if _paged(face, method) else []
    lines.append(f") -> {face.answer(method)}:")
    lines += [] if face.raw else [f"    {line}".rstrip() for line in _docstring(method, paged=_paged(face, method))]
    if face.raw:
        lines.append(f'    """{one.summary}."""')
    path = ", ".join(f"{brace.name!r}: {camel_to_snake(brace.name)}" for brace in method.braces)
    paged = _paged(face, method)
    given = {p.name: _PAGE_SIZE if paged and p.name == _LIMIT else p.name for p in method.query}
    query = ", ".join(f"{name!r}: {value}" for name, value in given.items())
    most = f", {_LIMIT}" if paged else ""
    return [*lines, f"    return {face.call(method)}(m.{method.constant}, {{{path}}}, {{{query}}}{most})"]


_OF_ALL = "Most rows in all; without it there are all of them."
#: The interface's `limit` is of a page; of rows that walk their pages it is of all of them.
_LIMIT, _PAGE_SIZE = "limit", "page_size"


def _paged(face: Face, method: Method) -> bool:
    return method.endpoint.kind == "list" and not face.raw and _LIMIT in method.endpoint.by_name


def _kind(param: Param, named: dict[tuple[str, tuple[str, ...]], str]) -> str:
    words = tuple(param.names)
    if is_boolean(param):
        typed = "bool"
    elif words and param.kind == "list":
        typed = f"m.{named[param.name, words]} | Iterable[m.{named[param.name, words]}]"
    elif words:
        typed = f"m.{named[param.name, words]}"
    else:
        typed = _KINDS[param.kind]
    return typed if param.required else f"{typed} | None = None"


def _docstring(method: Method, *, paged: bool) -> list[str]:
    one = method.endpoint
    told = [f"{one.summary}. {one.description}".strip()]
    args = [f"{camel_to_snake(brace.name)}: {brace.description}" for brace in method.braces]
    for param in method.query:
        of_all = paged and param.name == _LIMIT
        args.append(f"{param.name}: {_OF_ALL if of_all else param.description}")
        if of_all:
            args.append(f"{_PAGE_SIZE}: {param.description.rstrip('.')}, of one request; else as many as may be.")
    body: list[str] = []
    for argument in args:
        wrapped = textwrap.wrap(argument, 108)
        body += [wrapped[0], *(f"    {line}" for line in wrapped[1:])]
    text = textwrap.wrap(told[0], 108)
    return ['"""', *text, *(["", *body] if body else []), '"""']
