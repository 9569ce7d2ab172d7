"""The fan and the life of a figure: what was published is drawn where it lay, and what did not change is drawn once."""

import re
from datetime import date

from almanac.dashboard.drawing.lines import FigureState, fan_chart, life_chart
from almanac.dashboard.formatting.values import ChartPoint
from almanac.domain.periods import Frequency


def line(*values, first=0):
    """Months from January 2026 on."""
    found = []
    for number, value in enumerate(values, first):
        start = date(2026, 1 + number, 1).toordinal()
        end = date(2026, 2 + number, 1).toordinal() - 1
        found.append(ChartPoint(start, start, end, Frequency.MONTHLY, value, "shown" if value is not None else "none"))
    return found


def path(drawing, name):
    return re.findall(rf'<path class="{name}" d="([^"]+)"', drawing.svgs[0])


def places(data):
    return [tuple(map(float, pair.split(","))) for pair in re.findall(r"[-\d.]+,[-\d.]+", data)]


def test_only_what_differs_is_drawn_behind_with_its_neighbours():
    drawing = fan_chart(line(1.0, 2.0, 3.0, 4.0, 5.0), [line(1.0, 2.0, 3.0, 6.0), line(1.0, 2.0)], label="5.0")
    on = drawing.plots[0]
    (behind,) = path(drawing, "line past")
    assert [round(on.y.back(y), 1) for _, y in places(behind)] == [3.0, 6.0]
    (front,) = path(drawing, "line own c1")
    assert [round(on.y.back(y), 1) for _, y in places(front)] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert drawing.svgs[0].index("line past") < drawing.svgs[0].index("line own")


def test_gaps_are_gaps_in_both():
    drawing = fan_chart(line(1.0, 2.0, None, 4.0, 5.0), [line(2.0, 3.0, None, 5.0, 6.0)], label="5.0")
    assert path(drawing, "line past")[0].count("M") == 2
    assert path(drawing, "line own c1")[0].count("M") == 2


def test_an_axis_holds_what_was_told_before():
    drawing = fan_chart(line(1.0, 2.0), [line(1.0, 40.0)], label="2.0")
    assert drawing.plots[0].y.high >= 40
    assert fan_chart([], [line(1.0)], label="") is None


def test_a_figure_holds_until_it_changes():
    days = [date(2026, 1, 31).toordinal(), date(2026, 3, 1).toordinal()]
    drawing = life_chart([FigureState(days[0], 2.0), FigureState(days[1], 2.5, "2.5%")], date(2026, 6, 1).toordinal())
    on = drawing.plots[0]
    (steps,) = path(drawing, "line c1")
    start, rest = re.fullmatch(r"M([-\d.]+,[-\d.]+)(.*)", steps).groups()
    x, y = places(start)[0]
    assert (round(on.x.back(x)), round(on.y.back(y), 1)) == (days[0], 2.0)
    across, up, end = re.fullmatch(r"H([\d.]+)V([\d.]+)H([\d.]+)", rest).groups()
    assert abs(on.x.back(float(across)) - days[1]) < 1
    assert round(on.y.back(float(up)), 1) == 2.5
    assert float(end) == on.right
    assert "2.5%" in drawing.svgs[0]
    assert life_chart([], 0) is None
