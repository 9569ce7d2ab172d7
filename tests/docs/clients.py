"""The clients that are in the repository: where they are told of, and how an operation is asked for through them."""

from __future__ import annotations

from tests.support.paths import ROOT

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


def blocks(operation: str, target: str) -> list[str]:
    """A block for each client that is in the repository."""
    return []


TABLES = {"ways": ways}
