"""JSON-stat cubes as Eurostat sends them: read as series, refused by name where they are not whole. All is invented."""

import json
import tracemalloc

import msgspec
import pytest

from almanac.domain.observations import PROJECTION, UNKNOWN, ReportedValue
from almanac.domain.rights import Exposure
from almanac.domain.times import wire_time
from almanac.sources.base import SourceChanged
from tests.support.sdmx_invented import SERIES, SERVICE, blocks, key, parse

#: Two places by three months. AA has January and March, BB February; CC has nothing.
CUBE = {
    "version": "2.0",
    "class": "dataset",
    "label": "Invented rates",
    "source": "OFFICE",
    "updated": "2099-04-20T11:00:00+0200",
    "id": ["FREQ", "AREA", "KIND", "time"],
    "size": [1, 3, 1, 3],
    "value": {"0": 1.5, "2": -0.25, "4": 7},
    "status": {"0": "p", "1": ":", "2": "be", "4": "p"},
    "dimension": {
        "FREQ": {"label": "Frequency", "category": {"index": {"M": 0}, "label": {"M": "Monthly"}}},
        "AREA": {"category": {"index": {"BB": 1, "AA": 0, "CC": 2}}},
        "KIND": {"category": {"label": {"X": "Of some kind"}}},
        "time": {"category": {"index": ["2099-01", "2099-02", "2099-03"]}},
    },
    "extension": {"id": "RATES", "lang": "EN", "datastructure": {"id": "OFFICE_RATES1"}},
}
OFFICE = msgspec.structs.replace(
    SERVICE, status="FLAG", flags="bcefpu", confidential="c", absent=("", ":"), published="UPDATED"
)
NOTE = '{"flags":["p"],"publishedAt":"2099-04-20T09:00:00Z"}'
BOTH = '{"flags":["b","e"],"publishedAt":"2099-04-20T09:00:00Z"}'


def read(cube=CUBE, service=OFFICE, **changes):
    return parse(json.dumps(cube | changes), series=SERIES, service=service)


def test_a_cube_is_one_series_for_each_combination_that_has_a_value():
    parsed = read()
    assert blocks(parsed) == {
        "RATES.M.AA.X": [
            ReportedValue(key("2099-01"), 1.5, flags=UNKNOWN, note=NOTE),
            ReportedValue(key("2099-03"), -0.25, flags=UNKNOWN, note=BOTH),
        ],
        "RATES.M.BB.X": [ReportedValue(key("2099-02"), 7.0, flags=UNKNOWN, note=NOTE)],
    }
    # Every month of the cube was asked for, so one without a value is withdrawn if it had one.
    assert {block.complete for block in parsed.blocks} == {(key("2099-01"), key("2099-03"))}
    assert parsed.unmapped == {}


def test_a_cube_says_of_which_state_of_the_data_it_is():
    stated = {block.updated for block in read(updated="2099-04-01T11:00:00+0200").blocks}
    assert [wire_time(one) for one in stated] == ["2099-04-01T09:00:00Z"]


def test_values_and_statuses_may_be_lists_and_one_status_may_be_all_cells():
    listed = read(
        value=[1.5, None, -0.25, None, 7, None, None, None, None],
        status=["p", ":", "be", None, "p", None, None, None, None],
    )
    assert blocks(listed) == blocks(read())
    everywhere = blocks(read(status="p"))
    assert {s.note for statements in everywhere.values() for s in statements} == {NOTE}
    bare = {name: part for name, part in CUBE.items() if name not in {"status", "updated"}}
    assert {s.note for statements in blocks(read(bare)).values() for s in statements} == {None}


def test_one_status_for_all_cells_takes_no_memory_for_each_of_them():
    codes = {name: [f"{name}{number}" for number in range(200)] for name in ("AREA", "KIND")}
    months = [f"{year}-{month:02}" for year in range(2090, 2099) for month in range(1, 13)][:100]
    dimension = {
        "FREQ": {"category": {"index": ["M"]}},
        "AREA": {"category": {"index": ["AA", *codes["AREA"][1:]]}},
        "KIND": {"category": {"index": ["X", *codes["KIND"][1:]]}},
        "time": {"category": {"index": months}},
    }
    cube = CUBE | {"size": [1, 200, 200, 100], "value": {"2": 5}, "status": "p", "dimension": dimension}
    body = json.dumps(cube)
    tracemalloc.start()
    try:
        parsed = parse(body, series=SERIES, service=OFFICE)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert blocks(parsed) == {"RATES.M.AA.X": [ReportedValue(key("2090-03"), 5.0, flags=UNKNOWN, note=NOTE)]}
    assert most < 20 << 20  # four million cells


def test_time_may_be_any_dimension():
    turned = {
        "id": ["time", "FREQ", "AREA", "KIND"],
        "size": [3, 1, 3, 1],
        "value": {"0": 1.5, "6": -0.25, "4": 7},
        "status": {"0": "p", "6": "be", "4": "p"},
    }
    assert blocks(read(**turned)) == blocks(read())
    named = turned | {"id": ["period", "FREQ", "AREA", "KIND"], "role": {"time": ["period"]}}
    named["dimension"] = CUBE["dimension"] | {"period": CUBE["dimension"]["time"]}
    assert blocks(read(**named)) == blocks(read())


def test_a_field_nobody_knows_is_reported_and_the_cube_read():
    parsed = read(colour="red")
    assert (blocks(parsed), parsed.unknown) == (blocks(read()), {"field colour": 1})


def test_a_place_that_is_not_mapped_is_counted_by_its_values():
    assert read(value=CUBE["value"] | {"6": 1, "8": 2}).unmapped == {"RATES.M.CC.X": 2}


def test_a_data_set_nobody_maps_is_counted_under_its_name():
    body = json.dumps(CUBE | {"extension": {"id": "WEATHER"}})
    assert parse(body, "https://data.example.org/other", service=OFFICE).unmapped == {"WEATHER": 3}


def test_a_forecast_is_a_projection_and_a_confidential_value_shuts_its_series():
    parsed = read(status={"0": "f", "4": "c"})
    forecast = blocks(parsed)["RATES.M.AA.X"][0]
    assert forecast.note == '{"flags":["f"],"publishedAt":"2099-04-20T09:00:00Z"}'
    assert forecast.flags == UNKNOWN | PROJECTION
    assert parsed.tightened == {
        "RATES.M.BB.X": (Exposure.restricted, "The publisher marks values of this series as not free (c).")
    }
    # Where the flag only says why there is no value, there is nothing to shut.
    assert read(status={"1": "c", "3": "c"}).tightened == {}


def changed(name, **fields):
    return {"dimension": CUBE["dimension"] | {name: {"category": fields}}}


WRONG = [
    ({"version": "1.0"}, "is JSON-stat '1.0', expected 2.0"),
    ({"size": [1, 3, 3]}, "has dimensions ['FREQ', 'AREA', 'KIND', 'time'] of sizes [1, 3, 3]"),
    ({"size": [1, 3, 1, 4]}, "time has 3 codes, its size is 4"),
    ({"size": [30_000, 3, 1, 3000]}, "cells, more than the 20000000 that are read"),
    ({"value": {"9": 1}}, "has a value at '9', the cube 9 cells"),
    ({"value": {"-1": 1}}, "has a value at '-1', the cube 9 cells"),
    ({"value": [1.5]}, "has 1 values, the cube 9 cells"),
    ({"value": {"0": "1.5"}}, "Invalid enum value '1.5'"),
    ({"status": {"0": "k"}}, "RATES.M.AA.X 2099-01: status 'k', known are the letters bcefpu"),
    (
        {"id": ["FREQ", "KIND", "AREA", "time"], "size": [1, 1, 3, 3]},
        "dimensions FREQ.KIND.AREA, expected FREQ.AREA.KIND",
    ),
    ({"id": ["FREQ", "AREA", "KIND", "period"]}, "has no dimension time among"),
    ({"dimension": {}}, "does not describe its dimension FREQ"),
    (changed("AREA", index={"AA": 0, "BB": 2, "CC": 3}), "the codes of AREA are not counted from 0 without a gap"),
    (changed("time", index=["2099-01", "2099-02", "2099-Q1"]), "RATES.M.AA.X: '2099-Q1' is not a monthly period"),
    ({"updated": "yesterday"}, "UPDATED: 'yesterday' is not a time of publication"),
    ({"extension": {"id": "OUTLOOK"}}, "is about OUTLOOK, the address asks for RATES"),
]


@pytest.mark.parametrize(
    "told",
    [
        {"error": [{"status": 400, "id": 100, "label": "No such code"}]},
        {"warning": {"status": 413, "label": "No such code yet"}},
    ],
)
def test_a_message_of_the_service_in_place_of_data_is_repeated(told):
    with pytest.raises(SourceChanged, match=r"has no data: .*No such code"):
        parse(json.dumps(told), service=OFFICE)
