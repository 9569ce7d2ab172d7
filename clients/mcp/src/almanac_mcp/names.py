"""Names: only exact ones are accepted. For any other, candidates are listed, and nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from difflib import SequenceMatcher

from .asking import Api, Page, Record, UnknownError, together
from .text import words
from .text.refusals import RefusalError, unknown

PLACES = ("country", "region")
#: From this many places on, all countries are requested in one list instead of one by one.
_MANY = 5
#: Prefixes before a colon that state the kind of a name.
SCHEMES = ("ticker", "cik", "lei", "iso2", "iso3", "slug", "name")
_PLACE = (
    "places have ISO codes (DEU, DE), ids (country_deu) and names in the large languages (Germany, Allemagne, 日本)"
)
_COMPANY = "companies have ids, CIKs, LEIs, names, and tickers as ticker:AAPL"
#: How to name each kind of thing.
HOW = {"a company": _COMPANY, "a place": _PLACE, "a place or company": f"{_PLACE}; {_COMPANY}"}
#: Frequencies, the finest first.
FREQUENCIES = ("daily", "weekly", "monthly", "quarterly", "semiannual", "annual")


async def indicator(api: Api, name: str) -> Record:
    """Return the record of an indicator by its id, slug or alias. Raises RefusalError with candidates."""
    try:
        return (await api.item("indicators.get", name)).record
    except UnknownError as error:
        found = await like(api, name)
        if error.suggestion and error.suggestion not in [one["slug"] for one in found]:
            near = await api.item("indicators.get", error.suggestion)
            found.insert(0, near.record)
        raise unknown("an indicator", name, [{"id": one["slug"], "name": one["name"]} for one in found]) from error


async def like(api: Api, text: str, most: int = 3) -> list[Record]:
    """
    Return indicators that a text may mean.

    Those with all of its words come first, ordered by relevance with those that have series before the others, and then
    those with most of its words.
    """
    tokens = list(dict.fromkeys(re.findall(r"[a-z0-9]+", text.lower())))[:6]
    if not tokens:
        return []
    whole = await api.page("indicators.list", q=" ".join(tokens)[:100], sort="relevance", limit=100)
    found = {row["id"]: row for row in sorted(whole.rows, key=lambda row: not row["seriesCount"])}
    if len(found) < most and len(tokens) > 1:
        pages = await together([api.page("indicators.list", q=token, limit=100) for token in tokens if len(token) > 1])
        others = {row["id"]: row for page in pages for row in page.rows if row["id"] not in found}
        ordered = sorted(others.values(), key=lambda row: (-_likeness(row, tokens), row["slug"]))
        found |= {row["id"]: row for row in ordered}
    return list(found.values())[:most]


def _likeness(row: Record, tokens: Sequence[str]) -> float:
    own = " ".join((row["slug"].replace("_", " "), row["name"], *row["aliases"])).lower()
    text = f"{own} {row['description']}".lower()
    named = sum(token in own for token in tokens)
    mentioned = sum(token in text for token in tokens)
    held = 1.0 if row["seriesCount"] else 0.0
    return 2 * named + mentioned + held + SequenceMatcher(None, " ".join(tokens), row["slug"].replace("_", " ")).ratio()


async def entity(api: Api, name: str, kinds: Collection[str] = ()) -> Record:
    """Return the entity that a name means exactly: entityId, type, name, slug. Raises RefusalError with candidates."""
    what = "a company" if kinds == ("company",) else "a place" if kinds else "a place or company"
    only = kinds[0] if isinstance(kinds, tuple) and len(kinds) == 1 else None
    scheme, colon, code = name.partition(":")
    scheme = scheme.strip().lower()
    prefixed = bool(colon) and scheme in SCHEMES
    try:
        found: Record = (
            await api.item(
                "entities.resolve",
                alias=code.strip() if prefixed else name,
                scheme=scheme if prefixed else None,
                type=only,
            )
        ).record
    except UnknownError as error:
        raise unknown(what, name, [], how=HOW[what]) from error
    fitting: list[Record] = [one for one in found["candidates"] if not kinds or one["type"] in kinds]
    if found["entityId"] and found["match"] == "exact" and (not kinds or found["type"] in kinds):
        return found
    exact = [one for one in fitting if one["match"] == "exact"]
    # A country code means the country, even if it is a company's ticker; `ticker:USA` means the company.
    coded = [one for one in exact if one["scheme"] in ("iso2", "iso3")]
    for some in (coded, exact):
        if len(some) == 1 and not found["entityId"]:
            return some[0]
    raise unknown(what, name, candidates(fitting), how=HOW[what])


def candidates(found: Iterable[Record]) -> list[Record]:
    """Return candidates in the form that a refusal lists: the accepted id, and the name."""
    return [
        {"id": one["entityId"], "name": f"{one['name']}, {one['type']}"} for one in found if one["entityId"] is not None
    ]


async def places(api: Api, asked: Sequence[str]) -> list[Record]:
    """Return the entities that these names mean, each once, in their order."""
    if len(asked) < _MANY:
        found = await together([entity(api, name) for name in asked])
    else:
        table = _by_name((await api.page("countries.list", limit=500)).rows)
        found = await together([_known(api, name, table) for name in asked])
    return list({one["entityId"]: one for one in found}.values())


async def _known(api: Api, name: str, table: dict[str, Record]) -> Record:
    held = table.get(name.casefold())
    return held if held is not None else await entity(api, name)


def _by_name(countries: Iterable[Record]) -> dict[str, Record]:
    """Index countries by their codes and ids, as single look-ups accept them."""
    table: dict[str, Record | None] = {}
    for one in countries:
        record = {"entityId": one["id"], "type": one["kind"], "name": one["name"], "slug": one["slug"]}
        # Names and slugs are left out, because a company may share them.
        names = {one["id"], one["isoAlpha2"], one["isoAlpha3"]}
        for name in {name.casefold() for name in names if name}:
            table[name] = record if name not in table else None
    return {name: record for name, record in table.items() if record is not None}


async def frequencies(
    api: Api, record: Record, entities: Collection[str], as_of: str | None = None
) -> dict[str, list[str]]:
    """
    Return the frequencies at which each entity has values known by a day, the finest first.

    They may lie outside the requested periods, which only the rows can tell. The result is empty if the indicator has a
    single frequency.
    """
    if len(record["frequencies"]) < 2:
        return {}
    page = await api.page("indicators.series", record["slug"], entity_id=sorted(entities), limit=500)
    held: dict[str, set[str]] = {}
    for row in page.rows:
        known = words.day(row["vintagesFrom"])
        if row["observationCount"] and row["frequency"] in FREQUENCIES and (as_of is None or known <= as_of[:10]):
            held.setdefault(row["entityId"], set()).add(row["frequency"])
    return {entity: sorted(found, key=FREQUENCIES.index) for entity, found in held.items()}


async def finest(ask: Callable[[str | None], Awaitable[Page]], known: Sequence[str]) -> Page:
    """
    Return the rows at the finest frequency that has any. A company may, for example, have filed only yearly until a few
    years ago.
    """
    found = await ask(known[0] if known else None)
    for frequency in known[1:]:
        if found.rows:
            break
        found = await ask(frequency)
    return found


def distinct(names: Sequence[str], most: int, what: str) -> list[str]:
    """Return the requested names, each once. Raises RefusalError for no name, an empty one, or too many."""
    found = list(dict.fromkeys(words.plain(name) for name in names))
    if not found or "" in found:
        raise RefusalError(f"'{what}' must name at least one, and none may be empty")
    if len(found) > most:
        raise RefusalError(f"'{what}' has {len(found)} names", allowed={"minimum": 1, "maximum": most})
    return found
