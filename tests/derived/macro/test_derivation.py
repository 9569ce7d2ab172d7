"""From vintages of inputs to vintages of a result: both paths, single and several candidates, look-ups inside a period."""

from datetime import date

import pytest

from almanac.catalog.load import shipped
from almanac.derived.macro.derivation import derive, explain, span_needed
from almanac.derived.macro.operators import operator
from almanac.domain.observations import DAY, FINAL, INITIAL, PROJECTION, REVISED, UNKNOWN
from almanac.domain.periods import Frequency, Period

from .cells import NOW, YOY, both, made, number, series, vintage

M, Q, A, D, W = (Frequency(letter) for letter in "MQADW")
SAHM = shipped().formulas["sahm_indicator"].params


def test_growth_is_known_when_its_later_input_is():
    own = series(M, {"2025-01": [vintage(1, 100.0)], "2026-01": [vintage(5, 110.0)]})
    result = both(YOY, M, [[own]])
    assert made(result, "2026-01") == [(5, pytest.approx(10.0))]
    assert made(result, "2025-01") == []


def test_a_gap_gives_no_value_and_never_a_shifted_one():
    own = series(M, {"2025-01": [vintage(1, 100.0)], "2026-02": [vintage(1, 110.0)]})
    assert all(found == [] for found in both(YOY, M, [[own]]).values())


def test_a_base_of_zero_has_no_growth():
    own = series(M, {"2025-01": [vintage(1, 0.0)], "2026-01": [vintage(1, 110.0)], "2027-01": [vintage(1, 121.0)]})
    result = both(YOY, M, [[own]])
    assert made(result, "2026-01") == []
    assert made(result, "2027-01") == [(1, pytest.approx(10.0))]


def test_an_overflow_has_no_value_on_either_path():
    op = operator("growth", {"lag": "1m", "power": 12}, M)
    own = series(M, {"2025-01": [vintage(1, 1e-300)], "2025-02": [vintage(1, 1e300)]})
    assert made(both(op, M, [[own]]), "2025-02") == []


def test_zero_has_one_sign():
    op = operator("difference", {}, M)
    result = both(op, M, [[series(M, {"2025-01": [vintage(1, -0.0)]})], [series(M, {"2025-01": [vintage(1, 0.0)]})]])
    assert str(result[Period.parse("2025-01").key][0].vintage.value) == "0.0"


@pytest.mark.parametrize(
    ("first", "second", "status"),
    [
        ((UNKNOWN, 3), (0, 4), UNKNOWN),
        ((FINAL, 3), (FINAL, 4), FINAL),
        ((FINAL, 3), (DAY, None), UNKNOWN),
    ],
)
def test_status_and_release_follow_from_all_inputs(first, second, status):
    inputs = [
        [series(M, {"2026-01": [vintage(5, value, flags=flags, released=released)]})]
        for value, (flags, released) in ((4.0, first), (1.0, second))
    ]
    ((found,),) = both(operator("sum", {}, M), M, inputs).values()
    assert found.vintage.flags & (UNKNOWN | FINAL) == status
    assert found.vintage.released == (None if second[1] is None else 4)


@pytest.mark.parametrize(("first", "second"), [(PROJECTION, 0), (0, PROJECTION | DAY)])
def test_what_is_computed_from_a_projection_is_one(first, second):
    inputs = [[series(M, {"2026-01": [vintage(5, 1.0, flags=flags)]})] for flags in (first, second)]
    ((found,),) = both(operator("sum", {}, M), M, inputs).values()
    assert found.vintage.flags & PROJECTION
    known = [[series(M, {"2026-01": [vintage(5, 1.0, flags=flags & DAY)]})] for flags in (first, second)]
    ((found,),) = both(operator("sum", {}, M), M, known).values()
    assert not found.vintage.flags & PROJECTION


def test_marks_of_the_inputs_are_passed_on_and_fall_away_with_them():
    flash, final = vintage(5, 110.0, note='{"flags":["e"]}'), vintage(7, 110.0, note='{"publishedAt":"2026-02-20"}')
    whole = series(M, {"2025-01": [vintage(1, 100.0, note='{"flags":["b"]}')], "2026-01": [flash]})
    (found,) = both(YOY, M, [[whole]])[Period.parse("2026-01").key]
    assert found.vintage.note == '{"flags":["b","e"]}'
    two = series(M, {"2025-01": [vintage(1, 100.0)], "2026-01": [flash, final]})
    first, second = both(YOY, M, [[two]])[Period.parse("2026-01").key]
    assert (first.vintage.note, second.vintage.note) == ('{"flags":["e"]}', None)
    assert first.vintage.value == second.vintage.value
    assert second.vintage.known - NOW == 7


def test_a_formula_over_two_bases_gives_no_value_and_says_so():
    old, new = '{"basis":"2005=100"}', '{"basis":"2010=100"}'
    lone = series(M, {"2025-01": [vintage(1, 150.0, note=old)], "2026-01": [vintage(5, 118.0, note=new)]})
    assert both(YOY, M, [[lone]])[Period.parse("2026-01").key] == []
    unsaid = series(M, {"2025-01": [vintage(1, 150.0)], "2026-01": [vintage(5, 118.0, note=new)]})
    assert both(YOY, M, [[unsaid]])[Period.parse("2026-01").key] == []
    again = series(
        M,
        {
            "2025-01": [vintage(1, 150.0, note=old), vintage(9, 109.0, note=new)],
            "2026-01": [vintage(3, 165.0, note=old), vintage(5, 118.0, note=new)],
        },
    )
    result = both(YOY, M, [[again]])
    assert made(result, "2026-01") == [(3, pytest.approx(10.0)), (5, None), (9, pytest.approx(8.25688073394))]
    gone = result[Period.parse("2026-01").key][1].vintage
    assert gone.note == '{"reason":"two_bases"}'
    shown, used = explain(YOY, M, [[again]], number("2026-01", M), NOW + 5)
    assert (shown.value, [cell.vintage.value for cell in used]) == (None, [118.0, 150.0])


def test_values_in_prices_of_two_years_are_not_compared_and_a_price_index_is_no_volume():
    op = operator("difference", {}, M)
    volume = series(M, {"2025-01": [vintage(1, 3.0, note='{"priceBasis":"2017"}')]})
    for other, expected in (("priceBasis", []), ("basis", [(1, 1.0)])):
        index = series(M, {"2025-01": [vintage(1, 2.0, note=f'{{"{other}":"2012"}}')]})
        assert made(both(op, M, [[volume], [index]]), "2025-01") == expected


def test_release_precision_is_a_day_if_any_input_s_is():
    at = NOW + 5
    inputs = [[series(M, {"2026-01": [vintage(5, 1.0, flags=flags, released=at)]})] for flags in (DAY, 0)]
    ((found,),) = both(operator("sum", {}, M), M, inputs).values()
    assert found.vintage.flags == DAY | INITIAL
    assert found.vintage.released == at


def test_a_revised_input_makes_a_revised_result():
    own = series(M, {
        "2025-12": [vintage(1, 100.0, released=NOW + 1)],
        "2026-01": [vintage(2, 110.0, released=NOW + 2), vintage(6, 120.0, released=NOW + 6)],
    })  # fmt: skip
    result = both(operator("growth", {"lag": "1m"}, M), M, [[own]])
    assert made(result, "2026-01") == [(2, pytest.approx(10.0)), (6, pytest.approx(20.0))]
    assert [d.vintage.flags for d in result[Period.parse("2026-01").key]] == [INITIAL, REVISED]


def test_equal_results_of_different_inputs_are_one_vintage():
    own = series(M, {
        "2025-01": [vintage(1, 100.0), vintage(6, 200.0)],
        "2026-01": [vintage(2, 110.0), vintage(6, 220.0)],
    })  # fmt: skip
    assert made(both(YOY, M, [[own]]), "2026-01") == [(2, pytest.approx(10.0))]


def test_a_withdrawal_says_when_and_by_what_and_unknown_inputs_mark_it():
    own = series(M, {
        "2025-01": [vintage(1, 100.0, flags=UNKNOWN), vintage(7, None, flags=UNKNOWN, ingested=9)],
        "2026-01": [vintage(2, 110.0)],
    })  # fmt: skip
    gone = both(YOY, M, [[own]])[Period.parse("2026-01").key][-1].vintage
    assert (gone.known - NOW, gone.value, gone.released, gone.ingested - NOW) == (7, None, None, 9)
    assert gone.flags & UNKNOWN


# -- look-back ----------------------------------------------------------------------------------------------------------

CHANGE = operator("change", {"lag": "1y"}, D)


@pytest.mark.parametrize(
    ("base", "expected"), [("2025-03-04", 3.0), ("2025-03-03", 3.0), ("2025-02-25", 3.0), ("2025-02-24", None)]
)
def test_a_day_without_a_value_a_year_ago_takes_the_last_within_seven_days_before(base, expected):
    own = series(D, {base: [vintage(1, 1.0)], "2026-03-04": [vintage(2, 4.0)]})
    assert made(both(CHANGE, D, [[own]]), "2026-03-04") == ([] if expected is None else [(2, expected)])


def test_the_twenty_ninth_of_february_looks_at_the_twenty_eighth():
    own = series(D, {"2023-02-28": [vintage(1, 1.0)], "2024-02-29": [vintage(1, 3.0)]})
    assert made(both(CHANGE, D, [[own]]), "2024-02-29") == [(1, 2.0)]


def test_an_older_base_that_stood_in_for_a_while_is_a_vintage_of_its_own():
    own = series(D, {"2025-03-03": [vintage(1, 1.0)], "2025-03-04": [vintage(9, 2.0)], "2026-03-04": [vintage(2, 4.0)]})
    assert made(both(CHANGE, D, [[own]]), "2026-03-04") == [(2, 3.0), (9, 2.0)]


def test_a_withdrawn_base_gives_way_to_an_older_one_at_the_withdrawal():
    own = series(D, {
        "2025-03-03": [vintage(1, 10.0)],
        "2025-03-04": [vintage(2, 20.0), vintage(9, None)],
        "2026-03-04": [vintage(3, 40.0)],
    })  # fmt: skip
    result = both(CHANGE, D, [[own]])
    assert made(result, "2026-03-04") == [(3, 20.0), (9, 30.0)]
    assert result[Period.parse("2026-03-04").key][1].vintage.ingested == NOW + 9


# -- inside a longer period ---------------------------------------------------------------------------------------------

REAL = operator("real_rate", {}, M)


def real(rate, frequency, *, inflation="2026-01", result=M):
    inputs = [[series(frequency, rate)], [series(result, {inflation: [vintage(0, 2.0)]})]]
    return derive(operator("real_rate", {}, result), result, inputs, 90)


@pytest.mark.parametrize(
    ("rate", "expected"),
    [
        ({"2026-01-31": [vintage(1, 5.0)]}, [(1, 3.0)]),
        ({"2026-01-30": [vintage(1, 5.0)]}, []),
        ({"2026-01-30": [vintage(1, 5.0)], "2026-02-02": [vintage(4, 9.0)]}, [(4, 3.0)]),
        ({"2026-01-02": [vintage(1, 5.0)], "2026-02-10": [vintage(4, 9.0)]}, [(4, 3.0)]),
        ({"2026-01-30": [vintage(1, 5.0)], "2026-02-11": [vintage(4, 9.0)]}, []),
        ({"2026-02-02": [vintage(4, 9.0)]}, []),
        ({"2025-12-31": [vintage(1, 5.0)], "2026-02-02": [vintage(4, 9.0)]}, []),
        # The witness is withdrawn, a later one still shows that the month is over.
        ({"2026-01-30": [vintage(1, 5.0)], "2026-02-02": [vintage(4, 9.0), vintage(6, None)], "2026-02-03": [vintage(5, 9.0)]}, [(4, 3.0)]),
        ({"2026-01-30": [vintage(1, 5.0)], "2026-02-02": [vintage(4, 9.0), vintage(6, None)]}, [(4, 3.0), (6, None)]),
        # The last value inside is revised, then withdrawn: the one before it stands in.
        ({"2026-01-29": [vintage(1, 4.0)], "2026-01-31": [vintage(1, 5.0), vintage(7, 5.5)]}, [(1, 3.0), (7, 3.5)]),
    ],
)  # fmt: skip
def test_the_last_daily_rate_of_a_month_that_is_over(rate, expected):
    assert made(real(rate, D), "2026-01") == expected


def test_the_witness_counts_among_the_inputs():
    rate = {"2026-01-30": [vintage(1, 5.0, released=NOW + 1)], "2026-02-02": [vintage(4, 9.0, released=NOW + 4)]}
    inputs = [[series(D, rate)], [series(M, {"2026-01": [vintage(0, 2.0, released=NOW)]})]]
    ((found,),) = derive(REAL, M, inputs, 90).values()
    assert found.vintage.released == NOW + 4
    output, moment = number("2026-01", M), NOW + 4
    again, used = explain(REAL, M, inputs, output, moment)
    assert again.value == found.vintage.value
    assert [(u.input, u.ordinal, u.vintage.value) for u in used] == [
        (1, output, 2.0), (0, number("2026-02-02", D), 9.0), (0, number("2026-01-30", D), 5.0),
    ]  # fmt: skip


def test_nothing_is_explained_before_it_can_be_computed():
    inputs = [[series(D, {"2026-01-30": [vintage(1, 5.0)]})], [series(M, {"2026-01": [vintage(0, 2.0)]})]]
    assert explain(REAL, M, inputs, number("2026-01", M), NOW + 9) == (None, [])


def test_weeks_inside_a_month_are_over_with_a_week_that_ends_after_it():
    cells = {"2026-01-25": [vintage(1, 5.0)], "2026-02-01": [vintage(3, 6.0)]}
    assert made(real(cells, W), "2026-01") == [(3, 3.0)]


@pytest.mark.parametrize(
    ("frequency", "parts"), [(M, [f"2025-{m:02}" for m in range(1, 13)]), (Q, [f"2025-Q{q}" for q in range(1, 5)])]
)
def test_a_year_of_months_or_quarters_is_complete_when_all_have_a_value(frequency, parts):
    rate = {part: [vintage(place, float(place))] for place, part in enumerate(parts, start=1)}
    last = float(len(parts))
    assert made(real(rate, frequency, inflation="2025", result=A), "2025") == [(last, last - 2.0)]
    without = {part: history for part, history in rate.items() if part != parts[1]}
    assert made(real(without, frequency, inflation="2025", result=A), "2025") == []
    withdrawn = rate | {parts[1]: [*rate[parts[1]], vintage(20, None)]}
    assert made(real(withdrawn, frequency, inflation="2025", result=A), "2025") == [(last, last - 2.0), (20, None)]


def test_a_rate_of_the_same_frequency_is_its_own_period_s():
    assert made(real({"2026-01": [vintage(3, 5.0)]}, M), "2026-01") == [(3, 3.0)]


# -- several candidates -------------------------------------------------------------------------------------------------


def test_all_lags_come_from_one_series_the_first_that_has_them():
    first = series(M, {"2026-01": [vintage(1, 110.0)]})
    second = series(M, {"2025-01": [vintage(1, 100.0)], "2026-01": [vintage(2, 130.0)]})
    ((found,),) = [f for f in derive(YOY, M, [[first, second]], 90).values() if f]
    assert (found.vintage.value, found.vintage.known - NOW, found.used) == (pytest.approx(30.0), 2, (1,))


def test_a_better_candidate_that_comes_later_takes_over_from_then():
    first = series(M, {"2025-01": [vintage(1, 100.0)], "2026-01": [vintage(5, 110.0), vintage(8, None, ingested=9)]})
    second = series(M, {"2025-01": [vintage(1, 100.0)], "2026-01": [vintage(2, 130.0)]})
    result = derive(YOY, M, [[first, second]], 90)
    found = result[Period.parse("2026-01").key]
    assert [(d.vintage.known - NOW, round(d.vintage.value), d.used) for d in found] == [
        (2, 30, (1,)),
        (5, 10, (0,)),
        (8, 30, (1,)),
    ]
    # What was looked at and passed over counts for the time of ingestion.
    assert found[-1].vintage.ingested == NOW + 9


def test_a_withdrawal_keeps_the_lineage_of_what_it_withdraws():
    first = series(M, {"2025-01": [vintage(3, 100.0)], "2026-01": [vintage(3, 110.0), vintage(4, None)]})
    found = derive(YOY, M, [[series(M, {}), first]], 90)[Period.parse("2026-01").key]
    assert [(d.vintage.value is None, d.used) for d in found] == [(False, (1,)), (True, (1,))]


# -- what is computed ---------------------------------------------------------------------------------------------------


def test_only_outputs_that_a_change_can_touch_are_computed():
    cells = {f"{year}-01": [vintage(1, float(year))] for year in range(2020, 2027)}
    result = derive(YOY, M, [[series(M, cells, changed=["2023-01"])]], 90)
    assert set(result) == {Period.parse("2023-01").key, Period.parse("2024-01").key}


def test_a_cell_that_is_gone_empties_its_outputs():
    cells = {"2025-01": [vintage(1, 1.0)]}
    result = derive(YOY, M, [[series(M, cells, changed=["2026-01"])]], 90)
    assert result == {Period.parse("2026-01").key: []}
    assert derive(YOY, M, [[series(M, cells, changed=[])]], 90) == {}


def test_an_input_without_any_cell_gives_nothing():
    op = operator("sum", {}, M)
    result = derive(op, M, [[series(M, {"2026-01": [vintage(1, 1.0)]})], [series(M, {})]], 90)
    assert result == {Period.parse("2026-01").key: []}
    assert derive(op, M, [[series(M, {})], [series(M, {})]], 90) == {}


def test_the_span_read_reaches_as_far_as_any_look_up_both_ways():
    low, high = span_needed(operator("sahm", SAHM, M), M, [(date(2025, 6, 30), date(2025, 7, 31))])
    assert low <= date(2024, 4, 1)
    assert high >= date(2026, 9, 30)
    assert span_needed(YOY, M, []) is None


@pytest.mark.parametrize(("day", "first", "last"), [("0001-01-01", date.min, None), ("9999-12-31", None, date.max)])
def test_a_day_at_the_edge_of_the_calendar_needs_what_there_is_up_to_it(day, first, last):
    at = date.fromisoformat(day)
    span = span_needed(YOY, M, [(at, at)])
    assert span is not None
    assert span[0] == first or (first is None and span[0] < at)
    assert span[1] == last or (last is None and span[1] > at)
