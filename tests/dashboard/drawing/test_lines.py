"""Lines: what is drawn reads back as the rows, gaps are never joined, and nothing withheld has a place."""

from datetime import date, timedelta
from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.dashboard.drawing.lines import ChartLine, line_chart
from almanac.dashboard.drawing.svg import MOST, thinned
from almanac.dashboard.formatting.values import ChartPoint, points, runs
from almanac.domain.periods import Frequency
from tests.support.dashboard_rows import SHUT, quarters
from tests.support.drawn import dots, joined, strokes

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
