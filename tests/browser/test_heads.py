"""Head figures on a phone: numbers and chips of real size lie beside each other, not over each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import almanac.dashboard
from almanac.dashboard.formatting.values import Chip, FormattedValue
from tests.dashboard.templates.kit import macro

pytestmark = [pytest.mark.slow, pytest.mark.browser]
STYLE = (Path(almanac.dashboard.__file__).parent / "static" / "app.css").read_text()
STALE = Chip("warn", "half", "stale, 1,696 days")
SHUT = Chip("withheld", "crossed", "for internal use only")
FIGURES = {
    "the biggest with a chip": [
        {"label": "10 years", "look": FormattedValue("stale", "2.987%", "2.987%, stale", "2.987", STALE), "note": "11 Sep 2026", "big": True},
        {"label": "2s10s", "text": "+293", "note": "basis points"},
        {"label": "5s30s", "text": "+173", "note": "basis points"},
    ],
    "a long one": [
        {"label": "2024 Q3", "look": FormattedValue("revised", "USD 29,375bn", "USD 29,375bn", "29374.914"), "note": "known since 19 Dec 2024", "big": True},
        {"label": "Change on 2024 Q2", "text": "+358.200", "note": "USD billions, annual rate"},
        {"label": "First published", "look": FormattedValue("plain", "USD 29,350bn", "USD 29,350bn", "29349.924"), "note": "30 Oct 2024"},
    ],
    "without a biggest": [
        {"label": "10 years", "look": FormattedValue("withheld", "Withheld", "withheld", None, SHUT)},
        {"label": "Change", "text": "+15,825,000,000", "note": "USD"},
    ],
}  # fmt: skip
#: Of each figure: whether all in it stays inside, and whether it lies over another one.
MEASURE = """() => {
  const figures = [...document.querySelectorAll(".figures > div")];
  const boxes = figures.map((one) => one.getBoundingClientRect());
  const over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return {
    out: figures.filter((one, at) => [...one.querySelectorAll("*")].some((part) => !part.closest(".hidden") && !part.closest("svg") && part.getBoundingClientRect().right > boxes[at].right + 1)).length,
    over: boxes.some((one, at) => boxes.some((other, place) => place > at && over(one, other))),
    wide: document.documentElement.scrollWidth - innerWidth,
  };
}"""  # fmt: skip


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("name", FIGURES)
def test_head_figures_do_not_lie_over_each_other(chromium: Any, name: str, width: int) -> None:
    page = chromium.new_page(viewport={"width": width, "height": 800})
    try:
        body = macro("key_figures(figures)", "head", figures=FIGURES[name])
        page.set_content(
            f'<!doctype html><style>{STYLE}</style><main class="page"><div class="head">{body}</div></main>'
        )
        assert page.evaluate(MEASURE) == {"out": 0, "over": False, "wide": 0}
    finally:
        page.close()
