"""The World Bank's pages of rows and its list of countries. All numbers and places are invented."""

import json
from datetime import date

import pytest

from almanac.domain.observations import PROJECTION, UNKNOWN, ReportedValue
from almanac.domain.times import wire_time
from almanac.sources.base import SourceChanged
from almanac.sources.feeds.world_bank import CONNECTOR
from tests.support.central_banks import key, payload, read, source, table

URL = "https://api.worldbank.org/v2/country/all/indicator/XX.YYY?format=json&per_page=20000"
SOURCE = source("world-bank")
SERIES = table({"AAA/XX.YYY": "A", "BBB/XX.YYY": "A"})


def page(**changes):
    told = {"page": 1, "pages": 1, "per_page": 20000, "total": 5, "sourceid": "2", "lastupdated": "2099-07-01"}
    return told | changes


def row(place, year, value, **changes):
    told = {
        "indicator": {"id": "XX.YYY", "value": "Invented"},
        "country": {"id": place[:2], "value": place},
        "countryiso3code": place,
        "date": year,
        "value": value,
        "unit": "",
        "obs_status": "",
        "decimal": 0,
    }
    return told | changes


ROWS = [
    row("AAA", "2098", None),
    row("AAA", "2097", 2),
    row("AAA", "2096", 1.5, obs_status="E", footnote="Invented by hand"),
    row("BBB", "2097", 847622872687300),
    row("CCC", "2097", 7),
]
TEXT = json.dumps([page(), ROWS])


def parse(body=TEXT, url=URL, series=SERIES):
    return CONNECTOR.parse(payload(url, body if isinstance(body, bytes) else body.encode()), SOURCE, series)


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("Consumer price index (2010 = 100)", '{"basis":"2010=100","publishedAt":"2099-07-01"}'),
        ("GDP (constant 2015 US$)", '{"priceBasis":"constant 2015 US$","publishedAt":"2099-07-01"}'),
        ("GDP (constant LCU)", '{"priceBasis":"constant LCU","publishedAt":"2099-07-01"}'),
        ("GDP (current LCU)", '{"publishedAt":"2099-07-01"}'),
    ],
)
def test_the_base_that_an_indicator_s_name_states_is_kept_with_each_row(name, note):
    told = row("AAA", "2097", 2, indicator={"id": "XX.YYY", "value": name})
    assert [line.note for line in parse(json.dumps([page(total=1), [told]])).blocks[0].statements] == [note]


def test_each_place_is_a_series_listed_from_its_first_year_to_its_last():
    parsed = parse()
    assert read(parsed) == {
        "AAA/XX.YYY": ({key("2096"): 1.5, key("2097"): 2.0}, (key("2096"), key("2098"))),
        "BBB/XX.YYY": ({key("2097"): 847622872687300.0}, (key("2097"), key("2097"))),
    }
    assert parsed.unmapped == {"CCC/XX.YYY": 1}
    assert {wire_time(block.updated) for block in parsed.blocks} == {"2099-07-01T00:00:00Z"}
    first, second = parsed.blocks[0].statements
    assert first.note == '{"flags":["E"],"footnotes":["Invented by hand"],"publishedAt":"2099-07-01"}'
    # The day of the last update is of the whole data base: nothing is known before it was fetched.
    assert second == ReportedValue(key("2097"), 2.0, flags=UNKNOWN, note='{"publishedAt":"2099-07-01"}')


def test_a_forecast_is_a_projection_and_an_estimate_is_none():
    marks = {"2096": "E", "2097": "F", "2098": "EF", "2099": ""}
    parsed = parse(json.dumps([page(), [row("AAA", year, 1, obs_status=mark) for year, mark in marks.items()]]))
    assert [one.flags for one in parsed.blocks[0].statements] == [
        UNKNOWN, UNKNOWN | PROJECTION, UNKNOWN | PROJECTION, UNKNOWN,
    ]  # fmt: skip
    assert parsed.blocks[0].statements[1].note == '{"flags":["F"],"publishedAt":"2099-07-01"}'


def test_a_group_without_a_code_of_three_letters_goes_by_its_other_one():
    grouped = json.dumps([page(), [row("AAA", "2097", 3, countryiso3code="", country={"id": "XD", "value": "Rich"})]])
    assert parse(grouped).unmapped == {"XD/XX.YYY": 1}


def test_fields_nobody_knows_are_reported_and_their_rows_read():
    parsed = parse(json.dumps([page(colour="red"), [{**one, "mood": "good"} for one in ROWS]]))
    assert read(parsed) == read(parse(TEXT))
    assert parsed.unknown == {"field colour": 1, "field mood": len(ROWS)}


def test_an_answer_of_several_pages_leads_to_the_others():
    several = json.dumps([page(pages=3), ROWS])
    found = CONNECTOR.follow(payload(URL, several.encode()), SOURCE, None)
    assert [request.url for request in found] == [f"{URL}&page=2", f"{URL}&page=3"]
    assert CONNECTOR.follow(payload(f"{URL}&page=2", several.encode()), SOURCE, None) == []
    assert CONNECTOR.follow(payload(URL, TEXT.encode()), SOURCE, None) == []
    # A page that ends within a place lists what it lists.
    cut = json.dumps([page(page=2, pages=3), ROWS[1:2]])
    assert read(parse(cut, f"{URL}&page=2")) == {"AAA/XX.YYY": ({key("2097"): 2.0}, (key("2097"), key("2097")))}


def test_nothing_since_a_year_is_nothing_new_and_nothing_at_all_is_refused():
    empty = json.dumps([page(page=0, pages=0, total=0), None])
    assert parse(empty, f"{URL}&date=2098:2099").blocks == []
    with pytest.raises(SourceChanged, match=r"indicator XX\.YYY has no rows at all"):
        parse(empty)


def test_the_countries_are_asked_for_and_each_indicator_whole_or_for_a_few_places():
    base = "https://api.worldbank.org/v2/country"
    few = [r.url for r in CONNECTOR.plan(SOURCE, SERIES, date(2097, 5, 1), date(2099, 5, 20), None)]
    assert few == [
        f"{base}?format=json&per_page=400",
        f"{base}/AAA;BBB/indicator/XX.YYY?format=json&per_page=20000&date=2097:2099",
    ]
    many = table({f"P{number:02}/XX.YYY": "A" for number in range(21)})
    assert [r.url for r in CONNECTOR.plan(SOURCE, many, None, date(2099, 5, 20), None)][1:] == [
        f"{base}/all/indicator/XX.YYY?format=json&per_page=20000"
    ]


def country(code, region, income, **changes):
    empty = {"id": "", "iso2code": "", "value": ""}
    told = {
        "id": code,
        "iso2Code": code[:2],
        "name": f"Land {code}",
        "region": empty | {"value": region},
        "adminregion": empty,
        "incomeLevel": empty | {"value": income},
        "lendingType": empty,
        "capitalCity": "",
        "longitude": "",
        "latitude": "",
    }
    return told | changes


COUNTRIES = "https://api.worldbank.org/v2/country?format=json&per_page=400"
RIGHT = [
    country("NOR", "Europe & Central Asia", "High income"),
    country("XKX", "Europe & Central Asia", "Upper middle income"),
    country("ARB", "Aggregates", "Aggregates"),
    country("BRA", "Latin America & Caribbean ", "Upper middle income"),
]


def test_the_list_of_countries_is_compared_with_the_catalogue():
    def told(countries):
        return parse(json.dumps([page(), countries]), COUNTRIES).ignored

    head = "/v2/country: the list of countries, 4 places, for reference only"
    assert told(RIGHT) == f"{head}; it agrees with the catalogue"
    assert told([*RIGHT[:3], country("BRA", "Latin America & Caribbean", "High income")]) == (
        f"{head}; BRA has income group High income, the catalogue Upper middle income"
    )
    assert told([*RIGHT[:3], country("ZZZ", "North America", "High income")]) == (
        f"{head}; ZZZ (Land ZZZ) is not in the catalogue"
    )


def without(name):
    return {field: value for field, value in ROWS[1].items() if field != name}


WRONG = [
    ("", "is not JSON"),
    ("[]", "a list of 0, expected the page and its rows"),
    ('{"a": 1}', "Expected `array`"),
    (
        json.dumps([{"message": [{"id": "120", "key": "Invalid value", "value": "No such code"}]}]),
        "says 'No such code'",
    ),
    (json.dumps(["ouch"]), "the service says 'ouch'"),
    (json.dumps([page(), [*ROWS, row("AAA", "2097", 3)]]), "AAA/XX.YYY 2097 is there twice"),
    (json.dumps([page(), [row("AAA", "2097Q1", 3)]]), "AAA/XX.YYY: '2097Q1' is not a year"),
    (json.dumps([page(), [row("AAA", "97", 3)]]), "AAA/XX.YYY: '97' is not a year"),
    (json.dumps([page(), [row("AAA", "2097", "3")]]), "Invalid enum value '3'"),
    (json.dumps([page(), [without("date")]]), "missing required field `date`"),
    (json.dumps([page(lastupdated="July"), ROWS]), "lastupdated: 'July' is not a time of publication"),
]


def test_only_its_own_host_is_owned_and_other_answers_are_named():
    assert CONNECTOR.owns(URL)
    assert not CONNECTOR.owns("https://data.worldbank.org/indicator/XX.YYY")
    assert parse(TEXT, "https://api.worldbank.org/v2/topic").ignored == "/v2/topic: a kind of response nobody reads"
