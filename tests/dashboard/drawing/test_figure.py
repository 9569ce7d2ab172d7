"""A figure is not made without its caption; and its readout says every point, inert wherever it stands."""

import json

import jinja2
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from almanac.dashboard.drawing.figure import (
    ChartFigure,
    data_block,
    line_readout,
)
from almanac.dashboard.drawing.lines import ChartLine, line_chart
from almanac.dashboard.formatting.numbers import unit
from almanac.dashboard.formatting.values import points
from almanac.dashboard.site import FILTERS
from tests.support.dashboard_rows import SHUT, observation, quarters

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
