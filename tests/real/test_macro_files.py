"""Files of the publishers of macro data: values of each, read by eye in the file itself, and what is odd in them."""

import gzip
import json
from datetime import UTC, date, datetime

import pytest

from almanac.domain.observations import ReportedValue
from almanac.domain.periods import Period, end_of
from almanac.domain.times import instant
from almanac.sources.base import Payload, SourceChanged, connector

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
    ("boc-valet", "macro/bank_of_canada/boc_bd_cdn_2yr_2026-09.json", [("BD.CDN.2YR.DQ.YLD", "2026-09-02", 3.11)]),
    ("boe-iadb", "macro/bank_of_england/boe_iadb_iudbedr_2026-09.csv", [("IUDBEDR", "2026-09-11", 3.75)]),
    ("boe-iadb", "macro/bank_of_england/boe_iadb_lpmvwyr.xml", [("LPMVWYR", "2025-05", 92_105.0)]),
    # The last line of F2; the first line of F1, which has sixteen values for seventeen columns.
    ("rba", "macro/rba/rba_f2_excerpt_2013-2014.csv", [("FCMYGBAG10D", "2014-02-13", 4.154)]),
    ("rba", "macro/rba/rba_f1_excerpt_2011_2026.csv", [("FIRMMTN3D", "2011-01-04", 4.84)]),
    ("snb", "macro/snb/snb_rendeiduebd_excerpt_2026-09.csv", [("rendeiduebd{CHF,10J}", "2026-09-30", 0.586)]),
    # The foreign item beside it says 2.745.
    ("snb", "macro/snb/snb_rendoblid_excerpt_2025-07.csv", [("rendoblid{10J0}", "2025-07-31", 0.378)]),
    ("snb", "macro/snb/snb_zimoma.csv", [("zimoma{EG3M}", "2026-03", -0.083)]),
    ("ecb-yc", "macro/ecb/ecb_yc_sr_2y_2026-09.csv", [(f"{CURVE}2Y", "2026-09-01", 2.876001251)]),
    ("ecb-fm", "macro/ecb/ecb_fm_2024-04.xml", [("FM.M.U2.EUR.RT.MM.EURIBOR3MD_.HSTA", "2024-03", 3.922380952380952)]),
    ("ecb-exr", "macro/ecb/ecb_exr_m_usd.xml", [("EXR.M.USD.EUR.SP00.A", "1999-01", 1.16078)]),
    ("bis", "macro/bis/bis_cbpol_m_au_2026.csv", [("WS_CBPOL.M.AU", "2026-08", 4.35)]),
    ("bis", "macro/bis/bis_neer_us_2023_2024.json", [("WS_EER.M.N.B.US", "2023-01", 102.35)]),
    ("bis", "macro/bis/ws_credit_gap_pt_sample.json", [("WS_CREDIT_GAP.Q.PT.P.A.C", "2024-Q1", -39.7)]),
    ("bis", "macro/bis/ws_spp_q_pt.json", [("WS_SPP.Q.PT.N.628", "2022-Q1", 170.1232)]),
    ("bis", "macro/bis/ws_tc_pt_sample.json", [("WS_TC.Q.PT.P.A.M.770.A", "2023-Q4", 136.1)]),
    ("norges-bank", "macro/norges_bank/norgesbank_ir_kpra.json", [("IR.B.KPRA.SD.R", "2020-01-02", 1.5)]),
    (
        "bundesbank", "macro/bundesbank/bundesbank_data_2020.xml",
        [("BBSIS.D.I.ZAR.ZI.EUR.S1311.B.A604.R10XX.R.A.A._Z._Z.A", "2020-01-03", -0.27)],
    ),
    # The first and the last line.
    ("mof-japan", "macro/mof_japan/jgbcme_all.csv.gz", [("1Y", "1974-09-24", 10.327), ("10Y", "2024-07-31", 1.07)]),
    # The first day of the feed, and the day on which the bond of thirty years came back.
    ("us-treasury-par", "macro/us_treasury/daily_treasury_yield_curve_1990.xml", [("BC_10YEAR", "1990-01-02", 7.94)]),
    ("us-treasury-par", "macro/us_treasury/daily_treasury_yield_curve_2006.xml", [("BC_30YEAR", "2006-02-09", 4.51)]),
    ("eurostat", "macro/eurostat/ei_bsco_m_de.json", [("EI_BSCO_M.M.BS-CSMCI.SA.BAL.DE", "2022-03", -15.4)]),
    ("eurostat", "macro/eurostat/namq_10_gdp_de.json", [("NAMQ_10_GDP.Q.CLV20_MEUR.SCA.B1GQ.DE", "2024-Q4", 901414.4)]),
    ("eurostat", "macro/eurostat/sts_inpr_m_de.json", [("STS_INPR_M.M.PRD.B-D.SCA.I15.DE", "2023-12", 90.7)]),
    ("eurostat", "macro/eurostat/une_rt_m_de.json", [("UNE_RT_M.M.NSA.TOTAL.PC_ACT.T.DE", "2024-02", 3.6)]),
    # Labels stand in place of codes; the current account of the euro area of 20.
    (
        "eurostat", "macro/eurostat/ei_bpm6ca_q_sdmx_csv_1.0_labels.csv",
        [("EI_BPM6CA_Q.Q.MIO_EUR.NSA.S1.S1.EXT_EA20.BAL.CA.EA20", "2023-Q1", 23962.1)],
    ),
    ("oecd", "macro/oecd/oecd_kei_ea20_indpro_m.csv", [("DSD_KEI@DF_KEI.EA20.M.PRVM.GR.BTE.Y.GY", "2026-02", -1.31445904954444)]),
    ("oecd", "macro/oecd/oecd_prices_gbr_m_2026.csv", [("DSD_PRICES@DF_PRICES_ALL.GBR.M.N.CPI.PA._T.N.GY", "2026-07", 3.1)]),
    ("world-bank", "macro/world_bank/wb_fi.res.totl.mo_bgd_lka_pak.json", [("BGD/FI.RES.TOTL.MO", "2025", 3.91092137452087)]),
    ("world-bank", "macro/world_bank/wb_ny.gdp.mktp.cn_arg_bra_excerpt.json", [("ARG/NY.GDP.MKTP.CN", "2025", 847622872687300.0)]),
    # The dollar at nine in Tokyo, on the first business day of the year.
    ("boj", "macro/bank_of_japan/boj_fm08_2025-01.json", [("FM08'FXERD01", "2025-01-06", 157.52)]),
    ("insee", "macro/insee/insee_ipi_2010_a21.xml", [("IPI-2010-A21.M.C.CVS-CJO", "2015-10", 100.4)]),
]  # fmt: skip
#: Values of a file in all, counted with grep, where all of its series are mapped.
COUNTS = {
    "macro/bank_of_canada/boc_bd_cdn_2yr_2026-09.json": 4,
    "macro/bank_of_england/boe_iadb_iudbedr_2026-09.csv": 9,
    "macro/bank_of_england/boe_iadb_lpmvwyr.xml": 161,
    "macro/ecb/ecb_yc_sr_2y_2026-09.csv": 4,
    "macro/ecb/ecb_exr_m_usd.xml": 252,
    "macro/bis/bis_cbpol_m_au_2026.csv": 3,
    "macro/bis/bis_neer_us_2023_2024.json": 24,
    "macro/bis/ws_spp_q_pt.json": 9,
    "macro/norges_bank/norgesbank_ir_kpra.json": 1_586,
    "macro/bundesbank/bundesbank_data_2020.xml": 148,
    "macro/eurostat/ei_bsco_m_de.json": 30,
    "macro/eurostat/namq_10_gdp_de.json": 20,
    "macro/eurostat/sts_inpr_m_de.json": 24,
    "macro/eurostat/une_rt_m_de.json": 18,
    "macro/oecd/oecd_kei_ea20_indpro_m.csv": 19,
    "macro/oecd/oecd_prices_gbr_m_2026.csv": 3,
    "macro/world_bank/wb_fi.res.totl.mo_bgd_lka_pak.json": 17,
    "macro/world_bank/wb_ny.gdp.mktp.cn_arg_bra_excerpt.json": 77,
    "macro/bank_of_japan/boj_fm08_2025-01.json": 19,
}


def read(catalog, listed, source, path):
    record = catalog.sources[source]
    url = listed[path]
    assert [one.id for one in catalog.sources.values() if one.connector and connector(one.connector).owns(url)] == [
        source
    ]
    body = (FOLDER / path).read_bytes()
    payload = Payload(url, gzip.decompress(body) if path.endswith(".gz") else body, 0, "")
    return connector(record.connector).parse(payload, record, catalog.series.get(source, {}))


@pytest.mark.parametrize(("source", "path", "expected"), BY_HAND, ids=[path for _, path, _ in BY_HAND])
def test_values_checked_by_hand(catalog, listed, source, path, expected):
    parsed = read(catalog, listed, source, path)
    found = {(block.native, s.period): s.value for block in parsed.blocks for s in block.statements}
    for native, period, value in expected:
        assert found[native, Period.parse(period).key] == value
    # All that these files say is known by name, and each value is there once.
    assert (parsed.unknown, bool(parsed.missing)) == ({}, "arg_bra_excerpt" in path)
    assert len(found) == sum(len({s.period for s in block.statements}) for block in parsed.blocks)
    assert len(found) == COUNTS.get(path, len(found))


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


def test_provisional_quarters_of_germany_are_flagged_from_2022_on(catalog, listed):
    (block,) = read(catalog, listed, "eurostat", "macro/eurostat/namq_10_gdp_de.json").blocks
    flagged = [s.period for s in block.statements if "flags" in json.loads(s.note)]
    assert flagged == [
        Period.parse(f"{year}-Q{quarter}").key for year in (2022, 2023, 2024) for quarter in (1, 2, 3, 4)
    ]
    assert json.loads(block.statements[-1].note) == {"flags": ["p"], "publishedAt": "2026-04-20T09:00:00Z"}


def test_the_fund_s_edition_keeps_its_release_and_its_scale_is_not_applied(catalog, listed):
    """SCALE is 9 and the number already in full units. Released 2025-10-14 13:00 UTC, corrected 2025-11-19 21:00."""
    path = "macro/imf/imf_weo_svk_ngdp_r.xml"
    released = instant(datetime(2025, 10, 14, 13, tzinfo=UTC))
    corrected = instant(datetime(2025, 11, 19, 21, tzinfo=UTC))
    parsed = read(catalog, listed, "imf", path)
    # The message states BASE_YEAR 2020.
    year, note = Period.parse("2018").key, '{"dataflow":"IMF.RES:WEO(9.0.0)","priceBasis":"2020 prices"}'
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
