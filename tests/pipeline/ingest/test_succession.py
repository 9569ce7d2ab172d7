"""Native codes that continue or repeat one series, folded: which one is heard, whatever the order of arrival."""

import pytest

from almanac.config import Settings
from almanac.pipeline.ingest.captures import Arrival
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.operate.rebuild import rebuild
from almanac.pipeline.workplace import Workplace
from almanac.store.observations import specs
from tests.support.treasury_home import values

TEN = "snb:country_che:gov_yield_10y:D"
PORTAL = "https://data.snb.ch/api/cube/{}/data/csv/en"
WAREHOUSE = "https://data.snb.ch/api/warehouse/cube/SNB1A.SNB.NSS.KZS.EID/data/csv/en?dimSel=LAUFZEIT(J10M0)"
DAY = 86_400
#: 2026-10-01, the first payload's day.
START = 1_790_812_800


def cube(name, header, *lines):
    """An invented cube of the Swiss National Bank's shape."""
    rows = ['"CubeId";"' + name + '"', '"PublishingDate";"2026-10-01 14:30"', "", header, *lines]
    return "\n".join(rows).encode("utf-8-sig")


def stopped(*days):
    """The cube that ended in July 2025: (day, yield), the other maturities without a value."""
    names = ["1J", "2J", "3J", "5J", "7J", "20J", "30J"]
    lines = [f'"{day}";"10J0";"{value}"' for day, value in days] + [f'"{days[0][0]}";"{name}";' for name in names]
    return PORTAL.format("rendoblid"), cube("rendoblid", '"Date";"D0";"Value"', *lines)


def warehouse(*days):
    header = '"Date";"LAUFZEIT";"ZEITPUNKT";"frequency";"AGGREGATIONSMETHODE";"Value"'
    lines = [f'"{day}";"J10M0";"A1100";"P1D_L";"ZZ";"{value}"' for day, value in days]
    return WAREHOUSE, cube("SNB1A@SNB.NSS.KZS.EID", header, *lines)


def repeated(*days):
    lines = [f'"{day}";"CHF";"10J";"{value}"' for day, value in days]
    url = PORTAL.format("rendeiduebd") + "?dimSel=D0(CHF),D1(10J)"
    return url, cube("rendeiduebd", '"Date";"D0";"D1";"Value"', *lines)


#: The old cube also names a day of the new one's stretch, and the new one a day of the old one's: neither is heard.
#: The copy leaves out 2026-09-02, which is no withdrawal, and adds 2026-09-03; the warehouse then leaves 2026-09-01 out.
PAYLOADS = [
    stopped(("2025-07-30", 0.25), ("2025-07-31", 0.5), ("2025-08-01", 9)),
    warehouse(("2025-07-31", 9), ("2025-08-01", 0.75), ("2026-09-01", 1), ("2026-09-02", 1.25)),
    repeated(("2025-07-31", 9), ("2025-08-01", 0.75), ("2026-09-01", 1), ("2026-09-03", 1.5)),
    warehouse(("2025-08-01", 0.75), ("2026-09-02", 1.25)),
]
EXPECTED = [
    ("2025-07-30", 0.25),
    ("2025-07-31", 0.5),
    ("2025-08-01", 0.75),
    ("2026-09-01", 1.0),
    ("2026-09-01", None),
    ("2026-09-02", 1.25),
    ("2026-09-03", 1.5),
]


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2, 0, 3, 1)])
def test_one_series_comes_out_of_its_codes_in_any_order_of_arrival(tmp_path, order):
    with Workplace(Settings(home=tmp_path / "home", now="2026-11-20T12:00:00Z")) as world:
        ingest = Ingest(world, world.catalog.sources["snb"], lambda _: None)
        outcome = ingest.run(
            Arrival(url, body, "text/csv", START + number * DAY)
            for number, (url, body) in ((number, PAYLOADS[number]) for number in order)
        )
        assert (outcome.folded, outcome.quarantined) == (4, {})
        assert values(world, TEN) == EXPECTED
        assert specs.of(world.db, TEN).native == "SNB1A.SNB.NSS.KZS.EID{J10M0,A1100,P1D_L,ZZ}"
        rebuild(world, lambda _: None)
        assert values(world, TEN) == EXPECTED
