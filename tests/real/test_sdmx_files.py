"""The publishers' own SDMX files, read again by other means and compared value by value."""

import csv
import json
import re
from datetime import UTC, datetime

import pytest

from almanac.domain.observations import UNKNOWN, ReportedValue
from almanac.domain.periods import Period
from almanac.domain.times import instant
from almanac.sources.base import Payload, connector

from .files import FOLDER, REAL

pytestmark = REAL


def again(path):
    """Every number of a file by (key, period) as text: with the csv module, json, or regular expressions."""
    text = (FOLDER / path).read_text("utf-8")
    found = {}
    if path.endswith(".csv"):
        for row in csv.DictReader(text.splitlines()):
            columns = [name for name in row if name != "KEY"]
            end = columns.index("TIME_PERIOD") if "KEY" in row else 2
            found[".".join(row[name] for name in columns[:end]), row["TIME_PERIOD"]] = float(row["OBS_VALUE"])
    elif path.endswith(".json"):
        data = json.loads(text)["data"]
        codes = [[v["id"] for v in d["values"]] for d in data["structure"]["dimensions"]["series"]]
        periods = [v["id"] for v in data["structure"]["dimensions"]["observation"][0]["values"]]
        for places, one in data["dataSets"][0]["series"].items():
            key = ".".join(codes[i][int(p)] for i, p in enumerate(places.split(":")))
            found |= {(key, periods[int(p)]): float(cells[0]) for p, cells in one["observations"].items()}
    else:
        for series in re.findall(r"<generic:Series>.*?</generic:Series>", text, re.DOTALL):
            head = re.search(r"<generic:SeriesKey>(.*?)</generic:SeriesKey>", series, re.DOTALL)[1]
            key = ".".join(re.findall(r' value="([^"]*)"', head))
            pairs = re.findall(r'ObsDimension value="([^"]+)"(?:/>|></generic:ObsDimension>)\s*<generic:ObsValue value="([^"]+)"', series)  # fmt: skip
            found |= {(key, period): float(value) for period, value in pairs}
    return found


#: source, file, flow, numbers in the file (counted by hand or with grep), how many of its series are mapped
FILES = [
    ("ecb-yc", "macro/ecb/ecb_yc_sr_2y_2026-09.csv", "YC", 4, 1),
    ("ecb-fm", "macro/ecb/ecb_fm_2024-04.xml", "FM", 575, 2),
    ("ecb-exr", "macro/ecb/ecb_exr_m_usd.xml", "EXR", 252, 1),
    ("bis", "macro/bis/bis_cbpol_m_au_2026.csv", "WS_CBPOL", 3, 1),
    ("bis", "macro/bis/bis_neer_us_2023_2024.json", "WS_EER", 24, 1),
    ("bis", "macro/bis/bis_neer_xm_2023_2024.json", "WS_EER", 24, 1),
    ("bis", "macro/bis/ws_credit_gap_pt_sample.json", "WS_CREDIT_GAP", 9, 1),
    ("bis", "macro/bis/ws_spp_q_pt.json", "WS_SPP", 9, 1),
    ("bis", "macro/bis/ws_tc_pt_sample.json", "WS_TC", 3, 1),
    ("norges-bank", "macro/norges_bank/norgesbank_ir_kpra.json", "IR", 1586, 1),
    ("bundesbank", "macro/bundesbank/bundesbank_data_2020.xml", "BBSIS", 148, 1),
]


def read(catalog, listed, source, path):
    record = catalog.sources[source]
    reader = connector(record.connector)
    url = listed[path]
    owners = [
        s.id for s in catalog.sources.values() if s.connector.startswith("sdmx:") and connector(s.connector).owns(url)
    ]
    assert owners == [source]
    return reader.parse(Payload(url, (FOLDER / path).read_bytes(), 0, ""), record, catalog.series[source])


@pytest.mark.parametrize(("source", "path", "flow", "numbers", "mapped"), FILES, ids=[path for _, path, *_ in FILES])
def test_every_value_of_every_file_is_read(catalog, listed, source, path, flow, numbers, mapped):
    expected = again(path)
    assert len(expected) == numbers
    parsed = read(catalog, listed, source, path)
    series = catalog.series[source]
    ours = {(b.native, s.period): s.value for b in parsed.blocks for s in b.statements}
    theirs = {(f"{flow}.{key}", Period.parse(text).key): value for (key, text), value in expected.items()}
    assert ours == {key: value for key, value in theirs.items() if key[0] in series}
    assert len(parsed.blocks) == mapped
    assert sum(len(b.statements) for b in parsed.blocks) == len(ours)
    unmapped = {}
    for native, _ in theirs:
        if native not in series:
            unmapped[native] = unmapped.get(native, 0) + 1
    assert parsed.unmapped == unmapped
    assert {(s.known, s.released, s.flags, s.note) for b in parsed.blocks for s in b.statements} == {
        (None, None, UNKNOWN, None)
    }
    assert parsed.tightened == {}


#: One value of each source, read by eye in its file.
BY_HAND = [
    ("ecb-yc", FILES[0][1], "YC.B.U2.EUR.4F.G_N_A.SV_C_YM.SR_2Y", "2026-09-01", 2.876001251),
    ("ecb-fm", FILES[1][1], "FM.M.U2.EUR.RT.MM.EURIBOR3MD_.HSTA", "2024-03", 3.922380952380952),
    ("ecb-exr", FILES[2][1], "EXR.M.USD.EUR.SP00.A", "1999-01", 1.16078),
    ("bis", FILES[3][1], "WS_CBPOL.M.AU", "2026-08", 4.35),
    ("bis", FILES[4][1], "WS_EER.M.N.B.US", "2023-01", 102.35),
    ("bis", FILES[6][1], "WS_CREDIT_GAP.Q.PT.P.A.C", "2024-Q1", -39.7),
    ("bis", FILES[7][1], "WS_SPP.Q.PT.N.628", "2022-Q1", 170.1232),
    ("bis", FILES[8][1], "WS_TC.Q.PT.P.A.M.770.A", "2023-Q4", 136.1),
    ("norges-bank", FILES[9][1], "IR.B.KPRA.SD.R", "2020-01-02", 1.5),
    ("bundesbank", FILES[10][1], "BBSIS.D.I.ZAR.ZI.EUR.S1311.B.A604.R10XX.R.A.A._Z._Z.A", "2020-01-03", -0.27),
]


@pytest.mark.parametrize(("source", "path", "native", "period", "value"), BY_HAND)
def test_values_checked_by_hand(catalog, listed, source, path, native, period, value):
    parsed = read(catalog, listed, source, path)
    (block,) = [block for block in parsed.blocks if block.native == native]
    assert [s.value for s in block.statements if s.period == Period.parse(period).key] == [value]


def test_days_without_a_yield_are_no_observations_but_part_of_what_is_listed(catalog, listed):
    """New Year's Day 2020 and Saturday 1 August 2020, first and last day of the file, have status K and no value."""
    (block,) = read(catalog, listed, "bundesbank", FILES[10][1]).blocks
    assert block.complete == (Period.parse("2020-01-01").key, Period.parse("2020-08-01").key)
    assert block.statements[0].period == Period.parse("2020-01-02").key


def test_the_fund_s_edition_keeps_its_release_and_its_scale_is_not_applied(catalog, listed):
    """SCALE is 9 and the number already in full units. Released 2025-10-14 13:00 UTC, corrected 2025-11-19 21:00."""
    path = "macro/imf/imf_weo_svk_ngdp_r.xml"
    released = instant(datetime(2025, 10, 14, 13, tzinfo=UTC))
    corrected = instant(datetime(2025, 11, 19, 21, tzinfo=UTC))
    parsed = read(catalog, listed, "imf", path)
    year, note = Period.parse("2018").key, '{"dataflow":"IMF.RES:WEO(9.0.0)"}'
    assert [(b.native, b.statements) for b in parsed.blocks] == [
        (
            "WEO.SVK.NGDP_R.A",
            [
                ReportedValue(year, 94_669_000_000.0, released, released, first_only=True, note=note),
                ReportedValue(year, 94_669_000_000.0, corrected, corrected, note=note),
            ],
        )
    ]


@pytest.mark.parametrize(
    ("source", "path", "form"),
    [
        ("ecb-exr", "macro/ecb/ecb_exr_structure_full.xml", "SDMX-ML"),
        ("bis", "macro/bis/ws_credit_gap_structure.json", "SDMX-JSON"),
    ],
)
def test_structure_messages_are_named(catalog, listed, source, path, form):
    parsed = read(catalog, listed, source, path)
    assert (parsed.ignored or "").endswith(f"a structure message ({form}), which has no observations")
    assert parsed.blocks == []
