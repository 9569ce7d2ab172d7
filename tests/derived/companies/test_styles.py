"""The style that a report counts a period under is the one that its lines were read in."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from almanac.catalog.companies import items, style_told
from almanac.derived.companies.line_items import mapping_of
from almanac.derived.companies.reading.choice import Choice

SIGNS = mapping_of("industrial").signs_of_style
STYLED = next(item for item in items().values() if item.for_style)


class Given:
    """Facts of which some tags are given, on one day."""

    def __init__(self, tags):
        self.tags = {tag: {1: {}} for tag in tags}


@pytest.mark.parametrize("template", ["industrial", "bank", "insurer", "reit", "fund"])
@given(tags=st.sets(st.sampled_from(sorted(SIGNS)), max_size=12))
def test_a_period_is_counted_as_it_was_read(template, tags):
    mapping = mapping_of(template)
    read = Choice(None, mapping, Given(tags), tags).reading(STYLED, 1)
    told = style_told(Counter(SIGNS[tag] for tag in tags), template)
    assert read is mapping.styles[told]
