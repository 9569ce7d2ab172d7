"""Which twelve months a company's scores are told of. Figures typed from Apple's annual reports, one of them left out."""

from datetime import UTC, date, datetime
from types import SimpleNamespace

import numpy as np
import pytest

from almanac.api.endpoints.companies.companies import of_the_newest_end
from almanac.derived.companies.ratios import measures
from almanac.domain.periods import Frequency
from almanac.pipeline.context import PipelineContext
from almanac.pipeline.explain.scores import explain_scores
from almanac.store.observations.reading.reader import Reader
from tests.derived.companies.invented_financials import day
from tests.derived.companies.reported import apple
from tests.support.filed_company import ENTITY, FACTS_URL, six_years
from tests.support.treasury_home import settings, take


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
    values = np.array([np.nan if value is None else value])
    own = np.array([0 if value is None else end.toordinal()])
    return SimpleNamespace(
        ends=lambda: own, ending=lambda ends: SimpleNamespace(values=np.where(own == ends, values, np.nan))
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


# -- filers that change their standard or their currency ----------------------------------------------------------------

#: What a filer goes from and to: standard and currency of its first three years, and of the last three.
CHANGES = {
    "standard": (("us-gaap", "USD"), ("ifrs-full", "USD")),
    "currency": (("ifrs-full", "EUR"), ("ifrs-full", "USD")),
    "neither": (("us-gaap", "USD"), ("us-gaap", "USD")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_score_is_explained_by_what_it_was_computed_from(tmp_path, change):
    world = PipelineContext(settings(tmp_path))
    take(world, tmp_path / "mirror", [(FACTS_URL, "2024-06-01T00:00:00Z", six_years(*CHANGES[change]), 200)], ("sec",))
    stored = world.db.execute(
        "SELECT v.period >> 14, v.value FROM vintages v JOIN topic t USING(topic) WHERE t.entity = ? AND"
        " t.indicator = 'accruals_ratio' AND v.value IS NOT NULL", (ENTITY,),
    )  # fmt: skip
    served = {date.fromordinal(end).isoformat(): value for end, value in stored}
    # In the first year, and in the first after a change, there is no balance of a year ago.
    missing = {"2018-12-31"} | (set() if change == "neither" else {"2021-12-31"})
    assert served.keys() == {f"{year}-12-31" for year in range(2018, 2024)} - missing
    world.db.close()
    reader = Reader(world.settings.home / "data.db")
    with reader.view() as view:
        for year in range(2018, 2024):
            told = explain_scores(view, ENTITY, at(f"{year + 1}-06-01"), None)["accrualsRatio"]
            assert told["periodEnd"][:10] == f"{year}-12-31"
            assert told["value"] == served.get(f"{year}-12-31"), year
            assert told["tests"][0]["inputs"]["net_income_ttm"] == (50 + year - 2018) * 1_000_003
    reader.close()
