"""All companies of the simulated world: what their profiles, scores and statements say of each other."""

from collections import Counter
from datetime import date
from itertools import pairwise

import pytest

pytestmark = pytest.mark.slow

SCORES = {"piotroskiF": "piotroski_f", "altmanZ2": "altman_z2", "beneishM": "beneish_m"}
#: Key figures that are sums over twelve months: of which line of which statements.
SUMS = {
    "revenue": ("incomeStatements", "revenue"),
    "netIncome": ("incomeStatements", "net_income"),
    "operatingCashFlow": ("cashFlowStatements", "net_cash_flow_from_operations"),
}


@pytest.fixture(scope="module")
def profiles(whole):
    return [whole.ok(f"/companies/{one['entityId']}/profile") for one in whole.walk("/companies", limit=500)]


def test_scores_and_their_detail_are_one_number_of_one_twelve_months(profiles):
    assert len(profiles) >= 300
    with_all = [profile for profile in profiles if set(SCORES) <= set(profile["scoreDetail"])]
    assert len(with_all) > 150
    for profile in profiles:
        detail = profile["scoreDetail"]
        # A score that is not meant for a company's kind of business (Altman's for a bank) has no detail.
        assert len({told["periodEnd"] for told in detail.values()}) <= 1, profile["entityId"]
        for name in ("piotroskiF", "altmanZ2"):
            assert profile[name] == detail.get(name, {}).get("value"), (profile["entityId"], name)
        found = detail.get("piotroskiF", {"value": None})
        if found["value"] is not None:
            assert found["value"] == sum(bool(test["passed"]) for test in found["tests"])
    assert sum(profile["piotroskiF"] is not None for profile in profiles) > 150


def test_the_last_quarters_add_up_to_the_profile_s_twelve_months_or_say_why_not(whole, profiles):
    seen = Counter()
    for profile in profiles:
        told = whole.ok(f"/companies/{profile['entityId']}/financials", frequency="quarterly", limit=8)
        for name, (kind, line) in SUMS.items():
            figure = profile["keyFigures"][name]
            if figure is None or figure["value"] is None:
                seen["no figure"] += 1
                continue
            parts = [one for one in told[kind] if one["periodEnd"] <= figure["periodEnd"]]
            count = 2 if parts and parts[0]["frequency"] == "semiannual" else 4
            quarters = parts[:count]
            if (
                len(quarters) < count
                or quarters[0]["periodEnd"] != figure["periodEnd"]
                or not _one_after_another(quarters)
            ):
                seen["no quarters"] += 1
                continue
            values = [one["items"].get(line) for one in quarters]
            if None in values:
                seen["a quarter without the line"] += 1
            elif abs(sum(values) - figure["value"]) <= 1e-9 * max(map(abs, values)):
                seen["adds up"] += 1
            else:
                year = whole.ok(f"/companies/{profile['entityId']}/financials", frequency="annual", limit=4)
                (check,) = [
                    check
                    for one in year[kind]
                    if one["periodEnd"] == figure["periodEnd"]
                    for check in one["quality"]["checks"]
                    if check["name"] == "quarters_sum_to_year"
                ]
                assert check["status"] == "failed", (profile["entityId"], name, values, figure)
                seen["the year says why not"] += 1
    assert seen["adds up"] > 0.9 * sum(seen.values()), seen


def _one_after_another(quarters):
    days = [
        (date.fromisoformat(one["periodStart"][:10]), date.fromisoformat(one["periodEnd"][:10])) for one in quarters
    ]
    return all((later[0] - earlier[1]).days == 1 for later, earlier in pairwise(days))


def test_no_two_statements_share_kind_frequency_and_end_or_name(whole, profiles):
    for profile in profiles:
        told = whole.ok(f"/companies/{profile['entityId']}/financials", limit=100)
        for kind in ("incomeStatements", "balanceSheets", "cashFlowStatements"):
            ends = Counter((one["frequency"], one["periodEnd"]) for one in told[kind])
            names = Counter((one["fiscalYear"], one["fiscalPeriod"]) for one in told[kind] if one["fiscalPeriod"])
            assert {one for one, count in (ends | names).items() if count > 1} == set(), (profile["entityId"], kind)


def test_all_scores_have_a_screener_field(whole):
    fields = {field["field"] for field in whole.ok("/equity-screener/filters")["fields"]}
    assert set(SCORES.values()) <= fields
