"""Series of the Bureau of Labor Statistics. All numbers are invented."""

import json
from datetime import date

from almanac.domain.observations import UNKNOWN, ReportedValue
from almanac.sources.feeds.bls import CONNECTOR
from tests.support.central_banks import key, payload, read, source, table

URL = "https://api.bls.gov/publicAPI/v2/timeseries/data/CUUR1?startyear=2098&endyear=2099"
SOURCE = source("bls")
SERIES = table({"CUUR1": "M", "CIS1": "Q", "JTS1": "M"})


def datum(year, period, value, *footnotes, **more):
    marks = [dict(zip(("code", "text"), mark, strict=True)) for mark in footnotes] or [{}]
    return {"year": year, "period": period, "periodName": "Invented", "value": value, "footnotes": marks} | more


DATA = [
    datum("2099", "M01", "315.5", ("P", "preliminary"), latest="true"),
    datum("2098", "M13", "313.1"),
    datum("2098", "M12", "314.25"),
    datum("2098", "M11", "-", ("X", "Data unavailable")),
]


def answer(*series, **changes):
    told = {"status": "REQUEST_SUCCEEDED", "responseTime": 5, "message": [], "Results": {"series": list(series)}}
    return json.dumps(told | changes)


TEXT = answer({"seriesID": "CUUR1", "data": DATA})


def parse(body=TEXT, url=URL):
    return CONNECTOR.parse(payload(url, body if isinstance(body, bytes) else body.encode()), SOURCE, SERIES)


def test_months_are_read_with_their_footnotes_and_the_average_of_the_year_is_counted():
    parsed = parse()
    assert parsed.blocks[0].statements == [
        ReportedValue(key("2098-12"), 314.25, flags=UNKNOWN),
        ReportedValue(key("2099-01"), 315.5, flags=UNKNOWN, note='{"flags":["P"],"footnotes":["preliminary"]}'),
    ]
    # November is listed and has no value: what was once known of it is withdrawn.
    assert parsed.blocks[0].complete == (key("2098-11"), key("2099-01"))
    assert parsed.unmapped == {"CUUR1 M13": 1}


def test_quarters_and_their_average():
    quarters = [datum("2098", "Q05", "1"), datum("2098", "Q04", "2"), datum("2098", "Q01", "3")]
    parsed = parse(answer({"seriesID": "CIS1", "data": quarters}))
    assert read(parsed) == {"CIS1": ({key("2098-Q1"): 3.0, key("2098-Q4"): 2.0}, (key("2098-Q1"), key("2098-Q4")))}
    assert parsed.unmapped == {"CIS1 Q05": 1}


def test_that_the_service_s_own_catalogue_lacks_a_series_is_no_fault_of_its_numbers():
    """So it answers for job openings (JTS), whose catalogue it does not keep."""
    told = answer({"seriesID": "CUUR1", "data": DATA}, message=["Unable to get Catalog Data for series CUUR1"])
    assert read(parse(told)) == read(parse(TEXT)) != {}


def test_a_series_nobody_maps_is_counted_and_years_before_it_began_are_no_fault():
    told = answer({"seriesID": "ZZ1", "data": DATA}, message=["No Data Available for Series ZZ1 Year: 1913"])
    assert parse(told).unmapped == {"ZZ1": 4}
    assert parse(answer({"seriesID": "CUUR1", "data": []})).blocks == []


WRONG = [
    (answer(status="REQUEST_NOT_PROCESSED", message=["daily threshold reached"]), "NOT_PROCESSED, 'daily threshold"),
    (answer(message=["Series does not exist for Series CUUR1"]), "says 'Series does not exist for Series CUUR1'"),
    (answer({"seriesID": "CUUR1", "data": []}, {"seriesID": "CUUR1", "data": []}), "series CUUR1 is there twice"),
    (TEXT.replace('"M12"', '"M01"').replace('"2098"', '"2099"'), "CUUR1 2099-M01 is there twice"),
    (TEXT.replace('"M12"', '"M14"'), "CUUR1 2098-M14 is not a period of a year that has 12"),
    (TEXT.replace('"M12"', '"Q04"'), "CUUR1 2098-Q04 is quarterly, the catalogue says monthly"),
    (TEXT.replace('"M12"', '"W50"'), "CUUR1 2098-W50 is not a period like 2026-M10"),
    (TEXT.replace("314.25", "314,25"), "CUUR1 2098-M12: '314,25' is not a number"),
    (TEXT.replace('"value": "314.25"', '"figure": "314.25"'), "unknown field `figure`"),
    (TEXT.replace('"seriesID"', '"series"'), "unknown field `series` - at `$.Results.series[0]`"),
    (TEXT[:-9], "is not JSON"),
]


def test_a_field_nobody_knows_is_reported_and_its_row_read():
    plain = parse(TEXT)
    parsed = parse(TEXT.replace('"value": "314.25"', '"value": "314.25", "aspects": []'))
    assert (read(parsed), parsed.unknown) == (read(plain), {"field Results.series.data.aspects": 1})
    assert parse(answer(colour="red")).unknown == {"field colour": 1}


def asked(key_, since=None, series=SERIES):
    return CONNECTOR.plan(SOURCE, series, since, date(2026, 11, 20), key_)


def test_without_a_key_the_last_ten_years_are_asked_series_by_series():
    base = "https://api.bls.gov/publicAPI/v2/timeseries/data/"
    found = asked(None)
    assert [request.url for request in found] == [
        f"{base}{native}?startyear=2017&endyear=2026" for native in ("CIS1", "CUUR1", "JTS1")
    ]
    assert {dict(request.secret) == {} for request in found} == {True}


def test_with_a_key_the_whole_history_is_asked_in_windows_that_stay_and_the_key_is_no_part_of_the_address():
    found = asked("invented-key", series={"CUUR1": SERIES["CUUR1"]})
    years = [request.url.partition("?")[2] for request in found]
    assert years == [f"startyear={first}&endyear={first + 19}" for first in range(1913, 2027, 20)]
    assert {tuple(request.secret.items()) for request in found} == {(("registrationkey", "invented-key"),)}
    assert not any("invented-key" in request.url for request in found)
    late = asked("invented-key", date(2026, 1, 1), {"CUUR1": SERIES["CUUR1"]})
    assert [request.url.partition("?")[2] for request in late] == ["startyear=2013&endyear=2032"]


def test_other_addresses_are_named():
    assert parse(TEXT, "https://api.bls.gov/publicAPI/v2/surveys").ignored == (
        "/publicAPI/v2/surveys: not time series in JSON"
    )
    assert CONNECTOR.owns(URL)
    assert not CONNECTOR.owns("https://www.bls.gov/schedule/news_release/bls.ics")
