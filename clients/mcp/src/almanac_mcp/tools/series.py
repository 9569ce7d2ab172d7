"""almanac_series: values of indicators in places, period by period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from almanac_mcp import names
from almanac_mcp.asking import Api, Page, Record, together
from almanac_mcp.notes import history, warnings
from almanac_mcp.text import rows, words
from almanac_mcp.text.answers import Answer, Table

COLUMNS = ("period", "value", "observed", "status")
#: Rows of a series where nothing is said, and where a start is.
_FEW, _MANY = 12, 120


async def series(
    api: Api,
    indicators: Sequence[str],
    places: Sequence[str],
    frequency: str | None = None,
    start: str | None = None,
    end: str | None = None,
    last: int | None = None,
    as_of: str | None = None,
) -> Answer:
    """A table for each indicator and place, the newest row last."""
    api = api.saying(
        period_start="start", period_end="end", indicator_id="indicators", entity_id="places", limit="last"
    )
    asked, where = names.distinct(indicators, 5, "indicators"), names.distinct(places, 10, "places")
    records, entities = await together([_indicators(api, asked), names.places(api, where)])
    most = last if last is not None else _FEW if start is None else _MANY
    wanted = [(record, entity) for record in records for entity in entities]
    bounds = {
        "period_start": None if start is None else words.first_day(start),
        "period_end": None if end is None else words.last_day(end),
        "as_of": as_of,
        "limit": most,
    }
    ids = [entity["entityId"] for entity in entities]
    finest = await together([names.finest(api, record, ids) for record in records]) if frequency is None else []
    known = {record["slug"]: found for record, found in zip(records, finest, strict=False)}
    pages = await together(
        [
            _page(api, record, entity, frequency or known[record["slug"]].get(entity["entityId"]), bounds)
            for record, entity in wanted
        ]
    )
    version = max((page.version for page in pages if page.version is not None), default=None)
    answer = Answer([words.known(as_of, version)], hint=_hint)
    for (record, entity), page in zip(wanted, pages, strict=True):
        answer.tables.append(_table(answer, record, entity, page, most))
    answer.notes += history(pages, start) + warnings(pages)
    return answer


async def _indicators(api: Api, asked: Sequence[str]) -> list[Record]:
    found = await together([names.indicator(api, name) for name in asked])
    return list({one["slug"]: one for one in found}.values())


async def _page(api: Api, record: Record, entity: Record, frequency: str | None, bounds: Mapping[str, object]) -> Page:
    operation = "derived.observations" if record["kind"] == "derived" else "observations.list"
    return await api.page(
        operation,
        indicator_id=record["slug"],
        entity_id=entity["entityId"],
        frequency=frequency,
        order="desc",
        **bounds,
    )


def _table(answer: Answer, record: Record, entity: Record, page: Page, most: int) -> Table:
    found = page.rows[::-1]
    place = f"{entity['name']} ({entity['entityId']})"
    title = f"{record['name']}, {record['slug']}: {place}"
    if not found:
        return Table(title, notes=["no rows: nothing is known of this in the periods asked for"])
    newest = found[-1]
    about = [rows.unit(newest), newest["frequency"], *_kinds(newest)]
    numbers = sorted({answer.citations.row(row, refer=row is newest) for row in found})
    cited = "".join(f"[{number}]" for number in numbers)
    table = Table(f"{title}\n{', '.join(about)} {cited}", COLUMNS, [line(row) for row in found])
    table.notes += rows.reasons(found)
    if page.more and len(found) == most:
        table.notes.append(f"older rows: end={_before(found[0])}")
    return table


def line(row: Record) -> Sequence[object]:
    """A row of a series in words."""
    return (words.period(row), rows.value(row), words.day(row["observedAt"]), rows.status(row))


def _kinds(row: Record) -> list[str]:
    metadata = row.get("metadata") or {}
    scale = metadata.get("scale")
    named = [metadata.get(name) for name in ("seasonalAdjustment", "basis", "priceBasis")]
    return [
        *(words.plain(one) for one in named if one),
        *([f"times 10^{scale}"] if scale else []),
        *(["annualized"] if metadata.get("annualized") else []),
    ]


def _before(row: Record) -> str:
    from datetime import date, timedelta  # noqa: PLC0415  (one use)

    first = date.fromisoformat(words.day(row.get("periodStart")) or words.day(row["periodEnd"]))
    return (first - timedelta(days=1)).isoformat()


def _hint(gone: list[Sequence[object]]) -> str:
    periods = [str(row[0]) for row in gone]
    first = min((one.split("/")[0] for one in periods), key=words.first_day)
    last = max((one.split("/")[-1] for one in periods), key=words.last_day)
    return f"start={first}, end={last}"
