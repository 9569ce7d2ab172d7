"""A figure is not made without its caption; and its readout says every point, inert wherever it stands."""

import json
from datetime import date, timedelta

import jinja2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from almanac.dashboard.drawing.columns import CountColumn
from almanac.dashboard.drawing.curves import Curve
from almanac.dashboard.drawing.figure import (
    ChartFigure,
    LegendEntry,
    column_readout,
    curve_readout,
    data_block,
    line_readout,
)
from almanac.dashboard.drawing.lines import ChartLine, line_chart
from almanac.dashboard.drawing.svg import MOST
from almanac.dashboard.formatting.captions import NOTHING, CurveStep
from almanac.dashboard.formatting.numbers import unit
from almanac.dashboard.formatting.values import ChartPoint, points
from almanac.dashboard.site import FILTERS
from almanac.domain.periods import Frequency
from tests.support.dashboard_rows import SHUT, observation, quarters

PERCENT = unit("percent")


def plain(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize("missing", ["id", "title", "caption", "empty"])
@pytest.mark.parametrize("nothing", ["", "  "])
def test_a_figure_without_one_of_its_words_is_not_made(missing, nothing):
    words = {"id": "growth", "title": "Percent, year on year", "caption": "It grew.", "empty": NOTHING}
    with pytest.raises(ValueError, match=f"has no {missing}"):
        ChartFigure(**words | {missing: nothing})


def test_a_figure_with_nothing_to_draw_has_its_sentence():
    empty = ChartFigure(
        id="a",
        title="A",
        caption=NOTHING,
        drawing=line_chart([ChartLine("x", [])]),
        empty="Nothing was known on 1 Mar 2016.",
    )
    assert empty.svgs == ()
    full = ChartFigure(
        id="a",
        title="A",
        caption="It grew.",
        drawing=line_chart([ChartLine("x", points(quarters([1.0, 2.0])))]),
        legend=[LegendEntry(name="Known today", colour=1)],
    )
    assert len(full.svgs) == 3
    assert full.label.startswith("A. Left and Right")


def test_one_sentence_a_point():
    rows = [*quarters([1.0, None, "none", 2.0]), *quarters([3.0], first="2017-Q1", metadata={"forecast": True})]
    firsts = {(rows[0]["periodStart"], rows[0]["periodEnd"]): 1.4}
    found = json.loads(line_readout([ChartLine("GDP", points(rows, firsts))], PERCENT, 1, firsts=True))
    assert found["year"] == 4
    (line,) = found["lines"]
    assert (line["name"], line["class"]) == ("GDP", "c1")
    assert [(value, plain(told)) for _, value, told in line["points"]] == [
        (1.0, "2016 Q1: 1.0%, first published 1.4%"),
        (None, "2016 Q2: withheld"),
        (2.0, "2016 Q4: 2.0%"),
        (3.0, "2017 Q1: 3.0%, forecast"),
    ]
    assert line["points"][0][0] == date(2016, 1, 1).toordinal()


def test_several_lines_are_told_by_name():
    lines = [ChartLine(name, points(quarters([1.0])), n) for n, name in enumerate(("USA", "JPN"), 1)]
    found = json.loads(line_readout(lines, PERCENT, 1))
    assert [plain(line["points"][0][2]) for line in found["lines"]] == ["USA, 2016 Q1: 1.0%", "JPN, 2016 Q1: 1.0%"]


def test_curves_and_columns_are_told_too():
    curve = json.loads(curve_readout([Curve("USA", [CurveStep("2y", 4.0)])], ("2y", "5y"), PERCENT, 2))
    assert [point[2] for point in curve["lines"][0]["points"]] == ["USA, 2y: 4.00%", "USA, 5y: no data"]
    columns = json.loads(
        column_readout(
            [CountColumn("19 Nov", (1200, 12)), CountColumn("20 Nov", (0, 0))], ("answered", "refused"), so_far=True
        )
    )
    assert [point[1:] for point in columns["lines"][0]["points"]] == [
        [1212, "19 Nov: 1,212, of these 1,200 answered, 12 refused"],
        [0, "20 Nov: 0 so far"],
    ]


def test_a_very_long_line_is_told_by_its_lows_and_highs():
    days = [(date(1990, 1, 1) + timedelta(days=n)).toordinal() for n in range(10_000)]
    line = ChartLine(
        "x", [ChartPoint(day, day, day, Frequency.DAILY, float(n * 7919 % 1013)) for n, day in enumerate(days)]
    )
    (found,) = json.loads(line_readout([line], PERCENT, 1))["lines"]
    assert len(found["points"]) <= 802
    told = [value for _, value, _ in found["points"]]
    assert (min(told), max(told)) == (0.0, 1012.0)
    (short,) = json.loads(line_readout([line._replace(points=line.points[:MOST])], PERCENT, 1))["lines"]
    assert len(short["points"]) == MOST


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
