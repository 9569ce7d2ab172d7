"""No answer shows the noise of binary fractions. The invented publishers print at most six digits, companies whole amounts."""

import re

import pytest

from .declared import ENDPOINTS, PATH_VALUES, REQUIRED
from .digits import long_numbers
from .test_rates import SCOPES


def test_what_counts_as_long():
    assert long_numbers('{"a": [0.6900000000000004, 123456789012345, 0.000123456789012, 1.0], "b": -148.00000000000006}') == [
        "0.6900000000000004", "-148.00000000000006",
    ]  # fmt: skip


@pytest.mark.parametrize("path", sorted(ENDPOINTS.keys() - {"/observations/{id}/provenance", "/llms.txt"}))
def test_no_number_has_more_than_twelve_significant_digits(service, path):
    target = re.sub(r"\{\w+\}", PATH_VALUES.get(path, ""), path)
    paging = {"limit": 200} if ENDPOINTS[path].kind == "list" else {}
    answer = service.get(target, "pro", None, **REQUIRED.get(path, {}), **paging)
    assert answer.status_code == 200, answer.text
    assert long_numbers(answer.text) == []


@pytest.mark.parametrize("scope", SCOPES)
def test_no_spread_of_the_simulated_yields_has_either(sandbox, scope):
    assert long_numbers(sandbox.get(f"/rates/{scope}").text) == []


def test_recomputing_a_rounded_value_gives_it_again(service):
    rows = service.ok("/derived-observations", limit=40) + service.ok("/derived-observations", limit=40, order="desc")
    assert {row["unit"] for row in rows} >= {"percentage_points"}
    for row in rows:
        assert service.ok(f"/observations/{row['id']}/provenance")["verified"] is True, row
