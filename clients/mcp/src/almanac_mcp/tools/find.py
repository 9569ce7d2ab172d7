"""almanac_find: the indicators, places and companies that a text means, with the exact ids that other tools take."""

from __future__ import annotations

import re

from almanac_mcp import names
from almanac_mcp.asking import Api, Record, UnknownError, together
from almanac_mcp.text import words
from almanac_mcp.text.answers import Answer, Table

#: Words without meaning for a search.
_EMPTY = frozenset(
    [
        "a",
        "an",
        "and",
        "as",
        "at",
        "by",
        "for",
        "from",
        "how",
        "in",
        "is",
        "of",
        "on",
        "or",
        "the",
        "to",
        "what",
        "was",
        "were",
        "which",
        "with",
    ]
)
#: Longest text, in words, whose single words are looked up as names.
_MOST_WORDS = 6


async def find(api: Api, query: str, kind: str = "any", limit: int = 5) -> Answer:
    """Answer with indicators and their extent, then places and companies."""
    api = api.saying(q="query", alias="query")
    text = words.plain(query)
    entities = await _entities(api, text, kind, limit) if kind != "indicator" else []
    answer = Answer([f"found for {text!r}"], hint=lambda _: "ask with a narrower query")
    if kind in ("any", "indicator"):
        place = next((one for one in entities if one["type"] in names.PLACES and one["match"] == "exact"), None)
        answer.tables += await _indicators(api, text, limit, place)
    if entities:
        rows = [(one["entityId"], one["type"], one["name"], one["matchedAlias"], one["match"]) for one in entities]
        title = "places and companies; the other tools take the id"
        answer.tables.append(Table(title, ("id", "type", "name", "found_as", "match"), list(rows), keep="first"))
    if not answer.tables:
        how = {"place": names.HOW["a place"], "company": names.HOW["a company"]}.get(
            kind, names.HOW["a place or company"]
        )
        answer.notes.append(f"nothing is close to this; try other words, or one word of it, in English; {how}")
    return answer


async def _indicators(api: Api, text: str, limit: int, place: Record | None) -> list[Table]:
    spoken = " ".join(word for word in text.split() if word.lower() not in _EMPTY)
    if place is not None:
        without = re.sub(re.escape(place["matchedAlias"] or ""), " ", spoken, flags=re.IGNORECASE)
        spoken = without if without.strip() else spoken
    found = await names.like(api, spoken, limit)
    of = {} if place is None else {"entity_id": place["entityId"]}
    pages = await together([api.page("indicators.series", one["slug"], limit=500, **of) for one in found])
    return [_table(record, page.rows, place) for record, page in zip(found, pages, strict=True)]


def _table(record: Record, series: list[Record], place: Record | None) -> Table:
    where = "" if place is None else f" in {place['name']}"
    held = [one for one in series if one["observationCount"]]
    lines = [
        f"{record['slug']}: {words.plain(record['name'])} ({record['kind']}, {record['category']})",
        words.plain(record["description"]),
    ]
    if not held:
        lines.append(f"no values are held{where}")
        return Table("\n".join(lines))
    units = sorted({one["unit"] or "none" for one in held})
    frequencies = [name for name in names.FREQUENCIES if any(one["frequency"] == name for one in held)]
    first = min(words.day(one["firstPeriod"]) for one in held)
    last = max(words.day(one["lastPeriod"]) for one in held)
    vintages = min(words.day(one["vintagesFrom"]) for one in held)
    lines.append(
        f"unit {'/'.join(units[:4])}; {', '.join(frequencies)}; periods {first} to {last}{where}; "
        f"vintagesFrom {vintages}; {words.counted(len({one['entityId'] for one in held}), 'entity')}"
    )
    withheld = sum(one["rights"]["valueWithheld"] for one in held)
    if withheld:
        lines.append(f"values are withheld in {withheld} of {words.counted(len(held), 'series')}")
    return Table("\n".join(lines))


async def _entities(api: Api, text: str, kind: str, limit: int) -> list[Record]:
    wanted = {"any": (*names.PLACES, "company"), "place": names.PLACES, "company": ("company",)}[kind]
    found = await _resolved(api, text, "company" if kind == "company" else None)
    tokens = [word.strip(",;?!") for word in text.split()]
    if not found and 1 < len(tokens) <= _MOST_WORDS:
        # Names within a longer text: exact matches only, because single words resemble too many names.
        runs = [" ".join(tokens[i:j]) for i in range(len(tokens)) for j in (i + 1, i + 2) if j <= len(tokens)]
        runs = [run for run in dict.fromkeys(runs) if run.lower() not in _EMPTY]
        pages = await together([_resolved(api, run, None) for run in runs])
        # A short word counts as a name only in capitals: `US`, not `us`.
        named = [run.isupper() or len(run) > 3 for run in runs]
        found = [
            one for page, name in zip(pages, named, strict=True) if name for one in page if one["match"] == "exact"
        ]
    distinct = {one["entityId"]: one for one in reversed(found) if one["type"] in wanted}
    return list(reversed(distinct.values()))[:limit]


async def _resolved(api: Api, text: str, kind: str | None) -> list[Record]:
    try:
        found = (await api.item("entities.resolve", alias=text[:200], type=kind)).record
    except UnknownError:
        return []
    candidates: list[Record] = found["candidates"]
    return [one for one in candidates if one["entityId"]]
