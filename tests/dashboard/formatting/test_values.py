"""The eight looks of a value; and that a withheld number is in none of them, whatever else a record says."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.dashboard.formatting.numbers import unit
from almanac.dashboard.formatting.values import (
    Chip,
    look,
    look_column,
    look_field,
    look_input,
    look_reading,
    look_release,
    look_yield,
)
from tests.support.dashboard_rows import PUBLIC, SHUT, observation

TODAY = date(2026, 11, 20)


def test_plain():
    found = look(observation(value=2.10001, derivedFrom=["a"]))
    assert (found.state, found.text, found.spoken, found.full) == ("plain", "2.1", "2.1", "2.10001")
    assert found.shown
    assert look(observation(value=-0.0)).text == "0.0"
    assert look(observation(value=2, unit="index")).text == "2.0"
    assert look(observation(value=None, valueText="tightening", unit="text")).text == "tightening"


def test_revised_with_and_without_what_it_was():
    row = observation(value=2.4, revisionStatus="revised")
    up, down = look(row, was=2.0), look(row, was=2.6)
    assert (up.state, up.text, up.spoken, up.change, up.direction) == (
        "revised",
        "2.4",
        "2.4, revised up by 0.4",
        "+0.4",
        "up",
    )
    assert (down.spoken, down.change, down.direction) == ("2.4, revised down by 0.2", "−0.2", "down")
    assert look(row).spoken == "2.4, revised"
    slight = look(observation(value=2.41, revisionStatus="revised", derivedFrom=["a"]), was=2.4)
    assert (slight.spoken, slight.change, slight.direction) == ("2.4, revised up", "0.0", "up")
    # Revised and back to what it was at first.
    assert look(row, was=2.4).spoken == "2.4, revised"


def test_stale():
    found = look(observation("2025-12-31", 1.4, freshnessStatus="stale"), today=TODAY)
    assert (found.state, found.text, found.spoken) == ("stale", "1.4", "1.4, stale")
    assert found.chip == Chip("warn", "half", "stale, 324 days")
    assert look(observation(freshnessStatus="stale")).chip == Chip("warn", "half", "stale")
    # In a table of many periods it says nothing of any one of them.
    assert look(observation(freshnessStatus="stale"), history=True).state == "plain"


def test_discontinued():
    row = observation("2024-Q4", 1.4, freshnessStatus="stale", metadata={"discontinued": True})
    found = look(row, today=TODAY)
    assert (found.state, found.chip) == ("discontinued", Chip("plain", "disc", "ended 2024\N{NO-BREAK SPACE}Q4"))


def test_withheld():
    found = look(observation(value=None, rights=SHUT))
    assert (found.state, found.text, found.spoken) == (
        "withheld",
        "Withheld",
        "withheld, licence forbids redistribution",
    )
    assert found.chip == Chip("withheld", "crossed", "licence forbids redistribution")
    assert (found.reason, found.source) == (SHUT["reason"], "invented-office")
    assert not found.shown
    assert look(observation(rights=SHUT | {"exposure": "internal_only"})).chip == Chip(
        "withheld", "crossed", "for internal use only"
    )


def test_outside_the_plan():
    row = {"valueNumeric": None, "valueText": None, "valueWithheld": True, "reason": "outside_plan_history"}
    found = look_input(row, unit("percent"))
    assert (found.state, found.text, found.spoken) == ("outside_plan", "Not in plan", "Not in plan")
    assert look_input(row | {"reason": "Owner says no."}, unit("percent")).state == "withheld"


def test_no_data():
    found = look(observation(value=None))
    assert (found.state, found.text, found.shown) == ("none", "No data", False)


def test_withdrawn():
    row = observation(value=None, observedAt="2025-05-03T09:00:00Z", metadata={"withdrawn": True})
    found = look(row, was=5.1)
    assert (found.state, found.text, found.spoken, found.note) == (
        "withdrawn",
        "5.1",
        "5.1, withdrawn",
        "withdrawn 3\N{NO-BREAK SPACE}May\N{NO-BREAK SPACE}2025",
    )
    assert look(row).text == ""
    assert look(row).spoken == "withdrawn 3\N{NO-BREAK SPACE}May\N{NO-BREAK SPACE}2025"


def test_a_column_has_one_precision_and_a_forecast_says_so():
    rows = [
        observation(value=2.0),
        observation(value=2.25),
        observation(value=9.87654, rights=SHUT),
        observation(value=3.0, metadata={"forecast": True}),
    ]
    found = look_column(rows)
    assert [one.text for one in found] == ["2.00", "2.25", "Withheld", "3.00"]
    assert [one.forecast for one in found] == [False, False, False, True]
    assert look_column([]) == []


def test_other_records():
    reading = {"value": 4.25, "unit": "percent", "indicatorId": "indicator_policy_rate", "periodEnd": "2026-10-31T00:00:00Z",
               "freshnessStatus": "fresh", "seriesId": "x", "rights": PUBLIC}  # fmt: skip
    assert look_reading(reading).text == "4.25"
    assert look_reading(reading | {"freshnessStatus": "stale"}, today=TODAY).chip == Chip(
        "warn", "half", "stale, 20 days"
    )
    assert look_reading(reading | {"value": None}).text == "No data"
    assert look_reading(reading | {"rights": SHUT}).text == "Withheld"
    release = {"actual": 2.6, "previous": 2.5, "revisedPrevious": None, "unit": "percent", "rights": PUBLIC}
    assert look_release(release).text == "2.6"
    assert look_release(release, "revisedPrevious").text == "No data"
    assert look_release(release | {"rights": SHUT}, "previous").text == "Withheld"
    assert look_yield({"tenor": "10y", "yield": 4.4}).text == "4.40"
    assert look_yield(None).text == "No data"
    match = {"field": "net_margin", "value": 0.118, "unit": "ratio", "freshnessStatus": "fresh"}
    assert look_reading(match).text == "11.8"
    assert look_reading(match, figure=True).text == "11.8%"
    assert look_field("Technology", unit("text")).text == "Technology"
    assert look_field(None, unit("usd")).text == "No data"


SECRET = 98765.4321


@given(
    st.sampled_from(["initial", "revised", "final", "unknown"]),
    st.sampled_from(["fresh", "stale", "unknown"]),
    st.dictionaries(st.sampled_from(["withdrawn", "discontinued", "forecast"]), st.booleans()),
    st.sampled_from(["restricted", "internal_only", "blocked"]),
    st.booleans(),
)
def test_a_withheld_number_is_in_no_look(status, freshness, metadata, exposure, history):
    # The interface masks it; should a number come all the same, as a value or as what was before, it goes no further.
    rights = SHUT | {"exposure": exposure}
    row = observation(
        value=SECRET, valueText="98765", revisionStatus=status, freshnessStatus=freshness, metadata=metadata, rights=rights,
        value_=SECRET, actual=SECRET,
    ) | {"value": SECRET}  # fmt: skip
    looks = [
        look(row, was=SECRET, today=TODAY, history=history),
        look(row, was=SECRET, digits=0),
        *look_column([row], today=TODAY),
        look_reading(row),
        look_release(row),
        look_input(row, unit("percent")),
    ]
    for found in looks:
        assert found.state == "withheld"
        assert not any("98" in str(part) for part in found)


@pytest.mark.parametrize("text", ["<script>alert(1)</script>", "a & b"])
def test_texts_of_others_stay_plain_text_for_the_template_to_escape(text):
    assert type(look(observation(value=None, valueText=text)).text) is str


def test_a_fraction_is_its_percentage_in_a_column_too():
    row = observation(value=0.118, unit="ratio", indicatorId="indicator_net_margin", revisionStatus="revised")
    found = look(row, was=0.1)
    assert (found.text, found.change, found.full) == ("11.8", "+1.8", "0.118")
    assert look(row, was=0.1, figure=True).text == "11.8%"
    assert look(observation(value=2.1), figure=True).spoken == "2.1%"
