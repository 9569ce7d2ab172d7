"""What briefs are made of, for all countries of the simulated world: eleven years of some, two of the others, to rank against."""

import json
from datetime import UTC, datetime
from pathlib import Path

from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.simulation import take_in
from almanac.sandbox.economy import Economy
from almanac.sandbox.feeds import PendingResponse, fred, mof, treasury
from almanac.sandbox.world import Response
from tests.support.service import make_accounts, settings

#: Ten years before the newest readings, and the year that a growth rate looks back; ranks and yields want less.
_SINCE, _RANKED_SINCE, _DAILY_SINCE = "2015-06-01", "2025-01-01", "2025-09-01"
#: Places of which texts, percentiles and moves are looked at; of the others there is what ranks are tested by.
IN_DEPTH = ("USA", "PRT", "EUR", "CHE", "ARG", "JPN", "BRA", "DEU", "SWE", "FRA")
_DEEP = tuple(f"SIM{place}" for place in IN_DEPTH)
_CAPTURED = int(datetime(2025, 9, 1, tzinfo=UTC).timestamp())
WANTED = {
    "cpi_index", "cpi_index_nsa", "core_cpi_index", "core_pce_price_index", "ppi_index", "house_price_index", "real_gdp",
    "industrial_production_index", "retail_sales", "consumer_confidence", "unemployment_rate", "nonfarm_payrolls",
    "labor_force_participation_rate", "policy_rate", "gov_yield_2y", "gov_yield_10y", "long_term_rate_10y",
    "current_account_pct_gdp", "effective_exchange_rate_real", "usd_exchange_rate", "government_debt_pct_gdp",
    "fiscal_balance_pct_gdp",
}  # fmt: skip
_RANKED = {"cpi_index", "unemployment_rate", "policy_rate", "government_debt_pct_gdp", "gov_yield_10y"}


def build(home: Path) -> None:
    """Take in the series of briefs, cut to the years they need."""
    chosen = settings(home)
    now = chosen.clock()
    economy = Economy(datetime.fromtimestamp(now, UTC).date())
    with PipelineContext(chosen, SIMULATED) as world:
        frequency = {
            native: spec.frequency.value
            for source, specs in world.catalog.series.items()
            if source.startswith("sandbox-")
            for native, spec in specs.items()
            if spec.indicator in (WANTED if native.startswith(_DEEP) else _RANKED)
        }
        pages = []
        for one in [*treasury(economy, now), *mof(economy, now), *fred(economy, now, None)]:
            native = one.url.rpartition("series_id=")[2] if "series_id=" in one.url else None
            if "release" in one.url or (native is None and one.fetched_at < _CAPTURED):
                continue
            if native is None or native in frequency:
                daily = native is not None and frequency[native] == "D"
                pages.append(Response(one.source, one.url, cut(one, daily=daily), one.fetched_at, one.media_type))
        pages.sort(key=lambda one: one.fetched_at)
        take_in(world, pages, lambda _: None)
    make_accounts(chosen)


def cut(capture: PendingResponse, *, daily: bool) -> bytes:
    """The body, one of FRED's form cut to the years wanted."""
    body = capture.make()
    if capture.media_type != "application/json":
        return body
    told = json.loads(body)
    if "observations" not in told:
        return body
    deep = capture.url.rpartition("series_id=")[2].startswith(_DEEP)
    since = _DAILY_SINCE if daily else _SINCE if deep else _RANKED_SINCE
    told["observations"] = [row for row in told["observations"] if row["date"] >= since]
    told["count"] = len(told["observations"])
    return json.dumps(told).encode()
