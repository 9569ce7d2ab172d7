"""An answer with fewer rows than it says is refused, reported or followed, by every connector whose publisher says how many. All invented."""

import json
import re
from importlib import import_module
from pathlib import Path

import pytest

from almanac.catalog.load import shipped
from almanac.sources import feeds
from almanac.sources.base import Parsed, Payload, SourceChanged, connector

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
