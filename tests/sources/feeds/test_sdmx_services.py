"""What one SDMX service says otherwise than the next, as data: names of columns, flags, stamps, labels, limits. Invented."""

from datetime import date

import msgspec
import pytest

from almanac.domain.periods import Frequency
from almanac.sources.base import SourceChanged
from almanac.sources.formats import notes
from almanac.sources.formats.sdmx_message import name_in
from tests.support.sdmx_invented import (
    GENERIC,
    RATES,
    SERIES,
    SERVICE,
    SOURCE,
    SPECIFIC,
    blocks,
    key,
    parse,
    reader,
    spec,
)

TODAY = date(2099, 5, 20)
OFFICE = msgspec.structs.replace(
    SERVICE,
    status="FLAG",
    confidentiality="SHUT",
    flags="bcep",
    absent=("", ":"),
    published="LAST UPDATE",
    zone="Europe/Luxembourg",
    labels={"Monthly": "M", "Land A": "AA", "Of some kind": "X"},
)
CSV = (
    "DATAFLOW,LAST UPDATE,FREQ,AREA,KIND,TIME_PERIOD,OBS_VALUE,FLAG,SHUT\n"
    "OFFICE:RATES$DEFAULTVIEW(1.0),30/06/98 23:00:00,M,AA,X,2098-04,1.5,bp,\n"
    "OFFICE:RATES$DEFAULTVIEW(1.0),30/06/98 23:00:00,M,AA,X,2098-05,:,c,\n"
    "OFFICE:RATES$DEFAULTVIEW(1.0),30/06/98 23:00:00,M,BB,X,2098-05,-0.25,,\n"
)
SECOND = CSV.replace("DATAFLOW,", "STRUCTURE,STRUCTURE_ID,ACTION,").replace(
    "OFFICE:RATES$DEFAULTVIEW(1.0),", "dataflow,OFFICE:RATES$DEFAULTVIEW(1.0),I,"
)
#: Eleven in the evening in Luxembourg, in summer.
STAMP = '"publishedAt":"2098-06-30T21:00:00Z"'


@pytest.mark.parametrize("body", [CSV, SECOND], ids=["SDMX-CSV 1.0", "SDMX-CSV 2.0"])
def test_columns_flags_and_the_stamp_are_those_of_the_service(body):
    parsed = parse(body, service=OFFICE)
    assert {native: [(s.period, s.value, s.note) for s in told] for native, told in blocks(parsed).items()} == {
        "RATES.M.AA.X": [(key("2098-04"), 1.5, f'{{"flags":["b","p"],{STAMP}}}')],
        "RATES.M.BB.X": [(key("2098-05"), -0.25, f"{{{STAMP}}}")],
    }
    assert [block.complete for block in parsed.blocks] == [
        (key("2098-04"), key("2098-05")),
        (key("2098-05"), key("2098-05")),
    ]
    # The stamp says when this state was published, not each of its values: nothing is known before it was fetched.
    assert {(s.known, s.released) for block in parsed.blocks for s in block.statements} == {(None, None)}


def test_labels_stand_for_their_codes():
    labelled = CSV.replace("M,AA,X", "Monthly,Land A,Of some kind")
    assert blocks(parse(labelled, service=OFFICE)) == blocks(parse(CSV, service=OFFICE))
    unknown = parse(CSV.replace("M,BB,X", "Monthly,Land B,Of some kind"), service=OFFICE)
    assert unknown.unmapped == {"RATES.M.Land B.X": 1}


def test_a_status_of_another_name_is_read_in_xml_too():
    for form, body in {"specific": SPECIFIC, "generic": GENERIC}.items():
        marked = body.replace('OBS_STATUS="M"', 'FLAG="p" OBS_VALUE="2"').replace(
            '<g:Value id="OBS_STATUS" value="A"/>', '<g:Value id="FLAG" value="p"/>'
        )
        marked = marked.replace('id="OBS_STATUS" value="M"', 'id="FLAG" value=":"')
        found = blocks(parse(marked, service=OFFICE))
        assert '{"flags":["p"]}' in {s.note for statements in found.values() for s in statements}, form


WRONG = [
    ("bp", "bk", "RATES.M.AA.X 2098-04: status 'bk', known are the letters bcep"),
    ("30/06/98 23:00:00", "31/06/98 23:00:00", "LAST UPDATE: '31/06/98 23:00:00' is not a time of publication"),
    ("FLAG,SHUT", "FLAG,CONFIDENCE", "RATES has CONFIDENCE, which nobody reads"),
]


@pytest.mark.parametrize(
    ("text", "served"),
    [
        ("2099-04-20T11:00:00+0200", "2099-04-20T09:00:00Z"),
        ("2099-04-20T11:00:00.5Z", "2099-04-20T11:00:01Z"),
        ("2099-07-01", "2099-07-01"),
        ("20990701", "2099-07-01"),
        ("17/09/98", "2098-09-17"),
        ("17/12/98 23:00:00", "2098-12-17T22:00:00Z"),
    ],
)
def test_stamps_are_served_in_one_way(text, served):
    assert notes.published_at(text, "Europe/Luxembourg", "x") == served


@pytest.mark.parametrize("text", ["", "soon", "2099-04-20T11:00:00", "2099-13-01", "17/13/98", "17/09/98 23:00"])
def test_a_stamp_that_says_no_time_is_refused(text):
    with pytest.raises(SourceChanged, match="is not a time of publication"):
        notes.published_at(text, "Europe/Luxembourg", "x")


def test_a_stamp_without_a_zone_needs_one_of_the_service():
    with pytest.raises(SourceChanged, match="is not a time of publication"):
        notes.published_at("17/09/98 23:00:00", None, "x")


def test_a_view_of_a_flow_is_the_flow():
    assert name_in("OFFICE:RATES$DEFAULTVIEW(1.0)") == "RATES"
    assert name_in("OFFICE:RATES(1.0)") == "RATES"


def asked(service, series):
    return reader(service, service).plan(SOURCE, series, date(2099, 5, 20), TODAY, None)


def test_a_closed_flow_is_read_and_not_asked_for():
    closed = msgspec.structs.replace(SERVICE, flow=(msgspec.structs.replace(RATES, closed=True),))
    assert asked(closed, SERIES) == []
    assert len(asked(SERVICE, SERIES)) == 1


def test_that_nothing_is_known_of_what_was_asked_is_an_answer_and_windows_of_the_past_are_closed():
    (request,) = asked(SERVICE, SERIES)
    assert (request.empty, request.closed) == ({404}, False)
    large = msgspec.structs.replace(SERVICE, flow=(msgspec.structs.replace(RATES, codes=91, first_year=2093),))
    series = {"RATES.D.AA.X": spec("RATES.D.AA.X", Frequency.DAILY)}
    planned = reader(large, large).plan(SOURCE, series, None, TODAY, None)
    # The window of 2097 and 2098 ended in the year of TODAY's last one: it still fills.
    assert [one.closed for one in planned] == [True, True, False, False]


def test_frequencies_asked_together_begin_with_the_period_of_the_lowest():
    both = msgspec.structs.replace(SERVICE, flow=(msgspec.structs.replace(RATES, every=("FREQ", "AREA")),))
    series = {"RATES.M.AA.X": SERIES["RATES.M.AA.X"], "RATES.Q.AA.X": spec("RATES.Q.AA.X", Frequency.QUARTERLY)}
    assert [request.url for request in asked(both, series)] == [
        "https://data.example.org/rest/data/OFFICE,RATES,1.0/..X?format=csv&startPeriod=2099-Q2"
    ]


#: Version 2 of the structure counts on another base than version 1 did, under the same name.
REBASED = msgspec.structs.replace(
    SERVICE,
    flow=(
        msgspec.structs.replace(RATES, version="2"),
        msgspec.structs.replace(RATES, id="RATES-V1", names=("RATES",), version="1", closed=True),
    ),
)


@pytest.mark.parametrize(
    ("said", "path", "native"),
    [
        ("OFFICE:RATES(2.0.0)", "OFFICE,RATES/M..X", "RATES.M.AA.X"),
        ("OFFICE:RATES(2.4)", "OFFICE,RATES,2.4/M..X", "RATES.M.AA.X"),
        ("OFFICE:RATES(1.1.0)", "OFFICE,RATES/M..X", "RATES-V1.M.AA.X"),
        ("OFFICE:RATES(1.1.0)", "OFFICE,RATES,1.1.0/M..X", "RATES-V1.M.AA.X"),
        ("OFFICE:RATES", "OFFICE,RATES,1.1.0/M..X", "RATES-V1.M.AA.X"),
        ("OFFICE:RATES", "OFFICE,RATES/M..X", "RATES.M.AA.X"),
    ],
)
def test_flows_of_one_name_are_told_apart_by_the_version_of_their_structure(said, path, native):
    body = invented_csv(said)
    table = {code: spec(code) for code in ("RATES.M.AA.X", "RATES-V1.M.AA.X")}
    parsed = parse(body, f"https://data.example.org/rest/data/{path}", series=table, service=REBASED)
    assert {code: [s.value for s in told] for code, told in blocks(parsed).items()} == {native: [137.5]}


def test_a_version_nobody_knows_may_count_otherwise_and_is_refused():
    with pytest.raises(SourceChanged, match="RATES in version 3, expected 2"):
        parse(
            invented_csv("OFFICE:RATES(3.0)"), "https://data.example.org/rest/data/OFFICE,RATES/M..X", service=REBASED
        )


def test_a_flow_may_name_its_own_attribute_of_confidentiality():
    own = msgspec.structs.replace(SERVICE, flow=(msgspec.structs.replace(RATES, confidentiality="CONF_STATUS"),))
    body = "DATAFLOW,FREQ,AREA,KIND,TIME_PERIOD,OBS_VALUE,CONF_STATUS\nOFFICE:RATES(1.0),M,AA,X,2099-01,1.5,C\n"
    assert set(parse(body, service=own).tightened) == {"RATES.M.AA.X"}
    assert parse(body.replace(",C", ",F"), service=own).tightened == {}


def invented_csv(said):
    return f"DATAFLOW,FREQ,AREA,KIND,TIME_PERIOD,OBS_VALUE\n{said},M,AA,X,2099-01,137.5\n"
