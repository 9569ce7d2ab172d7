"""Series of the Bank of Japan. All numbers are invented."""

import json
from datetime import date

import pytest

from almanac.domain.observations import UNKNOWN, ReportedValue
from almanac.domain.reference import Unit
from almanac.domain.times import wire_time
from almanac.sources.feeds.boj import Boj
from tests.support.central_banks import key, payload, read, source, table

URL = "https://www.stat-search.boj.or.jp/api/v1/getDataCode?format=json&lang=en&db=FM9&code=DAY1"
SOURCE = source("boj")
SERIES = table(
    {
        "FM9'DAY1": {"frequency": "D", "unit": "per_usd"},
        "FM9'MON1": {"frequency": "M", "unit": "local_currency", "scale": 8},
        "FM9'QUA1": {"frequency": "Q", "unit": "points"},
        "FM9'YEA1": {"frequency": "A", "unit": "percent"},
    }
)
READER = Boj({"per_usd": Unit(id="per_usd", label="per dollar")})


def one(code="DAY1", frequency="DAILY", dates=(20990105, 20990102, 20990101), values=(1.5, None, -0.25), **changes):
    told = {
        "SERIES_CODE": code,
        "NAME_OF_TIME_SERIES": "Invented",
        "UNIT": "Yen per U.S. Dollar",
        "FREQUENCY": frequency,
        "CATEGORY": "Invented",
        "LAST_UPDATE": 20990327,
        "VALUES": {"SURVEY_DATES": list(dates), "VALUES": list(values)},
    }
    return told | changes


def answer(*series, **changes):
    told = {
        "STATUS": 200,
        "MESSAGEID": "M0",
        "MESSAGE": "Successfully completed",
        "DATE": "2099-03-29T19:54:29.989+09:00",
        "PARAMETER": {"DB": "FM9", "FORMAT": "JSON"},
        "NEXTPOSITION": None,
        "RESULTSET": list(series),
    }
    return json.dumps(told | changes)


TEXT = answer(one(), one("ZZ1"))


def parse(body=TEXT, url=URL):
    return READER.parse(payload(url, body if isinstance(body, bytes) else body.encode()), SOURCE, SERIES)


def test_days_are_read_and_a_holiday_is_listed_without_a_value():
    parsed = parse()
    note = '{"publishedAt":"2099-03-27"}'
    assert parsed.blocks[0].statements == [
        ReportedValue(key("2099-01-01"), -0.25, flags=UNKNOWN, note=note),
        ReportedValue(key("2099-01-05"), 1.5, flags=UNKNOWN, note=note),
    ]
    assert parsed.blocks[0].complete == (key("2099-01-01"), key("2099-01-05"))
    assert wire_time(parsed.blocks[0].updated) == "2099-03-27T00:00:00Z"
    assert parsed.unmapped == {"FM9'ZZ1": 2}


@pytest.mark.parametrize(
    ("code", "frequency", "number", "period", "unit"),
    [
        ("MON1", "MONTHLY", 209904, "2099-04", "100 million yen"),
        ("QUA1", "QUARTERLY", 209904, "2099-Q4", "% points"),
        ("YEA1", "ANNUAL(MAR)", 2099, "2099", "%"),
    ],
)
def test_a_date_is_read_by_the_frequency_of_its_series(code, frequency, number, period, unit):
    """209904 is April for months, and the fourth quarter for quarters."""
    parsed = parse(answer(one(code, frequency, (number,), (3,), UNIT=unit)))
    assert read(parsed) == {f"FM9'{code}": ({key(period): 3.0}, (key(period), key(period)))}


def test_a_field_nobody_knows_is_reported_and_the_rest_read_and_followed():
    body = answer(one(), COLOUR="red", NEXTPOSITION=61)
    parsed = parse(body)
    assert (read(parsed), parsed.unknown) == (read(parse(answer(one()))), {"field COLOUR": 1})
    assert READER.follow(payload(URL, body.encode()), SOURCE, None) != []


def test_a_long_answer_leads_to_its_next_part():
    told = payload(URL, answer(one(), NEXTPOSITION=61).encode())
    assert [request.url for request in READER.follow(told, SOURCE, None)] == [f"{URL}&startPosition=61"]
    assert READER.follow(payload(URL, TEXT.encode()), SOURCE, None) == []


def test_each_series_is_asked_from_the_period_that_holds_the_day():
    found = READER.plan(SOURCE, SERIES, date(2099, 5, 20), date(2099, 5, 21), None)
    base = "https://www.stat-search.boj.or.jp/api/v1/getDataCode?format=json&lang=en&db=FM9&code="
    assert [request.url for request in found] == [
        f"{base}DAY1&startDate=209905",
        f"{base}MON1&startDate=209905",
        f"{base}QUA1&startDate=209902",
        f"{base}YEA1&startDate=2099",
    ]
    assert READER.plan(SOURCE, SERIES, None, date(2099, 5, 21), None)[0].url == f"{base}DAY1"


WRONG = [
    (answer(STATUS=400, MESSAGE="Invalid code"), "status 400, 'Invalid code'"),
    (answer(PARAMETER={}), "the answer does not name its data base DB"),
    (answer(one(values=(1.5,))), "FM9'DAY1 has 3 dates and 1 values"),
    (answer(one(dates=(20990101, 20990102, 20990101))), "FM9'DAY1 20990101 is there twice"),
    (answer(one(dates=(20990105, 20990102, 20990230))), "FM9'DAY1 20990230 is not a daily period"),
    (
        answer(one("MON1", "MONTHLY", (209913,), (1,), UNIT="100 million yen")),
        "FM9'MON1 209913 is not a monthly period",
    ),
    (answer(one("QUA1", "QUARTERLY", (209905,), (1,), UNIT="% points")), "FM9'QUA1 209905 is not a quarterly period"),
    (answer(one(frequency="MONTHLY")), "FM9'DAY1 is 'MONTHLY', the catalogue says daily"),
    (
        answer(one("MON1", "MONTHLY", (209904,), (1,), UNIT="Million yen")),
        "FM9'MON1 is in Million yen (10^6), the catalogue says 10^8",
    ),
    (
        answer(one("MON1", "MONTHLY", (209904,), (1,), UNIT="Ten thousand yen")),
        "FM9'MON1 is in 'Ten thousand yen', which nobody knows; the catalogue says 10^8 yen",
    ),
    (answer(one("MON1", "MONTHLY", (209904,), (1,), UNIT="")), "FM9'MON1 is in '', which nobody knows"),
    (answer(one(UNIT="Yen per Euro")), "FM9'DAY1 is in 'Yen per Euro', the catalogue says per_usd"),
    (answer(one(LAST_UPDATE=20991301)), "LAST_UPDATE: '20991301' is not a time of publication"),
    (answer(one(values=("1.5", None, 2))), "Invalid enum value '1.5'"),
    (TEXT[:-9], "is not JSON"),
]


def test_other_answers_of_the_api_are_named():
    url = "https://www.stat-search.boj.or.jp/api/v1/getMetadata?db=FM9"
    assert parse(TEXT, url).ignored == "/api/v1/getMetadata: not data of series by code"
    assert READER.follow(payload(url, b"{}"), SOURCE, None) == []
    assert READER.owns(url)
    assert not READER.owns("https://www.boj.or.jp/en/")
