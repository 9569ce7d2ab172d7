"""
Field types that records of the interface share, each with its format and description. The OpenAPI description, the
tables of the documentation and the tests all read them from here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from msgspec import Meta

from almanac.domain.periods import Frequency


def says(description: str, *examples: Any, enum: Sequence[str] = ()) -> Meta:
    """Describe a field: its meaning, its unit and when it is null. `enum` lists the allowed words."""
    more = {"enum": list(enum)} if enum else None
    return Meta(description=description, examples=list(examples) or None, extra_json_schema=more)


#: An instant in UTC, whole seconds (`2026-11-20T13:30:00Z`). A day is its first second.
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
#: A day on the calendar (`2026-11-20`).
Day = Annotated[str, Meta(extra_json_schema={"format": "date"})]
Uri = Annotated[str, Meta(extra_json_schema={"format": "uri"})]
#: A URI, or a path at this service's own address (`/`).
UriReference = Annotated[str, Meta(extra_json_schema={"format": "uri-reference"})]

EntityId = Annotated[str, says("Id of the country, region or company.", "country_usa", "company_0000320193")]
IndicatorId = Annotated[str, says("Id of the indicator.", "indicator_gov_yield_10y")]
SeriesId = Annotated[
    str,
    says("Id of the series: source, entity, indicator, frequency.", "us-treasury-par:country_usa:gov_yield_10y:D"),
]
SourceId = Annotated[str, says("Id of the source, a feed of one provider under one licence.", "us-treasury-par")]
ProviderId = Annotated[str, says("Id of the provider, who publishes.", "us-treasury")]
ObservationId = Annotated[
    str,
    says(
        "Id of the observation: made from its content, so that the same value keeps its id; of a row whose value may not be "
        "sent from its place alone.",
        "obs_vybtlprlj7yali3577brtjln77",
    ),
]
Unit = Annotated[
    str | None,
    says(
        "What the numbers count: `percent`, `percentage_points`, `index`, `usd_billions`, of companies' money the ISO code "
        "(`usd`, `eur_per_share`). Null: a score, which has none.",
        "percent",
    ),
]
Currency = Annotated[
    str | None,
    says("ISO 4217 code of the currency that the unit counts in. Null: the unit is no money.", "USD"),
]
FrequencyWord = Annotated[
    str,
    says("How often there is a value.", enum=tuple(one.word for one in Frequency)),
]
PeriodStart = Annotated[
    Time | None,
    says("First day of the period the number is about. Null: it is about one moment, the end (a balance sheet's)."),
]
PeriodEnd = Annotated[Time, says("Last day of the period the number is about.")]
ObservedAt = Annotated[
    Time,
    says("Knowledge time: from when on it could be known. `as_of` compares with it."),
]
AsOf = Annotated[
    Time | None,
    says(
        "The moment asked with `as_of`; without it the newest knowledge time among the rows used. Null: there are none."
    ),
]
FreshnessStatus = Annotated[
    Literal["fresh", "stale", "unknown"],
    says(
        "Whether the newest period of the series ended within the allowance of its frequency, of a policy rate whether its "
        "source was read within it: `fresh`, `stale`, or `unknown` where that cannot be judged."
    ),
]
Revision = Annotated[
    Literal["initial", "revised", "final", "unknown"],
    says(
        "`initial`: the first published state; `revised`: a later one; `final`: the publisher says so; `unknown`: the feed "
        "does not tell."
    ),
]
Exposure = Annotated[
    Literal["public", "internal_only", "restricted", "blocked"],
    says("Who may see the values; only `public` ones are sent."),
]
LicenseClass = Annotated[
    Literal["open", "attribution", "non-commercial", "consent"],
    says("What the terms of the source ask for: nothing, its name, that it is not for money, or the owner's consent."),
]
CurveType = Annotated[
    Literal["par", "spot", "benchmark", "bill", "unknown"],
    says("What kind of curve or bond the yield is read from."),
]
Compounding = Annotated[
    Literal["semi_annual", "annual", "continuous", "simple", "unknown"],
    says("How the yield is compounded."),
]
