"""Search by a few typed words: one exact thing, an indicator of an entity, or lists of near matches."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import msgspec

from almanac.api.contract.errors import ApiError
from almanac.dashboard.explorer.places import by_size, names, places
from almanac.dashboard.formatting.company_names import company_name
from almanac.dashboard.visit import Visit
from almanac.reports.indicator_search import BEGUN, CALLED, name_nearness

Row = dict[str, Any]

#: Series of one entity, rows of each list, and the most that is read of any.
_SERIES, _ROWS, _READ = 12, 10, 40
_WORDS = 8
#: Letters with which words that mean the same begin, and by how many one may be longer.
_ALIKE, _LONGER = 4, 2
#: Letters of a publisher's code that stands for one thing alone: shorter ones are words of others.
_CODE = 5
#: Letters that a name must be begun with, and the most places that one beginning may stand for.
_BEGUN, _BEGINNINGS = 3, 4
_SERIES_ID = re.compile(r"[a-z0-9-]+:[a-z0-9_]+:[a-z0-9_]+:[A-Z](?::[A-Za-z]+)?", re.ASCII)
_OBSERVATION_ID = re.compile(r"obs_[a-z2-7]{26}", re.ASCII)
#: Names that stand for one thing alone. A plain word may be the beginning of many.
_IDENTITIES = {"ticker", "cik", "lei", "iso2", "iso3"}
#: Words that are ISO codes too, and others that say nothing of what is looked for.
SMALL_WORDS = frozenset(
    ["and", "as", "at", "be", "by", "do", "for", "from", "in", "is", "it", "me", "my", "no", "of", "so", "the", "to"]
)
#: Words of markets that mean a place: bonds, and central banks; with the word that says the rest of what they mean.
_MARKETS = {
    "treasury": ("united-states", "yield"), "treasurie": ("united-states", "yield"), "gilt": ("united-kingdom", "yield"), "bund": ("germany", "yield"),
    "jgb": ("japan", "yield"), "fed": ("united-states", ""), "ecb": ("euro-area", ""), "boe": ("united-kingdom", ""), "boj": ("japan", ""), "snb": ("switzerland", ""),
    "rba": ("australia", ""), "boc": ("canada", ""),
}  # fmt: skip
_PLACES = {"company": "companies", "country": "countries", "region": "countries"}


class Found(msgspec.Struct):
    """The matches of some words, in groups, best first."""

    #: The entity that some of the words name, and the rest of the words.
    entity: Row | None
    rest: str
    #: Latest readings, rows as of `/observations/latest`, with the name of their indicator and entity.
    series: list[Row]
    indicators: list[Row]
    countries: list[Row]
    companies: list[Row]
    suggestion: str | None = None

    @property
    def total(self) -> int:
        return len(self.series) + len(self.indicators) + len(self.countries) + len(self.companies)


def address(visit: Visit, words: str) -> str | None:
    """
    Return the page of the one thing that is called exactly so: a series or observation id, a ticker, CIK, LEI or ISO code, or a
    publisher's code of one series.
    """
    if _SERIES_ID.fullmatch(words):
        source, entity, indicator, _ = words.split(":", 3)
        told = visit.ask_if_known(f"/indicators/{indicator}/series", entity_id=entity, source_id=source, limit=100)
        if told is not None and any(row["id"] == words for row in told.data):
            return series_address(words)
    if _OBSERVATION_ID.fullmatch(words.lower()) and visit.ask_if_known(f"/observations/{words.lower()}/provenance"):
        return f"/observations/{words.lower()}"
    named = _resolved(visit, words)
    if named is not None and named["scheme"] in _IDENTITIES:
        # `gold` is a ticker too, and `GOLD` is nothing else.
        called = not words.isupper() and nearest(indicators_of(visit, words)[:1], words) == CALLED
        return None if called else entity_address(named)
    if named is None and len(words) >= _CODE and " " not in words:
        coded = _coded(visit, words)
        if len(coded) == 1:
            return series_address(coded[0])
    return None


def _coded(visit: Visit, code: str) -> list[str]:
    """Ids of published series that have this code of their publisher's."""
    told = visit.look_up("/indicators", q=code[:100], kind="raw", limit=_BEGINNINGS)
    found: list[str] = []
    for row in [] if told is None else told.data:
        series = visit.look_up(f"/indicators/{row['slug']}/series", native_id=code[:100], limit=_ROWS)
        found += [] if series is None else [one["id"] for one in series.data]
    return found


def series_address(series: str) -> str:
    """Return the page of a series; the colons of its id may stand in a path."""
    return f"/series/{quote(series, safe=':')}"


def entity_address(entity: Row) -> str:
    """Return the page of a country, region or company, by a record that has `type` and `slug`."""
    return f"/{_PLACES[entity['type']]}/{entity['slug']}"


def found(visit: Visit, words: str) -> Found:
    """All that the words may mean."""
    indicators = indicators_of(visit, words)
    near = nearest(indicators[:1], words)
    entity, rest = _split(visit, words)
    beside: Row | None = None
    if near == CALLED or (near == BEGUN and " " in words):
        # The words are what something is called, whatever else one of them alone may name.
        beside = entity if entity is not None and not rest else None
        entity, rest = _market(visit, words)[0], words
    else:
        if entity is None:
            entity, rest = _market(visit, words)
        indicators = indicators_of(visit, rest) if rest else []
    begun: list[Row] = []
    if entity is None and not any(
        all(word in row["name"].lower() for word in words.lower().split()) for row in indicators
    ):
        places_begun, others = _begun(visit, words)
        found_near = indicators_of(visit, others) if places_begun else []
        if found_near:
            begun, rest, indicators = places_begun, others, found_near
    served = [row for row in indicators if row["entityCount"]]
    if len(begun) == 1:
        entity = begun[0]
    if entity is not None:
        series = _of_entity(visit, entity, served)
    elif begun:
        series = [row for one in begun for row in _of_entity(visit, one, served[:1])]
    else:
        series = _of_indicator(visit, served[0]) if served else []
    result = Found(entity, rest, series, indicators[:_ROWS], [], [])
    if entity is not None or beside is not None:
        for one in (
            named for each in (entity, beside) if each is not None for named in (each, *each.get("others", ()))
        ):
            (result.companies if one["type"] == "company" else result.countries).append(one)
    elif begun:
        result.countries = begun
    else:
        result.countries = _countries(visit, words)
        rows = visit.ask("/companies", q=words[:100], limit=_ROWS).data
        # Of two registrants of one name the one that is still listed is meant.
        result.companies = sorted(rows, key=lambda row: row["ticker"] is None)
    if not result.total or (rest and not indicators and (entity is not None or not result.companies)):
        result.suggestion = _suggestion(visit, words)
    return result


def _split(visit: Visit, words: str) -> tuple[Row | None, str]:
    """Return the entity that the words begin or end with, as many words as fit, and what is left of them."""
    parts = words.split()[:_WORDS]
    for length in range(len(parts), 0, -1):
        for named, rest in ((parts[-length:], parts[:-length]), (parts[:length], parts[length:])):
            entity = _resolved(visit, " ".join(named), places_first=True)
            if entity is not None and (not rest or " ".join(named) not in SMALL_WORDS):
                return entity, " ".join(word for word in rest if word.lower() not in SMALL_WORDS)
    return None, words


def _resolved(visit: Visit, name: str, *, places_first: bool = False) -> Row | None:
    """Return what is called exactly so. Of several, none; but the one place among them where that is wanted: USA is a ticker too."""
    try:
        told = visit.look_up("/entities/resolve", alias=name)
    except ApiError:  # too long for a name, or nothing that could be one
        return None
    if told is None or told.data["match"] == "fuzzy":
        return None
    row: Row = _written(told.data)
    if row["entityId"] is not None:
        return row
    exact = [_written(one) for one in row["candidates"] if one["match"] == "exact"]
    found = [one for one in exact if _PLACES[one["type"]] == "countries"]
    if not places_first or len(found) != 1:
        return None
    place: Row = found[0]
    return {**place, "others": [one for one in exact if one is not place]}


def entity_named(visit: Visit, name: str) -> Row | None:
    """Return the country, region or company of a name as an address has it: an id, slug, ISO code or exact name, places first."""
    return _resolved(visit, name, places_first=True)


def _written(row: Row) -> Row:
    """Return a record with the name that people write: registers have companies in capitals."""
    return {**row, "name": company_name(row["name"])} if row["type"] == "company" else row


def _market(visit: Visit, words: str) -> tuple[Row | None, str]:
    """Return the place that a word of the market means, and the words without it: `10 year treasury`, `ecb deposit rate`."""
    parts = words.split()[:_WORDS]
    for place, word in enumerate(parts):
        meant = _MARKETS.get(word.lower().removesuffix("s"))
        if meant is not None and len(parts) > 1:
            slug, instead = meant
            rest = [*parts[:place], *([instead] if instead else []), *parts[place + 1 :]]
            entity = _resolved(visit, slug)
            return entity, " ".join(one for one in rest if one.lower() not in SMALL_WORDS)
    return None, words


def indicators_of(visit: Visit, words: str) -> list[Row]:
    """Return indicators that hold all the words, as the interface orders them, but those first that there are values of."""
    rows: list[Row] = visit.ask("/indicators", q=words[:100], sort="relevance", limit=500).data
    return sorted(rows, key=lambda row: not row["entityCount"])[:_READ]


def nearest(rows: Iterable[Row], words: str) -> int | None:
    """Return the name distance of the indicator nearest to some words; None if there are no indicators."""
    return min((name_nearness((row["slug"], row["name"], *row["aliases"]), words) for row in rows), default=None)


def _of_entity(visit: Visit, entity: Row, indicators: list[Row]) -> list[Row]:
    """Latest readings of an entity, in the order of the indicators."""
    called = {row["id"]: row["name"] for row in indicators}
    if not called:
        return []
    ids = list(called)
    told = visit.ask("/observations/latest", entity_id=entity["entityId"], indicator_id=ids, limit=len(ids))
    rows = sorted(told.data, key=lambda row: ids.index(row["indicatorId"]))
    return [row | {"indicatorName": called[row["indicatorId"]], "entityName": entity["name"]} for row in rows[:_SERIES]]


def _of_indicator(visit: Visit, indicator: Row) -> list[Row]:
    """Return some latest readings of an indicator, those of large economies first."""
    told = visit.ask("/observations/latest", indicator_id=indicator["id"], limit=500)
    rows = by_size(visit, told.data, lambda row: row["entityId"])[:_SERIES]
    called = names(visit, [row["entityId"] for row in rows])
    return [
        row | {"indicatorName": indicator["name"], "entityName": called.get(row["entityId"], row["entityId"])}
        for row in rows
    ]


def _countries(visit: Visit, words: str) -> list[Row]:
    text = words.lower()
    rows = [
        row for row in places(visit) if any(name.lower().startswith(text) for name in (row["name"], *row["aliases"]))
    ]
    return [_place(row) for row in by_size(visit, rows, lambda row: row["id"])[:_ROWS]]


def _place(row: Row) -> Row:
    return {"entityId": row["id"], "type": row["kind"], "name": row["name"], "slug": row["slug"]}


def _begun(visit: Visit, words: str) -> tuple[list[Row], str]:
    """Places whose name the last word begins, or the first one, and the rest of the words: somebody may still be typing."""
    parts = words.split()[:_WORDS]
    if len(parts) < 2:
        return [], words
    for word, rest in ((parts[-1], parts[:-1]), (parts[0], parts[1:])):
        if len(word) < _BEGUN:
            continue
        rows = [row for row in places(visit) if row["name"].lower().startswith(word.lower())]
        if 0 < len(rows) <= _BEGINNINGS:
            return [_place(row) for row in rows], " ".join(one for one in rest if one.lower() not in SMALL_WORDS)
    return [], words


def _suggestion(visit: Visit, words: str) -> str | None:
    """Other words that mean something, for some that do not; None unless something is meant by every one of them."""
    parts = words.split()[:_WORDS]
    better = [_meant(visit, word) for word in parts]
    found = [word for word in better if word is not None]
    return " ".join(found) if len(found) == len(parts) and found != parts else None


def _meant(visit: Visit, word: str) -> str | None:
    """Return the word where it means something, else the one that was most likely meant; None: nothing comes near."""
    if visit.ask("/indicators", q=word[:100], limit=1).data or _resolved(visit, word, places_first=True) is not None:
        return word
    try:
        told = visit.look_up("/entities/resolve", alias=word)
        warnings = visit.ask("/observations/latest", indicator=word, limit=1).meta.get("warnings", [])
    except ApiError:
        return None
    # What is like a word in some letters is not what it means: only what the interface takes for meant, or what begins alike.
    for one in [] if told is None else told.data["candidates"][:1]:
        if told is not None and (told.data["entityId"] is not None or _alike(word, one["matchedAlias"])):
            name: str = one["name"]
            return name
    meant = [part for one in warnings for part in (one.get("suggestion") or "").split("_")]
    return next((part for part in meant if _alike(word, part)), None)


def _alike(word: str, other: str) -> bool:
    """Return whether two words begin alike and are about as long: one is the other but for its end, or for a slip."""
    one, two = word.casefold(), other.casefold()
    return min(len(one), len(two)) >= _ALIKE and one[:_ALIKE] == two[:_ALIKE] and abs(len(one) - len(two)) <= _LONGER
