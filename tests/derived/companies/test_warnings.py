"""Statements of which their company says that they are not to be relied upon. All of it is invented."""

import pytest

from tests.support.filer import Filer, at, plain_year, quarter, ytd


@pytest.fixture
def outcome():
    """Three years; the warning of April 2023 is followed by an amended annual report in June."""
    filer = Filer()
    for year in (2020, 2021, 2022):
        plain_year(filer, year)
    filer.file("8-K", "2023-04-10", "2023-04-06", {}, items=("4.02", "9.01"))
    filer.file("10-K/A", "2023-06-01", "2022-12-31", {"NetIncomeLoss": {ytd(2022, 4): 90}}, fy=2022, fp="FY")
    lines = {"NetIncomeLoss": {quarter(2023, 2): 20, quarter(2022, 2): 15}, "Assets": {"2023-06-30": 5}}
    filer.file("10-Q", "2023-08-01", "2023-06-30", lines, fy=2023, fp="Q2")
    return filer.swept()


def bodies(outcome, moment):
    """(type, fiscal year and period) → body, as known at the end of a day."""
    found = {}
    for key, versions in outcome.statements.items():
        told = [version.body for version in versions if version.known <= at(moment)]
        if told and told[-1] is not None:
            found[key.kind, f"{told[-1].fiscal_year}{told[-1].fiscal_period}"] = told[-1]
    return found


def marked(outcome, moment):
    return {
        name
        for name, body in bodies(outcome, moment).items()
        if any(check.name == "relied_upon" for check in body.quality.checks)
    }


KINDS = ("income", "balance", "cash_flow")
PERIODS = ("2022Q1", "2022Q2", "2022Q3", "2022Q4", "2022FY")


def test_a_warning_marks_the_last_year_and_its_quarters_from_that_moment_on(outcome):
    assert marked(outcome, "2023-04-09") == set()
    assert marked(outcome, "2023-04-10") == {(kind, period) for kind in KINDS for period in PERIODS}
    body = bodies(outcome, "2023-04-10")["income", "2022FY"]
    assert body.quality.status == "failed"
    assert body.quality.checks[-1].detail == (
        "on 2023-04-10 the company said that statements it had filed are not to be relied upon (8-K 0000000013-23-000001, item 4.02)"
    )
    # No number changed by it, and the statement is still that of the annual report.
    assert (body.form, body.filed_at[:10], body.revision_status, body.items["net_income"]) == (
        "10-K",
        "2023-02-20",
        "initial",
        100,
    )


def test_a_report_about_the_period_or_a_changed_number_takes_the_mark_away(outcome):
    # The amended year with all three statements, its last day's balance, and the quarters computed from it.
    left = {(kind, period) for kind in KINDS for period in ("2022Q1", "2022Q2", "2022Q3")}
    assert marked(outcome, "2023-06-01") == left
    assert bodies(outcome, "2023-06-01")["income", "2022FY"].quality.status == "ok"
    # The second quarter is shown anew in the next year's report, its balance sheet is not; the others are as they were.
    assert marked(outcome, "2023-08-01") == left - {("income", "2022Q2"), ("cash_flow", "2022Q2")}


def test_other_items_of_a_current_report_mark_nothing():
    filer = Filer()
    plain_year(filer, 2022)
    filer.file("8-K", "2023-04-10", "2023-04-06", {}, items=("2.02", "9.01"))
    assert marked(filer.swept(), "2023-05-01") == set()
