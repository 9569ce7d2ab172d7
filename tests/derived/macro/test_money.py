"""Formulas over amounts of money and over parts of periods, against numbers worked by hand. All are invented."""

import pytest

from almanac.derived.macro.derivation import InputSeries, derive
from almanac.derived.macro.operators import operator
from almanac.domain.periods import Frequency, Period

from .cells import made, series, vintage

A, Q, M = Frequency.ANNUAL, Frequency.QUARTERLY, Frequency.MONTHLY
QUARTERS = [f"{year}-Q{quarter}" for year in (2022, 2023, 2024) for quarter in (1, 2, 3, 4)]


def scaled(frequency, factor, values):
    plain = series(frequency, {text: [vintage(place, value)] for place, (text, value) in enumerate(values.items())})
    return InputSeries(frequency, plain.cells, factor=factor)


def test_the_credit_impulse_by_hand():
    # Credit of 1000, 1080 and 1180 billions at the ends of three years; output of 100 billions a quarter, then of 125.
    # 100·((1180 − 1080)/500 − (1080 − 1000)/400) = 100·(0.2 − 0.2) = 0; with 1205: 100·(0.25 − 0.2) = 5 points.
    levels = dict.fromkeys(QUARTERS, 1.0) | {"2022-Q4": 1000.0, "2023-Q4": 1080.0, "2024-Q4": 1205.0}
    output = dict.fromkeys(QUARTERS[4:8], 100_000.0) | dict.fromkeys(QUARTERS[8:], 125_000.0)
    found = derive(operator("credit_impulse", {}, Q), Q, [[scaled(Q, 1e9, levels)], [scaled(Q, 1e6, output)]], 200)
    ((_, value),) = made(found, "2024-Q4")
    assert value == pytest.approx(5.0, abs=1e-12)
    # Before, a quarter of output or of credit is missing.
    assert {key for key, one in found.items() if one} == {Period.parse("2024-Q4").key}


def test_the_trade_balance_as_a_share_of_output_by_hand():
    # Deficits of 60 000 millions a month: 720 billions; output of 24 000 billions at annual rates, so that much a year: −3 %.
    months = {f"2024-{month:02}": -60_000.0 for month in range(1, 13)}
    output = dict.fromkeys(QUARTERS[8:], 24_000.0)
    op = operator("share_of_output", {}, Q)
    inputs = [[scaled(M, 1e6, months)], [scaled(Q, 1e9 / 4, output)]]
    ((_, value),) = made(derive(op, Q, inputs, 200), "2024-Q4")
    assert value == pytest.approx(-3.0, abs=1e-12)
    # Without May there is no sum of twelve months.
    del months["2024-05"]
    assert not any(derive(op, Q, [[scaled(M, 1e6, months)], inputs[1]], 200).values())
    # Quarterly flows do as well.
    flows = dict.fromkeys(QUARTERS[8:], -180_000.0)
    ((_, value),) = made(derive(op, Q, [[scaled(Q, 1e6, flows)], inputs[1]], 200), "2024-Q4")
    assert value == pytest.approx(-3.0, abs=1e-12)


def test_the_taylor_rule_by_hand():
    # Taylor (1993), "Discretion versus policy rules in practice", p. 202: r = p + .5y + .5(p − 2) + 2. With inflation at its
    # target and output at its trend the rule gives 4; a mean inflation of 4 and a gap of −1: 4 − .5 + 1 + 2 = 6.5.
    apply = operator("taylor", {}, A).apply
    assert apply(0.0, 2.0) == 4.0
    months = {f"2024-{month:02}": 3.0 if month <= 6 else 5.0 for month in range(1, 13)}
    inputs = [[scaled(M, 1.0, months)], [scaled(A, 1.0, {"2024": -1.0})]]
    op = operator("taylor", {}, A)
    assert [value for _, value in made(derive(op, A, inputs, 600), "2024")] == [pytest.approx(6.5, abs=1e-12)]
    del months["2024-12"]
    assert not any(derive(op, A, [[scaled(M, 1.0, months)], inputs[1]], 600).values())


def test_a_share_of_output_is_revised_with_any_of_its_months():
    months = {f"2024-{month:02}": [vintage(0, -60_000.0)] for month in range(1, 13)}
    months["2024-03"].append(vintage(40, -84_000.0))
    flow = InputSeries(M, series(M, months).cells, factor=1e6)
    output = scaled(Q, 1e9 / 4, dict.fromkeys(QUARTERS[8:], 24_000.0))
    found = made(derive(operator("share_of_output", {}, Q), Q, [[flow], [output]], 200), "2024-Q4")
    assert found == [(3, pytest.approx(-3.0)), (40, pytest.approx(-3.1))]
