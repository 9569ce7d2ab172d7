"""almanac_latest: the newest reading of each indicator in each place."""

from __future__ import annotations

from collections.abc import Sequence

from almanac_mcp import names
from almanac_mcp.asking import Api, Page, Record, together
from almanac_mcp.notes import history, warnings
from almanac_mcp.text import rows, words
from almanac_mcp.text.answers import Answer, Table

COLUMNS = ("place", "indicator", "period", "value", "unit", "observed", "status", "source")


async def latest(api: Api, places: Sequence[str], indicators: Sequence[str], as_of: str | None = None) -> Answer:
    """Answer with one row for each place and indicator that has a value."""
    api = api.saying(indicator_id="indicators", entity_id="places")
    where, asked = names.distinct(places, 20, "places"), names.distinct(indicators, 20, "indicators")
    entities = await names.places(api, where)
    page = await api.page(
        "observations.latest",
        entity_id=[one["entityId"] for one in entities],
        indicator_id=asked,
        as_of=as_of,
        limit=500,
    )
    slugs = await _slugs(api, asked, page)
    answer = Answer([words.known(as_of, page.version)], hint=lambda _: "ask for fewer places or indicators at a time")
    held = {(row["entityId"], words.slug(row["indicatorId"])): row for row in page.rows}
    found = [(one, held[key]) for one in entities for slug in slugs if (key := (one["entityId"], slug)) in held]
    table = Table("", COLUMNS, [_line(answer, one, row) for one, row in found], keep="first")
    table.notes += rows.reasons(row for _, row in found)
    absent = [
        f"{slug} in {one['entityId']}" for one in entities for slug in slugs if (one["entityId"], slug) not in held
    ]
    if absent:
        shown = ", ".join(absent[:20])
        table.notes.append(f"no value: {shown}" + (f" and {len(absent) - 20} more" if len(absent) > 20 else ""))
    answer.tables.append(table)
    answer.notes += history([page]) + warnings([page])
    return answer


async def _slugs(api: Api, asked: Sequence[str], page: Page) -> list[str]:
    """Return the requested indicators by slug. Those without a row are looked up, because they may be aliases or wrong."""
    seen = {words.slug(row["indicatorId"]) for row in page.rows}
    plain = [words.slug(name.lower()) for name in asked]
    records = await together([names.indicator(api, name) for name in plain if name not in seen])
    known = {name: record["slug"] for name, record in zip((n for n in plain if n not in seen), records, strict=True)}
    return list(dict.fromkeys(known.get(name, name) for name in plain))


def _line(answer: Answer, entity: Record, row: Record) -> Sequence[object]:
    return (
        entity["entityId"],
        words.slug(row["indicatorId"]),
        rows.period(row),
        rows.value(row),
        rows.unit(row),
        words.day(row["observedAt"]),
        rows.status(row) + ("+stale" if row.get("freshnessStatus") == "stale" else ""),
        f"[{answer.citations.row(row)}]",
    )
