"""Charts as SVG: figures, lines, scales, bars and the data beside them."""

import itertools
import json
import re
from datetime import date, timedelta
from decimal import Decimal
from itertools import chain, pairwise

import jinja2
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markupsafe import Markup

from almanac.dashboard.drawing.columns import (
    CountColumn,
    column_chart,
    sparkline,
)
from almanac.dashboard.drawing.curves import Curve, curve_chart
from almanac.dashboard.drawing.figure import (
    ChartFigure,
    data_block,
    line_readout,
)
from almanac.dashboard.drawing.lines import ChartLine, line_chart
from almanac.dashboard.drawing.svg import MOST, LinearScale, thinned, time_ticks, value_axis
from almanac.dashboard.formatting.captions import CurveStep
from almanac.dashboard.formatting.numbers import unit
from almanac.dashboard.formatting.values import ChartPoint, points, runs
from almanac.dashboard.site import FILTERS
from almanac.domain.periods import Frequency
from tests.support.dashboard_rows import SHUT, observation, quarters
from tests.support.drawn import dots, elements, joined, parsed, strokes, texts

PERCENT = unit("percent")


def test_a_withheld_value_is_in_no_readout():
    readout = line_readout(
        [ChartLine("GDP", points([observation(value=98765.4, rights=SHUT)]))], PERCENT, 1, firsts=True
    )
    assert "987" not in readout


@given(st.text())
def test_no_text_ends_a_data_block(text):
    found = data_block({"name": text, text: "</script><script>"})
    assert json.loads(found) == {"name": text, text: "</script><script>"}
    assert not set(found) & set("<>&\u2028\u2029")
    assert isinstance(found, Markup)


def test_templates_show_drawings_as_they_are_and_names_escaped():
    evil = '"><script>alert(1)</script>'
    lines = [ChartLine(evil, points(quarters([1.0, 2.0])), n, evil) for n in (1, 2)]
    figure = ChartFigure(
        id="a", title=evil, caption=evil, drawing=line_chart(lines), readout=line_readout(lines, PERCENT, 1)
    )
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters |= FILTERS
    template = environment.from_string(
        "<h2>{{ f.title }}</h2><p>{{ f.caption }}</p>{% for svg in f.svgs %}{{ svg }}{% endfor %}{{ f.readout }}"
        "{{ '2026-11-20T10:00:00Z' | time_tag }}{{ -6.4 | number }}"
    )
    html = template.render(f=figure)
    assert "<script" not in html
    assert html.count("<svg") == 3
    assert '<time datetime="2026-11-20T10:00:00Z">20\N{NO-BREAK SPACE}Nov\N{NO-BREAK SPACE}2026</time>−6.4' in html


# -- lines: what is drawn reads back as the rows, gaps are never joined, and nothing withheld has a place -------------


values = st.lists(
    st.none() | st.just("none") | st.floats(-1e4, 1e4).map(lambda value: round(value, 2)), min_size=1, max_size=40
)


def chart(rows, **more):
    return line_chart([ChartLine("GDP", points(rows), 1, "2.1%")], **more)


def near(where, on, point):
    """Whether a place is that of a point, to the one decimal that is written."""
    return abs(where[0] - on.x(point.at)) < 0.06 and abs(where[1] - on.y(point.value)) < 0.06


@given(values)
def test_the_points_of_every_width_read_back_as_the_rows(values):
    found = points(quarters(values))
    drawing = line_chart([ChartLine("GDP", found)])
    wanted = list(runs(found))
    if not wanted:
        assert drawing is None
        return
    for on, svg in zip(drawing.plots, drawing.svgs, strict=True):
        lines, alone = strokes(svg, "line c1"), dots(svg, "dot c1")
        assert [len(stroke) for stroke in lines] == [len(run) for run in wanted if len(run) > 1]
        long = [point for run in wanted if len(run) > 1 for point in run]
        assert all(near(where, on, point) for where, point in zip(chain.from_iterable(lines), long, strict=True))
        assert all(
            near(where, on, run[0]) for where, run in zip(alone, [run for run in wanted if len(run) == 1], strict=True)
        )
        # Read back as numbers, as a browser's test does from the data attributes.
        step = (on.y.high - on.y.low) / abs(on.y.stop - on.y.start)
        for (_, y), point in zip(chain.from_iterable(lines), long, strict=True):
            assert abs(on.y.back(y) - point.value) <= 0.06 * step


@given(values)
def test_neighbours_are_joined_if_and_only_if_nothing_lies_between(values):
    rows = quarters(values)
    drawing = chart(rows)
    if drawing is None:
        return
    on, svg = drawing.plots[0], drawing.svgs[0]
    pairs = [
        (before, after) for before, after in pairwise(values) if isinstance(before, float) and isinstance(after, float)
    ]
    assert len(joined(svg, "line c1")) == len(pairs)
    quarter = on.x(92) - on.x(0)
    assert all(after[0] - before[0] < quarter + 0.2 for before, after in joined(svg, "line c1"))


@given(values)
def test_what_is_withheld_moves_nothing(values):
    rows = quarters(values)
    for row in rows:
        if row["rights"] is SHUT:
            row["valueNumeric"] = 1e9
    plain, loaded = chart(quarters(values)), chart(rows)
    assert (plain and plain.svgs) == (loaded and loaded.svgs)


def test_a_forecast_is_dotted_hangs_on_the_line_and_is_not_the_newest():
    rows = [*quarters([1.0, 2.0, 3.0]), *quarters([4.0, 5.0], first="2016-Q4", metadata={"forecast": True})]
    drawing = chart(rows)
    svg, on = drawing.svgs[0], drawing.plots[0]
    solid = [stroke for stroke in strokes(svg, "line c1") if stroke not in strokes(svg, "forecast")]
    assert [len(stroke) for stroke in solid] == [3]
    (dotted,) = strokes(svg, "forecast")
    assert len(dotted) == 3
    assert dotted[0] == solid[0][-1]
    assert round(on.y.back(dots(svg, "newest")[0][1]), 1) == 3.0


@given(st.data())
def test_a_thinned_run_keeps_its_ends_and_the_extremes_of_every_column(data):
    count = data.draw(st.integers(3, 400))
    steps = data.draw(st.lists(st.integers(-9, 9), min_size=count, max_size=count))
    run = [ChartPoint(day, day, day, Frequency.DAILY, float(step)) for day, step in enumerate(steps, 700_000)]
    span, columns = (700_000, 700_000 + count), 20
    found = thinned(run, span, columns)
    assert [point.at for point in found] == sorted({point.at for point in found})
    assert (found[0], found[-1]) == (run[0], run[-1])
    assert len(found) <= 2 * columns + 2

    def column(point):
        return (point.at - span[0]) * columns // count

    for number in range(columns):
        here = [point.value for point in run if column(point) == number]
        kept = [point.value for point in found if column(point) == number]
        assert (min(here, default=0), max(here, default=0)) == (min(kept, default=0), max(kept, default=0))


def daily(count, hole=()):
    start = date(1990, 1, 1)
    rows = []
    for number in range(count):
        if number not in hole:
            day = start + timedelta(days=number)
            rows.append(
                ChartPoint(
                    day.toordinal(), day.toordinal(), day.toordinal(), Frequency.DAILY, float((number * 7919) % 1013)
                )
            )
    return rows


def test_ten_thousand_days_are_few_bytes_with_their_extremes_and_gaps():
    found = daily(10_000, range(4_000, 4_100))
    drawing = line_chart([ChartLine("x", found)])
    assert sum(len(svg) for svg in drawing.svgs) < 60_000
    for on, svg in zip(drawing.plots, drawing.svgs, strict=True):
        heights = [on.y.back(y) for stroke in strokes(svg, "line c1") for _, y in stroke]
        step = (on.y.high - on.y.low) / abs(on.y.stop - on.y.start)
        assert min(heights) == pytest.approx(0, abs=step * 0.06)
        assert max(heights) == pytest.approx(1012, abs=step * 0.06)
        left, right = strokes(svg, "line c1")
        assert right[0][0] - left[-1][0] == pytest.approx(on.x(101) - on.x(0), abs=0.2)
    # Up to the limit every point is drawn.
    (whole,) = strokes(line_chart([ChartLine("x", daily(MOST))]).svgs[0], "line c1")
    assert len(whole) == MOST


# Axes: four to six round ticks that hold all data, zero where it belongs, and calendars that fit on the paper.


numbers = st.floats(-1e12, 1e12).map(lambda value: float(f"{value:.6g}"))


@given(st.lists(numbers, min_size=1, max_size=20), st.booleans())
@example([5e-324], False)
@example([5e-324, 1e-323], False)
@example([5e-324, 1e-306, -1e-300], True)
def test_ticks_are_round_even_and_hold_the_range(values, from_zero):
    axis = value_axis(values, from_zero=from_zero)
    assert 4 <= len(axis.ticks) <= 6
    assert axis.low <= min(values) <= max(values) <= axis.high
    steps = {Decimal(repr(after)) - Decimal(repr(before)) for before, after in pairwise(axis.ticks)}
    assert max(steps) - min(steps) <= max(steps) * Decimal("1e-9")
    assert f"{float(max(steps)):.6e}"[0] in "125"
    if from_zero:
        assert axis.low <= 0 <= axis.high
    assert len(set(axis.labels)) == len(axis.ticks)
    assert not any("-" in label for label in axis.labels)


def test_columns_start_at_zero_and_counts_are_whole():
    assert value_axis([50, 52], from_zero=True).low == 0
    assert value_axis([1], from_zero=True, whole=True).ticks == (0, 1, 2, 3)
    assert value_axis([0], from_zero=True, whole=True).low == 0
    assert value_axis([-5.0, -4.0], from_zero=True).high == 0


def test_numbers_beyond_all_reason_have_an_axis_too():
    for values in ([1e-300, 2e-300], [-1e300, 1e300], [3.0, 3.0000000000000004], [5e-324]):
        assert 4 <= len(value_axis(values).ticks) <= 6


@given(numbers, st.floats(1e-3, 1e6), st.floats(0, 1))
def test_a_span_is_read_back(low, width, part):
    span = LinearScale(low, low + width, 316.0, 14.0)
    assert span.back(span(low + part * width)) == pytest.approx(low + part * width, rel=1e-6, abs=1e-3)


def labels(first, last, width, frequency):
    found = time_ticks(date.fromisoformat(first).toordinal(), date.fromisoformat(last).toordinal(), width, frequency)
    return [tick.label.replace("\N{NO-BREAK SPACE}", " ") for tick in found]


# -- columns, curves, dot plots and the small marks beside numbers, read back from their drawings ---------------------


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
