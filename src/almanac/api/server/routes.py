"""From a path to what is declared for it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import quote, unquote

from rapidfuzz import fuzz
from starlette.routing import compile_path
from starlette.types import Scope

from almanac.api.contract.endpoint import Endpoint
from almanac.api.contract.errors import ApiError, has_key
from almanac.api.formats.forms import Form

#: The longest path that a suggestion is looked for, and how like a declared one each part of it must be.
_SUGGESTED_FOR, _ALIKE = 200, 0.7
#: Where other services describe themselves, and where this one does.
_ABOUT = {"", "docs", "doc", "redoc", "swagger", "swagger.json", "api", "api-docs", "help", "openapi", "openapi.yaml"}
_DESCRIPTION = "/openapi.json"
#: What addresses of other services begin with, and none here.
_BEFORE = re.compile(r"api|v[0-9]{1,2}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Resource:
    """What stands at a path of the interface: an endpoint or, with a form, a twin of it."""

    path: str
    endpoint: Endpoint
    form: Form | None = None


def resources(endpoints: Sequence[Endpoint]) -> list[Resource]:
    """Return all that stands at paths: the endpoints, then their twins."""
    return [
        *(Resource(endpoint.path, endpoint) for endpoint in endpoints),
        *(
            Resource(f"{endpoint.path}.{form.name}", endpoint.twin(), form)
            for endpoint in endpoints
            for form in endpoint.forms
        ),
    ]


#: Stands in a path for a slash that was sent as %2F. No UTF-8 decodes to it, so no client can send it.
_SLASH = "\udc2f"


def path_of(scope: Scope) -> str:
    """
    Return the decoded path of a request, for `Routes.find`. A slash that was sent as %2F is part of a value, as in the name of
    a company that ends with A/S, and parts no path.
    """
    path: str = scope["path"]
    raw: bytes = scope.get("raw_path") or b""
    if b"%2" not in raw or b"%2f" not in raw.lower():
        return path
    # What stands behind a question mark is no path; some servers pass it on here.
    parts = raw.partition(b"?")[0].decode("latin-1").split("/")
    return "/".join(unquote(part, "utf-8").replace("/", _SLASH) for part in parts)


#: What stands at a path: an endpoint for the dashboard, a resource for the interface.
Found = TypeVar("Found", Endpoint, Resource)


class Routes(Generic[Found]):
    """Literal paths are looked up, then templates are tried in the order declared: a literal path always wins."""

    def __init__(self, declared: Sequence[Found]) -> None:
        """Raise ValueError where two of them share a path."""
        self._literal: dict[str, Found] = {}
        self._templates: list[tuple[re.Pattern[str], Found]] = []
        self._parts = [resource.path.split("/")[1:] for resource in declared]
        seen: set[str] = set()
        for resource in declared:
            pattern, shape, names = compile_path(resource.path)
            if shape in seen:
                raise ValueError(f"two endpoints have the path {resource.path}")
            seen.add(shape)
            if names:
                self._templates.append((pattern, resource))
            else:
                self._literal[resource.path] = resource

    def find(self, path: str) -> tuple[Found, dict[str, str]] | None:
        """Return what stands at a path (`path_of`), and its path values; None where nothing does (a trailing slash included)."""
        literal = self._literal.get(path)
        if literal is not None:
            return literal, {}
        for pattern, candidate in self._templates:
            # `match` would let a newline pass behind the end of the pattern.
            found = pattern.fullmatch(path)
            if found is not None:
                return candidate, {name: value.replace(_SLASH, "/") for name, value in found.groupdict().items()}
        return None

    def unknown(self, path: str) -> ApiError:
        """Return the 404 of a path (`path_of`) at which nothing stands, with the one that may have been meant."""
        near = self._near(path)
        told = "" if near is None else f"did you mean '{near}'? "
        details = None if near is None else {"suggestion": near}
        return ApiError(404, f"there is nothing at this path; {told}/openapi.json lists what there is", details)

    def _near(self, path: str) -> str | None:
        """Find the path that may have been meant: without what is too much, or the most alike of those with as many parts, as it would be sent."""
        if len(path) > _SUGGESTED_FOR or has_key(path):
            return None
        if path.strip("/").lower() in _ABOUT and _DESCRIPTION in self._literal:
            return _DESCRIPTION
        best, found = _ALIKE, None
        # A slash that was sent as %2F may be a part of a name, or have been meant to part.
        for text in dict.fromkeys((path.replace(_SLASH, "/"), path)):
            parts = [part for part in text.split("/") if part]
            while parts and _BEFORE.fullmatch(parts[0]):
                del parts[0]
            for declared in self._parts:
                if len(declared) != len(parts):
                    continue
                pairs = list(zip(declared, parts, strict=True))
                alike = min(
                    1.0 if name.startswith("{") else fuzz.ratio(name, part.lower()) / 100 for name, part in pairs
                )
                # Of two that are as like, the one that names more: a literal path wins over a template.
                named = sum(not name.startswith("{") for name in declared) / 1_000
                if alike >= _ALIKE and alike + named > best:
                    best = alike + named
                    found = [part if name.startswith("{") else name for name, part in pairs]
        if found is None:
            return None
        return "".join("/" + quote(part.replace(_SLASH, "/"), safe=":,@", errors="replace") for part in found)
