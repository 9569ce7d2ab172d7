"""A line that is reported is served, whatever kind of company reports it; what kind it is decides on formulas alone."""

import pytest

from almanac.catalog.sectors import TEMPLATES
from tests.support.filer import Filer, ytd

END = "2024-12-31"
YEAR = ytd(2024, 4)
#: Items of some kinds only, by a tag that is nothing else.
FLOWS = {
    "selling_general_and_administrative": ("SellingGeneralAndAdministrativeExpense", 20),
    "research_and_development": ("ResearchAndDevelopmentExpense", 7),
    "provision_for_credit_losses": ("ProvisionForLoanLeaseAndOtherLosses", 3),
    "premiums_earned": ("PremiumsEarnedNet", 60),
    "net_interest_income": ("InterestIncomeExpenseNet", 30),
}
BALANCES = {"inventory": ("InventoryNet", 40), "current_assets": ("AssetsCurrent", 300), "deposits": ("Deposits", 500)}


@pytest.mark.parametrize("template", TEMPLATES)
def test_an_item_that_is_reported_is_served_whatever_the_kind(template):
    filer = Filer(template)
    lines = {"Revenues": {YEAR: 200}, "NetIncomeLoss": {YEAR: 50}, "Assets": {END: 1_000}}
    lines |= {tag: {YEAR: amount} for tag, amount in FLOWS.values()}
    lines |= {tag: {END: amount} for tag, amount in BALANCES.values()}
    filer.file("10-K", "2025-02-20", END, lines, fy=2024, fp="FY")
    served = {}
    for key, versions in filer.swept().statements.items():
        if key.frequency == "A" and versions[-1].body:
            served |= versions[-1].body.items
    wanted = {key: amount for key, (_, amount) in (FLOWS | BALANCES).items()}
    assert {key: served.get(key) for key in wanted} == wanted
