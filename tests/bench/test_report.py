"""Ratios are taken round by round; percentiles over all rounds."""

import pytest

from bench.report import Round, against, lines, percentile, table


def test_percentiles_by_nearest_rank():
    assert percentile([5, 1, 3], 0.5) == 3
    assert percentile(list(range(1, 101)), 0.99) == 100
    assert percentile([7], 0.99) == 7


def test_ratios_are_those_of_each_round():
    floor = [
        Round(1000, 10.0, 0.5, [1000], 90_000),
        Round(100, 20.0, 0.5, [3000], 90_000),
        Round(100, 30.0, 0.5, [2000], 90_000),
    ]
    other = [Round(500, 100.0, 0.1, [1], 80_000), Round(10, None, 0.1, [2], 80_000), Round(20, None, 0.1, [3], 80_000)]
    first, second = lines({"floor": floor, "other": other})
    assert (first.ratio, first.low, first.high) == (1.0, 1.0, 1.0)
    assert (first.rate, first.p50, first.p99, first.server_cpu) == (100, 2.0, 3.0, 20.0)
    assert (second.ratio, second.low, second.high) == pytest.approx((0.2, 0.1, 0.5))
    assert (second.server_cpu, second.cpu_ratio) == (100.0, 0.1)
    shown = table([first, second]).splitlines()
    assert shown[2] == "| floor | 1.000 | 1.000 to 1.000 | 1.000 | 100 | 2.0 | 3.0 | 20 | 90 | 50% |"
    assert shown[3].startswith("| other | 0.200 | 0.100 to 0.500 | 0.100 | 20 |")


def test_rounds_that_do_not_match_are_refused():
    one = Round(1, None, 0.1, [1], 1)
    with pytest.raises(ValueError, match="longer"):
        lines({"floor": [one, one], "other": [one]})


def test_how_many_times_the_rate_of_peers():
    ours = [Round(1000, 100.0, 0.5, [1], 1), Round(900, 100.0, 0.5, [1], 1), Round(800, None, 0.5, [1], 1)]
    theirs = [Round(100, 900.0, 0.5, [1], 1), Round(100, 1100.0, 0.5, [1], 1), Round(100, 5.0, 0.5, [1], 1)]
    shown = against("ours", {"ours": ours, "theirs": theirs}, ["theirs"]).splitlines()
    assert shown[2:] == ["| theirs | 9.0 | 8.0 to 10.0 | 10.0 |"]
