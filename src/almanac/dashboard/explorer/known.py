"""The day a page is asked for: one that the interface refuses is said at its field, and the page stays on today."""

from __future__ import annotations

from almanac.api.contract.errors import ApiError
from almanac.dashboard.visit import Visit

Refused = list[dict[str, str]]


def day_asked(visit: Visit) -> tuple[str | None, Refused]:
    """`as_of` of the address, None for today; and what the interface has against it, in its own words."""
    if visit.as_of is None:
        return None, []
    try:
        visit.look_up("/observations/latest", indicator_id="gov_yield_10y", limit=1, as_of=visit.as_of)
    except ApiError as error:
        if (error.details or {}).get("parameter") != "as_of":
            raise
        return None, [{"field": "as_of", "message": f"{error.message}."}]
    return visit.as_of, []
