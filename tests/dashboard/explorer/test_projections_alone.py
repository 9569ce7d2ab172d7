"""A series that has nothing but projections has no latest reading, and every answer and page about it says so. All is invented."""

import pytest

from almanac.pipeline.ingest.captures import Arrival
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.workplace import Workplace
from tests.support.browser import Browser
from tests.support.service import Service, make_accounts, settings

from .conftest import dashboard

CONSENT = {
    f"SOURCES__IMF__CONSENT__{name}": value
    for name, value in {"BY": "someone", "ON": "2026-01-02", "REFERENCE": "an invented letter"}.items()
}
OUTLOOK = (
    "IMF.RES:WEO(9.0.0),DEU,LUR,A,{},{},2026-10-14T13:00:00Z,2025",
    "DATAFLOW,COUNTRY,INDICATOR,FREQUENCY,TIME_PERIOD,OBS_VALUE,PUBLICATION_DATE,LATEST_ACTUAL_ANNUAL_DATA",
)


@pytest.fixture(scope="module")
def ahead(tmp_path_factory):
    """A service that knows of Germany's unemployment in years that were not over alone."""
    made = settings(tmp_path_factory.mktemp("ahead") / "home", **CONSENT)
    line, head = OUTLOOK
    body = "\n".join([head, *(line.format(year, 3.0) for year in (2026, 2027, 2028))])
    with Workplace(made) as world:
        url = "https://api.imf.org/external/sdmx/2.1/data/IMF.RES,WEO/.LUR.A"
        outcome = Ingest(world, world.catalog.sources["imf"], lambda _: None).run(
            [Arrival(url, body.encode(), "", 1_792_000_000)]
        )
    assert (outcome.folded, outcome.quarantined) == (1, {})
    make_accounts(made)
    service = Service(made.home, more=CONSENT)
    yield service
    service.close()


@pytest.mark.parametrize("name", ["indicator", "country"])
def test_there_is_no_latest_reading(ahead, name):
    value = {"indicator": "unemployment_rate", "country": "DEU"}[name]
    assert ahead.ok("/observations/latest", **{name: value}) == []


@pytest.mark.parametrize(
    "path",
    [
        "/countries/germany", "/indicators/unemployment_rate", "/indicators/unemployment_change_12m", "/sources/imf",
        "/series/imf:country_deu:unemployment_rate:A",
    ],
)  # fmt: skip
def test_its_pages_are_shown(ahead, path):
    browser = Browser(dashboard(ahead))
    browser.cookies["almanac"] = "pro"
    assert browser.get(path).status_code == 200
