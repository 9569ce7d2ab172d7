"""Tables of the simulated world: what is written down rather than computed."""

from __future__ import annotations

import csv
import functools
import tomllib
from importlib import resources
from typing import Any


@functools.cache
def table(name: str) -> dict[str, Any]:
    """Return the content of one of the TOML files, read once."""
    return tomllib.loads(resources.files(__package__).joinpath(f"{name}.toml").read_text("utf-8"))


def csv_rows(name: str) -> list[dict[str, str]]:
    """Return the rows of one of the CSV files."""
    return list(csv.DictReader(resources.files(__package__).joinpath(f"{name}.csv").read_text("utf-8").splitlines()))
