"""Texts of numbers, units, days, periods and names on pages."""

import json
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.catalog import measures
from almanac.dashboard.formatting import dates, numbers
from almanac.dashboard.formatting import dates as periods
from almanac.dashboard.formatting.company_names import company_name
from almanac.dashboard.formatting.numbers import unit, unit_of
from almanac.dashboard.formatting.transforms import TRANSFORMS, common_base, transformed
from almanac.dashboard.formatting.values import (
    counted,
    first_publications,
    look,
    look_column,
    look_input,
    look_reading,
    look_release,
    missing,
    points,
    runs,
    with_values,
)
from almanac.domain.periods import Frequency, Period
from almanac.reports import wording
from tests.support.dashboard_rows import SHUT, observation, quarters

CASES = json.loads((Path(__file__).parent / "cases.json").read_text("utf-8"))
finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("name", "given_", "wanted"),
    [(name, case[:-1], case[-1]) for name, cases in CASES.items() for case in cases],
)
def test_the_shared_cases_hold(name, given_, wanted):
    room = next(room for room in (numbers, dates, periods) if hasattr(room, name))
    assert getattr(room, name)(*given_) == wanted


def read(text):
    return Decimal(text.replace(numbers.MINUS, "-").replace(",", ""))


@given(finite)
def test_a_number_as_it_is_stated_reads_back_whole(value):
    text = numbers.number(value)
    assert float(read(text)) == value
    assert "-" not in text
    assert not text.startswith(f"{numbers.MINUS}0") or value < 0


@given(finite, st.integers(0, 6))
def test_a_rounded_number_is_the_nearest_and_away_from_zero_between_two(value, digits):
    exact, told = Decimal(repr(value)), read(numbers.number(value, digits))
    off = abs(numbers._WIDE.subtract(exact, told))
    half = Decimal("0.5").scaleb(-digits)
    assert off <= half
    if off == half:
        assert abs(told) > abs(exact)
    assert len(numbers.number(value, digits).partition(".")[2]) == digits


@given(st.one_of(finite, st.integers(-9999, 9999).map(lambda whole: whole / 8)), st.integers(0, 3))
def test_a_sentence_and_the_table_beside_it_tell_one_number(value, digits):
    assert wording.figure(value, digits) == numbers.number(value, digits)


@given(finite, st.integers(0, 4))
def test_only_a_change_that_is_told_as_more_than_nothing_has_a_plus(value, digits):
    text = numbers.change(value, digits)
    assert text.startswith("+") == (read(text) > 0)
    assert text.startswith(numbers.MINUS) == (read(text) < 0)


@given(finite)
def test_the_full_value_is_for_programs(value):
    assert float(numbers.full(value)) == value
    assert numbers.full(-0.0) == "0"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_what_is_no_number_is_refused(value):
    with pytest.raises(ValueError, match="not a number that can be shown"):
        numbers.number(value)


def test_integers_of_a_json_document_are_told_like_floats():
    assert numbers.number(2, 1) == numbers.number(2.0, 1) == "2.0"
    assert numbers.places(41208) == numbers.places(41208.0) == 0


def test_one_table_has_one_scale():
    assert numbers.common_scale([512.0, 4_118_000_000.0]).plural == "billions"
    assert numbers.common_scale([999_999.0]) == numbers.NO_SCALE
    assert numbers.number(numbers.in_scale(4_118_000_000.0, numbers.scale(6))) == "4,118"
    with pytest.raises(ValueError, match="no word for 10 to the 5"):
        numbers.scale(5)


# -- the eight looks of a value; and that a withheld number is in none of them, whatever else a record says -----------


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


# -- points of a chart: what is withheld has no value, and nothing is joined over what is missing ---------------------


def lengths(rows):
    return [len(run) for run in runs(points(rows))]


def test_points_are_in_the_order_of_their_periods_whatever_order_they_come_in():
    rows = quarters([1.0, 2.0, 3.0])
    found = points(reversed(rows))
    assert [point.value for point in found] == [1.0, 2.0, 3.0]
    assert [point.period for point in found] == [
        "2016\N{NO-BREAK SPACE}Q1",
        "2016\N{NO-BREAK SPACE}Q2",
        "2016\N{NO-BREAK SPACE}Q3",
    ]
    assert found[0].at == date(2016, 1, 1).toordinal()


def test_a_withheld_value_is_in_no_point_even_if_a_record_had_it():
    (point,) = points(
        [observation(value=98765.0, rights=SHUT)], {("2026-07-01T00:00:00Z", "2026-09-30T00:00:00Z"): 98765.0}
    )
    assert (point.value, point.first, point.state) == (None, None, "withheld")


def test_whole_numbers_come_as_floats():
    (point,) = points([observation(value=2)])
    assert isinstance(point.value, float)


@pytest.mark.parametrize(
    ("values", "runs_", "gaps"),
    [
        ([1.0, 2.0, 3.0], [3], 0), ([1.0, None, 3.0], [1, 1], 0), ([1.0, "none", 3.0], [1, 1], 1), ([None, None], [], 0),
        ([], [], 0), ([None, 1.0, 2.0, None], [2], 0), ([1.0, "none", "none", 2.0, 3.0, "none", 4.0], [1, 2, 1], 2),
    ],
)  # fmt: skip
def test_nothing_is_joined_over_a_missing_or_withheld_quarter(values, runs_, gaps):
    assert lengths(quarters(values)) == runs_
    assert missing(points(quarters(values))) == gaps


def test_a_value_that_was_withdrawn_is_a_gap():
    rows = quarters([1.0, 2.0, 3.0, 4.0])
    for row in rows[1:3]:
        row |= {"valueNumeric": None, "metadata": {"withdrawn": True}}
    assert lengths(rows) == [1, 1]
    assert missing(points(rows)) == 1


def every(frequency, ends):
    return [observation(Period(None if frequency.months else end, end), 1.0, frequency=frequency) for end in ends]


@pytest.mark.parametrize(
    ("frequency", "days", "broken"),
    [
        (Frequency.DAILY, 3, False), (Frequency.DAILY, 10, False), (Frequency.DAILY, 11, True), (Frequency.WEEKLY, 7, False),
        (Frequency.WEEKLY, 8, False), (Frequency.WEEKLY, 14, True), (Frequency.MONTHLY, 31, False), (Frequency.MONTHLY, 62, True),
        (Frequency.QUARTERLY, 91, False), (Frequency.QUARTERLY, 98, False), (Frequency.QUARTERLY, 182, True), (Frequency.ANNUAL, 371, False),
        (Frequency.ANNUAL, 730, True),
    ],
)  # fmt: skip
def test_a_holiday_or_a_week_more_is_no_gap(frequency, days, broken):
    rows = every(frequency, [date(2025, 1, 28), date(2025, 1, 28) + timedelta(days=days)])
    assert (len(lengths(rows)) == 2) == broken


def test_first_publications_are_those_that_were_seen():
    rows = [
        observation("2026-Q1", 1.8, observedAt="2026-04-30T10:00:00Z"),
        observation("2026-Q1", 2.3, observedAt="2026-05-30T10:00:00Z", revisionStatus="revised"),
        observation("2025-Q4", 2.5, observedAt="2026-05-30T10:00:00Z", revisionStatus="unknown"),
        observation("2025-Q3", 9.9, observedAt="2025-10-30T10:00:00Z", rights=SHUT),
        observation("2025-Q2", None, observedAt="2025-07-30T10:00:00Z"),
    ]
    found = first_publications(reversed(rows))
    assert found == {("2026-01-01T00:00:00Z", "2026-03-31T00:00:00Z"): 1.8}
    (point,) = points([rows[1]], found)
    assert (point.first, point.revised) == (1.8, True)


def test_a_forecast_is_drawn_and_never_told_as_a_value():
    rows = [observation("2026-Q3", 2.1), observation("2026-Q4", 1.9, metadata={"forecast": True})]
    found = points(rows)
    assert [point.value for point in with_values(found)] == [2.1]
    assert [point.value for point in with_values(found, forecasts=True)] == [2.1, 1.9]
    assert counted(1, Frequency.QUARTERLY) == "1 quarter"
    assert counted(1204, Frequency.DAILY) == "1,204 days"


# -- a transformed line is what its formula says of each pair of periods, and absent where one of them is -------------


MONEY, PERCENT = unit("usd_billions"), unit("percent")


def values(made):
    return [(point.period.replace("\xa0", " "), point.value, point.state) for point in made.points]


def test_each_transform_by_hand():
    line = points(quarters([100.0, 110.0, 99.0, 100.0, 120.0], unit="usd_billions"))
    found = {
        name: transformed(name, line, MONEY, 0, base=date(2016, 5, 1)) for name in TRANSFORMS
    }  # fmt: skip
    assert [point.value for point in found["level"].points] == [100, 110, 99, 100, 120]
    assert [point.value for point in found["change"].points] == [10, -11, 1, 20]
    assert [point.value for point in found["percent"].points] == [10, -10, 1.0101010101, 20]
    assert values(found["year"]) == [("2017 Q1", 20.0, "shown")]
    assert [point.value for point in found["index"].points] == [90.9090909091, 100, 90, 90.9090909091, 109.090909091]
    assert found["log"].points[0].value == 4.60517018599
    assert [found[name].unit.head for name in ("level", "change", "percent", "year", "log")] == [
        "USD billions", "USD billions, change", "Percent", "Percent", "Natural logarithm",
    ]  # fmt: skip
    assert found["index"].unit.head.replace("\xa0", " ") == "Index, 1 May 2016 = 100"
    assert found["level"].formula == ""
    assert all(found[name].formula for name in TRANSFORMS if name != "level")


def test_of_percentages_a_change_is_in_points_and_exact():
    line = points(quarters([5.3, 5.25, 5.25, 5.0, 5.2]))
    for name, wanted in (("percent", [-0.05, 0, -0.25, 0.2]), ("year", [-0.1])):
        made = transformed(name, line, PERCENT, 2)
        assert [point.value for point in made.points] == wanted
        assert made.unit.head == "Percentage points"
    fraction = points(quarters([0.1, 0.125], unit="ratio"))
    assert transformed("change", fraction, PERCENT._replace(fraction=True), 1).points[0].value == 2.5


def test_what_has_nothing_to_be_compared_with_has_no_value():
    gap = points(quarters([1.0, 2.0, "none", 4.0], unit="usd_billions"))
    assert values(transformed("change", gap, MONEY, 0)) == [("2016 Q2", 1.0, "shown"), ("2016 Q4", None, "none")]
    zero = points(quarters([0.0, 2.0, -1.0, 3.0], unit="usd_billions"))
    assert [p.value for p in transformed("percent", zero, MONEY, 0).points] == [-150, None]
    assert [p.value for p in transformed("log", zero, MONEY, 0).points][:1] == [None]
    assert transformed("index", gap, MONEY, 0, base=date(2016, 8, 1)).points == []
    with pytest.raises(ValueError, match="was not given"):
        transformed("index", gap, MONEY, 0)
    with pytest.raises(ValueError, match="There are level, change"):
        transformed("cube", gap, MONEY, 0)


@pytest.mark.parametrize("name", [name for name in TRANSFORMS if name != "level"])
def test_what_is_made_of_a_withheld_value_is_withheld(name):
    line = points(quarters([2.0, None, 3.0, 4.0, 5.0, 6.0], unit="usd_billions"))
    made = transformed(name, line, MONEY, 0, base=date(2016, 5, 1))
    shut = {period for period, value, state in values(made) if state == "withheld" and value is None}
    wanted = {
        "change": {"2016 Q2", "2016 Q3"}, "percent": {"2016 Q2", "2016 Q3"}, "year": {"2016 Q2", "2017 Q2"}, "log": {"2016 Q2"},
        # All of an index that is 100 at a withheld value.
        "index": {"2016 Q1", "2016 Q2", "2016 Q3", "2016 Q4", "2017 Q1", "2017 Q2"},
    }  # fmt: skip
    assert shut == wanted[name]


def test_of_days_the_year_before_is_looked_for_in_a_week():
    def of(day, value):
        at = date.fromisoformat(day)
        return observation(Period(at, at), value, frequency=Frequency.DAILY)

    line = points(
        [
            of("2024-02-28", 4.0),
            of("2024-03-08", 4.1),
            of("2025-02-28", 4.5),
            of("2025-03-14", 4.6),
            of("2025-03-17", 4.7),
        ]
    )
    found = values(transformed("year", line, PERCENT, 2))
    assert found == [
        ("28 Feb 2025", 0.5, "shown"), ("14 Mar 2025", 0.5, "shown"), ("17 Mar 2025", None, "none"),
    ]  # fmt: skip


def test_an_index_of_all_begins_where_all_have_a_value():
    early, late = points(quarters([1.0, 2.0])), points(quarters([1.0, 2.0], first="2018-Q1"))
    assert common_base([early, late]) == date(2018, 3, 31)
    assert common_base([[], []]) is None


# -- what units are called, and how precisely each is told ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "indicator", "values", "computed", "digits"),
    [
        ("percent", "gdp_growth_yoy", [2.0, 2.12345678], True, 1), ("percent", "unemployment_rate", [4.0, 5.0], False, 1),
        ("percent", "indicator_gov_yield_10y", [4.0, 4.4], False, 2), ("percent", "policy_rate", [3.625, 4.0], False, 3),
        ("percent", "real_policy_rate", [1.0], True, 1), ("percentage_points", "yield_slope_2s10s", [0.381], True, 2),
        ("index", "cpi_index", [315.301], False, 3), ("index", "cpi_index", [100.0], False, 1),
        ("ratio", "current_ratio", [1.8123], True, 2), ("usd_billions", "nominal_gdp", [30485.729], False, 3),
        ("thousands", "nonfarm_payrolls_change", [142.0], True, 0), ("percent", "gdp_growth_annual", [2.66325692129214, None], False, 1),
        ("points", "piotroski_f", [7.0], True, 0), ("points", "altman_z2", [3.14159], True, 2), ("percent", "x", [None], False, 1),
        (None, "inflation_peer_zscore", [-0.75, 7.0], True, 2), (None, "altman_z2", [2.634917262], False, 2), (None, "piotroski_f", [7.0], False, 0),
    ],
)  # fmt: skip
def test_one_column_has_one_precision(name, indicator, values, computed, digits):
    assert unit(name, indicator).digits(values, computed=computed) == digits


def test_fractions_that_people_think_of_in_percent_are_told_apart():
    margin, multiple = unit("ratio", "net_margin"), unit("ratio", "current_ratio")
    assert (margin.head, margin.figure(0.118, 1), margin.sentence(0.118)) == ("Percent", "11.8%", "11.8%")
    assert margin.key_change(0.0123, 1) == ("+1.2", "percentage points")
    assert multiple.figure(1.8, 2) == "1.80"
    # Every ratio of the catalogue is one or the other by its name; a new one has to be looked at.
    assert [one.key for one in measures.of_kind("ratio") if not unit("ratio", one.key).fraction] == [
        "current_ratio", "quick_ratio", "debt_to_equity", "net_debt_to_ebitda", "interest_coverage", "asset_turnover",
        "inventory_turnover", "cash_conversion",
    ]  # fmt: skip


def test_a_row_brings_its_currency_and_scale_along():
    row = observation(unit="local_currency", metadata={"currency": "SEK", "scale": 6, "annualized": True})
    assert unit_of(row).head == "SEK millions, annual rate"
    assert unit_of({"unit": "eur", "field": "revenue_ttm"}).head == "EUR"
    assert unit_of({"unit": None}).head == ""


# -- days and times: our own months, UTC, relative within a day, and days as people type them -------------------------


def test_times_are_utc_whatever_zone_they_came_in():
    elsewhere = datetime(2026, 11, 20, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    assert dates.moment(elsewhere) == "19\N{NO-BREAK SPACE}Nov\N{NO-BREAK SPACE}2026, 23:30"


@given(st.dates())
def test_a_day_as_fields_have_it_is_read_back(day):
    assert dates.read_day(dates.day_code(day)) == day


@pytest.mark.parametrize(
    "typed", ["31.4.24", "2026-02-30", "04/05/2026", "2026", "", "2026-11-20T10:00:00Z", "20261120"]
)
def test_what_is_no_day_is_told_with_what_is_allowed(typed):
    with pytest.raises(ValueError, match=r"^“.*” is not a date\. Write year, month, day: 2024-04-30$"):
        dates.read_day(typed)


def test_short_months_and_spaces_around_are_read():
    assert dates.read_day(" 2024-4-3 ") == date(2024, 4, 3)


# -- periods: their notation and their code ---------------------------------------------------------------------------


calendar = st.builds(
    Period.ending,
    st.builds(lambda year, month: date(year, month, 1), st.integers(1600, 2400), st.sampled_from([12])),
    st.just(Frequency.ANNUAL),
) | st.builds(
    lambda year, number, frequency: Period.ending(
        date(year, (number % (12 // frequency.months) + 1) * frequency.months, 1), frequency
    ),
    st.integers(1600, 2400),
    st.integers(0, 11),
    st.sampled_from([Frequency.SEMIANNUAL, Frequency.QUARTERLY, Frequency.MONTHLY]),
)  # fmt: skip


@given(calendar)
def test_every_period_of_the_calendar_is_read_back_from_its_code(period):
    assert Period.parse(dates.code(period)) == period
    assert dates.written(dates.code(period)) == dates.notation(period)


@pytest.mark.parametrize(
    ("start", "end", "frequency", "fiscal", "text"),
    [
        ("2024-07-01", "2024-09-30", "quarterly", (2024, "Q4"), "2024 Q3 (fiscal Q4 2024)"),
        ("2024-07-01", "2024-09-30", "quarterly", (2024, "Q3"), "2024 Q3"),
        ("2024-01-01", "2024-12-31", "annual", (2024, "FY"), "2024"),
        ("2024-01-01", "2024-12-31", "annual", (2025, "FY"), "2024 (fiscal 2025)"),
        ("2024-07-01", "2024-12-31", "semiannual", (2024, "H2"), "2024 H2"),
        ("2024-07-01", "2024-09-30", "quarterly", None, "2024 Q3"),
    ],
)
def test_a_company_s_own_name_of_a_period_stands_beside_another_one_of_the_calendar(
    start, end, frequency, fiscal, text
):
    told = {} if fiscal is None else dict(zip(("fiscalYear", "fiscalPeriod"), fiscal, strict=True))
    row = {
        "periodStart": f"{start}T00:00:00Z",
        "periodEnd": f"{end}T00:00:00Z",
        "frequency": frequency,
        "metadata": told,
    }
    assert dates.of_row(row).replace("\N{NO-BREAK SPACE}", " ") == text


def test_a_period_of_whole_weeks_has_its_fiscal_name_too():
    row = {
        "periodStart": "2024-06-30T00:00:00Z", "periodEnd": "2024-09-28T00:00:00Z", "frequency": "quarterly",
        "metadata": {"fiscalYear": 2024, "fiscalPeriod": "Q4"},
    }  # fmt: skip
    assert dates.of_row(row).replace("\N{NO-BREAK SPACE}", " ").endswith("(fiscal Q4 2024)")


# -- names of companies as people write them, from what registers keep ------------------------------------------------


@pytest.mark.parametrize(
    ("filed", "written"),
    [
        ("EXXON MOBIL CORP", "Exxon Mobil Corp"),
        ("BANK OF AMERICA CORP /DE/", "Bank of America Corp"),
        ("RAYTHEON CO/", "Raytheon Co"),
        ("WEATHERFORD INTERNATIONAL LTD./SWITZERLAND", "Weatherford International Ltd."),
        ("3M CO", "3M Co"),
        ("HARLEY-DAVIDSON, INC.", "Harley-Davidson, Inc."),
        # What has small letters is as somebody wrote it, but for the state behind it.
        ("Apple Inc.", "Apple Inc."),
        ("/DE/", "/DE/"),
    ],
)
def test_names_as_people_write_them(filed: str, written: str) -> None:
    assert company_name(filed) == written


@given(st.text(st.sampled_from("ABCXYZabc &./\\-,'0123456789"), max_size=30))
def test_a_name_keeps_its_letters_in_their_order(filed: str) -> None:
    """Only case changes, and what stands behind a slash goes; twice is as once."""
    written = company_name(filed)
    letters = [letter for letter in filed.upper() if letter.isalnum()]
    kept = [letter for letter in written.upper() if letter.isalnum()]
    assert letters[: len(kept)] == kept
    assert "/" in filed or "\\" in filed or letters == kept
