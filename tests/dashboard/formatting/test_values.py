"""The eight looks of a value; and that a withheld number is in none of them, whatever else a record says."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.dashboard.formatting.numbers import unit
from almanac.dashboard.formatting.values import (
    look,
    look_column,
    look_input,
    look_reading,
    look_release,
)
from tests.support.dashboard_rows import SHUT, observation

TODAY = date(2026, 11, 20)


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
