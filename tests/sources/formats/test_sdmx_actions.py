"""What an SDMX message wants done with what it lists, and what its head says of all data, in every form. All is invented."""

import json

import pytest

from almanac.domain.observations import UNKNOWN, ReportedValue
from almanac.sources.base import SourceChanged
from tests.support import sdmx_invented as invented
from tests.support.sdmx_invented import (
    CSV,
    EXPECTED,
    GENERIC,
    HEAD,
    SPECIFIC,
    UNMAPPED,
    blocks,
    json_1,
    json_2,
    key,
    parse,
)

FORMS = {"csv": CSV, "json 1.0": json_1(), "json 2.0": json_2(), "generic": GENERIC, "specific": SPECIFIC}
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
