"""From a path to its endpoint."""

from __future__ import annotations

import re
from collections.abc import Sequence

from starlette.routing import compile_path

from almanac.api.contract.endpoint import Endpoint


class Routes:
    """Literal paths are looked up, then templates are tried in the order declared: a literal path always wins."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        """Raise ValueError where two endpoints share a path."""
        self._literal: dict[str, Endpoint] = {}
        self._templates: list[tuple[re.Pattern[str], Endpoint]] = []
        seen: set[str] = set()
        for endpoint in endpoints:
            pattern, shape, names = compile_path(endpoint.path)
            if shape in seen:
                raise ValueError(f"two endpoints have the path {endpoint.path}")
            seen.add(shape)
            if names:
                self._templates.append((pattern, endpoint))
            else:
                self._literal[endpoint.path] = endpoint

    def find(self, path: str) -> tuple[Endpoint, dict[str, str]] | None:
        """The endpoint of a decoded path and its path values; None where there is none (a trailing slash included)."""
        endpoint = self._literal.get(path)
        if endpoint is not None:
            return endpoint, {}
        for pattern, candidate in self._templates:
            # `match` would let a newline pass behind the end of the pattern.
            found = pattern.fullmatch(path)
            if found is not None:
                return candidate, found.groupdict()
        return None
