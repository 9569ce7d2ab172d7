"""Why a row of a screen has no value of a change over one year."""

from __future__ import annotations

import numpy as np

from almanac.api.contract.endpoint import Context
from almanac.api.endpoints.screeners.aligned_columns import AlignedColumn
from almanac.api.endpoints.screeners.records import FAILED
from almanac.api.endpoints.screeners.screening import ProcessCache
from almanac.store.observations.newest.year_changes import NO_READING


def why_absent(cache: ProcessCache, ctx: Context, name: str, row: int, of: AlignedColumn) -> str:
    """
    Why a row has no value of a change (`total_debt:change_1y`) of which there is none here: a reason of its record. `of`: the
    column of the number itself, under the same conditions.
    """
    if np.isnan(of.values[row]):
        return NO_READING
    indicator, as_of = name.partition(":")[0], ctx.params.get("as_of")
    found = cache.changes.why_absent(ctx.view, indicator, int(of.places[row]), version=ctx.version, as_of=as_of)
    # There is a change, and the number itself counts here: what does not is the one of a year before.
    return FAILED if found is None else found
