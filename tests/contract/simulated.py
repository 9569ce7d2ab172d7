"""The yields of the simulated world, taken in by the pipeline: the one place with all seven rates scopes."""

import json
from datetime import UTC, datetime
from pathlib import Path

from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.simulation import take_in
from almanac.reports.rates import SCOPES, TENORS
from almanac.sandbox.economy import Economy
from almanac.sandbox.feeds import PendingResponse, fred, mof, treasury
from almanac.sandbox.world import Response
from tests.support.service import make_accounts, settings

#: Only captures of the last months: the whole history is the business of the tests of the simulated world.
_SINCE = int(datetime(2026, 9, 1, tzinfo=UTC).timestamp())


def build(home: Path) -> None:
    """Take in the newest captures of every government yield."""
    chosen = settings(home)
    now = chosen.clock()
    economy = Economy(datetime.fromtimestamp(now, UTC).date())
    with PipelineContext(chosen, SIMULATED) as world:
        scopes = {e.id for e in world.catalog.entities.values() if e.rates_scope in SCOPES}
        wanted = {
            native
            for source in world.catalog.sources
            for native, spec in world.catalog.series.get(source, {}).items()
            if spec.entity in scopes and spec.indicator in {f"gov_yield_{tenor}" for tenor in TENORS}
        }
        captures = [
            one
            for one in [*treasury(economy, now), *mof(economy, now), *fred(economy, now, None)]
            if one.fetched_at >= _SINCE
            and ("series_id=" not in one.url or one.url.rpartition("series_id=")[2] in wanted)
            and "releases" not in one.url
            and "release/" not in one.url
        ]
        captures.sort(key=lambda one: one.fetched_at)
        pages = [Response(one.source, one.url, _recent(one), one.fetched_at, one.media_type) for one in captures]
        take_in(world, pages, lambda _: None)
    make_accounts(chosen)


def _recent(capture: PendingResponse) -> bytes:
    """The page, an archive of FRED's form cut to its last months."""
    body = capture.make()
    if capture.media_type != "application/json":
        return body
    told = json.loads(body)
    told["observations"] = [row for row in told["observations"] if row["date"] >= "2026-09-01"]
    told["count"] = len(told["observations"])
    return json.dumps(told).encode()
