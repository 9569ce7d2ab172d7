"""almanac_calendar: releases, decisions and filings between two days, past and scheduled."""

from __future__ import annotations

from collections.abc import Sequence

from almanac_mcp import names
from almanac_mcp.asking import Api, Record
from almanac_mcp.bounds import of_entity, within
from almanac_mcp.notes import history, warnings
from almanac_mcp.text import rows, words
from almanac_mcp.text.answers import Answer, Table

COLUMNS = ("when", "status", "event", "period", "actual", "revised", "previous", "unit", "source")


async def calendar(
    api: Api,
    start: str,
    end: str,
    place: str | None = None,
    indicator: str | None = None,
    category: str | None = None,
    limit: int = 10,
    as_of: str | None = None,
) -> Answer:
    """Answer with the events in order of time, the earliest first."""
    api = api.saying(start_date="start", end_date="end")
    within(start, end)  # what is no period is said before anything is asked
    entity = None if place is None else await names.entity(api, place)
    span, said = await of_entity(api, entity, start, end, as_of)
    record = None if indicator is None else await names.indicator(api, indicator)
    page = await api.page(
        "events.list",
        entity_id=None if entity is None else entity["entityId"],
        indicator_id=None if record is None else record["slug"],
        category=category,
        start_date=span["start"],
        end_date=span["end"],
        order="asc",
        limit=limit,
        as_of=as_of,
    )
    about = [one["name"] for one in (entity, record) if one is not None]
    answer = Answer(
        [words.known(as_of, page.version), ", ".join([*about, *([category] if category else []), f"{start} to {end}"])],
        hint=lambda gone: f"start={str(gone[0][0])[:10]}",
    )
    if page.rows:
        lines = [_line(row, answer.citations.row(row, refer=False)) for row in page.rows]
        notes = rows.reasons((row for row in page.rows if row["indicatorId"]), "event")
        answer.tables.append(Table("", COLUMNS, list(lines), notes, keep="first"))
    else:
        answer.notes.append("no events are known there")
    if page.more:
        answer.notes.append(f"more events follow: start={words.day(page.rows[-1]['occurredAt'])}, or a higher limit")
    answer.notes += said + history([page], span["start"]) + warnings([page])
    return answer


def _line(row: Record, number: int) -> Sequence[object]:
    hidden = rows.withheld(row) and row["indicatorId"] is not None
    when = words.day(row["occurredAt"]) if row["timePrecision"] == "day" else row["occurredAt"]
    return (
        when,
        row["status"],
        row["title"],
        row["period"] or "",
        rows.WITHHELD if hidden else words.number(row["actual"]),
        words.number(row["revisedActual"]),
        words.number(row["previous"]),
        rows.unit(row) if row["unit"] else "",
        f"[{number}]",
    )
