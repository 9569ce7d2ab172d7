"""Some companies of the simulated world in a store of their own."""

from collections.abc import Iterable

from almanac.config import Settings
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.simulation import take_in
from almanac.sandbox.companies.filers import Filer, companies
from almanac.sandbox.companies.responses import company_pages
from almanac.sandbox.world import Response


def first_of_trades() -> dict[str, Filer]:
    """The first filer of each trade, by the trade's name."""
    return {one.trade.name: one for one in reversed(companies())}


def load(settings: Settings, filers: Iterable[Filer]) -> None:
    """Take in all that these filed. About half a second of work for each."""
    wanted = [f"CIK{one.cik:010d}" for one in filers]
    pages = (page for page in company_pages(settings.clock()) if any(name in page.url for name in wanted))
    with PipelineContext(settings, kind=SIMULATED) as opened:
        take_in(
            opened, (Response(p.source, p.url, p.make(), p.fetched_at, p.media_type) for p in pages), lambda _: None
        )
