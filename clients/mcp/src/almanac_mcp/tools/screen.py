"""almanac_screen: countries or companies whose readings satisfy a filter."""

from __future__ import annotations

import re
from collections.abc import Sequence

from almanac_mcp.asking import Api, Page, Record
from almanac_mcp.notes import warnings
from almanac_mcp.references import References, references
from almanac_mcp.text import rows, words
from almanac_mcp.text.answers import Answer, Table

_FIELD = re.compile(r"(?:^|,)\s*([A-Za-z_][\w-]*)\s*:")
_TEXTS = {"sector", "industry", "currency", "country", "quality"}


async def screen(
    api: Api,
    universe: str,
    filter: str,  # noqa: A002  (the interface's own word)
    sort: str | None = None,
    limit: int = 10,
    as_of: str | None = None,
) -> Answer:
    """Answer with the first rows of the screen, the number of matches, and how many of them are left out."""
    descending = sort is not None and sort.startswith("-")
    field = sort.lstrip("-") if sort else None
    page = await api.page(
        "screener.screen" if universe == "countries" else "equities.screen",
        filter=filter,
        sort=field,
        order="desc" if descending else None,
        limit=limit,
        as_of=as_of,
    )
    found = await references(api, {row["entityId"] for row in page.rows}, _indicators(page, filter, field), as_of)
    total = len(page.rows) if page.total is None else page.total
    answer = Answer(
        [
            words.known(as_of, page.version),
            f"{words.counted(total, 'match')} of {filter}",
        ],
        hint=lambda _: "ask with a narrower filter or a smaller limit",
    )
    if page.rows:
        answer.tables.append((_countries if universe == "countries" else _companies)(answer, page, found))
    left_out = total - len(page.rows)
    order = f"in the order of {sort}" if sort else "by name"
    answer.notes.append(f"shown {len(page.rows)} {order}, left out {left_out}")
    answer.notes.append(f"{universe} without a value that may be shown for a field of the filter do not match")
    answer.notes += warnings([page])
    return answer


def _indicators(page: Page, filter: str, sort: str | None) -> set[str]:  # noqa: A002
    """Return the indicators of the values shown."""
    shown = {match["field"] for row in page.rows for match in row.get("matches", ())}
    shown |= {name for row in page.rows for name in row.get("values", ())}
    asked = {name.lower() for name in _FIELD.findall(filter)} | ({sort} if sort else set())
    return (shown or asked) - _TEXTS - {"score", "name", "ticker"}


def _countries(answer: Answer, page: Page, found: References) -> Table:
    fields = list(dict.fromkeys(match["field"] for row in page.rows for match in row["matches"]))
    units = {match["field"]: rows.unit(match) for row in page.rows for match in row["matches"]}
    columns = ["id", "name"] + [part for name in fields for part in (name, "period")] + ["source"]
    lines = []
    for row in page.rows:
        held = {match["field"]: match for match in row["matches"]}
        cells = [part for name in fields for part in _reading(held.get(name))]
        numbers = [found.cite(answer.citations, match["seriesId"]) for match in row["matches"]]
        lines.append([row["country"] or row["entityId"], row["name"], *cells, _cited(numbers)])
    title = "units: " + ", ".join(f"{name} {unit}" for name, unit in units.items())
    return Table(title, columns, list(lines), keep="first")


def _reading(match: Record | None) -> tuple[str, str]:
    if match is None:
        return ("", "")
    stale = " stale" if match["freshnessStatus"] == "stale" else ""
    return (words.number(match["value"]), words.day(match["periodEnd"]) + stale)


def _companies(answer: Answer, page: Page, found: References) -> Table:
    fields = list(dict.fromkeys(name for row in page.rows for name in row["values"]))
    of: dict[str, list[int]] = {}
    for row in found.rows:
        of.setdefault(row["entityId"], []).append(answer.citations.row(row))
    lines = [
        [
            row["entityId"],
            words.ticker(row["ticker"] or ""),
            row["name"],
            *(words.number(row["values"].get(name)) for name in fields),
            words.day(row["periodEnd"]),
            words.day(row["observedAt"]),
            _cited(of.get(row["entityId"], [])),
        ]
        for row in page.rows
    ]
    columns = ["id", "ticker", "name", *fields, "period", "observed", "source"]
    if any(row["quality"] not in {"ok", None} for row in page.rows):
        columns.append("quality")
        lines = [[*line, row["quality"] or ""] for line, row in zip(lines, page.rows, strict=True)]
        answer.notes.append(
            "warning: a check of the statements behind the row does not hold; almanac_company says which"
        )
    title = "ratios and margins are fractions (0.25 is 25 %), money is in US dollars unless currency is shown"
    return Table(title, columns, list(lines), keep="first")


def _cited(numbers: Sequence[int | None]) -> str:
    return "".join(f"[{number}]" for number in sorted({one for one in numbers if one is not None}))
