"""Whatever is cut off or altered in a payload of any feed, it is read or refused: no other error comes out."""

import codecs
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

from almanac.catalog.load import shipped
from almanac.sources import feeds
from almanac.sources.base import Parsed, Payload, SourceChanged, connector
from almanac.sources.feeds.sec import datasets, reference
from almanac.sources.formats import icalendars, strict
from tests.sources.feeds import (
    test_bls,
    test_bls_calendar,
    test_boc,
    test_boe_glc,
    test_boe_iadb,
    test_boj,
    test_damaged,
    test_fred_realtime,
    test_mof_japan,
    test_rba,
    test_sec_reference,
    test_snb,
    test_us_treasury,
    test_world_bank,
)
from tests.sources.formats import test_jsonstat
from tests.support import sdmx_invented
from tests.support.damage import altered
from tests.support.sec_invented import NUM, SUB, amount, archive, submission, table
from tests.support.workbooks import xls


class Sample(NamedTuple):
    """How a feed's payload is read, one that is whole, and whether a shorter one may be whole too: of lines, not of brackets."""

    parse: Callable[[bytes], Parsed | list[object]]
    whole: bytes
    in_part: bool


def calendar(body):
    return icalendars.entries(body, "bls.ics", Parsed())


CALENDAR = test_bls_calendar.calendar(
    test_bls_calendar.event(more="SEQUENCE:2\nLAST-MODIFIED:20260601T120000Z\n"),
    test_bls_calendar.event("DTSTART;VALUE=DATE:20260714", uid="b"),
    zones=test_bls_calendar.rules("US-Eastern"),
)
FEEDS = {
    "rba": Sample(test_rba.parse, test_rba.TEXT.encode("utf-8-sig"), True),
    "rba past": Sample(lambda body: test_rba.parse(body, test_rba.F1_PAST), test_rba.F1_BOOK, True),
    "boc": Sample(test_boc.parse, test_boc.TEXT.encode(), True),
    "snb": Sample(test_snb.parse, test_snb.TEXT.encode("utf-8-sig"), True),
    "boe csv": Sample(test_boe_iadb.parse, test_boe_iadb.TEXT.encode(), True),
    "boe xml": Sample(
        lambda body: test_boe_iadb.parse(body, test_boe_iadb.XML), test_boe_iadb.TWO_CUBES.encode(), True
    ),
    "boe glc": Sample(test_boe_glc.parse, test_boe_glc.zipped({test_boe_glc.NAME: test_boe_glc.book()}), True),
    "json-stat": Sample(
        lambda body: sdmx_invented.parse(body, service=test_jsonstat.OFFICE),
        json.dumps(test_jsonstat.CUBE).encode(),
        False,
    ),
    "world bank": Sample(test_world_bank.parse, test_world_bank.TEXT.encode(), False),
    "bls": Sample(test_bls.parse, test_bls.TEXT.encode(), False),
    "boj": Sample(test_boj.parse, test_boj.TEXT.encode(), False),
    "calendar": Sample(calendar, CALENDAR, False),
}


def outcome(sample, body):
    """How many values or entries were read, None where the body is refused."""
    try:
        found = sample.parse(body)
    except SourceChanged:
        return None
    return sum(len(block.statements) for block in found.blocks) if isinstance(found, Parsed) else len(found)


def cut(sample):
    """What comes of the payload cut after every few bytes."""
    step = 7 if sample.in_part else 3
    return [outcome(sample, sample.whole[:length]) for length in range(0, len(sample.whole.rstrip()), step)]


@pytest.mark.parametrize("name", [name for name, sample in FEEDS.items() if sample.in_part])
def test_a_payload_of_lines_cut_anywhere_is_read_in_part_or_refused(name):
    sample = FEEDS[name]
    complete, found = outcome(sample, sample.whole), cut(sample)
    assert complete
    assert max(one or 0 for one in found) <= complete
    assert found.count(None) > len(found) // 3


@pytest.mark.parametrize("name", [name for name, sample in FEEDS.items() if not sample.in_part])
def test_a_payload_with_an_end_cut_anywhere_is_refused(name):
    sample = FEEDS[name]
    assert outcome(sample, sample.whole)
    assert set(cut(sample)) == {None}


@pytest.mark.parametrize("name", FEEDS)
def test_a_payload_with_bytes_altered_is_read_or_refused(name):
    sample = FEEDS[name]
    assert [outcome(sample, body) for body in altered(sample.whole, 300)].count(None) > 30


# A value that is in doubt by itself costs its row, by name, and proves nothing; the rest of the payload is read. In all feeds.


SNAPSHOT = test_fred_realtime.observations(
    [("2098-10-01", "1.5"), ("2099-01-01", "2.5")], test_fred_realtime.TODAY, count=2
)
#: How a feed reads a payload, one that is whole, and what in it is replaced by what.
DOUBTFUL_FEEDS = {
    "bls": (test_bls.parse, test_bls.TEXT, '"314.25"', '"NaN"'),
    "boc": (test_boc.parse, test_boc.TEXT, "3.10", "NaN"),
    "boe csv": (test_boe_iadb.parse, test_boe_iadb.TEXT, "-0.5", "nan"),
    "boe xml": (lambda text: test_boe_iadb.parse(text, test_boe_iadb.XML), test_boe_iadb.TWO_CUBES, '"520"', '"NaN"'),
    "boj": (test_boj.parse, test_boj.answer(test_boj.one()), "1.5", '"NaN"'),
    "fred": (lambda text: test_fred_realtime.parse(json.loads(text)), json.dumps(SNAPSHOT), '"2.5"', '"NaN"'),
    "mof-japan": (test_mof_japan.parse, test_mof_japan.TEXT, "-0.25", "NaN"),
    "rba": (test_rba.parse, test_rba.TEXT, "5.25", "#N/A"),
    "sdmx csv": (sdmx_invented.parse, sdmx_invented.CSV, "-0.25", "INF"),
    "sdmx xml": (sdmx_invented.parse, sdmx_invented.GENERIC, '"-0.25"', '"-INF"'),
    "snb": (test_snb.parse, test_snb.TEXT, "0.75", "Infinity"),
    "us-treasury": (test_us_treasury.parse, test_us_treasury.TWO_DAYS, "4.30", "1e999"),
    "world-bank": (test_world_bank.parse, test_world_bank.TEXT, "847622872687300", '"NaN"'),
}


def apart(whole, read):
    """The block that lost a row, beside the one it was."""
    before, after = ({block.native: block for block in parsed.blocks} for parsed in (whole, read))
    assert set(before) == set(after)
    (native,) = (name for name in before if before[name] != after[name])
    return before[native], after[native]


@pytest.mark.parametrize("feed", DOUBTFUL_FEEDS)
def test_a_value_in_doubt_costs_its_row_by_name(feed):
    parse, text, number, doubt = DOUBTFUL_FEEDS[feed]
    assert text.count(number) == 1
    whole, read = parse(text), parse(text.replace(number, doubt))
    before, after = apart(whole, read)
    (lost,) = set(before.statements) - set(after.statements)
    assert lost.value == float(number.strip('"'))
    # What stood there before is not withdrawn: that it is no more was not said.
    assert after == replace(before, statements=[one for one in before.statements if one != lost], complete=None)
    assert before.complete is not None
    (name,) = set(read.unread) - set(whole.unread)
    assert name.startswith("unknown value ")
    assert doubt.strip('"') in name
    # Other text is none that the publisher writes: of that the payload is refused, as its own feed's tests hold.


def test_the_error_of_a_formula_costs_its_day():
    monday = test_boe_glc.MONDAY
    book = test_boe_glc.changed([[monday, 1, "#N/A", 1]])
    read = test_boe_glc.parse(book)
    assert [(block.native, len(block.statements), block.complete is None) for block in read.blocks if not block.statements] == [
        ("spot 2y", 0, True)
    ]  # fmt: skip
    assert [name for name in read.unread if "spot 2y" in name and "'#N/A' is not a number" in name]
    past = xls({"Data": [*test_rba.F1_ROWS, [test_rba.LAST - 1, "#N/A"]]})
    assert [name for name in test_rba.parse(past, test_rba.F1_PAST).unread if "FIRMMCRTD 2010-12-30: '#N/A'" in name]


FORMS = {
    "csv": (sdmx_invented.CSV, "-0.25,", "NaN,", {}),
    "xml": (sdmx_invented.GENERIC, '"-0.25"', '"NaN"', {}),
    "json-stat": (json.dumps(test_jsonstat.CUBE), "-0.25", '"NaN"', {"service": test_jsonstat.OFFICE}),
}


@pytest.mark.parametrize("form", FORMS)
def test_nan_of_sdmx_is_a_number_missing_on_purpose(form):
    """The standard's own word for it: nothing is in doubt, and what was known there is withdrawn."""
    text, number, nan, more = FORMS[form]
    whole, read = (sdmx_invented.parse(body, **more) for body in (text, text.replace(number, nan)))
    before, after = apart(whole, read)
    kept = [one for one in before.statements if one.value != -0.25]
    assert after == replace(before, statements=kept)
    assert after.complete is not None
    assert read.unread == whole.unread


# A byte-order mark before a body is passed over, whatever feed and format it is of (RFC 8259, section 8.1).


ROWS = [("2099-01-01", "1.5", "2099-05-20", "2099-05-20")]


def counted(parse):
    return lambda body: sum(len(block.statements) for block in parse(body).blocks)


SAMPLES = {
    **{name: (partial(test_damaged.outcome, sample), sample.whole) for name, sample in test_damaged.FEEDS.items()},
    "sdmx csv": (counted(sdmx_invented.parse), sdmx_invented.CSV.encode()),
    "sdmx json": (counted(sdmx_invented.parse), sdmx_invented.json_1().encode()),
    "sdmx generic": (counted(sdmx_invented.parse), sdmx_invented.GENERIC.encode()),
    "sdmx specific": (counted(sdmx_invented.parse), sdmx_invented.SPECIFIC.encode()),
    "treasury": (counted(test_us_treasury.parse), test_us_treasury.TWO_DAYS.encode()),
    "fred": (counted(test_fred_realtime.parse), json.dumps(test_fred_realtime.observations(ROWS)).encode()),
    "sec": (lambda body: len(reference.tickers(body, Parsed())), json.dumps(test_sec_reference.TICKERS).encode()),
}


@pytest.mark.parametrize("name", [name for name in SAMPLES if name not in {"boe glc", "rba past"}])
def test_a_mark_before_a_body_changes_nothing_of_what_is_read(name):
    read, body = SAMPLES[name]
    body = body.removeprefix(codecs.BOM_UTF8)
    assert read(codecs.BOM_UTF8 + body) == read(body) > 0


def test_a_mark_is_that_of_utf_8_whatever_the_feed_s_own_encoding():
    text, read = test_mof_japan.TEXT, counted(test_mof_japan.parse)
    assert read(codecs.BOM_UTF8 + text.encode()) == read(text.encode("cp932")) > 0


def test_one_mark_is_passed_over_and_no_other_character():
    assert strict.text(codecs.BOM_UTF8 + b"a", "cp932", "x") == "a"
    assert strict.text(2 * codecs.BOM_UTF8, "utf-8", "x") == "\N{BYTE ORDER MARK}"
    with pytest.raises(strict.SourceChanged, match="x is not JSON"):
        strict.json(2 * codecs.BOM_UTF8 + b"{}", dict, "x", Parsed())


def test_a_mark_before_a_table_of_an_archive_is_passed_over():
    members = {"sub.txt": table(SUB, [submission()]), "num.txt": table(NUM, [amount()]), "pre.txt": b"", "tag.txt": b""}
    wanted = frozenset(["us-gaap:NetIncomeLoss"])
    plain, marked = (
        datasets.read(archive({name: mark * bool(body) + body for name, body in members.items()}), "2009q3.zip", wanted)
        for mark in (b"", codecs.BOM_UTF8)
    )
    assert plain.facts == marked.facts
    assert marked.facts


# An answer with fewer rows than it says is refused, reported or followed, by every connector whose publisher says how many. All invented.


_OBSERVATIONS = {
    "realtime_start": "2026-01-01", "realtime_end": "2026-01-01", "observation_start": "1776-07-04",
    "observation_end": "9999-12-31", "units": "lin", "output_type": 1, "file_type": "json", "order_by": "observation_date",
    "sort_order": "asc", "offset": 0, "limit": 100_000, "count": 2,
    "observations": [
        {"realtime_start": "2026-01-01", "realtime_end": "2026-01-01", "date": "2025-12-01", "value": "1.0"}
    ],
}  # fmt: skip
_DATES = {
    "realtime_start": "2026-01-01", "realtime_end": "2026-01-15", "count": 3, "offset": 0, "limit": 1,
    "release_dates": [{"release_id": 10, "release_name": "Prices", "date": "2026-01-13"}],
}  # fmt: skip
_BANK_ROW = {
    "indicator": {"id": "FP.CPI.TOTL", "value": "x"}, "country": {"id": "BR", "value": "Brazil"}, "countryiso3code": "BRA",
    "date": "2024", "value": 1.0, "unit": "", "obs_status": "", "decimal": 0,
}  # fmt: skip
_BANK_PAGE = {"page": 1, "pages": 2, "per_page": 2, "total": 3, "sourceid": "2", "lastupdated": "2026-07-01"}
_BANK = "https://api.worldbank.org/v2/country/all/indicator/FP.CPI.TOTL?format=json&per_page=2"
_BOJ = "https://www.stat-search.boj.or.jp/api/v1/getDataCode?format=json&lang=en&db=FM08&code=FXERD01"
_BOJ_ANSWER = {
    "STATUS": 200, "MESSAGEID": "M0", "MESSAGE": "Successfully completed", "DATE": "2026-01-01", "PARAMETER": {"DB": "FM08"},
    "NEXTPOSITION": 61, "RESULTSET": [],
}  # fmt: skip
_FRED = "https://api.stlouisfed.org/fred/"
_TOO_MUCH = (
    '<?xml version="1.0"?><m:GenericData xmlns:m="http://www.sdmx.org/resources/sdmxml/schemas/v2_1/message"><m:Header/>'
    '<m:Footer><m:Message code="413">Too large</m:Message></m:Footer></m:GenericData>'
)
_IMF = "https://api.imf.org/external/sdmx/2.1/data/IMF.RES,PCPS/G001.PCOPP.USD.M"
_CUT = [
    ("fred", f"{_FRED}series/observations?file_type=json&series_id=CPIAUCSL", json.dumps(_OBSERVATIONS)),
    ("fred", f"{_FRED}releases/dates?file_type=json&limit=9", json.dumps(_DATES | {"limit": 9})),
    ("world-bank", _BANK, json.dumps([_BANK_PAGE, [_BANK_ROW]])),
    ("imf", _IMF, _TOO_MUCH),
]
_MORE = [
    ("fred", f"{_FRED}releases/dates?file_type=json&limit=1", json.dumps(_DATES), "offset=1"),
    ("world-bank", _BANK, json.dumps([_BANK_PAGE, [_BANK_ROW]]), "page=2"),
    ("boj", _BOJ, json.dumps(_BOJ_ANSWER), "startPosition=61"),
]
#: Every connector: how a cut would show. One that says nothing of its size is whole or does not parse, or nobody can know.
_KNOWN = {
    "fred": "stated", "world_bank": "stated", "boj": "stated", "sdmx": "stated",
    "sec": "a list of pages, which are followed (test_sec)",
    "bls": "a message beside the data, which is refused (test_bls)",
    "bls_calendar": "ends with END:VCALENDAR", "boc": "JSON that closes", "boe_glc": "an archive with its directory at the end",
    "boe_iadb": "CSV, which says nothing", "mof_japan": "CSV, which says nothing", "rba": "CSV, which says nothing, and workbooks with their directory at the end",
    "snb": "CSV, which says nothing", "us_treasury": "XML that closes",
}  # fmt: skip


def told(source, url, text):
    record = shipped().sources[source]
    payload = Payload(url, text.encode(), 1_780_000_000, "application/json")
    return connector(record.connector), payload, record


def test_of_every_connector_it_is_known_how_a_cut_would_show():
    places = [place.stem for place in Path(feeds.__file__).parent.iterdir() if place.stem[0] != "_"]
    assert sorted(_KNOWN) == sorted(places)
    assert all(import_module(f"almanac.sources.feeds.{place}") for place in places)


@pytest.mark.parametrize(("source", "url", "text"), _CUT)
def test_an_answer_of_fewer_rows_than_it_says_withdraws_nothing_and_is_told(source, url, text):
    reader, payload, record = told(source, url, text)
    try:
        parsed = reader.parse(payload, record, shipped().series[source])
    except SourceChanged as refused:
        assert re.search(r"lists 1[ ,]|'Too large'", str(refused))  # noqa: PT017  (which of two ways is the reader's)
        return
    assert parsed.missing
    assert parsed.blocks
    assert {block.complete for block in parsed.blocks} == {None}


@pytest.mark.parametrize(("source", "url", "text", "words"), _MORE)
def test_what_an_answer_says_is_elsewhere_is_asked_for(source, url, text, words):
    reader, payload, record = told(source, url, text)
    led = reader.follow(payload, record, "a" * 32)
    assert [words in request.url for request in led] == [True]


def test_a_whole_page_is_complete():
    whole = json.dumps([_BANK_PAGE | {"pages": 1, "total": 1}, [_BANK_ROW]])
    reader, payload, record = told("world-bank", _BANK, whole)
    parsed: Parsed = reader.parse(payload, record, shipped().series["world-bank"])
    assert not parsed.missing
    assert all(block.complete for block in parsed.blocks)


# -- the currency that a message states, through the connectors of the catalogue. Every number is invented ------------


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
