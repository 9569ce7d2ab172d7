"""References: the observations behind numbers that come without their ids, so that an answer can cite them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .asking import Api, Record
from .text import rows
from .text.citations import Citations
from .text.refusals import RefusalError


class References:
    """The latest observations of some indicators and entities, by series."""

    def __init__(self, found: Sequence[Record]) -> None:
        self._by_series = {rows.series_id(row): row for row in found}
        self.rows = found

    def cite(self, citations: Citations, series_id: str, rights: Record | None = None) -> int | None:
        """
        Return the number of a series' source, taken from its id and rights if no observation of it is known. Without
        those, return None.
        """
        row = self._by_series.get(series_id)
        if row is not None:
            return citations.row(row)
        if rights is None:
            return None
        source = series_id.partition(":")[0]
        return citations.source("", source, str(rights["license"]), str(rights["attribution"]))


async def references(
    api: Api, entities: Collection[str], indicators: Collection[str], as_of: str | None = None
) -> References:
    """
    Request the latest observations in one request. A key that may not read observations gets none; its numbers are
    still shown.
    """
    if not entities or not indicators:
        return References([])
    try:
        page = await api.page(
            "observations.latest",
            entity_id=sorted(entities)[:100],
            indicator_id=sorted(indicators)[:100],
            as_of=as_of,
            limit=500,
        )
    except RefusalError:
        return References([])
    return References(page.rows)
