"""What is not there at all: indicators of which an entity has no series, and what it has instead."""

from __future__ import annotations

from difflib import SequenceMatcher

from almanac.api.contract.endpoint import Context
from almanac.domain.companies import is_company
from almanac.store.observations.newest.latest import numbers_of
from almanac.store.summary.series import indicators_of

#: Pairs of an indicator and an entity that are looked at, and what is told of what there is instead.
_PAIRS, _TOLD = 10, 5


def warn_of_lacking(
    ctx: Context, kind: str | None, indicators: tuple[str, ...] | None, entities: tuple[str, ...] | None
) -> None:
    """Of indicators and entities that are both named, and few: say which pairs have no series, and what of its kind there is."""
    if not indicators or not entities or len(indicators) * len(entities) > _PAIRS:
        return
    known = ctx.view.directory.indicators
    for slug in indicators:
        if kind not in {None, known[slug].kind}:
            continue
        for entity in entities:
            if is_company(entity) or numbers_of(ctx.view, slug, entity):
                continue
            given = "indicator" if ctx.params.get("indicator_id") is None else "indicator_id"
            ctx.warn(given, slug, f"has no series of {entity}{_instead(ctx, slug, entity, kind)}")


def _instead(ctx: Context, slug: str, entity: str, kind: str | None) -> str:
    """Indicators of the same category that the entity has series of, those called most alike first; else where the indicator is."""
    known = ctx.view.directory.indicators
    category = known[slug].category
    alike = [
        one
        for one in indicators_of(ctx.view, entity)
        if one in known and known[one].category == category and kind in {None, known[one].kind}
    ]
    if not alike:
        return f": /indicators/{slug}/series lists whose there are"
    alike.sort(key=lambda one: (-SequenceMatcher(None, slug, one).ratio(), one))
    more = len(alike) - _TOLD
    return f"; of {category} it has {', '.join(alike[:_TOLD])}{f' and {more} more' if more > 0 else ''}"
