"""Figures that two companies reported, typed from their annual reports: millions of dollars, shares in thousands."""

from .invented_financials import annual

#: Apple's fiscal years, from its 10-K of November 2024 (0000320193-24-000123); balances of 2022 and the year 2021 from
#: those of 2022 and 2023 (0000320193-22-000108, 0000320193-23-000106). Figures of 2021 are revenue only.
APPLE_ENDS = ["2021-09-25", "2022-09-24", "2023-09-30", "2024-09-28"]
APPLE_FLOWS = {
    "revenue": [365_817, 394_328, 383_285, 391_035],
    "cost_of_revenue": [None, None, 214_137, 210_352],
    "gross_profit": [None, 170_782, 169_148, 180_683],
    "research_and_development": [None, None, 29_915, 31_370],
    "selling_general_and_administrative": [None, 25_094, 24_932, 26_097],
    "operating_income": [None, 119_437, 114_301, 123_216],
    "interest_expense": [None, None, 3_933, None],
    "income_before_tax": [None, 119_103, 113_736, 123_485],
    "income_tax": [None, 19_300, 16_741, 29_749],
    "net_income": [94_680, 99_803, 96_995, 93_736],
    "earnings_per_share_diluted": [None, 6.11, 6.13, 6.08],
    "weighted_average_shares_diluted": [None, 16_325_819, 15_812_547, 15_408_095],
    "depreciation_and_amortization": [None, 11_104, 11_519, 11_445],
    "ebitda": [None, 130_541, 125_820, 134_661],
    "net_cash_flow_from_operations": [None, 122_151, 110_543, 118_254],
    "capital_expenditure": [None, 10_708, 10_959, 9_447],
    "free_cash_flow": [None, 111_443, 99_584, 108_807],
}
APPLE_BALANCES = {
    "cash_and_equivalents": [None, 23_646, 29_965, 29_943],
    "short_term_investments": [None, 24_658, 31_590, 35_228],
    "accounts_receivable": [None, 28_184, 29_508, 33_410],
    "inventory": [None, None, 6_331, 7_286],
    "current_assets": [None, 135_405, 143_566, 152_987],
    "property_plant_equipment": [None, 42_117, 43_715, 45_680],
    "total_assets": [None, 352_755, 352_583, 364_980],
    "current_liabilities": [None, 153_982, 145_308, 176_392],
    "long_term_debt": [None, 98_959, 95_281, 85_750],
    # Term debt, its current part and commercial paper.
    "total_debt": [None, 98_959 + 11_128 + 9_982, 95_281 + 9_822 + 5_985, 85_750 + 10_912 + 9_967],
    "total_liabilities": [None, 302_083, 290_437, 308_030],
    "retained_earnings": [None, -3_068, -214, -19_154],
    "shareholders_equity": [None, 50_672, 62_146, 56_950],
}

#: Nike's fiscal years, from its 10-K of July 2023 (0000320187-23-000039); balances of 2021 from that of 2022
#: (0000320187-22-000038). It states neither operating income nor all liabilities.
NIKE_ENDS = ["2021-05-31", "2022-05-31", "2023-05-31"]
NIKE_FLOWS = {
    "revenue": [44_538, 46_710, 51_217],
    "gross_profit": [19_962, 21_479, 22_292],
    "selling_general_and_administrative": [13_025, 14_804, 16_377],
    "depreciation_and_amortization": [744, 717, 703],
    "net_income": [5_727, 6_046, 5_070],
    "net_cash_flow_from_operations": [6_657, 5_188, 5_841],
    "weighted_average_shares_diluted": [1_609_400, 1_610_800, 1_569_800],
}
NIKE_BALANCES = {
    "accounts_receivable": [4_463, 4_667, 4_131],
    "current_assets": [26_291, 28_213, 25_202],
    "property_plant_equipment": [4_904, 4_791, 5_081],
    "total_assets": [37_740, 40_321, 37_531],
    "current_liabilities": [9_674, 10_730, 9_256],
    "long_term_debt": [9_413, 8_920, 8_927],
    "retained_earnings": [3_179, 3_476, 1_358],
    "shareholders_equity": [12_767, 15_281, 14_004],
}


def apple(**more):
    return annual(APPLE_ENDS, APPLE_FLOWS, APPLE_BALANCES, first_day="2020-09-27", **more)


def nike(**more):
    return annual(NIKE_ENDS, NIKE_FLOWS, NIKE_BALANCES, first_day="2020-06-01", **more)
