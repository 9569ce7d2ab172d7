"""Observations as the interface has them, made up for the dashboard's words and drawings."""

from datetime import date

from almanac.domain.periods import Frequency, Period
from almanac.domain.times import wire_day

PUBLIC = {
    "exposure": "public",
    "redistributable": True,
    "valueWithheld": False,
    "reason": None,
    "license": "Invented",
    "attribution": "Invented",
}
SHUT = PUBLIC | {
    "exposure": "restricted",
    "redistributable": False,
    "valueWithheld": True,
    "reason": "The invented owner allows no redistribution.",
}


def observation(period="2026-Q3", value=2.1, *, frequency=Frequency.QUARTERLY, unit="percent", **more):
    """One row. `period`: as `Period.parse` reads it, or a Period; `more`: keys to be otherwise."""
    span = Period.parse(period) if isinstance(period, str) else period
    return {
        "id": "obs_invented",
        "entityId": "country_bor",
        "indicatorId": "indicator_gdp_growth_yoy",
        "sourceId": "invented-office",
        "providerId": "invented",
        "valueNumeric": value,
        "valueText": None,
        "unit": unit,
        "frequency": frequency.value,
        "periodStart": None if span.start is None else wire_day(span.start),
        "periodEnd": wire_day(span.end),
        "observedAt": "2026-10-30T10:00:00Z",
        "releasedAt": "2026-10-30T10:00:00Z",
        "ingestedAt": "2026-10-30T10:01:00Z",
        "revisionStatus": "initial",
        "sourceUrl": None,
        "attribution": "Invented",
        "freshnessStatus": "fresh",
        "metadata": {"seriesId": "invented-office:country_bor:gdp_growth_yoy:Q"},
        "rights": PUBLIC,
    } | more


def quarters(values, *, first="2016-Q1", **more):
    """One row a quarter; None: the quarter is withheld; "none": the quarter is missing."""
    start = Period.parse(first).start
    assert start is not None
    rows = []
    for number, value in enumerate(values):
        month = start.month - 1 + 3 * number
        span = Period.starting(date(start.year + month // 12, month % 12 + 1, 1), Frequency.QUARTERLY)
        if value != "none":
            rows.append(observation(span, value, **more, **({"rights": SHUT} if value is None else {})))
    return rows
