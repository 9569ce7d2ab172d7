"""Counts of statements, against bodies written by hand."""

import pytest

from almanac.catalog.companies import style_told, styles
from almanac.reports.statement_counts import NOT_REPORTED, ItemCount, StatementCounts, absences


def body(items, status="ok", *checks):
    return {
        "items": items,
        "quality": {
            "status": status,
            "checks": [
                {"name": name, "status": came, "detail": detail, "items": list(about)}
                for name, came, detail, about in checks
            ],
        },
    }


def counted():
    counts = StatementCounts(frozenset(["identity"]))
    absent = ("absent_with_reason", "passed", "no revenue: only_part_reported: us-gaap:A; no debt: own_tag: no tag", ())
    counts.add("bank", "income", body({"net_income": 1.0}, "ok", absent), own=True)
    counts.add(
        "bank",
        "income",
        body({"revenue": 5.0, "net_income": 1.0}, "warning", ("far", "failed", "", ["revenue"])),
        own=True,
    )
    counts.add(
        "bank",
        "income",
        body(
            {"revenue": 5.0, "net_income": 1.0},
            "failed",
            ("far", "failed", "", ["revenue", "net_income"]),
            # One that names an item which is not there, and one that holds.
            ("identity", "failed", "", ["revenue", "cost"]),
            ("other", "passed", None, ["net_income"]),
        ),
    )
    counts.add("utility", "balance", body({"total_assets": 9.0}), own=True)
    # A check about an item that this statement has not.
    counts.add("bank", "income", body({"net_income": 1.0}, "ok", ("identity", "failed", "", ["revenue"])))
    return counts


def test_each_item_is_counted_once_for_each_statement():
    assert list(counted().rows()) == [
        ItemCount("bank", "income", "debt", 4, 0, 0, 0, {"own_tag": 1, NOT_REPORTED: 3}),
        ItemCount("bank", "income", "net_income", 4, 4, 1, 0, {}),
        ItemCount("bank", "income", "revenue", 4, 2, 1, 1, {"only_part_reported": 1, NOT_REPORTED: 1}),
        ItemCount("utility", "balance", "total_assets", 1, 1, 0, 0, {}),
    ]


def test_shares_are_of_all_statements_of_a_type():
    counts = counted()
    assert (counts.kinds(), counts.share("revenue", "income"), counts.ok()) == (["bank", "utility"], 0.5, 0.6)
    assert (counts.own["bank", "income"], counts.own_served["bank", "revenue"]) == (2, 1)
    assert counts.anchored()
    counts.add("utility", "balance", body({}))
    assert not counts.anchored()


def test_reasons_are_read_off_the_words_of_the_check():
    told = "no revenue: only_part_reported: us-gaap:Revenues, us-gaap:Other; no total_debt: in_conflict: 5 where 6"
    assert absences(told) == [("revenue", "only_part_reported"), ("total_debt", "in_conflict")]
    assert absences("") == []


@pytest.mark.parametrize(
    ("signs", "template", "style"),
    [
        ({}, "industrial", "commercial"),
        ({}, "reit", "lessor"),
        ({"utility": 1}, "industrial", "commercial"),  # one sign is none
        ({"utility": 2}, "industrial", "utility"),
        ({"utility": 2, "bank": 2}, "bank", "bank"),  # as many for its own kind
        ({"utility": 3, "bank": 2}, "bank", "utility"),
        ({"broker": 2, "utility": 2}, "industrial", "utility"),  # the first in the catalogue
    ],
)
def test_a_style_is_that_of_most_signs(signs, template, style):
    assert style_told(signs, template) == style
    assert style in styles()
