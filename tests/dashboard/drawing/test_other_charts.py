"""Columns, curves, dot plots and the small marks beside numbers, read back from their drawings."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.dashboard.drawing.columns import (
    CountColumn,
    column_chart,
    sparkline,
)
from almanac.dashboard.drawing.curves import Curve, curve_chart
from almanac.dashboard.formatting.captions import CurveStep
from almanac.dashboard.formatting.values import points
from tests.support.dashboard_rows import quarters
from tests.support.drawn import dots, elements, parsed, strokes, texts

TENORS = ("2y", "5y", "10y", "30y")


@given(st.lists(st.tuples(st.integers(0, 9_999), st.integers(0, 99)), min_size=1, max_size=40))
def test_stacked_columns_read_back_as_counts_from_zero_up(counts):
    drawing = column_chart([CountColumn(f"{n} Nov", both) for n, both in enumerate(counts)])
    if not any(map(sum, counts)):
        assert drawing is None
        return
    for on, svg in zip(drawing.plots, drawing.svgs, strict=True):
        assert on.y.low == 0
        step = on.y.high / (on.bottom - on.top)
        found = {}
        for part in (0, 1):
            for one in elements(svg, "path", f"column c{part + 1}"):
                for left, low, high in re.findall(r"M([0-9.]+),([0-9.]+)V([0-9.]+)h", one.get("d")):
                    width = float(re.search(r"h([0-9.]+)V", one.get("d"))[1])
                    column = round(on.x.back(float(left) + width / 2))
                    found[column, part] = (on.y.back(float(low)), on.y.back(float(high)))
        assert set(found) == {(n, part) for n, both in enumerate(counts) for part in (0, 1) if both[part]}
        for (column, part), (low, high) in found.items():
            below = sum(counts[column][:part])
            assert low == pytest.approx(below, abs=0.11 * step)
            assert high == pytest.approx(below + counts[column][part], abs=0.11 * step)


yields = st.none() | st.floats(-1, 9).map(lambda value: round(value, 2))


@given(st.lists(st.tuples(yields, yields, yields, yields), min_size=1, max_size=7))
def test_curves_read_back_and_skip_what_is_absent(rows):
    curves = [
        Curve(f"S{n}", [CurveStep(t, v) for t, v in zip(TENORS, row, strict=True)], n, f"S{n}", n == 1)
        for n, row in enumerate(rows, 1)
    ]
    drawing = curve_chart(curves, TENORS)
    if not any(value is not None for row in rows for value in row):
        assert drawing is None
        return
    on, svg = drawing.plots[0], drawing.svgs[0]
    step = (on.y.high - on.y.low) / abs(on.y.stop - on.y.start)
    for number, row in enumerate(rows, 1):
        shown = [(index, value) for index, value in enumerate(row) if value is not None]
        found = [(round(on.x.back(x)), on.y.back(y)) for x, y in dots(svg, f"dot c{number}")]
        assert [index for index, _ in found] == [index for index, _ in shown]
        assert all(
            back == pytest.approx(value, abs=0.06 * step) for (_, back), (_, value) in zip(found, shown, strict=True)
        )
        neighbours = sum(a is not None and b is not None for a, b in itertools.pairwise(row))
        assert sum(len(stroke) - 1 for stroke in strokes(svg, f"line c{number}")) == neighbours
    assert len(texts(svg, "end")) == sum(any(value is not None for value in row) for row in rows)


def test_a_sparkline_has_gaps_and_its_newest_dot():
    svg = sparkline(points(quarters([1.0, 2.0, None, 3.0, 4.0])))
    assert [len(stroke) for stroke in strokes(svg, "line")] == [2, 2]
    assert dots(svg, "newest") == [(69.0, 3.0)]
    assert (parsed(svg).get("width"), parsed(svg).get("height"), parsed(svg).get("aria-hidden")) == ("72", "20", "true")
    assert dots(svg, "dot") == []
    assert sparkline(points(quarters([1.0, None]))) == ""
    assert {y for _, y in strokes(sparkline(points(quarters([2.0, 2.0, 2.0]))), "line")[0]} == {10.0}
