"""Names of entities, for rows that have ids alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from almanac.dashboard.formatting.company_names import company_name
from almanac.dashboard.visit import Visit
from almanac.store.state_memory import Remembered

T = TypeVar("T")

#: What tells how large an economy is.
_SIZE = "gdp_current_usd"
#: What makes a company's page where its id is all that is known.
_COMPANY = "company_"
#: What companies are called, by id.
_COMPANY_NAMES: Remembered[dict[str, str]] = Remembered("names of companies", lambda _: {})


def called(entity: Mapping[str, Any]) -> str:
    """Return what a record of an entity (`type` or `kind`, or an id) is called: a company as people write it."""
    name: str = entity["name"]
    kind = entity.get("type") or entity.get("kind") or ""
    return company_name(name) if kind == "company" or entity.get("entityId", "").startswith(_COMPANY) else name


def domiciles(visit: Visit) -> list[dict[str, Any]]:
    """All countries by name, with data of their own or without: where companies may be at home."""
    told = visit.look_up("/countries", limit=500)
    return [] if told is None else [row for row in told.data if row["kind"] == "country"]


def places(visit: Visit) -> list[dict[str, Any]]:
    """Countries and regions that have data, by name."""
    told = visit.look_up("/countries", has_data=True, limit=500)
    return [] if told is None else told.data


def by_size(visit: Visit, rows: Iterable[T], entity: Callable[[T], str]) -> list[T]:
    """
    Rows of places with the large economies first: by gross domestic product in US dollars as last published, then by the
    order they came in. One of the compared currency areas of which none is published stands before all.
    """
    told = visit.look_up("/observations/latest", indicator_id=_SIZE, limit=500)
    sizes = {} if told is None else {row["entityId"]: row["valueNumeric"] for row in told.data}
    compared = {row["id"] for row in places(visit) if row["ratesScope"]}

    def size(row: T) -> float:
        found = sizes.get(entity(row))
        return found if found is not None else float("inf") if entity(row) in compared else 0.0

    return sorted(rows, key=lambda row: -size(row))


def names(visit: Visit, ids: Iterable[str]) -> dict[str, str]:
    """Return what entities are called, by id. One that nobody names is left out."""
    wanted = set(ids)
    companies = {one for one in wanted if one.startswith(_COMPANY)}
    found = {row["id"]: row["name"] for row in places(visit)} if wanted - companies else {}
    if wanted - companies - found.keys():
        found |= {row["id"]: row["name"] for row in domiciles(visit)}
    # What a company is called is the same for everybody: a page of a hundred would ask a hundred times.
    kept = visit.api.remembered(_COMPANY_NAMES) if companies else {}
    for one in companies:
        if one in kept:
            found[one] = kept[one]
            continue
        told = visit.look_up("/entities/resolve", alias=one)
        if told is not None and told.data["entityId"] == one:
            found[one] = kept[one] = called(told.data)
    return {one: found[one] for one in wanted if one in found}


def entity_page(entity: str) -> str:
    """Return the page of an entity, by its id: the interface takes ids in paths."""
    return f"/companies/{entity}" if entity.startswith(_COMPANY) else f"/countries/{entity}"
