"""Files of the catalogue, as they might be written."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from almanac.catalog import load, tables

Reading = Callable[..., Any]


@pytest.fixture
def instead(monkeypatch: pytest.MonkeyPatch) -> Reading:
    """Return what calls a cached table anew, with these files in the place of those that ship."""
    shipped = tables.packaged

    def read(table: Any, files: Mapping[str, Any]) -> Any:
        other = functools.cache(load._packaged.__wrapped__)
        for module in (tables, load):
            monkeypatch.setattr(module, "packaged", lambda name: files[name] if name in files else shipped(name))
        monkeypatch.setattr(load, "_packaged", other)
        return table.__wrapped__()

    return read
