"""The day a page is asked for: one that the interface refuses is said at its field, and the page stays on today."""

from __future__ import annotations

import msgspec

from almanac.api.contract.errors import ApiError
from almanac.dashboard.visit import Visit


class FieldProblem(msgspec.Struct, frozen=True):
    """What is wrong with a field of a form, for the summary and at the field; of a page as a whole without one."""

    field: str
    message: str


def day_asked(visit: Visit) -> tuple[str | None, list[FieldProblem]]:
    """`as_of` of the address, None for today; and what the interface has against it, in its own words."""
    if visit.as_of is None:
        return None, []
    try:
        visit.look_up("/observations/latest", indicator_id="gov_yield_10y", limit=1, as_of=visit.as_of)
    except ApiError as error:
        if (error.details or {}).get("parameter") != "as_of":
            raise
        return None, [FieldProblem("as_of", f"{error.message}.")]
    return visit.as_of, []
