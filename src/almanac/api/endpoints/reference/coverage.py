"""GET /coverage: what the service holds, counted once for each data version."""

from __future__ import annotations

import threading

import msgspec

from almanac.api.contract.endpoint import Context, Endpoint, ItemAnswer
from almanac.store.summary.coverage import Coverage, coverage, last_ingested


class CoverageCache:
    """
    The counts of one process, for all its threads.

    They follow from the data version, but for the time of the last ingestion: a run that brings nothing new makes no version.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: tuple[tuple[str, int], Coverage] | None = None

    def item(self, ctx: Context) -> ItemAnswer:
        """What the service holds. The cheapest call that needs a key."""
        state = (ctx.view.epoch, ctx.view.version)
        held = self._held
        if held is None or held[0] != state:
            # Who comes while it is counted waits, rather than to count too.
            with self._lock:
                held = self._held
                if held is None or held[0] != state:
                    held = self._held = (state, coverage(ctx.view))
        told = msgspec.structs.replace(held[1], last_ingested_at=last_ingested(ctx.view))
        return ItemAnswer(msgspec.json.encode(told))


def endpoint() -> Endpoint:
    """The endpoint, with what it remembers."""
    return Endpoint(
        path="/coverage",
        operation_id="getCoverage",
        summary="What the service holds",
        description="The cheapest authenticated call: 200 says that the key is live.",
        handler=CoverageCache().item,
        record=Coverage,
        tag="Reference",
    )
