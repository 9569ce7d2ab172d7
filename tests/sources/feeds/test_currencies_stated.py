"""The currency that a message states, through the connectors of the catalogue. Every number is invented."""

from datetime import UTC, datetime

import pytest

from almanac.catalog.load import shipped
from almanac.sources.base import Payload, SourceChanged, connector

CATALOG = shipped()
QNA = "https://sdmx.oecd.org/public/rest/data/OECD.SDD.NAD,DSD_NAMAIN1@DF_QNA,1.1/Q.Y..S1.S1.B1GQ._Z._Z._Z.XDC.L.N.T0102?format=csvfile"
QNA_HEAD = (
    "DATAFLOW,FREQ,ADJUSTMENT,REF_AREA,SECTOR,COUNTERPART_SECTOR,TRANSACTION,INSTR_ASSET,ACTIVITY,EXPENDITURE,"
    "UNIT_MEASURE,PRICE_BASE,TRANSFORMATION,TABLE_IDENTIFIER,TIME_PERIOD,OBS_VALUE,REF_YEAR_PRICE,BASE_PER,CONF_STATUS,"
    "DECIMALS,OBS_STATUS,UNIT_MULT,CURRENCY\n"
)
KEY = "DSD_NAMAIN1@DF_QNA.Q.Y.{}.S1.S1.B1GQ._Z._Z._Z.XDC.L.N.T0102"
WEO = "https://api.imf.org/external/sdmx/2.1/data/IMF.RES,WEO,9.0.0/.NGDP_R.A"


def qna(area, period, value, currency, secrecy="F", year="2023-2024"):
    flow = "OECD.SDD.NAD:DSD_NAMAIN1@DF_QNA(1.1)"
    return f"{flow},Q,Y,{area},S1,S1,B1GQ,_Z,_Z,_Z,XDC,L,N,T0102,{period},{value},{year},,{secrecy},2,A,6,{currency}\n"


def weo(*series, released="2099-04-14"):
    """An edition: (place, currency in words or None, the last measured year) for each series of one year."""
    groups = "".join(
        f'<Group INDICATOR="NGDP_R" COUNTRY="{place}" LATEST_ACTUAL_ANNUAL_DATA="{actual}"'
        + (f' PRIMARY_DOMESTIC_CURRENCY="{currency}"' if currency else "")
        + "/>"
        for place, currency, actual in series
    )
    rows = "".join(
        f'<Series COUNTRY="{place}" INDICATOR="NGDP_R" FREQUENCY="A" SCALE="9"><Obs TIME_PERIOD="2024" OBS_VALUE="7"/></Series>'
        for place, _, _ in series
    )
    return (
        '<m:StructureSpecificData xmlns:m="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"><m:Header><m:ID>x</m:ID>'
        '<m:Structure structureID="IMF.RES_WEO_9_0_0"><Ref agencyID="IMF.RES" id="WEO" version="9.0.0"/></m:Structure></m:Header>'
        f'<m:DataSet action="Replace" PUBLICATION_DATE="{released}T13:00:00Z">{groups}{rows}</m:DataSet></m:StructureSpecificData>'
    )


def read(source_id, url, body, fetched="2099-10-01"):
    source = CATALOG.sources[source_id]
    at = int(datetime.fromisoformat(fetched).replace(tzinfo=UTC).timestamp())
    return connector(source.connector).parse(Payload(url, body.encode(), at, ""), source, CATALOG.series[source_id])


def test_the_oecd_s_national_accounts_are_read_with_their_own_column_of_secrecy():
    """The base year of a chain may span two years; one that is no year is no reason to refuse the rest."""
    parsed = read("oecd", QNA, QNA_HEAD + qna("FRA", "2099-Q1", 600.5, "EUR") + qna("FRA", "2099-Q2", 601, "EUR"))
    (block,) = parsed.blocks
    assert (block.native, [told.value for told in block.statements]) == (KEY.format("FRA"), [600.5, 601.0])
    assert (parsed.unknown, parsed.tightened) == ({}, {})
    shut = read("oecd", QNA, QNA_HEAD + qna("FRA", "2099-Q1", 600.5, "EUR", "N"))
    assert list(shut.tightened) == [KEY.format("FRA")]


def test_rows_of_the_oecd_count_in_the_currency_of_their_column():
    body = QNA_HEAD + "".join(
        qna(area, "2099-Q1", 5, currency)
        for area, currency in (("BGR", "BGN"), ("HRV", "EUR"), ("USA", "USD"), ("SWE", ""), ("CZE", "ZZZ"))
    )
    parsed = read("oecd", QNA, body)
    assert [block.native for block in parsed.blocks] == [
        KEY.format("BGR") + "|BGN", KEY.format("HRV"), KEY.format("USA"), KEY.format("SWE"),
    ]  # fmt: skip
    assert list(parsed.unknown) == [f"currency 'ZZZ' of {KEY.format('CZE')}"]
    with pytest.raises(SourceChanged, match="has other attributes than the lines before it"):
        read("oecd", QNA, QNA_HEAD + qna("BGR", "2099-Q1", 5, "BGN") + qna("BGR", "2099-Q2", 5, "EUR"))


@pytest.mark.parametrize(("fetched", "native"), [("2025-12-31", "|BGN"), ("2026-01-01", "")])
def test_where_none_is_stated_it_is_that_of_the_day_of_the_edition(fetched, native):
    (block,) = read("oecd", QNA, QNA_HEAD + qna("BGR", "2024-Q1", 5, ""), fetched).blocks
    assert block.native == KEY.format("BGR") + native
    url = "https://stats.bis.org/api/v2/data/dataflow/BIS/WS_TC/2.0/Q.BG.P.A.M.XDC.A?format=csv"
    head = "DATAFLOW,FREQ,BORROWERS_CTY,TC_BORROWERS,TC_LENDERS,VALUATION,UNIT_TYPE,TC_ADJUST,TIME_PERIOD,OBS_VALUE,UNIT_MULT\n"
    (block,) = read("bis", url, head + "BIS:WS_TC(2.0),Q,BG,P,A,M,XDC,A,2024-Q1,5,9\n", fetched).blocks
    assert block.native == "WS_TC.Q.BG.P.A.M.XDC.A" + native
    # An edition that is read later is of its own day.
    (block,) = read("imf", WEO, weo(("BGR", None, 2023), released=fetched)).blocks
    assert block.native == "WEO.BGR.NGDP_R.A" + native


def test_the_outlook_names_currencies_in_words():
    stated = [("BGR", "Bulgarian Lev", 2023), ("HRV", "Euro", 2023), ("SEN", "CFA franc", 2023), ("WBG", "Euro", 2023)]
    parsed = read("imf", WEO, weo(*stated, ("XYZ", "Euro", 2023), ("SWE", "Shells", 2023)))
    assert [block.native for block in parsed.blocks] == [
        "WEO.BGR.NGDP_R.A|BGN", "WEO.HRV.NGDP_R.A", "WEO.SEN.NGDP_R.A", "WEO.WBG.NGDP_R.A|EUR",
    ]  # fmt: skip
    assert (parsed.unmapped, list(parsed.unknown)) == (
        {"WEO.XYZ.NGDP_R.A": 1},
        ["currency 'Shells' of WEO.SWE.NGDP_R.A"],
    )
