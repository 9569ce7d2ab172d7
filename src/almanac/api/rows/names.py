"""Names as clients write them: what each means in a path, and what may have been meant by one that means nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeVar

from almanac.api.contract.endpoint import Context
from almanac.api.contract.errors import not_found
from almanac.api.contract.params import Param, day_of
from almanac.domain import aliases as names
from almanac.domain.aliases import Alias
from almanac.domain.reference import Entity
from almanac.reports import names as report
from almanac.reports.names import Subject, Suggestions
from almanac.store.companies import rows as company_rows
from almanac.store.observations.reading.reader import View
from almanac.store.state_memory import Remembered

T = TypeVar("T")

PLACES = ("country", "region")
_ANY = (*PLACES, "company")
_HOW_TO_NAME = ": give an ISO-2 or ISO-3 code, a name, an id or a slug; EUR for the euro area"
#: Scopes of which a key needs one to be told of companies.
_COMPANIES = frozenset(["data:read", "companies:read", "reference:read"])


def place(ctx: Context, text: str) -> Entity | None:
    """Return the country or region of a name: a code, id or slug, or any name that /entities/resolve finds exactly."""
    directory = ctx.view.directory
    entity = directory.country(text)
    if entity is None:
        subject = exactly(ctx, text, PLACES)
        entity = None if subject is None else directory.entities[subject.entity]
    return entity


#: What stands in a path for a place.
PLACE_IN_PATH = Param(
    "country", "Id, slug, ISO code or exact name of a country or region; EUR for the euro area.", example="USA"
)


def place_in_path(ctx: Context, parameter: str) -> Entity:
    """Return the country or region that a part of the path names. Raises ApiError 404."""
    name = ctx.path[parameter]
    entity = place(ctx, name)
    if entity is None:
        raise not_found(parameter, "country", name, _HOW_TO_NAME, suggested_place(ctx, name))
    return entity


def entity(ctx: Context, text: str) -> Entity | None:
    """Return the entity of a name: an id or slug, or any name that /entities/resolve finds exactly."""
    directory = ctx.view.directory
    found = directory.entity(text)
    if found is None:
        meant = exactly(ctx, text)
        found = None if meant is None else directory.entity(meant.entity)
    return found


def exactly(ctx: Context, text: str, types: Collection[str] = _ANY) -> Subject | None:
    """Return what /entities/resolve finds exactly among entities of these types, as of the moment of the request."""
    view = ctx.view
    equal = matching(view, text, companies="company" in types)
    subjects = _subjects(view, equal, types)

    def beginning(norm: str) -> list[Alias]:
        more = [
            *(
                alias
                for known, aliases_of in _PLACES.of(view).items()
                if f"{known} ".startswith(f"{norm} ")
                for alias in aliases_of
            ),
            *company_rows.beginning(view, norm),
        ]
        subjects.update(_subjects(view, more, types))
        return more

    return report.exactly(text, equal, subjects, beginning, day_of(ctx.at).toordinal())


def matching(view: View, text: str, *, companies: bool = True) -> list[Alias]:
    """Return the names of entities that are equal to a text, as names are compared."""
    equal = sorted(set(report.norms(text).values()))
    equal_names = [alias for norm in equal for alias in _PLACES.of(view).get(norm, ())]
    return equal_names + company_rows.matching(view, equal) if companies and equal else equal_names


def _names_of_places(view: View) -> dict[str, list[Alias]]:
    """Return the names of countries and regions, by what is compared of them."""
    by_norm: dict[str, list[Alias]] = {}
    places = [entity for entity in view.directory.entities.values() if entity.kind in PLACES]
    for alias in (*(alias for entity in places for alias in names.of_place(entity)), *report.foreign_names(places)):
        by_norm.setdefault(alias.norm, []).append(alias)
    return by_norm


_PLACES = Remembered("names of places", _names_of_places)
#: By what they are names of.
_SUGGESTIONS: Remembered[dict[str, Suggestions]] = Remembered("suggestions", lambda _: {})


def _subjects(view: View, found: Iterable[Alias], types: Collection[str]) -> dict[str, Subject]:
    """Return the entities of these aliases that are of one of the types, by id."""
    ids, entities = {alias.entity for alias in found}, view.directory.entities
    subjects = {
        one.id: Subject(one.id, one.kind, one.name, one.slug, reports=False)
        for one in (entities[i] for i in ids if i in entities)
        if one.kind in types
    }
    if "company" in types:
        for one in company_rows.by_ids(view, ids - entities.keys()).values():
            subjects[one.entity] = Subject(one.entity, "company", one.name, one.slug, reports=bool(one.reports))
    return subjects


# -- what was meant -----------------------------------------------------------------------------------------------------


def suggested(
    ctx: Context, name: str, text: str, make: Callable[[], Iterable[tuple[str, Sequence[str]]]]
) -> str | None:
    """
    Return the name that may have been meant by a text that names nothing.

    `make` gives the names there are with their other names; they are remembered under `name` with the state of the store.
    """
    by_name = _SUGGESTIONS.of(ctx.view)
    suggestions = by_name.get(name)
    if suggestions is None:
        suggestions = by_name[name] = Suggestions(make())
    return suggestions.nearest(text)


def suggested_indicator(ctx: Context, text: str, kind: str | None = None) -> str | None:
    """Return the slug of the indicator (raw, derived; None: of either kind) that may have been meant."""
    every = ctx.view.directory.indicators.values()
    return suggested(
        ctx,
        f"indicator {kind}",
        text,
        lambda: [(one.slug, (one.name, *one.other_names)) for one in every if kind is None or one.kind == kind],
    )


def suggested_place(ctx: Context, text: str) -> str | None:
    """Return the slug of the country or region that may have been meant."""
    meant = exactly(ctx, text, PLACES)
    if meant is not None:
        return meant.slug
    every = ctx.view.directory.entities.values()
    return suggested(
        ctx,
        "place",
        text,
        lambda: [(one.slug, (one.name, *one.aliases, *one.former_names)) for one in every if one.kind in PLACES],
    )


def suggested_entity(ctx: Context, text: str) -> str | None:
    """Return the slug of the entity that may have been meant: of a company only for a name exactly its own and a key that may read it."""
    meant = exactly(ctx, text) if _COMPANIES.intersection(ctx.key.scopes) else None
    return suggested_place(ctx, text) if meant is None else meant.slug


def suggested_word(ctx: Context, name: str, text: str, words: Iterable[str]) -> str | None:
    """Return which of these texts of the field `name` may have been meant."""
    return suggested(ctx, f"words of {name}", text, lambda: [(word, ()) for word in words])
