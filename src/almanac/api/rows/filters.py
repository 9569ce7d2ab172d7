"""Parameters that observation lists share, and what they select."""

from __future__ import annotations

from collections.abc import Iterable

from almanac.api.contract.endpoint import Context
from almanac.api.contract.params import Param, day_of
from almanac.api.rows.state_memory import memory_of
from almanac.domain.periods import FREQUENCY_NAMES
from almanac.domain.times import DAY_SECONDS
from almanac.store.observations.reading.directory import Directory
from almanac.store.observations.reading.selection import SORTS, Selection

#: Letters in capitals, as the interface writes them: a client that checks against the description may send no others.
FREQUENCIES = {name.upper() if len(name) == 1 else name: frequency.value for name, frequency in FREQUENCY_NAMES.items()}

COUNTRY = Param(
    "country",
    "ISO-2, ISO-3 or numeric code, id or slug of a country; EUR for the euro area: the area's own rows.",
    example="USA",
)
ENTITY = Param("entity", "Id or slug of an entity.", example="united-states")
ENTITY_ID = Param("entity_id", "Id or slug of an entity.", example="country_usa")
INDICATOR = Param("indicator", "Id, slug or alias of an indicator.", example="gov_yield_10y")
INDICATORS = Param(
    "indicator_id", "Ids, slugs or aliases of indicators, separated by commas; joined with `indicator`.", "list", maximum=100,
    example="gov_yield_2y,gov_yield_10y",
)  # fmt: skip
SOURCE_ID = Param("source_id", "Id of a source. Narrows the candidates before the preferred one is chosen.")
PROVIDER_ID = Param("provider_id", "Id of a provider. Narrows the candidates before the preferred one is chosen.")
FREQUENCY = Param(
    "frequency",
    "Letter or word: A annual, S semiannual, Q quarterly, M monthly, W weekly, D daily.",
    "enum",
    choices=FREQUENCIES,
)
AS_OF = Param(
    "as_of", "Point-in-time cutoff: the latest vintage known by then. A bare date means its last second, UTC.", "time",
    edge="end", window=True, not_future=True, example="2024-06-30",
)  # fmt: skip
SOURCES = Param(
    "sources", "`preferred`: one row per entity, indicator, frequency and period; `all`: every provider's row.", "enum",
    "preferred", choices=("preferred", "all"),
)  # fmt: skip
PERIODS = (
    Param(
        "period",
        "Reference periods lying inside 2026, 2026-Q3, 2026-10 or 2026-10-31.",
        "period",
        window=True,
        example="2025",
    ),
    Param("period_start", "Periods starting on or after this time.", "time", until="period_end", example="2025-01-01"),
    Param(
        "period_end", "Periods ending on or before this time.", "time", edge="end", window=True, example="2025-12-31"
    ),
    Param("start_date", "Rows known (observedAt) from this time on.", "time", until="end_date"),
    Param("end_date", "Rows known (observedAt) up to this time.", "time", edge="end", window=True),
)

#: Filters of GET /observations and its kin, in the order of the interface document.
OBSERVATION_FILTERS = (
    COUNTRY,
    ENTITY,
    ENTITY_ID,
    INDICATORS,
    INDICATOR,
    SOURCE_ID,
    PROVIDER_ID,
    FREQUENCY,
    *PERIODS,
    AS_OF,
    SOURCES,
)
SORT = Param("sort", "Sort field; ties keep the default order.", "enum", "topic", choices=tuple(SORTS))


#: What names given together mean is remembered for so many, for as long as a state of the store lasts.
_MEANINGS_HELD = 10_000


def selection(ctx: Context, kind: str | None) -> Selection:
    """What the shared parameters of a request select. An unknown but well-formed name selects nothing."""
    params, directory = ctx.params, ctx.view.directory
    period, start, end = params.get("period"), params.get("period_start"), params.get("period_end")
    starts_from, ends_by = (period.start, period.end) if period is not None else (None, None)
    if start is not None:
        # A period starts at midnight: one that starts on the day of a later hour is too early.
        first = day_of(start + DAY_SECONDS - 1)
        starts_from = first if starts_from is None else max(starts_from, first)
    if end is not None:
        last = day_of(end)
        ends_by = last if ends_by is None else min(ends_by, last)
    named = (
        params.get("indicator"), params.get("indicator_id"), params.get("country"), params.get("entity"), params.get("entity_id"),
    )  # fmt: skip
    meanings = memory_of(ctx.view).meanings
    meaning = meanings.get(named)
    if meaning is None:
        if len(meanings) >= _MEANINGS_HELD:
            meanings.clear()
        meaning = meanings[named] = indicators(directory, *named[:2]), entities(directory, params)
    return Selection(
        kind=kind,
        indicators=meaning[0],
        entities=meaning[1],
        sources=sources(directory, params.get("source_id"), params.get("provider_id")),
        frequency=params.get("frequency"),
        starts_from=starts_from,
        ends_by=ends_by,
        ends_from=ctx.window_start,
        observed_from=params.get("start_date"),
        observed_to=params.get("end_date"),
    )


def indicators(directory: Directory, one: str | None, several: Iterable[str] | None) -> tuple[str, ...] | None:
    """Slugs named by either parameter; None where neither is given."""
    if one is None and several is None:
        return None
    named = [*(several or ()), *([one] if one is not None else [])]
    return tuple(sorted({found.slug for name in named if (found := directory.indicator(name)) is not None}))


def entities(directory: Directory, params: dict[str, str | None]) -> tuple[str, ...] | None:
    """Entity ids that satisfy every one of `country`, `entity`, `entity_id` that is given."""
    wanted: set[str] | None = None
    for name, find in (("country", directory.country), ("entity", directory.entity), ("entity_id", directory.entity)):
        text = params.get(name)
        if text is not None:
            found = find(text)
            one = {found.id} if found is not None else set()
            wanted = one if wanted is None else wanted & one
    return None if wanted is None else tuple(sorted(wanted))


def sources(directory: Directory, source: str | None, provider: str | None) -> frozenset[str] | None:
    """Source ids that satisfy both parameters; None where neither is given."""
    if source is None and provider is None:
        return None
    return frozenset(
        found.id
        for found in directory.sources.values()
        if (source is None or found.id == source.lower()) and (provider is None or found.provider == provider.lower())
    )
