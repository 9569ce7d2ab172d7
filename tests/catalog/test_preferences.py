"""A source says in its own file where it stands among others."""

from __future__ import annotations

from typing import Any

import pytest

from almanac.catalog.load import build
from almanac.catalog.records import CatalogError

from .test_catalog import Part, put, small


def world(*preferences: Part) -> Part:
    """The small catalogue with three further sources of prices, of which its indicator orders two."""
    part = small()
    for name in ("alpha", "beta", "gamma"):
        part["source"].append({**part["source"][0], "id": name})
        part["series"].append({**part["series"][0], "source": name})
    put("indicator", preferred=["office-prices", "beta"])(part)
    return part | {"preference": list(preferences)}


def order(*preferences: Part) -> tuple[str, ...]:
    return build([world(*preferences)]).indicators["prices"].preferred


@pytest.mark.parametrize(
    ("preferences", "expected"),
    [
        ([], ("office-prices", "beta")),
        ([{"source": "alpha"}], ("office-prices", "beta", "alpha")),
        ([{"source": "alpha", "before": ["beta"]}], ("office-prices", "alpha", "beta")),
        ([{"source": "alpha", "before": ["beta", "office-prices"]}], ("alpha", "office-prices", "beta")),
        ([{"source": "alpha", "before": ["gamma"]}], ("office-prices", "beta", "alpha")),
        ([{"source": "alpha", "indicators": ["prices"], "before": ["beta"]}], ("office-prices", "alpha", "beta")),
        # Two with one place go by their id, whichever file is read first.
        (
            [{"source": "gamma", "before": ["beta"]}, {"source": "alpha", "before": ["beta"]}],
            ("office-prices", "alpha", "gamma", "beta"),
        ),
    ],
)
def test_a_source_takes_the_place_it_states(preferences: list[dict[str, Any]], expected: tuple[str, ...]) -> None:
    assert order(*preferences) == expected


def test_it_has_a_place_in_every_order_that_its_series_feed_and_in_no_other() -> None:
    part = world({"source": "alpha"})
    part["series"][1]["codes"] = [{"native": "W", "indicator": "wages", "name": "Wages of A"}]
    indicators = build([part]).indicators
    assert (indicators["wages"].preferred, indicators["prices"].preferred) == (("alpha",), ("office-prices", "beta"))
    assert indicators["inflation"].preferred == ()


@pytest.mark.parametrize(
    ("preferences", "message"),
    [
        (
            [{"source": "alpha", "after": "beta"}],
            "preference alpha: unknown field after, allowed are source, indicators, before",
        ),
        ([{"source": "alpha", "before": ["alpha"]}], "preference alpha: a source cannot stand before itself"),
        (
            [{"source": "alpha", "before": ["gamma"]}, {"source": "gamma"}],
            "preference alpha: gamma has a preference itself, name a source from the indicators' own orders",
        ),
        ([{"source": "beta"}], "preference beta: it is twice in the order of prices"),
    ],
)
def test_a_preference_that_cannot_hold_is_named(preferences: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(CatalogError) as caught:
        order(*preferences)
    assert str(caught.value) == message
