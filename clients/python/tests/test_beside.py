"""Series of different frequencies beside each other, and names of places that are none."""

from calendar import monthrange
from datetime import date, datetime, timedelta, timezone
from statistics import fmean

import pandas as pd
import pytest

import almanac_client as a
from almanac_client import _generated_models as m
from almanac_client._beside import gathered

from .served import asked

UTC = timezone.utc
RIGHTS = m.RowRights(
    exposure="public", redistributable=True, value_withheld=False, reason=None, license="L", license_class="open", attribution="By"
)  # fmt: skip
WITHHELD = m.RowRights(
    exposure="restricted", redistributable=False, value_withheld=True, reason="no", license="L", license_class="open", attribution="By"
)  # fmt: skip


def row(end, value, frequency="monthly", rights=RIGHTS):
    """One invented value of the period that ends on a day."""
    then = datetime.fromisoformat(f"{end}T00:00:00+00:00")
    return m.Observation(
        id=str(end), entity_id="e", indicator_id="i", source_id="src", provider_id="p", value_numeric=value, unit="percent",
        frequency=frequency, period_end=then, observed_at=then, ingested_at=then, revision_status="unknown",
        attribution="By", freshness_status="fresh", metadata=m.ObservationMetadata(series_id="s"), rights=rights,
    )  # fmt: skip


def months(first, *values, year=2024):
    ends = [date(year, month, monthrange(year, month)[1]) for month in range(first, first + len(values))]
    return [row(end, value) for end, value in zip(ends, values, strict=True)]


def told(rows, target="quarterly", word="last"):
    return [(f"{one.period_end:%Y-%m-%d}", one.value_numeric) for one in gathered("x", rows, target, word)]


def test_months_make_quarters_where_all_three_have_a_value():
    rows = months(1, 1.0, 2.0, 6.0, 4.0, None, 5.0, 7.0, 8.0)
    assert told(rows) == [("2024-03-31", 6.0)]
    assert told(rows, word="mean") == [("2024-03-31", 3.0)]
    assert told(rows[::-1], word="sum") == [("2024-03-31", 9.0)]
    assert told(months(1, *range(1, 13)), "annual", "sum") == [("2024-12-31", 78.0)]
    assert told(months(2, *range(1, 12)), "annual") == []
    assert told(months(1, 0.1, 0.2, 0.3), word="sum") == [("2024-03-31", 0.6)]


def test_days_make_months_that_are_over():
    rows = [row(f"2024-0{month}-{day:02}", float(day), "daily") for month in (1, 2) for day in (2, 15, 28)]
    assert told(rows, "monthly") == [("2024-01-31", 28.0)]
    assert told([*rows, row("2024-03-10", 1.0, "daily")], "monthly", "mean") == [
        ("2024-01-31", 15.0),
        ("2024-02-29", 15.0),
    ]
    # Later than the allowance: it says nothing of whether February was whole.
    assert told([*rows, row("2024-03-12", 1.0, "daily")], "monthly") == [("2024-01-31", 28.0)]
    assert told([row("2024-01-31", 3.0, "daily")], "monthly") == [("2024-01-31", 3.0)]
    assert told([row("2024-01-30", 3.0, "weekly"), row("2024-02-06", 4.0, "weekly")], "monthly") == [
        ("2024-01-31", 3.0)
    ]


def test_a_value_that_may_not_be_passed_on_leaves_its_period_without_one():
    rows = [*months(1, 1.0, 2.0), row("2024-03-31", None, rights=WITHHELD)]
    (made,) = gathered("x", rows, "quarterly", "sum")
    assert (made.value_numeric, made.rights.value_withheld, made.rights.reason) == (None, True, "no")


def test_quarters_of_a_companys_own_year_make_no_calendar_years():
    rows = [row(f"2024-{month}", 1.0, "quarterly") for month in ("01-31", "04-30", "07-31", "10-31")]
    with pytest.raises(
        a.InvalidArgument, match=r"x has periods that are not the calendar's \(one ends on 2024-01-31\)"
    ):
        told(rows, "annual")
    with pytest.raises(a.InvalidArgument, match="not the calendar's"):
        told([row("2024-03-30", 1.0, "quarterly")], "annual")


WANTED = {"yield": ("gov_yield_10y", "USA"), "jobless": ("unemployment_rate", "USA")}


@pytest.mark.parametrize("how", ["last", "mean", {"yield": "mean"}])
def test_a_frame_gathers_what_is_of_a_higher_frequency(almanac, how):
    table = almanac.frame(WANTED, frequency="M", how=how, start="2026")
    word = how if isinstance(how, str) else how["yield"]
    assert table.attrs["gathered"] == {"yield": f"monthly from daily, {word} of each complete period"}
    jobless = {
        one.period_end.date(): one.value_numeric for one in almanac.series("unemployment_rate", "USA", start=2026)
    }
    days = almanac.series("gov_yield_10y", "USA")
    known = [one.period_end.date() for one in days]
    expected = {}
    for end in {date(day.year, day.month, monthrange(day.year, day.month)[1]) for day in known if day.year == 2026}:
        values = [
            one.value_numeric for one in days if (one.period_end.year, one.period_end.month) == (end.year, end.month)
        ]
        if any(end <= day <= end + timedelta(days=10) for day in known):
            expected[end] = values[-1] if word == "last" else pytest.approx(fmean(values))
    assert len(expected) >= 1
    rows = {
        end: (one, other) for end, one, other in zip(table["period_end"], table["yield"], table["jobless"], strict=True)
    }
    assert rows == {end: (expected.get(end), jobless.get(end)) for end in sorted(expected.keys() | jobless.keys())}
    assert table.to_pandas().attrs["gathered"] == table.attrs["gathered"]


def test_bounds_in_the_midst_of_a_period_leave_it_out_and_do_not_halve_it(almanac):
    whole = almanac.frame(WANTED, frequency="Q", how="mean")
    part = almanac.frame(WANTED, frequency="Q", how="mean", start="2026-02-15", end="2026-08-20")
    assert part["period_end"] == [date(2026, 6, 30)]
    place = whole["period_end"].index(date(2026, 6, 30))
    assert (part["yield"][0], part["jobless"][0]) == (whole["yield"][place], whole["jobless"][place])
    then = almanac.at("2026-06-30").frame(WANTED, frequency="Q", how="mean", start="2026-01")
    assert then["period_end"] == [date(2026, 3, 31)]  # June's rate was not known then


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"frequency": "Q"}, "yield is daily, not quarterly: how='last', 'mean' or 'sum'"),
        ({"how": "mean"}, "how='mean' makes longer periods: say which by frequency="),
        ({"how": "mean", "frequency": "D"}, "say which by frequency="),
        (
            {"how": "middle", "frequency": "Q"},
            "'how' has to be 'wide' or 'long', or 'last', 'mean' or 'sum', not 'middle'",
        ),
        ({"how": {"yeild": "mean"}, "frequency": "Q"}, "'how' says 'mean' of 'yeild'"),
        ({"how": {"yield": "mean"}, "frequency": "Q"}, "jobless is monthly, not quarterly"),
    ],
)
def test_what_cannot_be_gathered_is_said(almanac, given, message):
    with pytest.raises(a.InvalidArgument, match=message):
        almanac.frame(WANTED, **given)


def test_a_series_is_of_one_place(almanac):
    for ask in (almanac.series, almanac.triangle):
        with pytest.raises(TypeError, match=r"'place' is one name, and cannot be \['USA', 'JPN'\]: frame"):
            ask("gov_yield_10y", ["USA", "JPN"])
    with pytest.raises(TypeError, match="'indicator' is one name"):
        almanac.series(["gov_yield_10y"], "USA")
    assert asked(almanac) == []


def test_a_place_that_is_missing_is_named_by_where_it_stands(almanac):
    codes = pd.Series(["USA", float("nan"), "JPN"])
    with pytest.raises(
        a.InvalidArgument, match=r"place 2 of 3 is nan, of type float, and no name: some regions have no ISO"
    ):
        almanac.panel("gov_yield_10y", codes, at="2026-11-10")
    assert len(almanac.panel("gov_yield_10y", codes.dropna(), at="2026-11-10")) == 2


def test_a_ticker_that_is_a_countrys_code_says_that_it_is_one(almanac):
    """Bolt Bank has the ticker USA here."""
    panel = almanac.panel("gov_yield_10y", ["USA", "ticker:USA", "cik:5002"], at="2026-11-10")
    assert panel["entity"] == ["country_usa", "company_0000005002"]
    with pytest.raises((a.NotFound, a.InvalidArgument), match="QQQQ"):
        almanac.series("gov_yield_10y", "ticker:QQQQ")
