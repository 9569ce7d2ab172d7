"""Answers of the Bank of England's database. Every payload here is invented; the shape is the publisher's."""

from datetime import date

from almanac.domain.observations import UNKNOWN
from almanac.sources.feeds.boe_iadb import CONNECTOR
from tests.support.central_banks import key, payload, read, source, table

BASE = "https://www.bankofengland.co.uk/boeapps/iadb/fromshowcolumns.asp?"
CSV = BASE + "csv.x=yes&Datefrom=01/Jan/2099&Dateto=now&SeriesCodes=IUDBEDR,IUDSNZC,XUD&CSVF=TN&UsingCodes=Y"
XML = "https://www.bankofengland.co.uk/boeapps/database/_iadb-FromShowColumns.asp?CodeVer=new&xml.x=yes&SeriesCodes=LPM"
SOURCE = source("boe-iadb")
SERIES = table({"IUDBEDR": {"from_date": date(2098, 12, 30)}, "IUDSNZC": "D", "LPM": "M"})
#: Invented numbers.
TEXT = "DATE,IUDBEDR,IUDSNZC,XUD\r\n01 Jan 2099,3.75,,1\r\n02 Jan 2099,3.75,-0.5,1.5\r\n\r\n"
ROW = '<Cube TIME="{}" OBS_VALUE="{}" OBS_CONF="N" LAST_UPDATED="2099-05-01 09:30:00">\n\t</Cube>'
CUBE = (
    '<Cube xmlns="https://publisher.example/website/agg_series" SCODE="LPM" DESC="Invented"><Cube FREQ_NAME="Monthly" '
    'FREQ_CODE="M" FREQ_ORD="7"/><Cube SERIES_DEF="notes" DEF_LOC="x"/><Cube CAT_NAME="TYPE" CAT_VAL="L"/>'
    '<Cube FIRST_OBS="2098-01-31" LAST_OBS="2099-03-31"/>{}</Cube>'
)
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<Envelope xmlns="http://www.gesmes.org/xml/2002-08-01">'
FIRST, SECOND, THIRD = ROW.format("2099-01-31", "500"), ROW.format("2099-02-28", "510"), ROW.format("2099-03-31", "520")
#: One series in two cubes that share a month.
TWO_CUBES = HEAD + CUBE.format(FIRST + SECOND) + CUBE.format(SECOND + THIRD) + "</Envelope>"
BOMB = (
    '<?xml version="1.0"?><!DOCTYPE Envelope [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    '<Envelope xmlns="http://www.gesmes.org/xml/2002-08-01">&b;</Envelope>'
)


def parse(text, url=CSV):
    body = text if isinstance(text, bytes) else text.encode()
    return CONNECTOR.parse(payload(url, body), SOURCE, SERIES)


def test_columns_become_blocks_complete_between_the_answer_s_days():
    parsed = parse(TEXT)
    first, second = key("2099-01-01"), key("2099-01-02")
    assert read(parsed) == {
        "IUDBEDR": ({first: 3.75, second: 3.75}, (first, second)),
        "IUDSNZC": ({second: -0.5}, (first, second)),
    }
    assert parsed.unmapped == {"XUD": 2}
    assert {(s.known, s.released, s.flags) for b in parsed.blocks for s in b.statements} == {(None, None, UNKNOWN)}


def test_cubes_of_one_series_are_read_as_one():
    parsed = parse(TWO_CUBES, XML)
    months = [key("2099-01"), key("2099-02"), key("2099-03")]
    assert read(parsed) == {"LPM": (dict(zip(months, (500.0, 510.0, 520.0), strict=True)), (months[0], months[2]))}
    assert {(s.known, s.released) for s in parsed.blocks[0].statements} == {(None, None)}  # LAST_UPDATED dates nothing


def test_an_answer_with_a_header_only_says_nothing():
    assert read(parse(TEXT.splitlines()[0])) == {"IUDBEDR": ({}, None), "IUDSNZC": ({}, None)}


WRONG_CSV = [
    ("", "header ''"),
    (TEXT.replace("DATE", "Day"), "header 'Day,IUDBEDR,IUDSNZC,XUD'"),
    (TEXT.replace("-0.5", ".."), "IUDSNZC 2099-01-02: '..'"),
    (TEXT.replace("02 Jan", "30 Feb"), "'30 Feb 2099' is not a day like 31 Oct 2026"),
    (TEXT.replace("-0.5", '"-0.5'), "is not CSV"),
]


WRONG_XML = [
    ("", "is not well-formed XML"),
    (BOMB, "has a document type declaration"),
    (HEAD + "</Envelope>", "none of LPM, which were expected"),
    (TWO_CUBES.replace(' SCODE="LPM"', ""), "a Cube has no SCODE"),
    (TWO_CUBES.replace(' OBS_VALUE="510"', ""), "LPM 2099-02-28: no OBS_VALUE"),
    (TWO_CUBES.replace('"510"', '"511"', 1), "LPM 2099-02-28 is both '511' and '510'"),
]


def test_a_code_that_is_not_there_and_an_attribute_nobody_knows_cost_nothing_else():
    parsed = parse(TEXT.replace("IUDSNZC", "IUDSNZX"))
    assert read(parsed) == {"IUDBEDR": read(parse(TEXT))["IUDBEDR"]}
    assert parsed.missing == {"IUDSNZC"}
    marked = parse(TWO_CUBES.replace('OBS_VALUE="510"', 'OBS_VALUE="510" MOOD="good"', 1), XML)
    assert (read(marked), marked.unknown) == (read(parse(TWO_CUBES, XML)), {"attribute MOOD": 1})


def test_other_pages_of_the_database_are_set_aside_and_the_yield_curve_files_are_not_ours():
    for url in (
        "https://www.bankofengland.co.uk/boeapps/database/index.asp",
        BASE + "SeriesCodes=X",
        BASE + "csv.x=yes",
    ):
        assert CONNECTOR.owns(url)
        assert (parse(TEXT, url).ignored or "").endswith("not series of the database in CSV or XML")
    assert not CONNECTOR.owns("https://www.bankofengland.co.uk/-/media/boe/files/statistics/yield-curves/x.zip")
    assert not CONNECTOR.owns("https://example.org/boeapps/iadb/fromshowcolumns.asp")


def test_plan_asks_for_each_series_by_itself_and_never_before_it_begins():
    def starts(since):
        found = {}
        for request in CONNECTOR.plan(SOURCE, SERIES, since, date(2099, 3, 1), None):
            head, _, tail = request.url.partition("&Dateto=now&SeriesCodes=")
            code, _, rest = tail.partition("&")
            assert rest == "CSVF=TN&UsingCodes=Y&VPD=Y&VFD=N"
            found[code] = head.removeprefix(
                "https://www.bankofengland.co.uk/boeapps/database/_iadb-fromshowcolumns.asp?csv.x=yes&Datefrom="
            )
        return found

    assert starts(None) == {"IUDBEDR": "30/Dec/2098", "IUDSNZC": "02/Jan/1975", "LPM": "02/Jan/1975"}
    assert starts(date(2098, 5, 9)) == {"IUDBEDR": "30/Dec/2098", "IUDSNZC": "09/May/2098", "LPM": "09/May/2098"}
