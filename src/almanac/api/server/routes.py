"""From a path to what is declared for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar
from urllib.parse import unquote

from starlette.routing import compile_path
from starlette.types import Scope


class Declared(Protocol):
    """An endpoint or a page: what stands at a path, which may have names in braces."""

    @property
    def path(self) -> str: ...


#: Stands in a path for a slash that was sent as %2F. No UTF-8 decodes to it, so no client can send it.
_SLASH = "\udc2f"


def path_of(scope: Scope) -> str:
    """
    The decoded path of a request, for `Routes.find`. A slash that was sent as %2F is part of a value, as in the name of
    a company that ends with A/S, and parts no path.
    """
    path: str = scope["path"]
    raw: bytes = scope.get("raw_path") or b""
    if b"%2" not in raw or b"%2f" not in raw.lower():
        return path
    # What stands behind a question mark is no path; some servers pass it on here.
    parts = raw.partition(b"?")[0].decode("latin-1").split("/")
    return "/".join(unquote(part, "utf-8").replace("/", _SLASH) for part in parts)


Found = TypeVar("Found", bound=Declared)


class Routes(Generic[Found]):
    """Literal paths are looked up, then templates are tried in the order declared: a literal path always wins."""

    def __init__(self, declared: Sequence[Found]) -> None:
        """Raise ValueError where two of them share a path."""
        self._literal: dict[str, Found] = {}
        self._templates: list[tuple[re.Pattern[str], Found]] = []
        seen: set[str] = set()
        for one in declared:
            pattern, shape, names = compile_path(one.path)
            if shape in seen:
                raise ValueError(f"two endpoints have the path {one.path}")
            seen.add(shape)
            if names:
                self._templates.append((pattern, one))
            else:
                self._literal[one.path] = one

    def find(self, path: str) -> tuple[Found, dict[str, str]] | None:
        """What stands at a path (`path_of`), and its path values; None where nothing does (a trailing slash included)."""
        literal = self._literal.get(path)
        if literal is not None:
            return literal, {}
        for pattern, candidate in self._templates:
            # `match` would let a newline pass behind the end of the pattern.
            found = pattern.fullmatch(path)
            if found is not None:
                return candidate, {name: value.replace(_SLASH, "/") for name, value in found.groupdict().items()}
        return None
