"""almanac_brief: a country in words, with the readings the words are made from."""

from __future__ import annotations

from collections.abc import Sequence

from almanac_mcp import names
from almanac_mcp.asking import Api, Record
from almanac_mcp.notes import history
from almanac_mcp.references import references
from almanac_mcp.text import rows, words
from almanac_mcp.text.answers import Answer, Table

COLUMNS = ("indicator", "value", "unit", "to", "previous", "change", "rank", "source")
_EVENTS, _RELEASES = 5, 3


async def brief(api: Api, country: str, as_of: str | None = None) -> Answer:
    """Answer with the headline, six sections, coming events and recent releases."""
    entity = await names.entity(api, country, names.PLACES)
    told = await api.item("briefs.get", entity["entityId"], as_of=as_of)
    record = told.record
    readings = [one for section in record["sections"] for one in section["readings"]]
    indicators = {words.slug(one["indicatorId"]) for one in readings}
    found = await references(api, {entity["entityId"]}, indicators, as_of)
    answer = Answer(
        [
            words.known(as_of, told.version),
            f"{record['name']} ({record['country']}), as of {words.instant(record['asOf'])}",
            words.plain(record["headline"]),
        ],
        hint=lambda _: "call almanac_latest for single readings",
    )
    for section in record["sections"]:
        lines = [
            _line(one, found.cite(answer.citations, one["seriesId"], one["rights"])) for one in section["readings"]
        ]
        title = f"{section['title']}: {words.plain(section['text'])}"
        answer.tables.append(
            Table(title, COLUMNS, list(lines), rows.reasons(section["readings"], "reading"), keep="first")
        )
    if record["upcomingEvents"]:
        coming = [f"{words.instant(one['occurredAt'])} {words.plain(one['title'])}" for one in record["upcomingEvents"]]
        answer.notes.append("coming: " + "; ".join(coming[:_EVENTS]))
    for one in record["recentReleases"][:_RELEASES]:
        answer.notes.append(f"released {words.day(one['releasedAt'])}: {words.plain(one['headline'])}")
    answer.notes += history([told])
    return answer


def _line(reading: Record, number: int | None) -> Sequence[object]:
    hidden = rows.withheld(reading)
    rank = f"{reading['peerRank']} of {reading['peerCount']}" if reading["peerRank"] else ""
    return (
        words.slug(reading["indicatorId"]),
        rows.WITHHELD if hidden else words.number(reading["value"]),
        rows.unit(reading),
        words.day(reading["periodEnd"]) + (" stale" if reading["freshnessStatus"] == "stale" else ""),
        words.number(reading["previous"]),
        words.number(reading["change"]),
        rank,
        f"[{number}]",
    )
