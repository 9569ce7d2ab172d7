"""Names of entities, for rows that have ids alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from almanac.dashboard.visit import Visit

#: What makes a company's page where its id is all that is known.
_COMPANY = "company_"


def places(visit: Visit) -> list[dict[str, Any]]:
    """Countries and regions that have data, by name."""
    told = visit.look_up("/countries", has_data=True, limit=500)
    return [] if told is None else told.data


def names(visit: Visit, ids: Iterable[str]) -> dict[str, str]:
    """What entities are called, by id. One that nobody names is left out."""
    wanted = set(ids)
    companies = {one for one in wanted if one.startswith(_COMPANY)}
    found = {row["id"]: row["name"] for row in places(visit)} if wanted - companies else {}
    # What a company is called is the same for everybody: a page of a hundred would ask a hundred times.
    kept: dict[str, str] = visit.desk.remembered("companies' names") if companies else {}
    for one in companies:
        if one in kept:
            found[one] = kept[one]
            continue
        told = visit.look_up("/entities/resolve", alias=one)
        if told is not None and told.data["entityId"] == one:
            found[one] = kept[one] = told.data["name"]
    return {one: found[one] for one in wanted if one in found}


def entity_page(entity: str) -> str:
    """The page of an entity, by its id: the interface takes ids in paths."""
    return f"/companies/{entity}" if entity.startswith(_COMPANY) else f"/countries/{entity}"
