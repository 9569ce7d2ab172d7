"""The par yield curve by year. Every payload here is invented; the shape is the publisher's."""

from datetime import date

from almanac.domain.observations import DAY, UNKNOWN, ReportedValue
from almanac.domain.times import end_of_day
from almanac.sources.feeds.us_treasury import CONNECTOR
from tests.support.central_banks import key, payload, source, table

URL = (
    "https://home.treasury.gov/resource-center/data-chart-center/interest-rates/pages/xml"
    "?data=daily_treasury_yield_curve&field_tdr_date_value="
)
HEAD = (
    '<feed xmlns:d="http://schemas.microsoft.com/ado/2007/08/dataservices" '
    'xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" xmlns="http://www.w3.org/2005/Atom">'
    "<title>invented</title>"
)


SERIES = table({"BC_2YEAR": "D", "BC_30YEAR": "D"})


def entry(day, *elements, identity="<d:Id>1</d:Id>"):
    stamp = f"<d:NEW_DATE>{day}T00:00:00</d:NEW_DATE>" if day else ""
    inside = "".join(elements)
    return f"<entry><id>x</id><content><m:properties>{identity}{stamp}{inside}</m:properties></content></entry>"


def cell(name, value):
    return f"<d:{name}>{value}</d:{name}>"


def feed(*entries):
    return HEAD + "".join(entries) + "</feed>"


def parse(body, year="2099", declared="same_day", series=SERIES):
    raw = body if isinstance(body, bytes) else body.encode()
    return CONNECTOR.parse(payload(URL + year, raw), source("us-treasury-par", declared_release=declared), series)


TWO_DAYS = feed(
    entry("2099-01-06", cell("BC_2YEAR", "4.30"), cell("BC_1_5MONTH", "4.1"), cell("BC_30YEARDISPLAY", "0.00")),
    entry("2099-01-05", cell("BC_2YEAR", "-0.25"), cell("BC_30YEAR", "0.00")),
)


def test_values_are_known_at_the_end_of_their_day_for_the_first_vintage_only():
    blocks = {block.native: block for block in parse(TWO_DAYS).blocks}
    fifth, sixth = end_of_day(date(2099, 1, 5)), end_of_day(date(2099, 1, 6))
    assert blocks["BC_2YEAR"].statements == [
        ReportedValue(key("2099-01-05"), -0.25, fifth, fifth, DAY, first_only=True),
        ReportedValue(key("2099-01-06"), 4.3, sixth, sixth, DAY, first_only=True),
    ]
    assert [s.value for s in blocks["BC_30YEAR"].statements] == [0.0]  # a yield like any other


def test_a_source_that_declares_no_publication_time_is_known_when_fetched():
    statement = parse(TWO_DAYS, declared=None).blocks[0].statements[0]
    assert statement == ReportedValue(key("2099-01-05"), -0.25, None, None, UNKNOWN)


def test_a_file_is_complete_from_new_year_to_its_last_day_for_what_it_holds():
    blocks = {block.native: block for block in parse(TWO_DAYS).blocks}
    assert blocks["BC_30YEAR"].complete == (key("2099-01-01"), key("2099-01-06"))
    # A file not of one year starts at its own first day.
    assert parse(TWO_DAYS, year="all").blocks[0].complete == (key("2099-01-05"), key("2099-01-06"))


def test_a_tenor_absent_from_the_whole_file_claims_nothing_but_one_that_is_null_claims_absence():
    null = '<d:BC_30YEAR m:null="true" />'
    only_two = parse(feed(entry("2099-01-05", cell("BC_2YEAR", "1"))))
    with_null = parse(feed(entry("2099-01-05", cell("BC_2YEAR", "1"), null)))
    assert [b.native for b in only_two.blocks] == ["BC_2YEAR"]
    assert [(b.native, len(b.statements), b.complete) for b in with_null.blocks] == [
        ("BC_2YEAR", 1, (key("2099-01-01"), key("2099-01-05"))),
        ("BC_30YEAR", 0, (key("2099-01-01"), key("2099-01-05"))),
    ]


def test_unmapped_tenors_are_counted_and_the_display_field_never_is_a_series():
    mapped = SERIES | table({"BC_30YEARDISPLAY": "D"})
    parsed = parse(TWO_DAYS, series=mapped)
    assert parsed.unmapped == {"BC_1_5MONTH": 1}
    assert [b.native for b in parsed.blocks] == ["BC_2YEAR", "BC_30YEAR"]


def test_a_row_may_have_no_id_and_a_year_no_rows():
    assert len(parse(feed(entry("2099-01-05", cell("BC_2YEAR", "1"), identity=""))).blocks) == 1
    assert parse(feed()).blocks == []


WRONG = [
    (b"", "not well-formed XML"),
    ("<html><body>Access denied</body></html>", "element html, expected {http://www.w3.org/2005/Atom}feed"),
    ('<!DOCTYPE feed SYSTEM "http://127.0.0.1:9/x.dtd">' + TWO_DAYS, "DOCTYPE"),
    (TWO_DAYS.replace("d:BC_2YEAR", "m:BC_2YEAR"), "dataservices/metadata}BC_2YEAR"),
    (TWO_DAYS.replace("2099-01-06", "2099-02-30"), "'2099-02-30' is not a day"),
    (TWO_DAYS.replace("4.30", "1,5"), "BC_2YEAR 2099-01-06: '1,5'"),
    (TWO_DAYS.replace("4.30", ""), "BC_2YEAR 2099-01-06: '' is not a number"),
    (TWO_DAYS.replace("m:properties", "m:record"), "entry 1 has 0 m:properties"),
]


def test_other_feeds_of_the_publisher_are_owned_and_set_aside_by_name():
    fiscal = "https://api.fiscaldata.treasury.gov/services/api/x/avg_interest_rates?page=1"
    real = URL.replace("daily_treasury_yield_curve", "daily_treasury_real_yield_curve") + "2099"
    for url, name in [(fiscal, "avg_interest_rates: not the daily"), (real, "real_yield_curve: not the daily")]:
        assert CONNECTOR.owns(url)
        ignored = CONNECTOR.parse(payload(url, b"{}"), source("us-treasury-par"), SERIES).ignored
        assert ignored is not None
        assert name in ignored
    assert not CONNECTOR.owns("https://treasury.example.org/home.treasury.gov")


def test_plan_asks_for_each_year_once_in_order():
    whole = CONNECTOR.plan(source("us-treasury-par"), SERIES, None, date(1992, 1, 1), None)
    assert [request.url for request in whole] == [URL + "1990", URL + "1991", URL + "1992"]
    later = CONNECTOR.plan(source("us-treasury-par"), SERIES, date(2025, 12, 31), date(2026, 11, 20), None)
    assert [request.url[-4:] for request in later] == ["2025", "2026"]
    assert (
        CONNECTOR.plan(source("us-treasury-par"), SERIES, date(1962, 1, 1), date(1990, 5, 1), None)[0].url
        == URL + "1990"
    )
