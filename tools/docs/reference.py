"""Pages of the reference: one for each operation, written by `make docs` from its declaration and its kept answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from almanac.api.contract.endpoint import Endpoint
from almanac.api.contract.openapi import document, recorded
from tests.support.paths import ROOT

from . import clients
from .answers import REQUEST_ID, REQUESTS
from .markdown import table
from .tables_interface import answer, errors, every, meaning, parameters, record, with_inner

FOLDER = ROOT / "docs/reference"
_ABOUT = (
    "A page for each operation: how to ask for it, its parameters, what the fields of its answer mean, and a real answer. "
    "What holds for all of them (keys, names, times, pages, errors, rights) is said once, in "
    "[the interface](../interface.md)."
)
BASE = "http://127.0.0.1:8000"


def pages() -> dict[str, str]:
    """Every page by the name of its file."""
    told, faults = document(every()), errors()
    made = {f"{one.operation_id}.md": _page(one, told, faults) for one in every()}
    return made | {"index.md": _index(told)}


def update() -> list[str]:
    """Write the pages anew and take away those of operations that are no more; names of what is different."""
    FOLDER.mkdir(exist_ok=True)
    wanted = pages()
    changed = []
    for path in sorted(FOLDER.glob("*.md")):
        if path.name not in wanted:
            path.unlink()
            changed.append(path.name)
    for name, text in wanted.items():
        path = FOLDER / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            changed.append(name)
    return changed


def asked(one: Endpoint) -> str:
    """The request that a page shows."""
    return REQUESTS.get(one.operation_id, one.path)


def _index(told: Mapping[str, Any]) -> str:
    parts = [
        "# Reference",
        _ABOUT,
    ]
    for tag in told["tags"]:
        rows = [
            (f"[`GET {one.path}`]({one.operation_id}.md)", one.summary) for one in every() if one.tag == tag["name"]
        ]
        parts += [f"## {tag['name']}", tag["description"], table(("Operation", "Gives"), rows)]
    return "\n\n".join(parts) + "\n"


#: What is said of an endpoint that has other forms.
_TWINS = "Also at `{path}.csv`, `.ndjson` and `.arrows`, and by `Accept`, in [other forms](../interface.md#other-forms) than JSON."


def _page(one: Endpoint, told: Mapping[str, Any], faults: str) -> str:
    scope = f"A key needs the scope `{one.scope}`." if one.scope else "Any live key will do."
    parts = [
        f"# GET {one.path}",
        f"{one.summary} (`{one.operation_id}`). {one.description}".strip(),
        f"It answers a {_kind(one)}. {scope}",
        "## Ask",
        "With curl:",
        _block("bash", f'curl -H "x-api-key: $ALMANAC_API_KEY" \\\n  "{BASE}{asked(one)}"'),
        *clients.blocks(one, asked(one)),
        "## Parameters",
        *_braces(one),
        parameters(one),
    ]
    if one.record is not None:
        shown = recorded().answers[one.operation_id]["value"]
        parts += [
            *([_TWINS.format(path=one.path)] if one.forms else []),
            "## Answer",
            "That of a simulated world, with lists cut short: the numbers are invented, the form is not.",
            _block("json", json.dumps(shown, indent=2, ensure_ascii=False).replace(REQUEST_ID, "…")),
            "## Fields",
            "Those of `data`; `meta` and `requestId` are the same everywhere ([answers](../interface.md#answers)).",
        ]
        schemas = told["components"]["schemas"]
        names = dict.fromkeys(with_inner(schemas, one.record.__name__))
        parts += [f"### {name}\n\n{record(schemas[name])}" for name in names]
    if one.lines is not None:
        _, lines = msgspec.json.schema_components([one.lines.record])
        parts += [f"### {name}\n\n{record(schema)}" for name, schema in lines.items()]
    parts += ["## Errors", "Every error has [the same envelope](../interface.md#errors).", faults]
    return "\n\n".join(parts) + "\n"


def _kind(one: Endpoint) -> str:
    words = answer(one)
    if one.record is not None:
        name = one.record.__name__
        words = words.replace(f"`{name}`", f"[`{name}`](#{name.lower()})")
    return words.removeprefix("a ")


def _braces(one: Endpoint) -> list[str]:
    if not one.braces:
        return []
    rows = [(f"`{param.name}`", meaning(param)) for param in one.braces]
    return ["In the path:", table(("Name", "Meaning"), rows), "In the query:"]


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"
