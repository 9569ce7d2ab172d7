"""The clients that are in the repository: where they are told of, and how an operation is asked for through them."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qsl, unquote

from almanac.api.contract.endpoint import Endpoint
from tests.support.paths import ROOT

from .client_surface import METHODS
from .markdown import table

#: Ways to ask, each with the page it is told on; those without a page are not there.
_WAYS = (
    ("client/index.md", "Python, with frames for pandas and polars"),
    ("mcp.md", "a language model, through the Model Context Protocol"),
    ("tutorials/javascript.md", "JavaScript or TypeScript"),
    ("tutorials/first-series.md", "curl, or any language that can open an address"),
    ("reference/index.md", "an operation that you know the name of"),
)

#: Where the tools for language models are, if they are here.
TOOLS_FOLDER = ROOT / "clients/mcp"
_MONTH = {"start": "2024-06-01", "end": "2024-06-30"}
#: Operation → the tool that asks for it, and its arguments for what its page shows. Others have none.
TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "listObservations": ("almanac_series", {"indicators": ["cpi_index"], "places": ["USA"], **_MONTH}),
    "listLatestObservations": ("almanac_latest", {"places": ["USA"], "indicators": ["gov_yield_10y"]}),
    "listVintages": ("almanac_revisions", {"indicator": "cpi_index", "place": "USA", "period": "2024-06"}),
    "getProvenance": ("almanac_explain", {"observation": "obs_vybtlprlj7yali3577brtjln77"}),
    "listIndicators": ("almanac_find", {"query": "inflation", "kind": "indicator", "limit": 1}),
    "getIndicator": ("almanac_find", {"query": "cpi_index", "kind": "indicator"}),
    "getCountry": ("almanac_find", {"query": "USA", "kind": "place"}),
    "resolveEntity": ("almanac_find", {"query": "Boxwood Software"}),
    "getCompanyProfile": ("almanac_company", {"company": "BOXS"}),
    "getCompanyFinancials": (
        "almanac_company", {"company": "BOXS", "view": "income", "periods": 1, "as_of": "2025-03-01"},
    ),
    "listDerivedObservations": ("almanac_series", {"indicators": ["cpi_inflation_yoy"], "places": ["USA"], **_MONTH}),
    "getRates": ("almanac_rates", {"scope": "USA"}),
    "getCountryBrief": ("almanac_brief", {"country": "USA"}),
    "screenEntities": ("almanac_screen", {"universe": "countries", "filter": "cpi_inflation_yoy:gt:2"}),
    "screenCompanies": (
        "almanac_screen", {"universe": "companies", "filter": "piotroski_f:gte:6,net_margin:gt:0.1", "limit": 2},
    ),
    "listEvents": (
        "almanac_calendar",
        {"start": "2026-11-01", "end": "2026-11-30", "place": "USA", "category": "macro_release", "limit": 1},
    ),
}  # fmt: skip


def ways(page: str) -> str:
    """Return the table of further reading, for a page of this folder of docs/ (`.` or `tutorials`)."""
    up = "../" if page != "." else ""
    rows = [(words, f"[{_title(path)}]({up}{path})") for path, words in _WAYS if (ROOT / "docs" / path).exists()]
    return table(("To ask from", "Read"), rows)


def _title(path: str) -> str:
    return (ROOT / "docs" / path).read_text("utf-8").partition("\n")[0].removeprefix("# ")


def blocks(one: Endpoint, target: str) -> list[str]:
    """The same request in Python, and as a tool of a language model where that is here, below curl."""
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
    made = ["In Python:", f"```python\nfrom almanac_client import Almanac\n\nalmanac = Almanac()\n{shown}\n```"]
    if one.operation_id in TOOLS and TOOLS_FOLDER.is_dir():
        name, arguments = TOOLS[one.operation_id]
        made += [f"A language model calls the tool `{name}`:", f"```json\n{json.dumps(arguments)}\n```"]
    return made


def _value(one: Endpoint, name: str, text: str) -> str:
    return text if one.by_name[name].kind == "integer" else _quoted(text)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


TABLES = {"ways": ways}
