"""Shapes of names of entities, for the machine-readable description."""

from __future__ import annotations

from typing import Literal

from almanac.api.records import Record, Time

Scheme = Literal["name", "former_name", "iso2", "iso3", "ticker", "cik", "lei", "slug", "other"]


class Alias(Record):
    """One name of an entity. `validFrom`, `validTo`: first and last day it is known to have been used; null: not stated."""

    entity_id: str
    alias: str
    scheme: Scheme
    primary: bool
    valid_from: Time | None
    valid_to: Time | None
    source_id: str | None


class Candidate(Record):
    """An entity that a name may mean, with the name of it that was found."""

    entity_id: str | None
    type: Literal["country", "region", "company"] | None
    name: str | None
    slug: str | None
    matched_alias: str | None
    scheme: Scheme | None
    match: Literal["exact", "normalized", "fuzzy"]
    confidence: float


class Resolved(Candidate):
    """
    What a name means. `entityId` is null where several entities fit as well: all of them are in `candidates`, best first.

    `confidence`, from 0 to 1, says how sure it is that the first of them is meant.
    """

    candidates: list[Candidate]
