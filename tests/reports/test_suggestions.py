"""What may have been meant: a slip of the pen or the same words, and never a mere likeness."""

import pytest

from almanac.catalog.load import shipped
from almanac.reports.names import Suggestions

CATALOG = shipped()
FIELDS = Suggestions((one.slug, (one.name, *one.aliases)) for one in CATALOG.indicators.values())
PLACES = Suggestions(
    (one.slug, (one.name, *one.aliases)) for one in CATALOG.entities.values() if one.kind in {"country", "region"}
)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("gov_yeild_10y", "gov_yield_10y"),  # letters that changed places
        ("unemployment_rte", "unemployment_rate"),  # one that is missing
        ("GOV-YIELD 10Y", "gov_yield_10y"),
        ("rate_of_unemployment", "unemployment_rate"),  # the same words, and one more
        ("curent_ratio", "current_ratio"),
        ("pe_ratio", None),  # like letters alone are no likeness
        ("price_to_book_ratio", None),
        ("gov_yield_11y", None),  # a digit is no slip
        ("ratio_of_nothing", None),
        ("", None),
        ("…", None),
    ],
)
def test_indicators(asked, meant):
    assert FIELDS.nearest(asked) == meant


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("untied-states", "united-states"), ("Cote d'Ivore", "cote-divoire"), ("switz", "switzerland"), ("ZZ", None), ("atlantis", None)],
)  # fmt: skip
def test_places(asked, meant):
    assert PLACES.nearest(asked) == meant


def test_what_is_named_is_never_another():
    """Every name that there is leads to itself."""
    names = Suggestions((slug, ()) for slug in CATALOG.indicators)
    assert [slug for slug in CATALOG.indicators if names.nearest(slug) != slug] == []  # itself, whatever is like it
