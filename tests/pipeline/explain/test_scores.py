"""Which twelve months a company's scores are told of. Figures typed from Apple's annual reports, one of them left out."""

from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pytest

from almanac.api.endpoints.companies.rows import CompanyScoring
from almanac.derived.companies.ratios import measures
from almanac.domain.periods import Frequency
from almanac.pipeline.explain.scores import explain_scores
from tests.derived.companies.invented_financials import day
from tests.derived.companies.reported import apple


def at(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


@pytest.fixture
def without_current_liabilities(monkeypatch):
    """Apple's three years; of the last one the accounts do not give what all scores take."""
    financials = apple()
    del financials.balances["current_liabilities"][day("2024-09-28")]
    monkeypatch.setattr("almanac.pipeline.explain.scores.ledger", lambda *_: financials)
    return financials


def ends(told):
    return {score["periodEnd"][:10] for score in told.values()}


def test_all_scores_are_told_of_the_newest_twelve_months_that_give_one(without_current_liabilities):
    told = explain_scores(None, "company_0000320193", at("2024-11-02"), None)
    assert ends(told) == {"2023-09-30"}
    value = measures(without_current_liabilities, day("2023-09-30"), Frequency.ANNUAL)["altman_z2"].value
    assert told["altmanZ2"]["value"] == value
    assert told["piotroskiF"]["value"] is None


def test_a_score_of_accounts_that_count_no_more_is_not_told(without_current_liabilities):
    # Eighteen months after September 2023; and before a window that opens after it.
    for moment, window in (("2025-05-01", None), ("2024-11-02", datetime(2024, 1, 1).date())):
        told = explain_scores(None, "company_0000320193", at(moment), window)
        assert ends(told) == {"2024-09-28"}
        assert told["altmanZ2"]["value"] is None


def column(value, end):
    """A score of one company, or of none."""
    return SimpleNamespace(
        places=np.array([-1 if value is None else 0]), values=np.array([value or np.nan]), end=lambda _: end
    )


def test_a_row_shows_no_score_of_older_twelve_months_beside_a_newer_one():
    older, newer = column(7.0, datetime(2025, 12, 31)), column(2.5, datetime(2026, 3, 31))
    standing = object.__new__(CompanyScoring)
    for told, expected in (
        ((older, newer, column(None, None)), [None, 2.5]),
        ((older, column(2.5, older.end(0)), column(None, None)), [7, 2.5]),
        ((older, column(None, None), newer), [None, None]),
    ):
        standing._told = told
        assert [standing._reading(score, 0) for score in told[:2]] == expected
