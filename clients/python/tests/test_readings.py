"""Which of several series is looked at follows from what was known then, never from what there is today."""

from datetime import datetime, timezone

import pytest

import almanac_client as a
from almanac_client import _generated_models as m
from almanac_client._panel import _say_frequencies
from almanac_client._readings import of_one_series, reading, steps
from almanac_client._vintages import Triangle

UTC = timezone.utc
NOW = datetime(2026, 11, 20, tzinfo=UTC)


def day(text):
    return datetime.fromisoformat(f"{text}T00:00:00+00:00")


def state(end, known, value, frequency="annual", source="sec", *, forecast=False, withheld=False, start=None):
    """One invented state of one period. A value of None: it is withdrawn."""
    rights = m.RowRights(
        exposure="public", redistributable=not withheld, value_withheld=withheld, reason=None, license="L", license_class="open", attribution="By"
    )  # fmt: skip
    metadata = m.ObservationMetadata(
        series_id=f"{source}:e:i:{frequency}", withdrawn=value is None or None, forecast=forecast or None
    )
    return m.DerivedObservation(
        id=f"{source}-{end}-{known}", entity_id="e", indicator_id="i", source_id=source, provider_id="p",
        value_numeric=value, unit="percent", frequency=frequency, period_start=None if start is None else day(start),
        period_end=day(end), observed_at=day(known), ingested_at=NOW, revision_status="unknown", attribution="By",
        freshness_status="fresh", metadata=metadata, rights=rights, derived_from=[],
    )  # fmt: skip


#: A company that filed yearly until 2023, and by quarters since.
COMPANY = [
    state("2017-12-31", "2018-03-01", 17.0),
    state("2018-12-31", "2019-03-01", 18.0),
    state("2023-12-31", "2024-03-01", 23.0),
    state("2024-03-31", "2024-05-01", 1.0, "quarterly"),
    state("2024-06-30", "2024-08-01", 2.0, "quarterly"),
]


def told(rows, when):
    row = reading(steps(rows), day(when))
    return None if row is None else row.value_numeric


@pytest.mark.parametrize(
    ("when", "value"),
    [("2018-02-28", None), ("2018-06-01", 17.0), ("2024-04-01", 23.0), ("2024-05-02", 1.0), ("2026-01-01", 2.0)],
)
def test_a_company_that_filed_yearly_has_its_yearly_figure_in_those_years(when, value):
    assert told(COMPANY, when) == value


def test_what_came_later_changes_nothing_of_an_earlier_moment():
    rows = [
        *COMPANY,
        state("2018-12-31", "2020-01-01", 18.5, source="other"),
        state("2024-06-30", "2024-09-01", None, "quarterly"),
    ]
    moments = sorted({row.observed_at for row in rows})
    for when in moments:
        known = [row for row in rows if row.observed_at <= when]
        assert reading(steps(known), when) == reading(steps(rows), when)


def test_of_one_end_the_higher_frequency_is_read_and_of_one_frequency_the_shorter_period():
    rows = [
        state("2023-12-31", "2024-03-01", 100.0),
        state("2023-12-31", "2024-03-01", 30.0, "quarterly"),
        state("2024-12-31", "2025-03-01", 110.0, start="2024-01-01"),
        state("2024-12-31", "2025-03-01", 115.0, start="2024-02-01"),
    ]
    assert (told(rows, "2024-03-02"), told(rows, "2025-03-02")) == (30.0, 115.0)
    assert told(rows[::-1], "2024-03-02") == 30.0


def test_sources_are_preferred_in_the_order_of_the_service_and_a_withheld_one_hides_none():
    first = [state("2024-01-31", "2024-02-02", 1.0, "monthly", "first")]
    both = [*first, state("2024-01-31", "2024-02-01", 2.0, "monthly", "second")]
    assert (told(both, "2024-02-01"), told(both, "2024-02-02")) == (2.0, 1.0)
    hidden = [state("2024-01-31", "2024-02-01", None, "monthly", "first", withheld=True), both[1]]
    hidden[0] = state("2024-01-31", "2024-02-01", 1.0, "monthly", "first", withheld=True)
    assert told(hidden, "2024-02-02") == 2.0


def test_forecasts_and_withdrawn_values_are_no_readings():
    rows = [
        state("2024-12-31", "2024-04-01", 9.0, forecast=True),
        state("2023-12-31", "2024-03-01", 3.0),
        state("2022-12-31", "2023-03-01", 2.0),
        state("2023-12-31", "2024-06-01", None),
    ]
    assert [told(rows, when) for when in ("2023-04-01", "2024-05-01", "2024-06-01")] == [2.0, 3.0, 2.0]
    gone = [state("2022-12-31", "2023-03-01", 2.0), state("2022-12-31", "2023-04-01", None)]
    assert told(gone, "2023-04-01") is None


def test_a_triangle_keeps_to_the_series_that_was_preferred_among_what_is_known():
    then = [row for row in COMPANY if row.observed_at < day("2020-01-01")]
    assert {row.frequency for row in of_one_series(then)} == {"annual"}
    assert {row.frequency for row in of_one_series(COMPANY)} == {"quarterly"}
    rows = [
        state("2024-01-31", "2024-02-02", 1.0, "monthly", "first"),
        state("2024-01-31", "2024-02-01", 2.0, "monthly", "second"),
        state("2024-02-29", "2024-03-01", 3.0, "monthly", "second"),
    ]
    assert {row.source_id for row in of_one_series(rows)} == {"first"}
    assert {row.source_id for row in of_one_series(rows[1:])} == {"second"}
    assert of_one_series([]) == []


def test_a_triangle_says_that_another_series_was_known_then():
    triangle = Triangle("i", COMPANY, {"data_version": 1, "as_of": None, "request_ids": []}, NOW)
    assert (triangle.frequency, len(triangle)) == ("quarterly", 2)
    with pytest.warns(
        a.ChoiceWarning, match=r"nothing of sec:e:i:quarterly was known at 2018-06-01.*frequency='annual'"
    ):
        assert len(triangle.as_of("2018-06-01")) == 0
    assert len(triangle.as_of("2024-05-01")) == 1


def test_a_column_of_several_frequencies_is_said_aloud():
    found = {"e": steps(COMPANY)}
    with pytest.warns(
        a.ChoiceWarning, match="are annual from 2024-03-01, quarterly from 2024-05-01: frequency= keeps to one"
    ):
        _say_frequencies("i", found, [day("2024-03-01"), day("2024-08-01")])
    _say_frequencies("i", found, [day("2018-03-01"), day("2019-03-01")])
    _say_frequencies("i", found, [])
