"""Templates: escaped by default, and every name in them must be there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined


def environment(
    static: Callable[[str], str], filters: Mapping[str, Callable[..., Any]], names: Mapping[str, Any]
) -> Environment:
    """The one environment of all templates. `static` gives the address of a file, `names` are known to every template."""
    made = Environment(
        loader=PackageLoader("almanac.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(filters)
    made.globals.update(names)
    made.globals["static"] = static
    return made
