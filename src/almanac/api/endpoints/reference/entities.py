"""Names of entities: all of one, and which entity a name means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer, ListAnswer
from almanac.api.contract.errors import ApiError, quoted
from almanac.api.contract.params import Param, day_of
from almanac.api.endpoints.reference.records import AliasSchema, Candidate, Resolved
from almanac.api.rows.filters import AS_OF
from almanac.api.rows.names import PLACES
from almanac.api.rows.names import entity as named
from almanac.api.rows.paging import keyset
from almanac.domain import aliases as names
from almanac.domain.numbers import plain
from almanac.domain.times import wire_day
from almanac.reports import names as report
from almanac.reports.names import Match, Spellings, Subject, foreign_names
from almanac.store.companies import aliases
from almanac.store.companies import rows as company_rows
from almanac.store.observations.reading.metadata import MetadataCache
from almanac.store.observations.reading.reader import View
from almanac.store.state_memory import Remembered
from almanac.store.summary.native_codes import with_code

#: Scheme of publishers' codes of series, which name no entity and are looked for only where they are asked for.
NATIVE = "native"
#: At most so many candidates are told.
_CANDIDATES = 5


def of_entity(ctx: Context) -> ListAnswer:
    """Names of one entity, by scheme, then name."""
    name = ctx.path["idOrSlug"]
    entity = named(ctx, name)
    if entity is None:
        raise ApiError(
            404,
            f"there is no entity {quoted(name)}; /entities/resolve finds one by any name",
            {"parameter": "idOrSlug"},
        )
    if entity.kind in PLACES:
        found = names.of_place(entity)
    else:
        found = aliases.of_entity(ctx.view, entity.id)
    page, following = keyset(ctx, {(one.scheme, one.alias, one.valid_from or 0): one for one in found})
    return ListAnswer([msgspec.json.encode(_alias(one)) for one in page], following)


def _alias(one: names.Alias) -> AliasSchema:
    return AliasSchema(
        entity_id=one.entity,
        alias=one.alias,
        scheme=one.scheme,  # type: ignore[arg-type]  # the schemes are these
        primary=one.primary,
        valid_from=_time(one.valid_from),
        valid_to=_time(one.valid_to),
        source_id=one.source,
    )


def _time(day: int | None) -> str | None:
    return None if day is None else wire_day(date.fromordinal(day))


class _Index(NamedTuple):
    """All that may be meant in one state of the store."""

    places: list[names.Alias]
    #: By type asked for (None: any), by entity id.
    subjects: Mapping[str | None, Mapping[str, Subject]]
    #: Names of places and companies, to be found by likeness.
    spellings: Spellings


class Resolver:
    """Resolves names for all threads of one process."""

    def __init__(self) -> None:
        self._index = Remembered("entities by name", self._made)
        #: What takes longest to make, with the names it is made of: most states differ from the one before in none.
        self._spelled: tuple[list[names.Alias], Spellings] | None = None

    def resolve(self, ctx: Context) -> ItemAnswer:
        """Return the entity that an alias means."""
        params = ctx.params
        text, scheme = params["alias"], params["scheme"]
        index = self._index.of(ctx.view)
        subjects = index.subjects[params["type"]]
        if scheme == NATIVE:
            return ItemAnswer(msgspec.json.encode(_resolved(_by_code(ctx.view, text, subjects))))
        equal = set(report.norms(text).values())
        found = [one for one in index.places if one.norm in equal]
        found += aliases.matching(ctx.view, sorted(equal)) if equal else []
        found += _by_id(ctx.view.directory, text)
        schemes = None if scheme is None else frozenset([scheme])
        if schemes is not None:
            found = [one for one in found if one.scheme in schemes]
        told = report.resolve(text, found, subjects, index.spellings, day_of(ctx.as_of).toordinal(), schemes)
        if told is None:
            hint = "; it is a publisher's code of a series: ask with scheme=native" if with_code(ctx.view, text) else ""
            raise ApiError(404, f"nothing is called {quoted(text)} or anything like it{hint}", {"parameter": "alias"})
        return ItemAnswer(msgspec.json.encode(_resolved(told)))

    def _made(self, view: View) -> _Index:
        kept = [entity for entity in view.directory.entities.values() if entity.kind in PLACES]
        english = [alias for entity in kept for alias in names.of_place(entity)]
        subjects: dict[str | None, dict[str, Subject]] = {kind: {} for kind in (*PLACES, "company")}
        for one in kept:
            subjects[one.kind][one.id] = Subject(one.id, one.kind, one.name, one.slug, reports=False)
        for entity, name, slug, reports in company_rows.subjects(view):
            subjects["company"][entity] = Subject(entity, "company", name, slug, reports=reports)
        subjects[None] = {entity: one for found in subjects.values() for entity, one in found.items()}
        spelled = [*english, *aliases.spelled_out(view)]
        if self._spelled is None or self._spelled[0] != spelled:
            self._spelled = spelled, Spellings(spelled)
        return _Index([*english, *foreign_names(kept)], subjects, self._spelled[1])


def _by_id(directory: MetadataCache, text: str) -> list[names.Alias]:
    """Return the alias that an entity's own id is, if the text is one; it counts among its names."""
    name = text.strip().lower()
    entity = directory.entity(name)
    if entity is None or entity.id != name:
        return []
    return [names.Alias(entity.id, entity.id, "other", True, None, None, None, report.norms(text)["other"])]


def _by_code(view: View, text: str, subjects: Mapping[str, Subject]) -> report.Resolution:
    """Return the entities of which a series has this code of its publisher's. Raises ApiError 404."""
    found: dict[str, Match] = {}
    for one in with_code(view, text):
        if one.entity in subjects and one.entity not in found:
            kind, confidence = (
                ("exact", 1.0) if one.code.casefold() == text.strip().casefold() else ("normalized", 0.95)
            )
            alias = names.Alias(one.entity, one.code, NATIVE, True, None, None, None, one.code)
            found[one.entity] = Match(subjects[one.entity], alias, kind, confidence)
    if not found:
        raise ApiError(404, f"no published series has the code {quoted(text)}", {"parameter": "alias"})
    matches = list(found.values())[:_CANDIDATES]
    first = matches[0]
    confidence = first.confidence / len(matches)
    return report.Resolution(first if len(matches) == 1 else None, first.kind, round(confidence, 2), matches)


def _resolved(told: report.Resolution) -> Resolved:
    fields: dict[str, Any] = (
        msgspec.structs.asdict(_candidate(told.best))
        if told.best is not None
        else dict.fromkeys(("entity_id", "type", "name", "slug", "matched_alias", "scheme"))
    )
    fields |= {"match": told.match, "confidence": plain(told.confidence)}
    return Resolved(candidates=[_candidate(one) for one in told.candidates], **fields)


def _candidate(one: Match) -> Candidate:
    return Candidate(
        entity_id=one.subject.entity,
        type=one.subject.type,  # type: ignore[arg-type]  # the types are these
        name=one.subject.name,
        slug=one.subject.slug,
        matched_alias=one.alias.alias,
        scheme=one.alias.scheme,  # type: ignore[arg-type]  # the schemes are these
        match=one.kind,  # type: ignore[arg-type]  # the kinds are these
        confidence=plain(one.confidence),
    )


def endpoints() -> tuple[Endpoint, ...]:
    """Return the endpoints about names."""
    return (
        Endpoint(
            path="/entities/{idOrSlug}/aliases",
            operation_id="listEntityAliases",
            summary="Names of one entity",
            description="Of a country, region or company, by id, slug or any name that /entities/resolve finds exactly: name, former names, codes, tickers and identifiers, with "
            "the days they were used where these are stated. A ticker of today has no last day; a retired one ends with the day it was "
            "last seen.",
            handler=of_entity,
            braces=(Param("idOrSlug", "Id, slug or exact name of an entity.", example="apple-inc"),),
            scope="reference:read",
            kind="list",
            record=AliasSchema,
            tag="Entities",
        ),
        Endpoint(
            path="/entities/resolve",
            operation_id="resolveEntity",
            summary="Which entity a name means",
            description="By name (of a country in the large languages too: Allemagne, 日本), former name, ISO code, ticker, CIK, LEI, slug or id. Exact first (case does not matter), else but for "
            "punctuation, accents, legal form and the like, else by likeness. A name valid on the day asked goes before one that is not; "
            "of companies of one name the only one with statements goes first. Where several fit as well, `entityId` is null and "
            "all of them are candidates; likeness alone never answers for what looks like a ticker or a CIK. Nothing close: 404. "
            "With `scheme=native` the entity of which a published series has this code of its publisher's.",
            handler=Resolver().resolve,
            scope="reference:read",
            params=(
                Param("alias", "The name.", required=True, example="Apple Computer"),
                Param("type", "Only entities of this type.", "enum", choices=(*PLACES, "company")),
                Param("scheme", "Only names of this scheme.", "enum", choices=(*names.SCHEMES, NATIVE)),
                replace(
                    AS_OF,
                    window=False,
                    description="The day the name was in use. Without it names of today come first, then former ones.",
                ),
            ),
            cost="thread",
            record=Resolved,
            tag="Entities",
        ),
    )
