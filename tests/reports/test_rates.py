"""Spreads, slopes and means of yields, worked out by hand: no trace of binary fractions."""

from datetime import date, timedelta

import msgspec

from almanac.reports.rates import SLOPES, SlopeLegs, YieldReading, of_day, rates, without_gone

DAY = date(2026, 11, 20)


def reading(scope, tenor, value, day=DAY):
    return YieldReading(scope, tenor, value, day, 1_795_000_000, f"s:{scope}:{tenor}", "s", "par", "semi_annual")


def payload(*readings, asked=None):
    """With slopes of the latest legs."""
    by = {(one.scope, one.tenor): one for one in readings}
    slopes = [
        SlopeLegs(scope, name, by[scope, short], by[scope, long])
        for scope in dict.fromkeys(one.scope for one in readings)
        for name, (short, long) in SLOPES.items()
        if {(scope, short), (scope, long)} <= by.keys()
    ]
    return rates("USA", "United States", "USD", readings, slopes, [], asked)


def test_spreads_and_slopes_are_exact_in_decimals():
    found = payload(
        reading("USA", "2y", 3.0), reading("USA", "10y", 3.69), reading("CHE", "2y", 4.48), reading("CHE", "10y", 3.0)
    )
    # Floats make -148.00000000000006 and 69 + 1e-14 of these.
    assert [peer.spread_bp for spread in found.spreads for peer in spread.peers] == [-148.0, 69.0]
    assert [slope.value_bp for slope in found.slopes] == [69.0]
    assert [slope.value_bp for slope in found.peer_slopes] == [-148.0]


def test_a_mean_and_what_is_held_against_it_have_twelve_digits():
    (spread,) = payload(
        *(reading(scope, "10y", y) for scope, y in [("USA", 4.5), ("CHE", 4.1), ("CAN", 4.2), ("GBR", 4.5)])
    ).spreads
    assert (spread.peer_mean, spread.spread_to_mean_bp) == (4.26666666667, 23.3333333333)
    (alone,) = payload(reading("USA", "10y", 4.5)).spreads
    assert (alone.peer_mean, alone.spread_to_mean_bp, alone.peer_count) == (None, None, 0)


def test_a_scope_that_yields_what_its_peers_do_has_no_spread():
    (spread,) = payload(*(reading(scope, "10y", 4.3) for scope in ("USA", "CHE", "CAN", "GBR"))).spreads
    assert spread.spread_to_mean_bp == 0.0


def test_legs_more_than_ten_days_apart_are_no_slope():
    for gap, value, excluded in ((10, 69.0, None), (11, None, "stale")):
        old = reading("USA", "2y", 3.0, DAY - timedelta(days=gap))
        told = payload(old, reading("USA", "10y", 3.69))
        (slope,) = told.slopes
        assert (slope.value_bp, slope.excluded) == (value, excluded)
        assert [leg.tenor for leg in slope.legs] == ["2y", "10y"]
        assert ("too far apart for a slope" in " ".join(told.comparability)) == (excluded is not None)


def test_a_slope_of_an_older_day_says_which_day_it_is_of():
    day = date(2022, 5, 3)
    legs = SlopeLegs("USA", "2s10s", reading("USA", "2y", 2.75, day), reading("USA", "10y", 3.0, day))
    latest = [reading("USA", "2y", 2.75, day), reading("USA", "10y", 4.1)]
    found = rates("USA", "United States", "USD", latest, [legs], [], None)
    (slope,) = found.slopes
    assert (slope.value_bp, slope.excluded) == (25.0, None)
    assert {leg.period_end for leg in slope.legs} == {"2022-05-03T00:00:00Z"}
    assert "USA 2s10s is of 2022-05-03, the newest day on which both its legs are known." in found.comparability


def test_a_row_of_a_past_day_is_of_the_newest_day_of_its_own_curve():
    found = payload(reading("USA", "2y", 3.0, date(2026, 11, 1)), reading("USA", "10y", 3.7), asked=1_796_000_000)
    assert (of_day(found).period_end, found.as_of) == ("2026-11-20T00:00:00Z", "2026-11-30T00:53:20Z")
    assert of_day(payload(reading("CHE", "2y", 1.0))) is None


def test_a_yield_of_long_ago_is_none_of_a_curve():
    def curve(days, **more):
        old = msgspec.structs.replace(reading("USA", "30y", 5.37, DAY - timedelta(days=days)), **more)
        return without_gone({"10y": reading("USA", "10y", 4.71), "30y": old})

    assert list(curve(31)[0]) == ["10y", "30y"]
    kept, notes = curve(32)
    assert list(kept) == ["10y"]
    assert notes == ["USA 30y: its newest yield is of 2026-10-19, too old for a curve of 2026-11-20."]
    # What is published by the month is of the month before.
    assert list(curve(80, allowance=90)[0]) == ["10y", "30y"]
    assert without_gone({}) == ({}, [])


def test_a_curve_of_several_days_says_so():
    found = payload(reading("USA", "2y", 3.0, DAY - timedelta(days=11)), reading("USA", "10y", 3.7))
    assert "USA 2y is of 2026-11-09, its curve of 2026-11-20." in found.comparability
