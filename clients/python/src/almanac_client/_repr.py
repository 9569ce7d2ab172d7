"""Short displays of rows and tables: a few rows, and a summary of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime
from html import escape
from typing import Any

from almanac_client._operations import Operation

_ROWS, _COLUMNS, _WIDTH = 5, 8, 28
#: Fields to show first, if a record has them.
_FIRST = (
    "entity_id", "indicator_id", "slug", "name", "ticker", "period_end", "value_numeric", "unit", "observed_at",
    "revision_status", "occurred_at", "title", "headline", "score", "country",
)  # fmt: skip


def rows_text(rows: Any, operation: Operation[Any], shown: Sequence[Any] | None, *, whole: bool) -> str:
    """Format rows of a list as text. `shown` None means that nothing was requested yet."""
    if shown is None:
        return f"<{type(rows).__name__} of {operation.path}, not asked yet>"
    names, cells = _cells(shown)
    return "\n".join([*_grid(names, cells), _about(rows, shown, whole=whole)])


def rows_html(rows: Any, operation: Operation[Any], shown: Sequence[Any], *, whole: bool) -> str:
    """Format rows of a list as HTML, for a notebook. All content is escaped."""
    names, cells = _cells(shown)
    return html(names, cells, f"{operation.path}: {_about(rows, shown, whole=whole)}")


def html(names: Sequence[str], cells: Iterable[Sequence[str]], about: str) -> str:
    """Format a table of texts as HTML, with a line below it."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in cells)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table><p>{escape(about)}</p>"


def text(names: Sequence[str], cells: Sequence[Sequence[str]], about: str) -> str:
    """Format a table of texts as plain text, with a line below it."""
    return "\n".join([*_grid(names, cells), about])


def shown(value: object) -> str:
    """Format one value briefly."""
    if value is None:
        return "–"
    if isinstance(value, datetime):
        midnight = (value.hour, value.minute, value.second) == (0, 0, 0)
        return f"{value:%Y-%m-%d}" if midnight else f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) < 1e15 else f"{value:g}"
    told = " ".join(str(value).split())
    return told if len(told) <= _WIDTH else told[: _WIDTH - 1] + "…"


def _cells(rows: Sequence[Any]) -> tuple[list[str], list[list[str]]]:
    if not rows:
        return [], []
    fields = rows[0].__struct_fields__
    names = [name for name in _FIRST if name in fields] or list(fields)
    names = (names + [name for name in fields if name not in names])[: min(_COLUMNS, max(len(names), 4))]
    return names, [[shown(getattr(row, name)) for name in names] for row in rows[:_ROWS]]


def _grid(names: Sequence[str], cells: Sequence[Sequence[str]]) -> list[str]:
    if not names:
        return []
    widths = [max(len(name), *(len(row[i]) for row in cells), 1) for i, name in enumerate(names)]
    lines = [names, *cells]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]


def _about(rows: Any, held: Sequence[Any], *, whole: bool) -> str:
    count = f"{len(held)} rows" if whole else f"{len(held)} rows so far"
    if rows.total is not None:
        count += f" of {rows.total}"
    withheld = sum(getattr(getattr(row, "rights", None), "value_withheld", False) for row in held)
    parts = [count, f"data version {rows.data_version}", f"as of {rows.as_of}" if rows.as_of else "as known now"]
    return ", ".join([*parts, *([f"{withheld} withheld"] if withheld else [])])
