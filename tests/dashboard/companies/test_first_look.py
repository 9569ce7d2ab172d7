"""What a company's page opens on: a statement that there is, whatever it files; and where an empty table leads."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from almanac.dashboard.explorer import company
from almanac.dashboard.explorer.statements import in_words


def visit(**query: str) -> Any:
    return SimpleNamespace(
        query=query, here=lambda **changes: "&".join(f"{name}={value}" for name, value in changes.items())
    )


def opened(held: set[tuple[str, str]], **query: str) -> tuple[str, str]:
    there: company.Held = {one: {} for one in held}
    chosen = {"statement": query.get("statement", "income"), "frequency": query.get("frequency", "")}
    chosen["statement"] = company._statement(visit(**query), there, chosen)
    return company._frequency(there, chosen), chosen["statement"]


@pytest.mark.parametrize(
    ("held", "query", "opens"),
    [
        ({("annual", "income"), ("quarterly", "income")}, {}, ("annual", "income")),
        ({("quarterly", "income"), ("quarterly", "balance")}, {}, ("quarterly", "income")),
        ({("quarterly", "balance")}, {}, ("quarterly", "balance")),
        ({("quarterly", "cash")}, {}, ("quarterly", "cash")),
        ({("annual", "balance"), ("quarterly", "income")}, {"frequency": "annual"}, ("annual", "balance")),
        ({("quarterly", "balance")}, {"frequency": "annual"}, ("annual", "balance")),
        ({("quarterly", "balance")}, {"statement": "income"}, ("annual", "income")),
        (set(), {}, ("annual", "income")),
    ],
)
def test_it_opens_on_what_there_is_unless_asked_otherwise(
    held: set[tuple[str, str]], query: dict[str, str], opens: tuple[str, str]
) -> None:
    kinds = {kind for _, kind in held} | {"income"}
    assert kinds <= set(company.KINDS)
    assert opened(held, **query) == opens


def test_an_empty_table_leads_to_all_that_there_is() -> None:
    held: company.Held = {("quarterly", "balance"): {}}
    there = company._elsewhere(visit(), held, held, {"frequency": "annual", "statement": "income"})
    assert there == [(f"{company.KINDS['balance'][0]}, quarterly", "statement=balance&frequency=quarterly")]
    assert company._elsewhere(visit(), held, held, {"frequency": "quarterly", "statement": "balance"}) == []


def test_numbers_of_a_check_have_a_true_minus() -> None:
    told = in_words("the quarters give net_income -958,000,000 for -608,000,000; tax-free")
    assert told == "the quarters give net income −958,000,000 for −608,000,000; tax-free"
