"""Spreads, slopes and means of yields, worked out by hand: no trace of binary fractions."""

from datetime import date

from almanac.reports.rates import YieldReading, rates

DAY = date(2026, 11, 20)


def reading(scope, tenor, value, day=DAY):
    return YieldReading(scope, tenor, value, day, 1_795_000_000, f"s:{scope}:{tenor}", "s", "par", "semi_annual")


def payload(*readings):
    return rates("USA", "United States", "USD", readings, [])


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
