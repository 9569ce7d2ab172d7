"""The guide to the dashboard names pages that there are, and says of them what they show."""

from __future__ import annotations

import re

import pytest

from tests.support.paths import ROOT

GUIDE = (ROOT / "docs/tutorials/dashboard.md").read_text("utf-8")
#: `/` is a key to press, too; the keys and the usage are a person's own, and have tests where there are such.
ADDRESSES = sorted(set(re.findall(r"`(/[^`]*)`", GUIDE)) - {"/keys", "/usage"})


@pytest.mark.parametrize("address", ADDRESSES)
def test_every_address_of_the_guide_is_a_page(browser, address):
    # The invented world's sources are called as real ones are.
    answer = browser().get(address.replace("sandbox-fred", "fred"))
    # A search that understands where it leads goes there.
    assert answer.status_code in ({200, 303} if address.startswith("/search") else {200})


def test_every_transform_is_named_with_its_address(browser):
    text = browser().get("/compare?indicator=cpi_index_nsa&entities=usa").text
    offered = re.findall(r'<option value="(\w+)"', text[text.index('name="show"') :].partition("</select>")[0])
    told = GUIDE.partition("&show=year`")[2].partition("\n- ")[0]
    assert {"level", "year", *re.findall(r"`(\w+)`", told)} - {"base", "show"} == set(offered)
