"""
A simulated world that walks in a browser need, small enough to be built before them: a few countries' briefs, the yields
of all rates scopes, some companies of which one restated its accounts, and a response that could not be read.
"""

import time
from datetime import UTC, datetime
from pathlib import Path

from almanac.domain.companies import company_id
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.ingest.ingest import Arrival, Ingest
from almanac.pipeline.ingest.simulation import take_in
from almanac.reports.rates import SCOPES, TENORS
from almanac.sandbox.companies.filers import FIRST_CIK, companies
from almanac.sandbox.companies.responses import company_pages
from almanac.sandbox.economy import Economy
from almanac.sandbox.feeds import fred, mof, treasury
from almanac.sandbox.world import Response
from almanac.store.accounts.accounts import Accounts
from almanac.store.accounts.administration import Administration
from almanac.store.accounts.authentication import Authentication
from almanac.store.accounts.watchlist import Watchlist
from almanac.store.log import payloads
from tests.contract import simulated_countries
from tests.support.service import REAL_NOW, make_accounts, settings

PASSWORD = "correct horse battery"  # invented
#: Signed in by `visitor`: somebody with all of the archive, somebody with a window of it, and who runs the service.
PEOPLE = {"pro": "pro@example.org", "free": "free@example.org", "operator": "operator@example.org"}

_COUNTRIES = {"country_usa", "country_deu", "country_jpn"}
_YIELDS = {f"gov_yield_{tenor}" for tenor in TENORS}
#: Captures of daily yields since then; of archives, which come whole, all.
_CAPTURED = int(datetime(2026, 10, 1, tzinfo=UTC).timestamp())
#: The first of those whose quarters were restated by an amendment, two with an F-Score of nine, and some to be compared with.
RESTATED = next(one for one in companies() if one.error)
_NUMBERS = {*range(0, 324, 27), RESTATED.number, 14, 69}
BROKEN = "What the invented publisher sent is no observations at all. <b>Not bold.</b>"


def build(home: Path) -> None:
    """Take in the series of briefs and the yields of a few places, some companies, and one broken response."""
    chosen = settings(home)
    now = chosen.clock()
    economy = Economy(datetime.fromtimestamp(now, UTC).date())
    with PipelineContext(chosen, SIMULATED) as world:
        scopes = {one.id for one in world.catalog.entities.values() if one.rates_scope in SCOPES}
        wanted = {
            native: spec.frequency.value == "D"
            for source, specs in world.catalog.series.items()
            if source.startswith("sandbox-")
            for native, spec in specs.items()
            if (spec.entity in _COUNTRIES and spec.indicator in simulated_countries.WANTED)
            or (spec.entity in scopes and spec.indicator in _YIELDS)
        }
        pages = []
        for one in [*treasury(economy, now), *mof(economy, now), *fred(economy, now, None)]:
            native = one.url.rpartition("series_id=")[2] if "series_id=" in one.url else None
            if "release" in one.url or (native is None and one.fetched_at < _CAPTURED):
                continue
            if native is None or native in wanted:
                body = simulated_countries.cut(one, daily=native is not None and wanted[native])
                pages.append(Response(one.source, one.url, body, one.fetched_at, one.media_type))
        pages += [
            Response(one.source, one.url, one.make(), one.fetched_at, one.media_type)
            for one in company_pages(now)
            if "CIK" not in one.url or int(one.url[-15:-5]) - FIRST_CIK in _NUMBERS
        ]
        pages.sort(key=lambda one: one.fetched_at)
        take_in(world, pages, lambda _: None)
        _break(world, next(one for one in pages if "series_id=" in one.url), now)
    make_accounts(chosen)
    accounts = Accounts(chosen.home / "accounts.db")
    accounts.create_account(PEOPLE["operator"], "pro", chosen.plans, now=REAL_NOW)
    accounts.set_role(PEOPLE["operator"], "operator")
    for email in PEOPLE.values():
        Authentication(accounts).set_password(email, PASSWORD, now=REAL_NOW)
    _watch(accounts)
    accounts.close()


def _watch(accounts: Accounts) -> None:
    """Have somebody watch one of each kind, one that is withheld and one that is gone."""
    lists, account = Watchlist(accounts), accounts.account(PEOPLE["pro"]).id
    for kind, what in (
        ("series", "sandbox-fred:country_deu:cpi_gone:M"),
        ("series", "sandbox-licensed:country_usa:consumer_confidence:M"),
        ("company", company_id(RESTATED.cik)),
        ("indicator", "policy_rate"),
        ("series", "sandbox-us-treasury-par:country_usa:gov_yield_10y:D"),
        ("series", "sandbox-fred:country_deu:cpi_inflation_yoy:M"),
    ):
        lists.watch(account, kind, what, now=REAL_NOW)


def _break(world: PipelineContext, page: Response, now: int) -> None:
    run = Ingest(world, world.catalog.sources[page.source], lambda _: None)
    outcome = run.run([Arrival(page.url, BROKEN.encode(), page.media_type, now)])
    assert outcome.quarantined, "the broken response was read"


def names(home: Path) -> dict[str, str]:
    """What stands for the names in `addresses.ADDRESSES` that every store has its own of. Makes the links anew."""
    chosen, now = settings(home), int(time.time())
    accounts = Accounts(chosen.home / "accounts.db")
    by = Administration(accounts, PEOPLE["operator"])
    join, invitation = by.invite("guest@example.org", "pro", chosen.plans, now=now)
    found = {
        "join": join,
        "invitation": invitation.id,
        "reset": by.reset_link(PEOPLE["free"], now=now),
        "key": next(one.id for one in accounts.list_keys(PEOPLE["pro"]) if one.revoked is None),
        "account": accounts.account(PEOPLE["free"]).id,
    }
    accounts.close()
    with PipelineContext(chosen, SIMULATED) as world:
        (row,) = payloads.quarantined(world.db)
    return found | {"payload": str(row.number)}
