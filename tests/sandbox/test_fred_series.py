"""What the simulated world holds: who, what, since when, and how plausible."""

from datetime import UTC, date, datetime

import pytest

from almanac.catalog.records import Catalog
from almanac.domain.observations import INITIAL, REVISED, UNKNOWN
from almanac.domain.periods import Period, end_of, start_of
from almanac.domain.rights import Exposure
from almanac.sandbox.world import world

from .simulated import NOW, YESTERDAY, Seen, read


def test_one_source_is_withheld_and_says_why(catalog: Catalog, seen: Seen) -> None:
    exposures = {name: catalog.sources[name].rights.exposure for name in {source for source, _ in seen.stated}}
    assert exposures == {
        "sandbox-us-treasury-par": Exposure.public,
        "sandbox-mof-japan": Exposure.public,
        "sandbox-fred": Exposure.public,
        "sandbox-licensed": Exposure.restricted,
    }
    assert catalog.sources["sandbox-licensed"].rights.reason
    held = {
        catalog.series["sandbox-licensed"][native].indicator
        for source, native in seen.stated
        if source == "sandbox-licensed"
    }
    assert held == {
        "high_yield_spread", "financial_conditions_index", "consumer_confidence", "potential_gdp", "output_gap", "gov_yield_10y",
    }  # fmt: skip


def test_two_providers_agree_on_the_same_cells(seen: Seen) -> None:
    treasury = seen.latest("sandbox-us-treasury-par", "BC_10YEAR")
    fred = seen.latest("sandbox-fred", "SIMUSAY10Y")
    assert {day for day in treasury if day not in fred} >= {date(2019, 7, 4), date(2019, 11, 11), YESTERDAY}
    assert len(fred) > 3600
    assert all(treasury[day] == value for day, value in fred.items())


def test_a_misprint_of_the_treasury_is_corrected_and_both_states_are_kept(seen: Seen) -> None:
    vintages = seen.cells("sandbox-us-treasury-par", "BC_10YEAR")[date(2023, 6, 15)]
    assert [datetime.fromtimestamp(one.known, UTC).isoformat() for one in vintages] == [
        "2023-06-15T23:59:59+00:00",
        "2024-02-01T12:00:00+00:00",
    ]
    assert vintages[0].value - vintages[1].value == pytest.approx(0.1, abs=0.011)


def test_gdp_is_released_a_month_after_the_quarter_and_revised(seen: Seen) -> None:
    vintages = seen.cells("sandbox-fred", "SIMUSARGDP")[date(2015, 3, 31)]
    days = [datetime.fromtimestamp(one.known, UTC).date().isoformat() for one in vintages]
    # 30 May 2015, 30 July 2016 and 30 July 2017 were no business days.
    assert days == ["2015-04-30", "2015-06-01", "2015-06-30", "2016-08-01", "2017-07-31", "2018-07-30"]
    assert vintages[0].flags & INITIAL
    assert all(one.flags & REVISED for one in vintages[1:])


def test_the_history_before_the_archives_begin_has_no_first_release(seen: Seen) -> None:
    vintages = seen.cells("sandbox-fred", "SIMDEUCPI")[date(2010, 6, 30)]
    assert datetime.fromtimestamp(vintages[0].known, UTC).date() == date(2011, 12, 30)
    assert vintages[0].flags & UNKNOWN


def test_a_value_is_withdrawn_another_missing_and_a_series_has_stopped(catalog: Catalog, seen: Seen) -> None:
    withdrawn = seen.cells("sandbox-fred", "SIMPRTHOUSE")[date(2018, 9, 30)]
    assert withdrawn[-1].withdrawn
    assert datetime.fromtimestamp(withdrawn[-1].known, UTC).date() == date(2019, 6, 3)
    assert not withdrawn[0].withdrawn
    assert catalog.series["sandbox-fred"]["SIMGBRTURN"].discontinued
    assert max(seen.latest("sandbox-fred", "SIMGBRTURN")) == date(2020, 12, 31)


def test_a_month_the_publisher_skipped_has_no_row(catalog: Catalog) -> None:
    after = int(datetime(2026, 2, 20, tzinfo=UTC).timestamp())
    later = read(catalog, [page for page in world(after, companies=False) if "series_id=SIMUSAUNRATE" in page.url])
    latest = later.latest("sandbox-fred", "SIMUSAUNRATE")
    assert {date(2025, 9, 30), date(2025, 11, 30)} < set(latest)
    assert date(2025, 10, 31) not in latest


def test_the_past_was_known_in_the_past(seen: Seen) -> None:
    """As of any month of ten years there is a yield in every scope no older than eleven days."""
    for source, native in (
        ("sandbox-us-treasury-par", "BC_10YEAR"), ("sandbox-mof-japan", "10Y"), ("sandbox-fred", "SIMGBRY10Y"),
    ):  # fmt: skip
        first_known = {end: found[0].known for end, found in seen.cells(source, native).items() if found}
        for year in range(2016, 2024):
            for month in range(1, 13):
                asked = int(datetime(year, month, 15, tzinfo=UTC).timestamp())
                newest = max(end for end, known in first_known.items() if known <= asked)
                assert (date(year, month, 15) - newest).days <= 11, (source, year, month)


def test_projections_reach_into_years_to_come(seen: Seen) -> None:
    ends = seen.cells("sandbox-licensed", "SIMDEUGAP")
    assert max(ends) == date(2024, 12, 31)
    assert ends[date(2024, 12, 31)][0].known < NOW


def test_release_days_are_those_of_the_vintages_and_reach_a_year_ahead(seen: Seen) -> None:
    calendar = seen.releases["10"]
    assert max(calendar) > date(2025, 2, 1)
    first = {
        min(one.known for one in found)
        for end, found in seen.cells("sandbox-fred", "SIMUSACPI").items()
        if end > date(2012, 1, 1)
    }
    assert {datetime.fromtimestamp(known, UTC).date() for known in first} <= calendar


def test_exports_less_imports_are_the_trade_balance(seen: Seen) -> None:
    exports, imports, balance = (seen.latest("sandbox-fred", f"SIMUSA{code}") for code in ("EXP", "IMP", "TRADE"))
    gap = [abs(exports[end] - imports[end] - value) / imports[end] for end, value in balance.items()]
    assert max(gap) < 0.02


def test_a_pinned_value_guards_the_whole_chain(seen: Seen) -> None:
    """Any change of noise, seeds, paths or rounding moves these; whoever changes them on purpose pins anew."""
    found = (
        seen.latest("sandbox-us-treasury-par", "BC_10YEAR")[date(2020, 3, 16)],
        seen.latest("sandbox-mof-japan", "30Y")[date(2022, 8, 1)],
        seen.latest("sandbox-fred", "SIMDEUCPI")[date(2023, 9, 30)],
        seen.latest("sandbox-fred", "SIMUSACLAIMS")[date(2020, 5, 2)],
    )
    assert found == (0.92, 1.286, 123.621, 1135000.0)


def test_periods_start_where_their_frequency_says(catalog: Catalog, seen: Seen) -> None:
    for (source, native), statements in seen.stated.items():
        frequency = catalog.series[source][native].frequency
        period = statements[-1][1].period
        if frequency.months:
            assert start_of(period) == Period.ending(end_of(period), frequency).start
