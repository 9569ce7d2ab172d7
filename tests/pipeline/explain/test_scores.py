"""Which twelve months a company's scores are told of. Figures typed from Apple's annual reports, one of them left out."""

from datetime import UTC, date, datetime
from types import SimpleNamespace

import numpy as np
import pytest

from almanac.api.endpoints.companies.rows import of_the_newest_end
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
        values=np.array([np.nan if value is None else value]),
        ends=lambda: np.array([0 if value is None else end.toordinal()]),
    )


def test_a_row_shows_no_score_of_older_twelve_months_beside_a_newer_one():
    older, newer, none = column(7.0, date(2025, 12, 31)), column(2.5, date(2026, 3, 31)), column(None, None)
    for told, expected in (
        ((older, newer, none), [None, 2.5, None]),
        ((older, column(2.5, date(2025, 12, 31)), none), [7, 2.5, None]),
        ((older, none, newer), [None, None, 2.5]),
    ):
        shown = of_the_newest_end(dict(enumerate(told)))
        assert [None if np.isnan(values[0]) else values[0] for values in shown.values()] == expected
