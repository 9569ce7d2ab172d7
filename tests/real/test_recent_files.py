"""Files that the publishers sent of late: three values of each read by eye in the file itself, and what is odd in them.

A file with fewer values has them all here. Where a number is from, down to the line or the cell, is said beside it.
"""

import io
import re
import zipfile
from datetime import date

import pytest

from almanac.domain.periods import Period, end_of
from almanac.sources.base import Payload, SourceChanged, connector
from almanac.sources.feeds import boe_glc

from .files import FOLDER, REAL

pytestmark = REAL

GLC = "macro/bank_of_england/glcnominalddata_2025-01_to_2026-04_repacked.zip"
GLC_MONTH = "macro/bank_of_england/latest-yield-curve-data_2025-10-10.zip"
CURVE = "YC.B.U2.EUR.4F.G_N_A.SV_C_YM.SR_"
CLI = "DSD_STES@DF_CLI.{}.M.LI.IX._Z.AA.IX._Z.H"
ISTAT = "115_333.M.IT.IND_PROD_21.Y.0020"

#: Source, file, and (native code, period, value) by eye.
BY_HAND = [
    (
        "abs", "macro/abs/abs_cpi_q_v1.1.0_excerpt.csv",  # lines 2, 3 and 7
        [("CPI-V1.1.10001.10.50.Q", "2023-Q2", 133.7), ("CPI-V1.1.10001.10.50.Q", "2024-Q1", 137.4), ("CPI-V1.1.10001.10.50.Q", "2025-Q2", 141.7)],
    ),
    ("boc-valet", "macro/bank_of_canada/boc_v39079_2026-10-05.json", [("V39079", "2026-10-01", 2.25)]),
    (
        "boe-iadb", "macro/bank_of_england/boe_iadb_iudbedr_2026-10-02.csv",  # first, one in the middle, last line
        [("IUDBEDR", "2026-09-01", 3.75), ("IUDBEDR", "2026-09-16", 3.75), ("IUDBEDR", "2026-10-01", 3.75)],
    ),
    (
        "boe-glc", GLC,  # sheet "4. spot curve": B7 (0.5 years, serial day 45659), U7 (10 years), E352 (2 years, 46142)
        [("spot 0.5y", "2025-01-02", 4.4584431713459232), ("spot 10y", "2025-01-02", 4.5777161965809618), ("spot 2y", "2026-04-30", 4.3178408526483487)],
    ),
    (
        "boe-glc", GLC_MONTH,  # U6 (serial day 45931), E7, BI12
        [("spot 10y", "2025-10-01", 4.7558775506691893), ("spot 2y", "2025-10-02", 3.8397203219684908), ("spot 30y", "2025-10-09", 5.6993295206788384)],
    ),
    (
        "boj", "macro/bank_of_japan/boj_co_tankan_2026-07-27.json",  # 202501 is the first quarter
        [("CO'TK99F1000601GCQ01000", "2025-Q1", 12.0), ("CO'TK99F1000601GCQ01000", "2025-Q2", 13.0), ("CO'TK99F1000601GCQ01000", "2025-Q4", 15.0)],
    ),
    (
        "bls", "macro/bls/bls_cuur0000sa0_2020-2026_2026-10-06.json",
        [("CUUR0000SA0", "2020-01", 257.971), ("CUUR0000SA0", "2025-09", 324.8), ("CUUR0000SA0", "2026-08", 334.98)],
    ),
    (
        "bls", "macro/bls/bls_v1_five_series_2024-12-13.json",
        [("LNS14000000", "2020-01", 3.6), ("LNS14000000", "2024-11", 4.2), ("CES0000000001", "2024-10", 159061.0)],
    ),
    ("ecb-fm", "macro/ecb/ecb_fm_dfr_2026-10-02.csv", [("FM.D.U2.EUR.4F.KR.DFR.LEV", "2026-10-02", 2.5)]),
    (
        "ecb-yc", "macro/ecb/ecb_yc_ten_spot_2026-08-12.csv",
        [(f"{CURVE}10Y", "2026-08-12", 3.1654173208), (f"{CURVE}2Y", "2026-08-12", 2.700507465), (f"{CURVE}3M", "2026-08-12", 2.3822184856)],
    ),
    (
        "ecb-tgb", "macro/ecb/ecb_tgb_de_2026-07.csv",
        [("TGB.M.DE.N.A094T.U2.EUR.E", "2026-06", 1043208.02), ("TGB.M.DE.N.A094T.U2.EUR.E", "2026-07", 1037116.1)],
    ),
    (
        "eurostat", "macro/eurostat/gov_10q_ggdebt_it_2026-07.json",
        [("GOV_10Q_GGDEBT.Q.GD.S13.PC_GDP.IT", "2024-Q1", 134.2)],
    ),
    (
        "insee", "macro/insee/insee_001688527_unemployment_2026-05-05.xml",
        [("SERIES_BDM.001688527", "2025-Q2", 7.6), ("SERIES_BDM.001688527", "2025-Q3", 7.7), ("SERIES_BDM.001688527", "2025-Q4", 7.9)],
    ),
    (
        "istat", "macro/istat/istat_115_333_2026-08.csv",  # lines 2, 313 and 319
        [(ISTAT, "2000-01", 118.7), (ISTAT, "2025-12", 94.2), (ISTAT, "2026-06", 93.5)],
    ),
    (
        "oecd", "macro/oecd/oecd_cli_g20_chn_2026.csv",  # lines 2, 3 and 15: not in the order of time
        [(CLI.format("G20"), "2026-06", 100.3641), (CLI.format("CHN"), "2026-03", 98.68217), (CLI.format("CHN"), "2026-05", 98.59573)],
    ),
    (
        "world-bank", "macro/world_bank/wb_fp.cpi.totl.zg_gbr_jpn_usa_2026-10-02.json",
        [("GBR/FP.CPI.TOTL.ZG", "2025", 3.88306881626), ("JPN/FP.CPI.TOTL.ZG", "2025", 3.17253034260248)],
    ),
]  # fmt: skip


def read(catalog, listed, source, path):
    record = catalog.sources[source]
    payload = Payload(listed[path], (FOLDER / path).read_bytes(), 0, "")
    return connector(record.connector).parse(payload, record, catalog.series.get(source, {}))


@pytest.mark.parametrize(("source", "path", "expected"), BY_HAND, ids=[path for _, path, _ in BY_HAND])
def test_values_by_eye(catalog, listed, source, path, expected):
    parsed = read(catalog, listed, source, path)
    found = {(block.native, s.period): s.value for block in parsed.blocks for s in block.statements}
    for native, period, value in expected:
        assert found[native, Period.parse(period).key] == value
    # All that these files say is known by name.
    assert (parsed.unknown, parsed.missing) == ({}, set())


def test_files_with_no_more_values_than_those(catalog, listed):
    counts = {}
    for source, path, expected in BY_HAND:
        if len(expected) < 3:
            parsed = read(catalog, listed, source, path)
            counts[path] = sum(len(block.statements) for block in parsed.blocks) - len(expected)
    assert set(counts.values()) == {0}
    assert len(counts) == 5


@pytest.mark.parametrize("path", [GLC, GLC_MONTH])
def test_every_yield_of_the_bank_of_england_is_read(catalog, listed, path):
    """Read again with regular expressions; the row under the maturities (`Refresh`, `#VALUE!`) and `''` are no yields."""
    book = zipfile.ZipFile(FOLDER / path)
    (name,) = [name for name in book.namelist() if boe_glc._NOMINAL.fullmatch(name)]
    parts = zipfile.ZipFile(io.BytesIO(book.read(name)))
    number = re.search(r'name="4\. spot curve"[^>]*r:id="([^"]+)"', parts.read("xl/workbook.xml").decode())[1]
    links = parts.read("xl/_rels/workbook.xml.rels").decode()
    target = re.search(r'Target="([^"]+)"', re.search(rf'<Relationship [^>]*Id="{number}"[^>]*>', links)[0])[1]
    text = parts.read(f"xl/{target.removeprefix('/xl/')}").decode()
    rows = {
        int(found[1]): dict(
            re.findall(r'<c r="([A-Z]+)\d+"(?![^>]* t=)[^>]*>(?:<f[^>]*/>|<f.*?</f>)?<v>([^<]*)</v>', found[2])
        )
        for found in re.finditer(r'<row r="(\d+)"[^>]*>(.*?)</row>', text, re.DOTALL)
    }
    years = {column: f"spot {float(value):g}y" for column, value in rows[4].items()}
    theirs = {
        (years[column], date.fromordinal(date(1899, 12, 30).toordinal() + int(cells["A"]))): float(value)
        for number, cells in rows.items()
        if number > 5 and "A" in cells
        for column, value in cells.items()
        if column != "A"
    }
    parsed = read(catalog, listed, "boe-glc", path)
    ours = {(block.native, end_of(s.period)): s.value for block in parsed.blocks for s in block.statements}
    mapped = catalog.series["boe-glc"]
    assert ours == {key: value for key, value in theirs.items() if key[0] in mapped}
    assert {block.native for block in parsed.blocks} == set(mapped)


def test_a_holiday_and_an_unfitted_maturity_are_listed_without_a_value(catalog, listed):
    """New Year's Day 2025 (A6) has no yields; half a year was not fitted in October 2025 (B6 to B12 are `''`)."""
    history = {block.native: block for block in read(catalog, listed, "boe-glc", GLC).blocks}
    assert end_of(history["spot 10y"].complete[0]) == date(2025, 1, 1)
    assert end_of(history["spot 10y"].statements[0].period) == date(2025, 1, 2)
    month = {block.native: block for block in read(catalog, listed, "boe-glc", GLC_MONTH).blocks}
    assert (month["spot 0.5y"].statements, len(month["spot 1y"].statements)) == ([], 7)


def test_prices_of_october_2025_were_never_collected(catalog, listed):
    """`-`, with footnote X: the month is listed and has no value."""
    parsed = read(catalog, listed, "bls", "macro/bls/bls_cuur0000sa0_2020-2026_2026-10-06.json")
    (block,) = parsed.blocks
    assert Period.parse("2025-10").key not in {s.period for s in block.statements}
    assert (len(block.statements), parsed.unmapped) == (79, {"CUUR0000SA0 M13": 6})


def test_a_refusal_sent_with_status_200_is_named(catalog, listed):
    with pytest.raises(SourceChanged, match="LNS14000000: REQUEST_NOT_PROCESSED, 'Request could not be serviced"):
        read(catalog, listed, "bls", "macro/bls/bls_not_processed_threshold_2024-12-09.json")


def test_revised_populations_of_france_are_read_and_not_mapped(catalog, listed):
    """OBS_REV is set on two of its three rows."""
    parsed = read(catalog, listed, "insee", "macro/insee/insee_001760077_population_2026-05-05.xml")
    assert (parsed.blocks, parsed.unmapped, parsed.unknown) == ([], {"SERIES_BDM.001760077": 3}, {})


def test_a_year_without_inflation_yet_is_listed(catalog, listed):
    """The United States 2025 is null."""
    parsed = read(catalog, listed, "world-bank", "macro/world_bank/wb_fp.cpi.totl.zg_gbr_jpn_usa_2026-10-02.json")
    (block,) = [block for block in parsed.blocks if block.native == "USA/FP.CPI.TOTL.ZG"]
    assert (block.statements, block.complete) == ([], (Period.parse("2025").key,) * 2)
