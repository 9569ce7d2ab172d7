"""Files of statistical offices and of the Bank of Japan, read again by other means and compared value by value."""

import csv
import json
import re
from datetime import UTC, date, datetime

import pytest

from almanac.catalog.services import Flow, Service
from almanac.domain.observations import UNKNOWN
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.sources.base import Payload, connector
from almanac.sources.feeds.sdmx import Sdmx

from .files import FOLDER, REAL

pytestmark = REAL


def read(catalog, listed, source, path):
    record = catalog.sources[source]
    url = listed[path]
    owners = [s.id for s in catalog.sources.values() if s.connector and connector(s.connector).owns(url)]
    assert owners == [source]
    payload = Payload(url, (FOLDER / path).read_bytes(), 0, "")
    return connector(record.connector).parse(payload, record, catalog.series.get(source, {}))


def values(parsed):
    return {(block.native, s.period): s.value for block in parsed.blocks for s in block.statements}


def key(text):
    return Period.parse(text).key


#: File, native code, numbers in the file (counted by eye or with grep), and one of them read by eye.
CUBES = [
    ("ei_bsco_m_de.json", "EI_BSCO_M.M.BS-CSMCI.SA.BAL.DE", 30, "2022-03", -15.4),
    ("namq_10_gdp_de.json", "NAMQ_10_GDP.Q.CLV20_MEUR.SCA.B1GQ.DE", 20, "2024-Q4", 901414.4),
    ("sts_inpr_m_de.json", "STS_INPR_M.M.PRD.B-D.SCA.I15.DE", 24, "2023-12", 90.7),
    ("une_rt_m_de.json", "UNE_RT_M.M.NSA.TOTAL.PC_ACT.T.DE", 18, "2024-02", 3.6),
]


@pytest.mark.parametrize(("file", "native", "numbers", "period", "value"), CUBES, ids=[file for file, *_ in CUBES])
def test_every_value_of_eurostat_s_cubes_is_read(catalog, listed, file, native, numbers, period, value):
    """All but one code in each dimension but time: a cell's number is its place in time."""
    path = f"macro/eurostat/{file}"
    cube = json.loads((FOLDER / path).read_text("utf-8"))
    times = list(cube["dimension"]["time"]["category"]["index"])
    theirs = {(native, key(times[int(cell)])): number for cell, number in cube["value"].items()}
    parsed = read(catalog, listed, "eurostat", path)
    assert values(parsed) == theirs
    assert len(theirs) == numbers
    assert theirs[native, key(period)] == value
    (block,) = parsed.blocks
    # Every month of the cube is listed, those at its end without a value too.
    assert block.complete == (key(times[0]), key(times[-1]))
    stamp = datetime.fromisoformat(cube["updated"]).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    for cell, statement in zip(sorted(map(int, cube["value"])), block.statements, strict=True):
        assert (statement.known, statement.released, statement.flags) == (None, None, UNKNOWN)
        expected = {"publishedAt": stamp}
        mark = cube.get("status", {}).get(str(cell))
        assert json.loads(statement.note) == ({"flags": [mark]} if mark else {}) | expected


def test_provisional_quarters_of_germany_are_flagged_from_2022_on(catalog, listed):
    (block,) = read(catalog, listed, "eurostat", "macro/eurostat/namq_10_gdp_de.json").blocks
    flagged = [s.period for s in block.statements if "flags" in json.loads(s.note)]
    assert flagged == [key(f"{year}-Q{quarter}") for year in (2022, 2023, 2024) for quarter in (1, 2, 3, 4)]
    assert json.loads(block.statements[-1].note) == {"flags": ["p"], "publishedAt": "2026-04-20T09:00:00Z"}


def test_labels_in_place_of_codes_are_read_as_the_codes(catalog, listed):
    """Current account of the euro area of 20: 23962.1 in 2023-Q1. The file's other item is not mapped."""
    path = "macro/eurostat/ei_bpm6ca_q_sdmx_csv_1.0_labels.csv"
    with (FOLDER / path).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    native = "EI_BPM6CA_Q.Q.MIO_EUR.NSA.S1.S1.EXT_EA20.BAL.CA.EA20"
    theirs = {
        (native, key(row["TIME_PERIOD"])): float(row["OBS_VALUE"])
        for row in rows
        if row["bop_item"] == "Current account"
    }
    parsed = read(catalog, listed, "eurostat", path)
    assert values(parsed) == theirs
    assert theirs[native, key("2023-Q1")] == 23962.1
    assert sum(parsed.unmapped.values()) == len(rows) - len(theirs) == 9
    # 30 October 2025, 23:00 in Luxembourg, is an hour ahead of UTC.
    assert {s.note for s in parsed.blocks[0].statements} == {'{"publishedAt":"2025-10-30T22:00:00Z"}'}


def test_a_data_set_that_is_not_mapped_is_counted(catalog, listed):
    parsed = read(catalog, listed, "eurostat", "macro/eurostat/nrg_bal_s.xml")
    assert (parsed.blocks, parsed.unmapped) == ([], {"NRG_BAL_S": 33})


OECD = [
    (
        "macro/oecd/oecd_kei_ea20_indpro_m.csv",
        "DSD_KEI@DF_KEI.EA20.M.PRVM.GR.BTE.Y.GY",
        ("region_euro_area", "industrial_production_growth_official_yoy"),
        19,
        ("2026-02", -1.31445904954444),
    ),
    (
        "macro/oecd/oecd_prices_gbr_m_2026.csv",
        "DSD_PRICES@DF_PRICES_ALL.GBR.M.N.CPI.PA._T.N.GY",
        ("country_gbr", "cpi_inflation_official_yoy"),
        3,
        ("2026-07", 3.1),
    ),
]


@pytest.mark.parametrize(("path", "native", "topic", "numbers", "value"), OECD)
def test_every_growth_rate_of_the_oecd_is_read(catalog, listed, path, native, topic, numbers, value):
    with (FOLDER / path).open(newline="", encoding="utf-8") as file:
        theirs = {(native, key(row["TIME_PERIOD"])): float(row["OBS_VALUE"]) for row in csv.DictReader(file)}
    parsed = read(catalog, listed, "oecd", path)
    assert values(parsed) == theirs
    assert len(theirs) == numbers
    assert theirs[native, key(value[0])] == value[1]
    spec = catalog.series["oecd"][native]
    assert (spec.entity, spec.indicator) == topic
    assert {s.note for s in parsed.blocks[0].statements} == {None}


BANK = [
    ("wb_fi.res.totl.mo_bgd_lka_pak.json", "FI.RES.TOTL.MO", 17, ("BGD", "2025", 3.91092137452087), "2026-07-01"),
    ("wb_ny.gdp.mktp.cn_arg_bra_excerpt.json", "NY.GDP.MKTP.CN", 77, ("ARG", "2025", 847622872687300.0), "2026-07-13"),
]


@pytest.mark.parametrize(("file", "indicator", "numbers", "value", "updated"), BANK)
def test_every_value_of_the_world_bank_is_read(catalog, listed, file, indicator, numbers, value, updated):
    path = f"macro/world_bank/{file}"
    rows = json.loads((FOLDER / path).read_text("utf-8"))[1]
    theirs = {
        (f"{row['countryiso3code']}/{indicator}", key(row["date"])): row["value"]
        for row in rows
        if row["value"] is not None
    }
    parsed = read(catalog, listed, "world-bank", path)
    assert values(parsed) == theirs
    assert len(theirs) == numbers
    place, year, number = value
    assert theirs[f"{place}/{indicator}", key(year)] == number
    assert {s.note for b in parsed.blocks for s in b.statements} == {f'{{"publishedAt":"{updated}"}}'}


def test_a_year_without_reserves_is_listed_and_has_no_value(catalog, listed):
    """Sri Lanka 2025 is null, the newest year of the answer."""
    parsed = read(catalog, listed, "world-bank", "macro/world_bank/wb_fi.res.totl.mo_bgd_lka_pak.json")
    (block,) = [block for block in parsed.blocks if block.native.startswith("LKA/")]
    assert block.complete == (key("2020"), key("2025"))
    assert max(s.period for s in block.statements) == key("2024")


def test_the_dollar_at_nine_in_tokyo(catalog, listed):
    """157.52 yen on 6 January 2025, the first business day of the year; 19 days of the month have a rate."""
    path = "macro/bank_of_japan/boj_fm08_2025-01.json"
    held = json.loads((FOLDER / path).read_text("utf-8"))["RESULTSET"][0]["VALUES"]
    theirs = {
        ("FM08'FXERD01", key(f"{day}"[:4] + "-" + f"{day}"[4:6] + "-" + f"{day}"[6:])): rate
        for day, rate in zip(held["SURVEY_DATES"], held["VALUES"], strict=True)
        if rate is not None
    }
    parsed = read(catalog, listed, "boj", path)
    assert values(parsed) == theirs
    assert len(theirs) == 19
    assert theirs["FM08'FXERD01", key("2025-01-06")] == 157.52
    assert parsed.blocks[0].complete == (key("2025-01-01"), key("2025-01-31"))
    assert parsed.blocks[0].statements[0].note == '{"publishedAt":"2026-03-27"}'


def test_insee_s_industry_is_read_whole_and_the_rest_counted(catalog, listed):
    """Manufacturing, adjusted: 100.4 in 2015-10."""
    path = "macro/insee/insee_ipi_2010_a21.xml"
    text = (FOLDER / path).read_text("utf-8")
    theirs, written = {}, 0
    for one in re.findall(r"<generic:Series>.*?</generic:Series>", text, re.DOTALL):
        head = re.search(r"<generic:SeriesKey>(.*?)</generic:SeriesKey>", one, re.DOTALL)[1]
        native = "IPI-2010-A21." + ".".join(re.findall(r' value="([^"]*)"', head))
        pairs = re.findall(r'ObsDimension value="([^"]+)"/>\s*<generic:ObsValue value="([^"]+)"', one)
        written += len(pairs)
        theirs |= {(native, key(period)): float(number) for period, number in pairs}
    parsed = read(catalog, listed, "insee", path)
    ours = values(parsed)
    native = "IPI-2010-A21.M.C.CVS-CJO"
    assert ours == {pair: number for pair, number in theirs.items() if pair[0] == native}
    assert len(ours) + sum(parsed.unmapped.values()) == written == 3230
    assert ours[native, key("2015-10")] == 100.4
    assert {s.note for s in parsed.blocks[0].statements} == {'{"publishedAt":"2015-12-10"}'}


def test_istat_s_services_are_read_and_not_mapped(catalog, listed):
    parsed = read(catalog, listed, "istat", "macro/istat/istat_47_850.xml")
    assert (parsed.blocks, parsed.unmapped) == ([], {"47_850": 22})


#: Files of flows that nobody maps: file, flow, its dimensions, one key, numbers in the file, one of them read by eye.
UNMAPPED = [
    (
        "macro/istat/istat_47_850.xml",
        ("47_850", "FREQ REF_AREA DATA_TYPE TYPE_SOCIO_EDUC_SERVICE TYPE_MANAGEMENT HOLDER_SECTOR_PUBPRIV"),
        "A.001001.AUTP.ALL.ALL.1",
        22,
        ("2022", 30.0),
    ),
    (
        "macro/eurostat/nrg_bal_s.xml",
        ("NRG_BAL_S", "freq nrg_bal siec unit geo"),
        "A.AFC.C0000X0350-0370.GWH.AL",
        33,
        ("1990", 6644.088),
    ),
]


@pytest.mark.parametrize(("path", "flow", "code", "numbers", "value"), UNMAPPED)
def test_a_flow_more_is_two_lines_of_data(listed, path, flow, code, numbers, value):
    described = Flow(id=flow[0], dimensions=tuple(flow[1].split()))
    service = Service(id="x", hosts=("example.org",), url="https://example.org/{flow}/{key}", flow=(described,))
    native = f"{flow[0]}.{code}"
    spec = SeriesSpec(
        source="x", native=native, indicator="x", entity="x", frequency=Frequency.ANNUAL, unit="index", name="x"
    )
    payload = Payload(listed[path], (FOLDER / path).read_bytes(), 0, "")
    parsed = Sdmx(service, service, {}).parse(payload, None, {native: spec})
    found = {s.period: s.value for block in parsed.blocks for s in block.statements}
    assert found[key(value[0])] == value[1]
    assert len(found) + sum(parsed.unmapped.values()) == numbers


@pytest.fixture(scope="module")
def calendar(catalog, listed):
    return read(catalog, listed, "bls-calendar", "macro/bls/bls_release_calendar_2023_2024.ics").calendar


def test_every_release_of_two_years_is_in_the_calendar(calendar):
    text = (FOLDER / "macro/bls/bls_release_calendar_2023_2024.ics").read_text("utf-8")
    uids = re.findall(r"(?m)^UID:(\S+)", text)
    starts = dict(zip(uids, re.findall(r"(?m)^DTSTART;TZID=US-Eastern:(\d{8}T\d{6})", text), strict=True))
    assert len(starts) == 321
    ours = {entry.uid: entry for entry in calendar}
    assert ours.keys() == starts.keys()
    for uid, wall in starts.items():
        day = datetime.strptime(wall, "%Y%m%dT%H%M%S").replace(tzinfo=UTC)
        # Daylight saving of these two years: 12 March to 5 November 2023, 10 March to 3 November 2024.
        summer = date(2023, 3, 12) <= day.date() < date(2023, 11, 5) or date(2024, 3, 10) <= day.date() < date(
            2024, 11, 3
        )
        assert ours[uid].start == int(day.timestamp()) + (4 if summer else 5) * 3600
        assert ours[uid].day == day.date()
    assert {(e.zone, e.precision, e.status, e.sequence) for e in calendar} == {
        ("America/New_York", "minute", "scheduled", 1)
    }


def test_prices_of_december_2022_came_out_at_half_past_eight_in_washington(calendar):
    """UID 353b4006…: Consumer Price Index, 12 January 2023, 08:30, which is 13:30 UTC."""
    (entry,) = [entry for entry in calendar if entry.uid == "353b4006-ae99-45e3-9a6c-3baaedae5f7f"]
    assert entry.release == "Consumer Price Index"
    assert datetime.fromtimestamp(entry.start, UTC) == datetime(2023, 1, 12, 13, 30, tzinfo=UTC)
    assert sum(entry.release == "Consumer Price Index" for entry in calendar) == 24
