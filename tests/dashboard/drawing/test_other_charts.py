"""Columns, curves, dot plots and the small marks beside numbers, read back from their drawings."""

import itertools
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.dashboard.drawing.columns import (
    CountColumn,
    Dot,
    bar,
    column_chart,
    dot_plot,
    meter,
    percentile,
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


def test_a_day_that_is_not_over_is_hatched_inside_its_column():
    columns = [CountColumn("19 Nov", (100, 20)), CountColumn("20 Nov", (30, 10))]
    for svg, on in zip(column_chart(columns, so_far=True).svgs, column_chart(columns).plots, strict=True):
        (hatch,) = elements(svg, "path", "hatch")
        places = [place for stroke in strokes(svg, "hatch") for place in stroke]
        assert len(places) > 4
        assert all(on.y(40) - 0.1 <= y <= on.bottom + 0.1 for _, y in places)
        assert all(abs(x - on.x(1)) <= 24.1 for x, _ in places)
        assert "NaN" not in hatch.get("d")
    assert elements(column_chart(columns).svgs[0], "path", "hatch") == []


def test_the_newest_column_always_has_its_label():
    svgs = column_chart([CountColumn(f"{n} Nov", (1,)) for n in range(1, 31)]).svgs
    for svg in svgs:
        assert texts(svg, "tick")[-1][0] == "30 Nov"
    assert len(texts(svgs[2], "tick")) < len(texts(svgs[0], "tick"))


def test_counts_below_zero_or_of_other_parts_are_refused():
    for columns in ([CountColumn("a", (1, -1))], [CountColumn("a", (1, 1)), CountColumn("b", (1,))]):
        with pytest.raises(ValueError, match="the same parts, each counted from zero up"):
            column_chart(columns)


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


def test_the_scope_lies_on_top_of_its_peers_and_its_past_below():
    curves = [
        Curve("USA", [CurveStep("2y", 4.0), CurveStep("5y", 4.1)], 1, own=True),
        Curve("JPN", [CurveStep("2y", 1.0), CurveStep("5y", 1.1)], 4),
    ]
    svg = curve_chart(curves, TENORS, ghost=[CurveStep("2y", 3.0), CurveStep("5y", 3.1)]).svgs[0]
    names = [one.get("class") for one in parsed(svg).iter("path") if "line" in one.get("class").split()]
    assert names == ["line ghost", "line c4", "line c1 own"]
    with pytest.raises(ValueError, match="'7y' is none of the tenors 2y, 5y, 10y, 30y"):
        curve_chart([Curve("USA", [CurveStep("7y", 1.0)])], TENORS)


def test_dots_lie_at_their_values_and_absent_ones_say_so():
    rows = [Dot("USA", 38.0, "+38 bp", True), Dot("JPN", -71.0, "−71 bp"), Dot("CHE", None)]
    drawing = dot_plot(rows)
    on, svg = drawing.plots[0], drawing.svgs[0]
    assert [(round(on.x.back(x)), round(on.y.back(y))) for x, y in dots(svg, "dot")] == [(38, 0), (-71, 1)]
    assert on.x.low <= 0 <= on.x.high
    assert [text for text, *_ in texts(svg, "none")] == ["No data"]
    assert [text for text, *_ in texts(svg, "end")] == ["+38 bp", "−71 bp"]
    assert dot_plot([Dot("CHE", None)]) is None
    assert dot_plot([Dot("CHE", 0.0, "0 bp")]) is not None


def test_a_sparkline_has_gaps_and_its_newest_dot():
    svg = sparkline(points(quarters([1.0, 2.0, None, 3.0, 4.0])))
    assert [len(stroke) for stroke in strokes(svg, "line")] == [2, 2]
    assert dots(svg, "newest") == [(69.0, 3.0)]
    assert (parsed(svg).get("width"), parsed(svg).get("height"), parsed(svg).get("aria-hidden")) == ("72", "20", "true")
    assert dots(svg, "dot") == []
    assert sparkline(points(quarters([1.0, None]))) == ""
    assert {y for _, y in strokes(sparkline(points(quarters([2.0, 2.0, 2.0]))), "line")[0]} == {10.0}


def test_a_value_of_a_sparkline_that_stands_alone_is_a_small_dot():
    """Of a company whose early years are known by the year alone nothing was drawn of them, in room that was left for them."""
    svg = sparkline(points(quarters([1.0, None, 3.0, "none", 2.0, 3.0])))
    assert [len(stroke) for stroke in strokes(svg, "line")] == [2]
    assert [y for _, y in dots(svg, "dot")] == [17.0, 3.0]
    assert dots(svg, "newest") == [(69.0, 3.0)]


@given(st.floats(-500, 500), st.floats(-500, 500), st.floats(-500, 500))
def test_bars_of_one_column_compare(value, low, high):
    svg = bar(value, low, high)
    for rect in parsed(svg).iter("rect"):
        assert float(rect.get("x")) >= 0
        assert float(rect.get("x")) + float(rect.get("width")) <= 96
        assert rect.get("class") == f"fill {'minus' if value < 0 else 'plus'}"


def test_bars_start_at_zero():
    (full,), (half,) = (list(parsed(bar(value, -100, 100)).iter("rect")) for value in (100, 50))
    assert (full.get("x"), full.get("width"), half.get("width")) == ("48", "47.5", "23.8")
    assert bar(None, -1, 1) == percentile(None) == meter(None) == ""
    assert list(parsed(bar(0.0, 0, 0)).iter("rect")) == []


def test_percentiles_and_meters():
    assert [dots(percentile(value), "dot")[0][0] for value in (0, 50, 100, 120)] == [5, 50, 95, 95]
    widths = [[rect.get("width") for rect in parsed(meter(share)).iter("rect")] for share in (0, 0.63, 1.4)]
    assert widths == [["96"], ["96", "60.5"], ["96", "96"]]
