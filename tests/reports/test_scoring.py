"""Scores among peers, against a plain oracle in exact fractions. All figures invented."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.catalog import measures as catalogue
from almanac.reports.scoring import (
    MEASURES,
    MODEL,
    PILLARS,
    PILLARS_MINIMUM,
    SECTOR_MINIMUM,
    compared,
    percentiles,
    score,
)

NAN = math.nan


def arrays(columns):
    return {measure: np.array(values, dtype=float) for measure, values in columns.items()}


def scored(columns, sectors, eligible=None):
    count = len(sectors)
    mask = np.ones(count, dtype=bool) if eligible is None else np.array(eligible, dtype=bool)
    return score(arrays(columns), np.array(sectors), mask)


# -- the oracle -----------------------------------------------------------------------------------------------------------


def percentile(place, values, sectors, eligible):
    """Mid-rank of one value among its peers, by counting."""
    value = values[place]
    if not eligible[place] or math.isnan(value):
        return None
    everyone = [i for i, other in enumerate(values) if eligible[i] and not math.isnan(other)]
    sector = [i for i in everyone if sectors[i] == sectors[place]]
    peers = sector if len(sector) >= 10 else everyone
    below = sum(values[i] < value for i in peers)
    equal = sum(values[i] == value for i in peers)
    return Fraction(2 * below + equal, 2 * len(peers))


def plainly(columns, sectors, eligible):
    """(score, pillars, coverage) of each company, shares of one, not rounded; None: none."""
    found = []
    for place in range(len(sectors)):
        pillars, there = {}, 0
        for pillar, measures in PILLARS.items():
            ranks = []
            for measure, direction in measures.items():
                if measure in columns:
                    rank = percentile(place, [direction * v for v in columns[measure]], sectors, eligible)
                    if rank is not None:
                        ranks.append(rank)
            there += len(ranks)
            pillars[pillar] = sum(ranks) / len(ranks) if ranks else None
        known = [value for value in pillars.values() if value is not None]
        total = sum(known) / len(known) if len(known) >= 3 else None
        found.append((total, pillars, Fraction(there, sum(len(m) for m in PILLARS.values()))))
    return found


def same(shown, exact):
    """A shown number from 0 to 100 with one decimal against the exact share."""
    if exact is None:
        return math.isnan(shown)
    return abs(shown - float(exact * 100)) <= 0.05 + 1e-9 and shown == round(shown, 1)


value = st.one_of(st.just(NAN), st.integers(-3, 3).map(float), st.floats(-1e6, 1e6, allow_subnormal=False))


@st.composite
def universes(draw, least=1):
    count = draw(st.integers(least, 45))
    column = st.lists(value, min_size=count, max_size=count)
    names = draw(st.lists(st.sampled_from(MEASURES), unique=True, max_size=9))
    columns = {measure: draw(column) for measure in names}
    sectors = draw(st.lists(st.sampled_from([7, -1, 300]), min_size=count, max_size=count))
    eligible = draw(st.lists(st.sampled_from([True, True, True, False]), min_size=count, max_size=count))
    return columns, sectors, eligible


@given(universes())
def test_equal_to_counting_by_hand(universe):
    columns, sectors, eligible = universe
    found = scored(columns, sectors, eligible)
    assert set(found.pillars) == set(PILLARS)
    for place, (total, pillars, coverage) in enumerate(plainly(columns, sectors, eligible)):
        assert same(found.score[place], total)
        assert all(same(found.pillars[name][place], pillars[name]) for name in PILLARS)
        assert found.coverage[place] == pytest.approx(float(coverage))


@given(universes(), st.randoms(use_true_random=False))
def test_the_order_of_companies_does_not_matter(universe, random):
    columns, sectors, eligible = universe
    places = list(range(len(sectors)))
    random.shuffle(places)
    found = scored(columns, sectors, eligible)
    moved = scored(
        {measure: [values[i] for i in places] for measure, values in columns.items()},
        [sectors[i] for i in places],
        [eligible[i] for i in places],
    )
    assert np.array_equal(moved.score, found.score[places], equal_nan=True)
    assert np.array_equal(moved.coverage, found.coverage[places])
    for name in PILLARS:
        assert np.array_equal(moved.pillars[name], found.pillars[name][places], equal_nan=True)


@given(universes(), st.data())
def test_a_better_figure_never_lowers_a_score(universe, data):
    columns, sectors, eligible = universe
    place = data.draw(st.integers(0, len(sectors) - 1))
    before = scored(columns, sectors, eligible)
    for pillar, measures in PILLARS.items():
        for measure, direction in measures.items():
            if measure not in columns or math.isnan(columns[measure][place]):
                continue
            better = list(columns[measure])
            better[place] += direction * data.draw(st.floats(0, 1e6))
            after = scored({**columns, measure: better}, sectors, eligible)
            assert not after.pillars[pillar][place] < before.pillars[pillar][place]
            assert not after.score[place] < before.score[place]
            assert math.isnan(after.score[place]) == math.isnan(before.score[place])


# -- by hand --------------------------------------------------------------------------------------------------------------


def ranks(values, groups=None, mask=None):
    count = len(values)
    return percentiles(
        np.array(values, dtype=float),
        np.array(groups or [0] * count, dtype=np.int32),
        np.array([True] * count if mask is None else mask, dtype=bool),
    ).tolist()


def test_mid_ranks():
    assert ranks([10, 20, 30, 40]) == [0.125, 0.375, 0.625, 0.875]
    assert ranks([40, 10, 10, 20]) == [0.875, 0.25, 0.25, 0.625]
    assert ranks([5, 5, 5]) == [0.5, 0.5, 0.5]
    assert ranks([7]) == [0.5]
    assert ranks([-0.0, 0.0]) == [0.5, 0.5]
    assert ranks([]) == []


def test_who_has_no_value_is_no_peer():
    assert np.array_equal(ranks([1, NAN, 2]), [0.25, NAN, 0.75], equal_nan=True)
    assert np.array_equal(ranks([1, 0, 2], mask=[True, False, True]), [0.25, NAN, 0.75], equal_nan=True)
    assert np.array_equal(ranks([NAN, NAN]), [NAN, NAN], equal_nan=True)


def test_a_sector_of_ten_is_compared_within_itself_one_of_nine_with_all():
    sector = list(range(10))
    others = [100 + i for i in range(9)]
    found = ranks([*sector, *others], [0] * 10 + [1] * 9)
    assert found[:10] == [(2 * i + 1) / 20 for i in range(10)]
    # Nine: against all nineteen.
    assert found[10:] == [(2 * (10 + i) + 1) / 38 for i in range(9)]


def test_a_sector_counts_those_that_have_the_measure():
    values = [*range(9), NAN, *range(100, 110)]
    found = ranks(values, [0] * 10 + [1] * 10)
    assert found[:9] == [(2 * i + 1) / 38 for i in range(9)]
    assert found[10:] == [(2 * i + 1) / 20 for i in range(10)]


def test_a_pillar_is_the_mean_of_its_measures_and_the_score_that_of_the_pillars():
    """Four companies; the second has the middle of each measure it has."""
    columns = {
        "net_margin": [1, 2, 3, 4],  # profitability: 12.5, 37.5, 62.5, 87.5
        "return_on_assets": [4, 3, NAN, 1],  # 83.3, 50, -, 16.7
        "revenue_growth_yoy": [1, 2, 3, 4],
        "debt_to_equity": [1, 2, 3, 4],  # less is better
        "beneish_m": [-1, NAN, -2, -3],
    }
    found = scored(columns, [0] * 4)
    assert found.pillars["profitability"].tolist() == [47.9, 43.8, 62.5, 52.1]
    assert found.pillars["growth"].tolist() == [12.5, 37.5, 62.5, 87.5]
    assert found.pillars["strength"].tolist() == [87.5, 62.5, 37.5, 12.5]
    assert np.array_equal(found.pillars["quality"], [16.7, NAN, 50, 83.3], equal_nan=True)
    assert np.isnan(found.pillars["efficiency"]).all()
    # (47.917 + 12.5 + 87.5 + 16.667) / 4, (43.75 + 37.5 + 62.5) / 3, …
    assert found.score.tolist() == [41.1, 47.9, 53.1, 58.9]
    assert found.coverage.tolist() == pytest.approx([5 / 25, 4 / 25, 4 / 25, 5 / 25])
    assert found.model == MODEL == "pillars-1"


def test_fewer_than_three_pillars_are_no_score():
    two = {"net_margin": [1, 2], "revenue_growth_yoy": [1, 2]}
    assert np.isnan(scored(two, [0, 0]).score).all()
    assert scored(two, [0, 0]).pillars["growth"].tolist() == [25, 75]
    three = {**two, "asset_turnover": [NAN, 2]}
    assert np.array_equal(scored(three, [0, 0]).score, [NAN, 66.7], equal_nan=True)


def test_who_takes_no_part_has_nothing_and_changes_nothing():
    columns = {"net_margin": [1, 2, 9], "revenue_growth_yoy": [1, 2, 9], "asset_turnover": [1, 2, 9]}
    found = scored(columns, [0, 0, 0], [True, True, False])
    assert np.array_equal(found.score, [25, 75, NAN], equal_nan=True)
    assert found.coverage[2] == 0
    assert all(math.isnan(pillar[2]) for pillar in found.pillars.values())


def test_columns_that_are_no_measure_of_the_score_are_passed_over():
    assert np.isnan(scored({"revenue_ttm": [1, 2], "rd_to_revenue": [1, 2]}, [0, 0]).score).all()


def test_no_companies():
    found = scored({measure: [] for measure in MEASURES}, [])
    assert (len(found.score), len(found.coverage), len(found.pillars["growth"])) == (0, 0, 0)


def test_measures_and_minima_are_those_declared():
    assert len(MEASURES) == len(set(MEASURES)) == 25
    assert (SECTOR_MINIMUM, PILLARS_MINIMUM) == (10, 3)
    assert list(PILLARS) == ["profitability", "growth", "strength", "efficiency", "quality"]
    assert set(MEASURES) <= {measure.key for kind in ("ratio", "score") for measure in catalogue.of_kind(kind)}
    assert {direction for measures in PILLARS.values() for direction in measures.values()} == {1, -1}


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_among_whom_a_company_is_compared_is_counted_as_percentiles_are_taken(count, seed):
    """A measure is compared within the sector just where the rest of the world makes no difference to its percentile."""
    rng = np.random.default_rng(seed)
    sectors, eligible = rng.integers(0, 2, count), rng.random(count) < 0.8
    columns = {measure: np.where(rng.random(count) < 0.6, rng.random(count), NAN) for measure in MEASURES[:4]}
    for place in np.flatnonzero(eligible).tolist():
        told = compared(columns, sectors, eligible, place)
        assert told.all == eligible.sum()
        assert told.sector == (eligible & (sectors == sectors[place])).sum()
        has = [values for values in columns.values() if not math.isnan(values[place])]
        assert told.measures == len(has)
        own = eligible & (sectors == sectors[place])
        alone = [percentiles(values, sectors.astype(np.int32), own)[place] for values in has]
        whole = [percentiles(values, sectors.astype(np.int32), eligible)[place] for values in has]
        others = [(eligible & ~own & ~np.isnan(values)).any() for values in has]
        within = [(own & ~np.isnan(values)).sum() >= SECTOR_MINIMUM for values in has]
        assert told.measures_within_sector == sum(within)
        assert all(one == other for one, other, inside, _ in zip(alone, whole, within, others, strict=True) if inside)
