"""Recessions behind the lines of a country: those known on the day of the chart, of one country alone, and only what may be shown."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from almanac.dashboard.drawing.lines import Band, ChartLine, line_chart
from almanac.dashboard.words.points import ChartPoint
from almanac.domain.observations import INITIAL, Vintage
from almanac.domain.periods import Frequency, Period
from almanac.domain.reference import SeriesSpec
from almanac.domain.rights import Exposure
from almanac.domain.times import end_of_day
from almanac.store.engine import opening
from almanac.store.observations.writing.batch import Batch
from tests.support.browser import Browser
from tests.support.drawn import elements, strokes
from tests.support.page_visitor import dashboard, signed_in
from tests.support.service import Service, copy

SERIES, INFLATION = "/series/fred:country_usa:cpi_inflation_yoy:M", "cpi_inflation_yoy"
#: Month → (value, when it came to be known): the second recession was dated a year later.
MONTHS = {
    "2024-03": [(1, "2024-05-02")],
    "2024-04": [(1, "2024-06-02")],
    "2024-05": [(0, "2024-07-02")],
    "2025-06": [(0, "2025-08-02"), (1, "2026-07-10")],
    "2025-07": [(0, "2025-09-02")],
}
ATTRIBUTION = "Source: invented daters"


def add(home: Path, exposure: Exposure) -> None:
    """Write the months of recession of the United States as the pipeline would."""
    service = Service(home)
    db = opening.create(service.settings.data_path)
    service.close()
    spec = SeriesSpec(
        source="fred", native="USREC", indicator="recession_indicator", entity="country_usa", frequency=Frequency.MONTHLY,
        unit="index", name="Invented months of recession",
        exposure=exposure, reason="Invented.", license="invented", attribution=ATTRIBUTION,
    )  # fmt: skip
    with Batch(db, 1, "test") as batch:
        cells = {
            Period.parse(month).key: [
                Vintage(at := end_of_day(date.fromisoformat(day)), float(value), None, INITIAL, at, 1_790_000_000, 0)
                for value, day in states
            ]
            for month, states in MONTHS.items()
        }
        batch.replace(batch.series(spec, "raw"), cells)
    db.close()


@pytest.fixture
def dated(built: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Browser]:
    home = copy(built, tmp_path / "home")
    add(home, request.param)
    service = Service(home)
    yield signed_in(dashboard(service))
    service.close()


def bands(text: str) -> list[int]:
    """How many bands each chart of a page has at its widest."""
    charts = re.findall(r'<svg class="chart wide".*?</svg>', text, re.DOTALL)
    return [sum(one.get("d").count("M") for one in elements(chart, "path", "shade")) for chart in charts]


def sentences(text: str) -> list[str]:
    told = html.unescape(re.sub("<[^>]+>", "", text)).replace("\xa0", " ")
    return re.findall(r"Shaded: [^.]*\.", told)


@pytest.mark.parametrize("dated", [Exposure.public], indirect=True)
def test_bands_are_what_was_dated_by_then(dated: Browser) -> None:
    text = dated.get(SERIES).text
    assert bands(text) == [2]
    whose = f"({ATTRIBUTION})."
    assert sentences(text) == [f"Shaded: recessions of the United States, Mar 2024 to Apr 2024 and Jun 2025 {whose}"]
    assert "indicator=recession_indicator" in text  # among the requests of the page
    assert '<path class="shade" d="M0 0h28v10h-28z"/></svg>Recession</li>' in text.replace("\n", "")
    then = dated.get(SERIES, as_of="2026-07-01").text
    assert bands(then) == [1]
    assert sentences(then) == [f"Shaded: the recession of the United States, Mar 2024 to Apr 2024 {whose}"]
    assert bands(dated.get(SERIES, as_of="2024-05-01").text) == [0]
    late = dated.get(SERIES, **{"from": "2025-01-01"}).text
    assert bands(late) == [1]


@pytest.mark.parametrize("dated", [Exposure.public], indirect=True)
def test_only_panels_of_one_country_are_shaded(dated: Browser) -> None:
    address = "/compare"
    alone = dated.get(address, indicator=INFLATION, entities="usa").text
    assert bands(alone) == [2]
    assert len(sentences(alone)) == 1
    query = {"indicator": "gov_yield_10y", "from": "all"}
    assert bands(dated.get(address, entities="usa", **query).text) == [2]
    assert bands(dated.get(address, entities="jpn", **query).text) == [0]
    several = dated.get(address, entities="usa,jpn", **query).text
    assert bands(several) == [0]
    assert sentences(several) == []
    picture = dated.get("/compare.svg", indicator=INFLATION, entities="usa").text
    assert picture.count('class="shade"') == 1
    assert ATTRIBUTION in picture
    assert ".shade{" in picture
    assert "color-mix" not in picture


@pytest.mark.parametrize("dated", [Exposure.restricted], indirect=True)
def test_of_what_may_not_be_shown_nothing_is_shaded(dated: Browser) -> None:
    for text in (dated.get(SERIES).text, dated.get("/compare", indicator=INFLATION, entities="usa").text):
        assert bands(text) == [0]
        assert sentences(text) == []
        assert "recession" not in text.lower()


def test_a_band_is_drawn_as_far_as_it_lies_in_the_plot() -> None:
    days = [date(2020 + n, 1, 1).toordinal() for n in range(5)]
    line = ChartLine("", [ChartPoint(day, day, day + 364, Frequency.ANNUAL, float(n)) for n, day in enumerate(days)])
    before, across, inside = Band(days[0] - 900, days[0] - 400), Band(days[0] - 50, days[1]), Band(days[2], days[3])
    drawing = line_chart([line], bands=[before, across, inside])
    assert drawing is not None
    for svg, plot in zip(drawing.svgs, drawing.plots, strict=True):
        (path,) = elements(svg, "path", "shade")
        starts = [float(part.split(",")[0]) for part in path.get("d").split("M")[1:]]
        assert starts == [pytest.approx(plot.left, abs=0.1), pytest.approx(plot.x(days[2]), abs=0.1)]
        # Behind everything: the line lies on it.
        assert str(svg).index('class="shade"') < str(svg).index('class="line')
    assert not strokes(line_chart([line]).svgs[0], "shade")  # type: ignore[union-attr]  # it has values
