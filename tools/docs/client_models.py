"""Writes the records of the Python client, and its operations, from what the endpoints declare."""

from __future__ import annotations

import re
import types
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Meta, UnsetType

from almanac.domain.fields import FrequencyWord

from .client_surface import Method, choices

HEAD = '''"""{about}

Made by `make docs` from what the service declares: change it there.
"""
'''
_DAY = re.compile(r"(First|Last) day |Day (it|of) ")


class _Words:
    """Names for sets of words, the first field's that has them; of another set with that name, the record's and the field's."""

    def __init__(self) -> None:
        self.names: dict[tuple[str, ...], str] = {}

    def name(self, words: tuple[str, ...], record: str, field: str) -> str:
        if words not in self.names:
            short = field[0].upper() + field[1:]
            self.names[words] = short if short not in self.names.values() else f"{record}{short}"
        return self.names[words]


def records(methods: list[Method]) -> list[type[msgspec.Struct]]:
    """All records that answers are made of, each after those it is made of."""
    found: dict[type[msgspec.Struct], None] = {}

    def visit(kind: Any) -> None:
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            if kind in found:
                return
            for base in kind.__bases__:
                if _is_record(base):
                    visit(base)
            for hint in get_type_hints(kind, include_extras=True).values():
                visit(hint)
            found[kind] = None
        else:
            for part in get_args(kind):
                visit(part)

    for method in methods:
        if method.endpoint.record is not None:
            visit(method.endpoint.record)
    return list(found)


def _is_record(base: type) -> bool:
    return issubclass(base, msgspec.Struct) and base is not msgspec.Struct and bool(base.__struct_fields__)


def written(methods: list[Method]) -> str:
    """The whole module of records and operations."""
    words = _Words()
    classes = [_record(one, words) for one in records(methods)]
    lines = [
        HEAD.format(about="Records and operations of the interface, as types."),
        "from __future__ import annotations",
        "",
        "from collections.abc import Mapping",
        "from datetime import date, datetime",
        "from typing import TYPE_CHECKING, Any, Literal",
        "",
        "from msgspec import Struct, field",
        "",
        "from almanac_client._operations import Operation",
        "",
        "if TYPE_CHECKING:",
        *(f"    {name} = {_literal(known)}" for known, name in words.names.items()),
        "else:",
        "    # At run time any word is read: a later version may know more of them.",
        *(f"    {name} = str" for name in words.names.values()),
        "",
        *(f"{name} = {_literal(known)}" for (_, known), name in choices(methods).items()),
        "",
        "",
        *classes,
        *(_operation(one) for one in methods),
        "#: Fields whose time is a day, written as its first second.",
        f"DAYS = frozenset({sorted(set(_days(methods)))!r})",
    ]
    return "\n".join(lines) + "\n"


def _days(methods: list[Method]) -> Iterator[str]:
    """Names of the fields that are days, by what they say."""
    for kind in records(methods):
        for name, hint in get_type_hints(kind, include_extras=True).items():
            if _DAY.match(_said(hint)):
                yield name


def _literal(words: tuple[str, ...]) -> str:
    return f"Literal[{', '.join(f'{word!r}' for word in words)}]"


def _record(kind: type[msgspec.Struct], words: _Words) -> str:
    bases = [base for base in kind.__bases__ if _is_record(base)]
    base = bases[0].__name__ if bases else "Struct"
    inherited = set(bases[0].__struct_fields__) if bases else set()
    hints = get_type_hints(kind, include_extras=True)
    own = [one for one in msgspec.structs.fields(kind) if one.name not in inherited]
    plain = msgspec.defstruct("Plain", [one.name for one in own], rename="camel")
    usual = dict(zip(plain.__struct_fields__, plain.__struct_encode_fields__, strict=True))
    options = "frozen=True, kw_only=True, gc=False, rename='camel'"
    if any(UnsetType in get_args(hint) for hint in _unwrapped(hints.values())):
        # A key that does not apply is absent, and is so again when the record is written out.
        options += ", omit_defaults=True"
    lines = [f"class {kind.__name__}({base}, {options}):", f'    """{_about(kind)}"""', ""]
    for one in own:
        said = _said(hints[one.name])
        name = one.name
        lines += [f"    #: {said}"] if said else []
        typed = _typed(hints[one.name], kind.__name__, _camel(one.name), words)
        default = "None" if typed.endswith("| None") else None
        if one.encode_name != usual[one.name]:
            default = f"field(name={one.encode_name!r}{', default=None' if default else ''})"
        lines.append(f"    {name}: {typed}{f' = {default}' if default else ''}")
    return "\n".join(lines) + "\n\n"


def _about(kind: type) -> str:
    return " ".join((kind.__doc__ or "").split())


def _camel(snake: str) -> str:
    first, *rest = snake.strip("_").split("_")
    return first + "".join(word.title() for word in rest)


def _metas(hint: Any) -> Iterator[Meta]:
    if get_origin(hint) is Annotated:
        inner, *more = get_args(hint)
        yield from reversed([one for one in more if isinstance(one, Meta)])
        yield from _metas(inner)
    elif _is_union(hint):
        for part in get_args(hint):
            yield from _metas(part)


def _unwrapped(hints: Iterable[Any]) -> Iterator[Any]:
    """Types without what is annotated to them."""
    for hint in hints:
        yield get_args(hint)[0] if get_origin(hint) is Annotated else hint


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in {Union, types.UnionType}


def _said(hint: Any) -> str:
    """The outermost description of a field, on one line."""
    return next((" ".join(meta.description.split()) for meta in _metas(hint) if meta.description), "")


def _typed(hint: Any, record: str, field: str, words: _Words) -> str:
    """The type of a field in the client, in words of Python."""
    if get_origin(hint) is Annotated:
        inner, *more = get_args(hint)
        for meta in more:
            schema = getattr(meta, "extra_json_schema", None) or {}
            if inner is str and schema.get("format") == "date-time":
                return "datetime"
            if inner is str and schema.get("format") == "date":
                return "date"
            if inner is str and "enum" in schema:
                known = tuple(schema["enum"])
                return words.name(known, record, "frequency" if hint == FrequencyWord else field)
        return _typed(inner, record, field, words)
    if _is_union(hint):
        parts = get_args(hint)
        typed = [_typed(p, record, field, words) for p in parts if p is not type(None) and p is not UnsetType]
        optional = any(p is type(None) or p is UnsetType for p in parts)
        return " | ".join([*typed, *(["None"] if optional else [])])
    origin = get_origin(hint)
    if origin is Literal:
        return words.name(get_args(hint), record, field)
    if origin is list or origin is tuple:
        return f"list[{_typed(get_args(hint)[0], record, field, words)}]"
    if origin is dict:
        return f"dict[str, {_typed(get_args(hint)[1], record, field, words)}]"
    if hint is Any or isinstance(hint, type):
        return "Any" if hint is Any else str(hint.__name__)
    raise TypeError(f"{record}.{field} has a type that the client has no word for: {hint!r}")


def _operation(method: Method) -> str:
    one = method.endpoint
    record = f"{method.record}" if one.record is not None else ("str" if one.kind == "text" else "dict[str, Any]")
    typed = record if one.record is not None else ("str" if one.kind == "text" else "Mapping[str, Any]")
    as_of = any(param.name == "as_of" for param in one.params)
    return (
        f"{method.constant}: Operation[{typed}] = Operation(\n"
        f"    id={one.operation_id!r},\n"
        f"    path={one.path!r},\n"
        f"    record={record},\n"
        f"    kind={one.kind!r},\n"
        f"    most={one.max_limit if one.kind == 'list' else 0},\n"
        f"    as_of={as_of},\n"
        ")\n"
    )
