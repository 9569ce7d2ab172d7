"""Every form of an SDMX message says the same, and one that is not what it was is refused by name. All is invented."""

import io
import json
from itertools import pairwise

import msgspec
import pytest
from lxml import etree

from almanac.domain.observations import UNKNOWN, ReportedValue
from almanac.domain.periods import Frequency, Period
from almanac.sources.base import Parsed, SourceChanged
from almanac.sources.formats import sdmx_ml
from almanac.sources.formats.sdmx_message import Asked, period_of
from tests.support import sdmx_invented as invented
from tests.support.sdmx_invented import (
    CSV,
    EXPECTED,
    GENERIC,
    HEAD,
    SPECIFIC,
    UNMAPPED,
    URL,
    blocks,
    json_1,
    json_2,
    key,
    parse,
)

BOMB = "<!DOCTYPE m:GenericData [{}]>\n"
LAUGHS = '<!ENTITY a0 "ha">' + "".join(
    f'<!ENTITY {new} "{f"&{old};" * 10}">' for old, new in pairwise(f"a{n}" for n in range(12))
)
FORMS = {"csv": CSV, "json 1.0": json_1(), "json 2.0": json_2(), "generic": GENERIC, "specific": SPECIFIC}


@pytest.mark.parametrize("body", FORMS.values(), ids=FORMS)
def test_every_form_says_the_same(body):
    parsed = parse(body)
    assert blocks(parsed) == EXPECTED
    assert parsed.unmapped == UNMAPPED
    # The month without a value is part of what the message lists: a value once known of it is withdrawn.
    assert {block.native: block.complete for block in parsed.blocks} == {
        "RATES.M.AA.X": (key("2099-01"), key("2099-02")),
        "RATES.M.BB.X": (key("2099-02"), key("2099-02")),
    }
    assert (parsed.ignored, parsed.tightened) == (None, {})


_MADE = "2098-12-31T23:59:59"
_HEADER = f"<m:Prepared>{_MADE}</m:Prepared><m:Extracted>{_MADE}</m:Extracted></m:Header>"
_VALID = f'<m:DataSet validFromDate="{_MADE}" publicationYear="2098" publicationPeriod="2098-Q4" '
_JSON_VALID = {"validFrom": _MADE, "publicationYear": "2098", "publicationPeriod": "2098-Q4"}
#: When a message was made and since when a data set stands: the head of each form.
STAMPED = {
    "json 1.0": json_1().replace('{"id": "invented"}', f'{{"id": "invented", "prepared": "{_MADE}"}}'),
    "json 2.0": json_2(_JSON_VALID).replace('{"data"', f'{{"meta": {{"id": "x", "prepared": "{_MADE}"}}, "data"', 1),
    "generic": GENERIC.replace("</m:Header>", _HEADER).replace("<m:DataSet ", _VALID),
    "specific": SPECIFIC.replace("</m:Header>", _HEADER).replace("<m:DataSet ", _VALID),
}


@pytest.mark.parametrize("body", STAMPED.values(), ids=STAMPED)
def test_when_a_message_was_made_dates_nothing(body):
    """An answer that is made on request was prepared at the request: that says nothing of when its values were published."""
    assert body.count(_MADE) >= 1
    parsed = parse(body)
    assert blocks(parsed) == EXPECTED
    assert (parsed.ignored, parsed.tightened) == (None, {})
    statements = [one for block in parsed.blocks for one in block.statements]
    assert {(one.known, one.released, one.note) for one in statements} == {(None, None, None)}


@pytest.mark.parametrize(
    ("body", "cut"),
    [(body, cut) for body in FORMS.values() for cut in (0.1, 0.3, 0.6, 0.97)],
)
def test_a_message_cut_off_is_refused(body, cut):
    """A CSV file too, unless it is cut at the very end of a line."""
    text = body[: int(len(body) * cut)]
    with pytest.raises(SourceChanged, match=r"^/rest/data/OFFICE,RATES,1\.0/M\.\.X"):
        parse(text)


@pytest.mark.parametrize("body", FORMS.values(), ids=FORMS)
def test_a_message_about_another_flow_than_the_address_asks_for_is_refused(body):
    with pytest.raises(SourceChanged, match="is about RATES, the address asks for OUTLOOK"):
        parse(body, URL.replace("OFFICE,RATES,1.0", "OUTLOOK"))


@pytest.mark.parametrize(
    ("body", "flow", "rows"),
    [
        (CSV.replace("OFFICE:RATES", "OFFICE:WEATHER"), "WEATHER", 4),
        (json_1(links=[{"urn": "urn:x.Dataflow=OFFICE:WEATHER(1.0)"}]), "WEATHER", 4),
        (GENERIC.replace("OFFICE_RATES1", "WEATHER"), "WEATHER", 4),
        (SPECIFIC.replace("OFFICE_RATES1", "WEATHER"), "WEATHER", 4),
    ],
)
def test_a_flow_that_is_not_mapped_is_counted_under_its_name(body, flow, rows):
    parsed = parse(body, "https://data.example.org/rest/data/other")
    assert (parsed.blocks, parsed.unmapped) == ([], {flow: rows})


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (HEAD.format(root="Structure") + "</m:Structure>", "SDMX-ML"),
        ('{"data": {"dataStructures": [], "codelists": []}}', "SDMX-JSON"),
    ],
)
def test_a_structure_message_is_named_and_set_aside(body, kind):
    said = f"/rest/data/OFFICE,RATES,1.0/M..X: a structure message ({kind}), which has no observations"
    assert parse(body).ignored == said


def with_column(after, name, value):
    """The message with one more column to the right of another."""
    lines = [line.split(",", 7) for line in CSV.splitlines()]
    place = lines[0].index(after) + 1
    return "\n".join(
        ",".join([*cells[:place], value if number else name, *cells[place:]]) for number, cells in enumerate(lines)
    )


WRONG_CSV = [
    ("", "is empty"),
    ("\n\n", "is empty"),
    (CSV.replace("AREA", "REGION"), "RATES has no column AREA"),
    (CSV.replace("OBS_VALUE", "VALUE"), "has no column OBS_VALUE"),
    (CSV.replace("TIME_PERIOD", "PERIOD"), "has no column TIME_PERIOD"),
    (CSV.replace("FREQ,AREA", "AREA,FREQ"), "dimensions AREA.FREQ.KIND, expected FREQ.AREA.KIND"),
    (CSV.replace("TITLE", "SHUT_CONF"), "RATES has SHUT_CONF, which nobody reads"),
    (CSV.replace("UNIT_MULT", "MULTIPLIER"), "RATES has MULTIPLIER, which nobody reads"),
    (with_column("KIND", "SEX", "_T"), "RATES with unknown dimension SEX"),
    (with_column("AREA", "SEX", "_T"), "RATES with unknown dimension SEX"),
    (CSV.replace("TITLE", "UNIT_MULT"), "column UNIT_MULT is there twice"),
    (CSV.replace("M,BB", "M,"), "RATES without dimension AREA"),
    (CSV.replace("-0.25", "-0.25,1"), "line 4 has 11 cells, the header 10"),
    (CSV.replace("-0.25", "n/a"), "RATES.M.BB.X 2099-02: 'n/a' is not a number"),
    (CSV.replace("-0.25", ""), "RATES.M.BB.X 2099-02: '' is not a number"),
    (CSV.replace("NaN", "3"), "value 3 with status M, which means there is none"),
    (CSV.replace("2099-01", "2099-02"), "RATES.M.AA.X: 2099-02 is there twice"),
    (CSV.replace("2099-01", "2099-Q1"), "RATES.M.AA.X: '2099-Q1' is not a monthly period"),
    (CSV.replace("2099-01", "01/2099"), "RATES.M.AA.X: '01/2099' is not a period"),
    (CSV.replace("-0.25,A,F,0", "-0.25,A,F,6"), "RATES.M.BB.X has UNIT_MULT '6', the catalogue says 0"),
    (CSV.replace("1.5,A,F,0", "1.5,A,F,3"), "RATES.M.AA.X 2099-01 has other attributes than the lines before it"),
    (CSV.replace('marks"""', 'marks""'), "is not CSV"),
    (CSV.encode("utf-16"), "is not utf-8"),
    (CSV.replace("DATAFLOW", "KEY").replace("OFFICE:RATES(1.0)", "RATES.M.AA.X"), "KEY 'RATES.M.AA.X' in the line of"),
    (
        CSV.replace("TITLE", "ACTION").replace('"Invented; a title, with ""marks"""', "X"),
        "action 'X', allowed are Information, Append",
    ),
]


def test_csv_names_its_flow_in_the_way_of_its_publisher():
    """ECB: the whole key in each line. BIS: nothing but the address. SDMX-CSV 2.0: three columns and an action."""
    head, *lines = CSV.splitlines()
    bare = "\n".join([head.partition(",")[2], *(line.partition(",")[2] for line in lines)])
    keyed = [f"RATES.M.{line.split(',')[2]}.X,{line.partition(',')[2]}" for line in lines]
    second = [f"dataflow,OFFICE:RATES(1.0),I,{line.partition(',')[2]}" for line in lines]
    for body in (
        bare,
        "\ufeff" + bare + "\n\n",
        "\n".join([head.replace("DATAFLOW", "KEY"), *keyed]),
        "\n".join([head.replace("DATAFLOW", "STRUCTURE,STRUCTURE_ID,ACTION"), *second]),
    ):
        assert (blocks(parse(body)), parse(body).unmapped) == (EXPECTED, UNMAPPED)
    with pytest.raises(SourceChanged, match="names no dataflow"):
        invented.parse(bare, "https://data.example.org/")


def dimensions(**changes):
    made = json.loads(json_1())["data"]["structure"]["dimensions"]
    return json_1(dimensions=made | changes)


def series_dimensions(*names):
    made = json.loads(json_1())["data"]["structure"]["dimensions"]["series"]
    one = {each["id"]: each for each in made}
    return dimensions(series=[one.get(name, {"id": name, "values": [{"id": "1"}]}) | {"keyPosition": n}
                              for n, name in enumerate(names)])  # fmt: skip


def replaced(old, new):
    assert old in json_1()
    return json_1().replace(old, new)


def test_an_attribute_nobody_knows_is_reported_and_its_rows_are_read():
    """In every form of a message: a column, a component of a list, an attribute of a series, a row or a group."""
    for body in (
        CSV.replace("TITLE", "MOOD"),
        replaced('"TITLE"', '"MOOD"'),
        GENERIC.replace("TITLE", "MOOD"),
        SPECIFIC.replace("TITLE", "MOOD"),
        SPECIFIC.replace("REMARK", "MOOD"),
    ):
        parsed = parse(body)
        assert (blocks(parsed), parsed.unmapped) == (EXPECTED, UNMAPPED)
        assert list(parsed.unknown) == ["RATES attribute MOOD"]
    assert parse(CSV).unknown == {}


def test_an_attribute_without_a_list_of_values_is_not_set():
    """Index 0 of an empty list says that there is none; any other place of it is wrong."""
    parsed = parse(replaced("[0, null]", "[0, 0]"))
    assert (blocks(parsed), parsed.unmapped) == (EXPECTED, UNMAPPED)
    with pytest.raises(SourceChanged, match="has TITLE 1, which is not in the list"):
        parse(replaced("[0, null]", "[0, 1]"))


WRONG_JSON = [
    ("{", "is not JSON"),
    ("{}", "has no data"),
    ('{"errors": [{"code": 404, "message": "No data"}]}', "No data"),
    ('{"data": {"weather": []}}', "has no data.dataSets; it has weather"),
    (replaced('"series": {"0:0:0"', '"rows": {"0:0:0"'), "unknown field `rows`"),
    (series_dimensions("AREA", "FREQ", "KIND"), "dimensions AREA.FREQ.KIND, expected FREQ.AREA.KIND"),
    (series_dimensions("FREQ", "REGION", "KIND"), "dimensions FREQ.REGION.KIND, expected FREQ.AREA.KIND"),
    (series_dimensions("FREQ", "AREA", "KIND", "SEX"), "dimensions FREQ.AREA.KIND.SEX"),
    (dimensions(observation=[{"id": "AREA", "values": []}]), "observations lie over ['AREA']"),
    (dimensions(weather=[]), "dimensions of level weather"),
    (replaced('"UNIT_MULT"', '"UNIT_MULTIPLIER"'), "RATES has UNIT_MULTIPLIER, which nobody reads"),
    (replaced('"0:1:0"', '"0:9:0"'), "0:9:0 has AREA 9, which is not in the list"),
    (replaced('"0:1:0"', '"0:1"'), "series key '0:1', expected 3 places"),
    (replaced('"0:1:0"', '"0:-1:0"'), "series key '0:-1:0', expected 3 places"),
    (replaced('{"1": [-0.25, 0]}', '{"5": [-0.25, 0]}'), "0:1:0 has a row at '5', not a listed period"),
    (replaced("[-0.25, 0]", "[]"), "0:1:0 has an empty row at 1"),
    (replaced("[-0.25, 0]", "[-0.25, 0, 0, 0]"), "0:1:0 has 3 attributes, the structure 2"),
    (replaced("[-0.25, 0]", "[-0.25, 0.5]"), "0:1:0 has OBS_STATUS 0.5, not a place"),
    (replaced("[-0.25, 0]", "[NaN, 0]"), "is not JSON"),
    (replaced("[-0.25, 0]", "[null, 0]"), "RATES.M.BB.X 2099-02: no value, and status 'A' does not say why"),
    (replaced("[-0.25, 0]", "[true, 0]"), "got `bool`"),
    (json_2({"observations": {"0:0:0:0": [1.5]}}), "observations beside the series"),
    (json_2({"structure": 1}), "no structure 1 for the data set"),
    (json_2({"dimensionGroupAttributes": {"0::": ["Invented", 7]}}), "0:: has UNIT_MULT 7, which is not in the list"),
    (json_2().replace('"OBS_VALUE"', '"OBS_COUNT"'), "measures OBS_COUNT, expected OBS_VALUE"),
]


def test_dimensions_of_the_whole_data_set_have_their_place_in_the_key():
    """A publisher may move a dimension of one code out of the series; its key position says where it belongs."""
    made = json.loads(json_1())["data"]["structure"]["dimensions"]
    body = dimensions(dataset=made["series"][:1], series=made["series"][1:]).replace('"0:', '"')
    assert (blocks(parse(body)), parse(body).unmapped) == (EXPECTED, UNMAPPED)


WRONG_XML = [
    ("<!DOCTYPE html>\n<html><body>Service unavailable</body></html>", "DOCTYPE"),
    ("<html><body>Service unavailable</body></html>", "starts with element html, expected SDMX-ML 2.1 data"),
    (GENERIC.replace("</g:Obs>", "<br>", 1), "not well-formed XML"),
    (GENERIC.replace("<m:Generic", BOMB.format(LAUGHS) + "<m:Generic", 1).replace("Invented", "&a11;"), "DOCTYPE"),
    (
        GENERIC.replace("<m:Generic", BOMB.format('<!ENTITY a SYSTEM "file:///etc/hostname">') + "<m:Generic", 1),
        "DOCTYPE",
    ),
    (GENERIC.replace("schemas/v2_1/message", "schemas/v3_0/message"), "expected SDMX-ML 2.1 data"),
    (HEAD.format(root="Error") + "</m:Error>", "starts with element"),
    (HEAD.format(root="GenericData") + "</m:GenericData>", "has no data set"),
    (
        GENERIC.replace(
            "</m:GenericData>", '<m:Footer><m:Message code="413">Too large</m:Message></m:Footer></m:GenericData>'
        ),
        "ends with a notice of the service: 'Too large'",
    ),
    (GENERIC.replace("</m:GenericData>", "<m:News/></m:GenericData>"), "has element News"),
    (GENERIC.replace("g:Series>", "g:Row>"), "element Row in the data set"),
    (GENERIC.replace('<g:Value id="AREA" value="BB"/>', ""), "dimensions FREQ.KIND, expected FREQ.AREA.KIND"),
    (GENERIC.replace('id="AREA"', 'id="REGION"'), "dimensions FREQ.REGION.KIND, expected FREQ.AREA.KIND"),
    (GENERIC.replace('value="BB"', 'value=""'), "RATES without dimension AREA"),
    (GENERIC.replace("TITLE", "OBS_CONF2"), "RATES has OBS_CONF2, which nobody reads"),
    (GENERIC.replace("OBS_STATUS", "OBS_MOOD"), "no value, and status '' does not say why"),
    (GENERIC.replace('<g:ObsDimension value="2099-01"/>', ""), "an observation without TIME_PERIOD"),
    (GENERIC.replace("<g:ObsDimension value", '<g:ObsDimension id="AREA" value'), "ObsDimension AREA"),
    (GENERIC.replace("<g:ObsValue", "<g:ObsMood"), "element ObsMood in an observation"),
    (GENERIC.replace("<g:SeriesKey>", "<g:Mood/><g:SeriesKey>"), "element Mood in a series"),
    (GENERIC.replace('<g:ObsValue value="-0.25"/>', ""), "no value, and status 'A' does not say why"),
    (GENERIC.replace('value="BB"', 'value="AA"'), "series RATES.M.AA.X is there twice"),
    (SPECIFIC.replace(' KIND="X"', ""), "RATES without dimension KIND"),
    (SPECIFIC.replace("KIND", "SORT"), "RATES without dimension KIND"),
    (SPECIFIC.replace("OBS_STATUS", "OBS_MOOD"), "no value, and status '' does not say why"),
    (SPECIFIC.replace("<Group ", "<Obs "), "element Obs in the data set"),
]


def test_attributes_of_groups_reach_the_series_they_cover_in_both_forms():
    """A power of ten stated for all of AA, and not for BB, is checked for AA's series alone."""
    specific = SPECIFIC.replace(' UNIT_MULT="0"', "").replace('REMARK="Invented"', 'UNIT_MULT="3"')
    group = (
        '<g:Group type="Sibling"><g:GroupKey><g:Value id="AREA" value="AA"/></g:GroupKey>'
        '<g:Attributes><g:Value id="UNIT_MULT" value="3"/></g:Attributes></g:Group>\n<g:Series>'
    )
    generic = GENERIC.replace('<g:Value id="UNIT_MULT" value="0"/>', "").replace("<g:Series>", group, 1)
    for body in (specific, generic):
        with pytest.raises(SourceChanged, match=r"RATES\.M\.AA\.X has UNIT_MULT '3', the catalogue says 0"):
            parse(body)
        in_thousands = invented.SERIES | {"RATES.M.AA.X": invented.spec("RATES.M.AA.X", scale=3)}
        assert blocks(parse(body, series=in_thousands)) == EXPECTED


@pytest.mark.parametrize(
    ("text", "frequency", "first", "last"),
    [
        ("2099", Frequency.ANNUAL, "2099-01-01", "2099-12-31"),
        ("2099-S2", Frequency.SEMIANNUAL, "2099-07-01", "2099-12-31"),
        ("2099-Q3", Frequency.QUARTERLY, "2099-07-01", "2099-09-30"),
        ("2099-02", Frequency.MONTHLY, "2099-02-01", "2099-02-28"),
        ("2099-M02", Frequency.MONTHLY, "2099-02-01", "2099-02-28"),
        ("2020-W53", Frequency.WEEKLY, "2020-12-28", "2021-01-03"),
        ("2099-02-28", Frequency.DAILY, "2099-02-28", "2099-02-28"),
    ],
)
def test_periods_as_sdmx_writes_them(text, frequency, first, last):
    assert str(period_of(text, frequency, "x")) == f"{first}..{last}"
    for other in Frequency:
        if other not in {frequency, Frequency.NINE_MONTHS}:
            with pytest.raises(SourceChanged, match=f"is not a {other.word} period"):
                period_of(text, other, "x")


@pytest.mark.parametrize("text", ["", "2099-M13", "2021-W53", "2099-13", "2099-02-30", "2099-02-01T00:00:00", "٢٠٩٩"])
def test_what_is_no_period_is_refused(text):
    with pytest.raises(SourceChanged, match="is not a period"):
        period_of(text, Frequency.DAILY, "x")


def test_a_publisher_s_own_sign_of_absence_needs_no_status():
    service = msgspec.structs.replace(invented.SERVICE, absent=("", "NaN"))
    body = CSV.replace("-0.25,A", "NaN,").replace("1.5,A", ",")
    parsed = parse(body, service=service)
    assert blocks(parsed) == {"RATES.M.AA.X": [], "RATES.M.BB.X": []}
    assert parsed.blocks[0].complete == (key("2099-01"), key("2099-02"))
    assert Period.from_key(parsed.blocks[1].complete[0]) == Period.parse("2099-02")


def test_what_was_read_of_a_stream_is_freed():
    """One series is in memory at a time, however many a message has."""
    asked = Asked(invented.SERVICE, ("RATES",), "x", Parsed())
    left = []

    def watched():
        for event, element in etree.iterparse(io.BytesIO(GENERIC.encode()), events=("start", "end")):
            yield event, element
            if event == "end" and element.tag.endswith("}Series"):
                left.append((len(element), element.getprevious()))

    assert len(list(sdmx_ml._Reader(asked).run(watched()))) == 3
    assert left == [(0, None)] * 3


# What an SDMX message wants done with what it lists, and what its head says of all data, in every form. All is invented.


#: A column more, beside the status.
YEARS = "\n".join(
    line.replace("OBS_CONF", "OBS_CONF,REPORTING_YEAR_START_DAY").replace(",F,", ",F,--07-01,")
    for line in CSV.splitlines()
)


def acting(form, action, **head):
    """The invented message, in any form, with an action and more said of its data set. One row has its period alone."""
    if form == "csv":
        letter = action[:1]
        return "\n".join(
            f"dataflow,OFFICE:RATES(1.0),{letter},{line.partition(',')[2]}" if number else
            line.replace("DATAFLOW", "STRUCTURE,STRUCTURE_ID,ACTION")
            for number, line in enumerate(CSV.splitlines())
        )  # fmt: skip
    if form.startswith("json"):
        made = json.loads(FORMS[form].replace("[null, 1]", "[null]" if action.lower() == "delete" else "[null, 1]"))
        made["data"]["dataSets"][0] |= {"action": action} | head
        return json.dumps(made)
    more = "".join(f' {name}="{value}"' for name, value in head.items())
    made = FORMS[form].replace('action="Replace"', f'action="{action}"{more}')
    if action.lower() == "delete":
        made = made.replace('id="OBS_STATUS" value="M"', 'id="OBS_STATUS" value=""').replace(' OBS_STATUS="M"', "")
    return made


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("action", ["Delete", "delete", "DELETE"])
def test_a_deletion_withdraws_what_it_lists_and_reads_no_placeholder(form, action):
    """The month that is listed without a value is deleted as well, and neighbours that are not listed stay."""
    parsed = parse(acting(form, action))
    gone = [ReportedValue(key(month), None, flags=UNKNOWN) for month in ("2099-01", "2099-02")]
    assert blocks(parsed) == {"RATES.M.AA.X": gone, "RATES.M.BB.X": gone[1:]}
    assert [block.complete for block in parsed.blocks] == [None, None]
    assert parsed.tightened == {}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("action", ["Append", "Merge"])
def test_what_is_appended_is_read_and_claims_nothing_of_the_rest(form, action):
    parsed = parse(acting(form, action))
    assert (blocks(parsed), parsed.unmapped) == (EXPECTED, UNMAPPED)
    assert [block.complete for block in parsed.blocks] == [None, None]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("action", ["Information", "Replace", "information"])
def test_an_answer_lists_all_there_is_between_its_first_and_last_period(form, action):
    parsed = parse(acting(form, action))
    assert blocks(parsed) == EXPECTED
    assert all(block.complete for block in parsed.blocks)


@pytest.mark.parametrize("form", FORMS)
def test_an_action_that_nobody_knows_is_refused(form):
    with pytest.raises(SourceChanged, match=r"action 'Z.*', allowed are Information, Append, Replace, Merge, Delete"):
        parse(acting(form, "Zap"))


@pytest.mark.parametrize(
    ("form", "place"), [("generic", "validToDate"), ("specific", "validToDate"), ("json 1.0", "validTo")]
)
def test_a_past_state_is_refused(form, place):
    """Answers with the history of what was disseminated have one data set for each state."""
    with pytest.raises(SourceChanged, match="a data set that was valid to '2098-12-31T00:00:00Z', which nobody reads"):
        parse(acting(form, "Replace", **{place: "2098-12-31T00:00:00Z"}))
    assert blocks(parse(acting(form, "Replace", **{place.replace("To", "From"): "2098-12-31T00:00:00Z"}))) == EXPECTED


def headed(text):
    return GENERIC.replace("<m:ID>x</m:ID>", f"<m:ID>x</m:ID>{text}")


def test_the_header_s_action_holds_where_a_data_set_has_none():
    silent = headed("<m:DataSetAction>Delete</m:DataSetAction>")
    assert blocks(parse(silent)) == EXPECTED
    silent = silent.replace('id="OBS_STATUS" value="M"', 'id="OBS_STATUS" value=""').replace(' action="Replace"', "")
    assert {told.value for rows in blocks(parse(silent)).values() for told in rows} == {None}


WRONG = [
    (headed("<m:EmbargoDate>2100-01-01T00:00:00Z</m:EmbargoDate>"), "is under an embargo"),
    (headed("").replace('structureID="S1"', 'structureID="S1" dimensionAtObservation="AREA"'), "lie over 'AREA'"),
    (headed("").replace('structureID="S1"', 'structureID="S1" explicitMeasures="true"'), "a measure for each"),
    (SPECIFIC.replace('TITLE="Invented">', 'REPORTING_YEAR_START_DAY="--07-01">'), "'--07-01', expected --01-01"),
    (SPECIFIC.replace('REMARK="Invented"', 'REPORTING_YEAR_START_DAY="--07-01"'), "'--07-01', expected --01-01"),
    (YEARS, "'--07-01', expected --01-01"),
    (json_1().replace('"TITLE", "values": []', '"REPORTING_YEAR_START_DAY", "values": [{"id": "--07-01"}]')
     .replace("[0, null]", "[0, 0]"), "'--07-01', expected --01-01"),
]  # fmt: skip


def test_a_part_of_a_header_that_nobody_knows_is_reported():
    parsed = parse(headed("<m:Mood>good</m:Mood><m:Test>true</m:Test>"))
    assert (blocks(parsed), list(parsed.unknown)) == (EXPECTED, ["header Mood"])
    assert blocks(parse(YEARS.replace("--07-01", "--01-01"))) == EXPECTED


EMPTY = [
    acting("generic", "Delete").replace(invented.generic_series("BB", [("2099-02", "-0.25", "A")]),
                                        invented.generic_series("BB", [])),
    acting("json 2.0", "Delete").replace('{"1": [-0.25, 0]}', "{}"),
    acting("json 1.0", "Delete", series={}),
    HEAD.format(root="StructureSpecificData") + '<m:DataSet action="Delete" structureRef="S1"/></m:StructureSpecificData>',
]  # fmt: skip


@pytest.mark.parametrize("body", EMPTY)
def test_a_deletion_that_lists_no_observation_is_refused(body):
    """It would delete a whole series, or all there is."""
    with pytest.raises(SourceChanged, match="something is deleted and no observation listed"):
        parse(body)


@pytest.mark.parametrize(
    "body",
    [
        acting("csv", "D").replace(",-0.25,A,F,0,Invented", ",,A,,,"),
        acting("specific", "Delete").replace('OBS_VALUE="-0.25"', 'OBS_STATUS="A"'),
        acting("json 1.0", "Delete").replace("[-0.25, 0]", "[null, 0]"),
    ],
)
def test_a_deletion_of_attributes_alone_is_refused(body):
    with pytest.raises(SourceChanged, match="2099-02 has attributes alone deleted, which nobody reads"):
        parse(body)


def test_a_deletion_lists_keys_alone_as_well():
    bare = acting("csv", "D").replace(",-0.25,A,F,0,Invented", ",,,,,")
    assert blocks(parse(bare))["RATES.M.BB.X"] == [ReportedValue(key("2099-02"), None, flags=UNKNOWN)]
    assert blocks(parse(acting("json 1.0", "Delete").replace("[-0.25, 0]", "[]"))) == blocks(parse(acting("csv", "D")))
    with pytest.raises(SourceChanged, match="RATES without dimension AREA"):
        parse(bare.replace("M,BB,X", "M,,X"))


@pytest.mark.parametrize("name", ["action", "ss:action"])
def test_the_action_of_a_data_set_is_read_with_a_namespace_and_without(name):
    """The placeholder beside a deleted observation was read as its value where the action had a namespace."""
    named = acting("specific", "Delete").replace('action="Delete"', f'{name}="Delete"')
    assert blocks(parse(named)) == blocks(parse(acting("specific", "Delete")))
    with pytest.raises(SourceChanged, match="a data set that was valid to"):
        parse(SPECIFIC.replace("ss:dataScope", 'ss:validToDate="2098-12-31" ss:dataScope'))


@pytest.mark.parametrize("action", ["D", "Delete"])
def test_single_observations_and_series_are_deleted(action):
    gone = ReportedValue(key("2099-02"), None, flags=UNKNOWN)
    observation = SPECIFIC.replace('OBS_VALUE="-0.25"', f'OBS_VALUE="-0.25" action="{action}"')
    assert blocks(parse(observation)) == {**EXPECTED, "RATES.M.BB.X": [gone]}
    series = SPECIFIC.replace('AREA="BB"', f'AREA="BB" action="{action}"')
    assert blocks(parse(series)) == {**EXPECTED, "RATES.M.BB.X": [gone]}
    kept = acting("specific", "Delete").replace('OBS_VALUE="-0.25"', 'OBS_VALUE="-0.25" action="Merge"')
    assert blocks(parse(kept))["RATES.M.BB.X"] == [invented.stated("2099-02", -0.25)]


def test_one_message_may_state_some_periods_and_delete_others():
    lines = acting("csv", "R").splitlines()
    deleting = [line.replace(",R,", ",D,") for line in lines if ",2099-01," in line]
    parsed = parse("\n".join([line for line in lines if ",2099-01," not in line] + deleting))
    assert blocks(parsed)["RATES.M.AA.X"] == [ReportedValue(key("2099-01"), None, flags=UNKNOWN)]
    with pytest.raises(SourceChanged, match=r"AA\.X 2099-01-01\.\.2099-01-31 is in two data sets"):
        parse("\n".join(lines + deleting))
    sets = GENERIC.partition('<m:DataSet action="Replace"')
    again = sets[1] + sets[2].partition("</m:DataSet>")[0].replace("2099-0", "2098-0") + "</m:DataSet>"
    again = again.replace("Replace", "Delete").replace('id="OBS_STATUS" value="M"', 'id="OBS_STATUS" value=""')
    both = GENERIC.replace("</m:DataSet>", "</m:DataSet>" + again)
    assert blocks(parse(both))["RATES.M.BB.X"] == [
        invented.stated("2099-02", -0.25), ReportedValue(key("2098-02"), None, flags=UNKNOWN),
    ]  # fmt: skip
