"""almanac_series: values of indicators in places, period by period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from almanac_mcp import names
from almanac_mcp.asking import Api, Page, Record, together
from almanac_mcp.bounds import of_entity
from almanac_mcp.notes import history, warnings
from almanac_mcp.text import rows, words
from almanac_mcp.text.answers import Answer, Table

COLUMNS = ("period", "value", "observed", "status")
#: Default rows of a series, without and with a start.
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
    """Answer with a table for each indicator and place, the newest row last."""
    api = api.saying(
        period_start="start", period_end="end", indicator_id="indicators", entity_id="places", limit="last"
    )
    asked, where = names.distinct(indicators, 5, "indicators"), names.distinct(places, 10, "places")
    records, entities = await together([_indicators(api, asked), names.places(api, where)])
    most = last if last is not None else _FEW if start is None else _MANY
    wanted = [(record, entity) for record in records for entity in entities]
    spans = await together([of_entity(api, entity, start, end, as_of) for entity in entities])
    bounds = {
        entity["entityId"]: {"period_start": span["start"], "period_end": span["end"], "as_of": as_of, "limit": most}
        for entity, (span, _) in zip(entities, spans, strict=True)
    }
    ids = [entity["entityId"] for entity in entities]
    there = await together([names.frequencies(api, record, ids, as_of) for record in records])
    known = {record["slug"]: found for record, found in zip(records, there, strict=True)}
    pages = await together(
        [
            names.finest(
                partial(_page, api, record, entity, bounds[entity["entityId"]]),
                [frequency] if frequency else known[record["slug"]].get(entity["entityId"], []),
            )
            for record, entity in wanted
        ]
    )
    version = max((page.version for page in pages if page.version is not None), default=None)
    answer = Answer([words.known(as_of, version)], hint=_hint)
    empty = [one for one, page in zip(wanted, pages, strict=True) if not page.rows]
    reasons = await _reasons(api, empty, as_of, near=len(wanted) == 1)
    for (record, entity), page in zip(wanted, pages, strict=True):
        if page.rows:
            others = known[record["slug"]].get(entity["entityId"], [])
            answer.tables.append(_table(answer, record, entity, page, most, others))
        else:
            answer.tables.append(Table(_title(record, entity), notes=[reasons[record["slug"], entity["entityId"]]]))
    answer.notes += list(dict.fromkeys(note for _, notes in spans for note in notes))
    answer.notes += history(pages, start) + warnings(pages)
    return answer


async def _indicators(api: Api, asked: Sequence[str]) -> list[Record]:
    found = await together([names.indicator(api, name) for name in asked])
    return list({one["slug"]: one for one in found}.values())


async def _page(api: Api, record: Record, entity: Record, bounds: Mapping[str, object], frequency: str | None) -> Page:
    operation = "derived.observations" if record["kind"] == "derived" else "observations.list"
    return await api.page(
        operation,
        indicator_id=record["slug"],
        entity_id=entity["entityId"],
        frequency=frequency,
        order="desc",
        **bounds,
    )


async def _reasons(
    api: Api, empty: Sequence[tuple[Record, Record]], as_of: str | None, *, near: bool
) -> dict[tuple[str, str], str]:
    """
    Return why cells have no rows, with what exists instead. With `near`, also name similar indicators that the place
    has.
    """
    told: dict[tuple[str, str], str] = {}
    for slug in dict.fromkeys(record["slug"] for record, _ in empty):
        entities = [entity for record, entity in empty if record["slug"] == slug]
        ids = sorted(entity["entityId"] for entity in entities)
        held: dict[str, list[Record]] = {}
        for one in (await api.page("indicators.series", slug, entity_id=ids, limit=500)).rows:
            if one["observationCount"]:
                held.setdefault(one["entityId"], []).append(one)
        everywhere = [] if len(held) == len(ids) else (await api.page("indicators.series", slug, limit=500)).rows
        others = list(dict.fromkeys(one["entityId"] for one in everywhere))
        where = f"it is held for {', '.join(others[:5]) or 'no place'}{' and more' if len(others) > 5 else ''}"
        for entity in entities:
            own = held.get(entity["entityId"])
            told[slug, entity["entityId"]] = (
                _spans(own, as_of)
                if own
                else f"there is no series of {slug} for {entity['name']} ({entity['entityId']}); "
                + (await _near(api, slug, entity) if near else "")
                + where
            )
    return told


def _spans(own: Sequence[Record], as_of: str | None) -> str:
    spans = [
        f"{one['frequency']} from {words.day(one['firstPeriod'])} to {words.day(one['lastPeriod'])} by {one['sourceId']}"
        for one in own[:6]
    ]
    then = "" if as_of is None else f", known since {min(words.day(one['vintagesFrom']) for one in own)}"
    return f"no rows are in what was asked for; held are: {'; '.join(spans)}{then}"


async def _near(api: Api, slug: str, entity: Record) -> str:
    like = [one["slug"] for one in await names.like(api, slug.replace("_", " "), 10) if one["slug"] != slug]
    pages = await together([api.page("indicators.series", one, entity_id=entity["entityId"], limit=1) for one in like])
    found = [one for one, page in zip(like, pages, strict=True) if page.rows]
    return f"near it there are for {entity['name']}: {', '.join(found[:5])}; " if found else ""


def _title(record: Record, entity: Record) -> str:
    return f"{record['name']}, {record['slug']}: {entity['name']} ({entity['entityId']})"


def _table(answer: Answer, record: Record, entity: Record, page: Page, most: int, frequencies: Sequence[str]) -> Table:
    found = page.rows[::-1]
    title = _title(record, entity)
    newest = found[-1]
    about = [rows.unit(newest), newest["frequency"], *_kinds(newest)]
    numbers = sorted({answer.citations.row(row, refer=row is newest) for row in found})
    cited = "".join(f"[{number}]" for number in numbers)
    table = Table(f"{title}\n{', '.join(about)} {cited}", COLUMNS, [line(row) for row in found])
    table.notes += rows.reasons(found)
    if page.more and len(found) == most:
        table.notes.append(f"older rows: end={_before(found[0])}")
    others = [one for one in frequencies if one != newest["frequency"]]
    if others:
        table.notes.append(f"also held: {', '.join(others)}; ask with frequency=")
    return table


def line(row: Record) -> Sequence[object]:
    """Format a row of a series."""
    return (rows.period(row), rows.value(row), words.day(row["observedAt"]), rows.status(row))


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
    periods = [words.calendar_name(str(row[0])) for row in gone]
    first = min((one.split("/")[0] for one in periods), key=words.first_day)
    last = max((one.split("/")[-1] for one in periods), key=words.last_day)
    return f"start={first}, end={last}"
