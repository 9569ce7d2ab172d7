"""A series on its present base beside the same on a former one: never mixed, and the present one counts. All is invented."""

import json

import pytest

from almanac.config import Settings
from almanac.pipeline.ingest.captures import Arrival
from almanac.pipeline.ingest.ingest import Ingest
from almanac.pipeline.operate.rebuild import rebuild
from almanac.pipeline.workplace import Workplace
from almanac.store.engine.sqlite import OPEN
from tests.support.treasury_home import values

INDEX = "eurostat:country_deu:industrial_production_index:M"
GROWTH = "eurostat:country_deu:industrial_production_growth_yoy:M"
DAY = 86_400
#: 2026-10-01, the first payload's day.
START = 1_790_812_800
MONTHS = ["2025-08", "2026-08"]


def cube(base, first, second, flag=None, *, months=MONTHS, updated="2026-09-30T11:00:00+0200"):
    """Industrial production of Germany in two months a year apart, as Eurostat sends it."""
    codes = {"freq": "M", "indic_bt": "PRD", "nace_r2": "B-D", "s_adj": "SCA", "unit": base, "geo": "DE"}
    body = {
        "version": "2.0",
        "class": "dataset",
        "updated": updated,
        "id": [*codes, "time"],
        "size": [1, 1, 1, 1, 1, 1, 2],
        "value": {"0": first, "1": second},
        "status": {"1": flag} if flag else {},
        "dimension": {name: {"category": {"index": [code]}} for name, code in codes.items()}
        | {"time": {"category": {"index": months}}},
        "extension": {"id": "STS_INPR_M"},
    }
    url = f"https://ec.europa.eu/eurostat/api/dissemination/sdmx/2.1/data/STS_INPR_M/M.PRD.B-D.SCA.{base}.?format=JSON"
    return url, json.dumps(body).encode()


FORMER, PRESENT = cube("I15", 80, 88), cube("I21", 100, 101, "p")


def take(world, *payloads, start=START):
    outcome = Ingest(world, world.catalog.sources["eurostat"], lambda _: None).run(
        Arrival(url, body, "application/json", start + number * DAY) for number, (url, body) in enumerate(payloads)
    )
    assert (outcome.folded, outcome.quarantined, outcome.unmapped) == (len(payloads), {}, {})


@pytest.fixture
def world(tmp_path):
    with Workplace(Settings(home=tmp_path / "home", now="2026-11-20T12:00:00Z")) as opened:
        yield opened


def growth(world):
    return [(period, round(value, 9)) for period, value in values(world, GROWTH) if value is not None]


def test_a_former_base_alone_gives_growth_and_none_once_the_present_one_is_there(world):
    take(world, FORMER)
    assert values(world, f"{INDEX}:former-i15") == [("2025-08-31", 80.0), ("2026-08-31", 88.0)]
    assert growth(world) == [("2026-08-31", 10.0)]
    take(world, PRESENT, start=START + DAY)
    assert values(world, INDEX) == [("2025-08-31", 100.0), ("2026-08-31", 101.0)]
    assert growth(world)[-1] == ("2026-08-31", 1.0)


@pytest.mark.parametrize("order", [(FORMER, PRESENT), (PRESENT, FORMER)], ids=["former first", "present first"])
def test_growth_is_of_the_present_base_whatever_came_first(world, order):
    take(world, *order)
    assert growth(world)[-1] == ("2026-08-31", 1.0)
    rebuild(world, lambda _: None)
    assert growth(world)[-1] == ("2026-08-31", 1.0)


def test_flags_and_the_stamp_are_served_beside_the_value_and_date_nothing(world):
    take(world, PRESENT)
    rows = world.db.execute(
        "SELECT v.known_at, v.ingested_at, (SELECT n.body FROM note n WHERE n.note = v.note) FROM vintages v JOIN series s USING (series) WHERE s.id = ?"
        " ORDER BY v.period",
        (INDEX,),
    ).fetchall()
    # Published on 30 September at 9:00 UTC, known from the fetch a day later.
    assert rows == [
        (START, START, '{"basis":"2021=100","publishedAt":"2026-09-30T09:00:00Z"}'),
        (START, START, '{"basis":"2021=100","flags":["p"],"publishedAt":"2026-09-30T09:00:00Z"}'),
    ]
    # The same number without the flag is a new state, also of what is computed of it; the same again is none.
    take(world, cube("I21", 100, 101), start=START + 30 * DAY)
    take(world, cube("I21", 100, 101, updated="2026-11-02T11:00:00+0100"), start=START + 31 * DAY)
    assert values(world, INDEX) == [("2025-08-31", 100.0), ("2026-08-31", 101.0), ("2026-08-31", 101.0)]
    assert growth(world) == [("2026-08-31", 1.0)] * 2


def test_a_release_was_out_when_its_message_was_published_however_late_that_was_read(world):
    """What is computed is released by what its inputs came in. A first load is no release of the day of loading."""
    released = (
        "SELECT period, occurred_at, known_at FROM event WHERE type = 'industrial_production' AND status = 'released'"
        f" AND to_version = {OPEN}"
    )
    take(world, PRESENT)
    assert list(world.db.execute(released)) == []
    later = cube("I21", 104, 105, months=["2025-09", "2026-09"], updated="2026-11-13T11:00:00+0100")
    take(world, later, start=START + 48 * DAY)
    # Published on 13 November at 10:00 UTC, read on 18 November.
    out = 1_794_564_000
    assert list(world.db.execute(released)) == [("2026-09", out, START + 48 * DAY)]
    rebuild(world, lambda _: None)
    assert list(world.db.execute(released)) == [("2026-09", out, START + 48 * DAY)]


def test_a_change_of_base_is_no_revision(world):
    """One quarter under two versions of the structure of Australian prices, at one address: two series, one vintage each."""
    url = "https://data.api.abs.gov.au/rest/data/ABS,CPI/1.10001.10.50.Q?format=csv"
    head = "DATAFLOW,MEASURE,INDEX,TSEST,REGION,FREQ,TIME_PERIOD,OBS_VALUE\n"
    run = Ingest(world, world.catalog.sources["abs"], lambda _: None)
    run.run(
        Arrival(
            url, f"{head}ABS:CPI({version}),1,10001,10,50,Q,2026-Q1,{value}\n".encode(), "text/csv", START + day * DAY
        )
        for day, (version, value) in enumerate([("1.1.0", 150.5), ("2.0.0", 104.51), ("1.1.0", 150.5)])
    )
    assert run.outcome.quarantined == {}
    sql = (
        "SELECT s.id, v.value FROM vintages v JOIN series s USING(topic, series)"
        " JOIN topic t USING(topic) WHERE t.indicator = 'cpi_index' ORDER BY s.id"
    )
    assert list(world.db.execute(sql)) == [
        ("abs:country_aus:cpi_index:Q", 104.51),
        ("abs:country_aus:cpi_index:Q:former-2011-12", 150.5),
    ]
