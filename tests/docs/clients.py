"""The clients that are in the repository: where they are told of, and how an operation is asked for through them."""

from __future__ import annotations

import json
from urllib.parse import parse_qsl, unquote

from almanac.api.contract.endpoint import Endpoint
from tests.support.paths import ROOT

from .client_surface import METHODS
from .markdown import table

#: Ways to ask, each with the page it is told on; those without a page are not there.
_WAYS = (
    ("client/index.md", "Python, with frames for pandas and polars"),
    ("mcp.md", "a language model, through the Model Context Protocol"),
    ("tutorials/first-series.md", "curl, or any language that can open an address"),
    ("reference/index.md", "an operation that you know the name of"),
)


def ways(page: str) -> str:
    """Where to go on, for a page of this folder of docs/ (`.` or `tutorials`)."""
    up = "../" if page != "." else ""
    rows = [(words, f"[{_title(path)}]({up}{path})") for path, words in _WAYS if (ROOT / "docs" / path).exists()]
    return table(("To ask from", "Read"), rows)


def _title(path: str) -> str:
    return (ROOT / "docs" / path).read_text("utf-8").partition("\n")[0].removeprefix("# ")


def blocks(one: Endpoint, target: str) -> list[str]:
    """The same request in Python, below curl."""
    resource, method = METHODS[one.operation_id]
    path, _, query = target.partition("?")
    parts = [part for part, name in zip(path.split("/"), one.path.split("/"), strict=True) if name.startswith("{")]
    positional = [_quoted(unquote(part)) for part in parts]
    asked = dict(parse_qsl(query))
    # Rows come page after page by themselves: how many are wanted is said of them.
    most = f"max_rows={asked.pop('limit')}" if one.kind == "list" and "limit" in asked else ""
    named = [f"{name}={_value(one, name, text)}" for name, text in asked.items()]
    call = f"almanac.{resource + '.' if resource else ''}{method}({', '.join([*positional, *named])})"
    shown = f"for row in {call}.all({most}):\n    print(row)" if one.kind == "list" else f"print({call})"
    return [f"```python\nfrom almanac_client import Almanac\n\nalmanac = Almanac()\n{shown}\n```"]


def _value(one: Endpoint, name: str, text: str) -> str:
    return text if one.by_name[name].kind == "integer" else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


TABLES = {"ways": ways}
