"""Companies that report as few others do: in the style of another trade, in parts, wrongly, or otherwise than before.

Their books are those of their trade. What they state of them differs: by other tags, a whole beside its parts or parts alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import NamedTuple


class Kind(NamedTuple):
    """One such company, and the trade by whose habits it keeps its books."""

    key: str
    name: str
    trade: str
    sic: str
    title: str
    #: Abroad: code, country, city and currency.
    seat: tuple[str, str, str, str] | None = None
    first_year: int = 2021
    #: Month in which its fiscal year ends.
    year_ends: int = 12


class TaggedShare(NamedTuple):
    """A tag that states a share of a line of the books, in whole units of its scale; `rest`: what that share leaves of it."""

    tag: str
    share: float = 1.0
    rest: bool = False

    def of(self, value: float, scale: int) -> int:
        part = round(value * self.share / scale) * scale
        return round(value) - part if self.rest else part


#: In this order they are numbered, after all others.
KINDS = (
    Kind("oil_and_gas", "Tarn Hollow Petroleum Corp", "energy", "1311", "Crude Petroleum & Natural Gas"),
    Kind("utility", "Lochside Power & Light Co", "utilities", "4911", "Electric Services"),
    Kind("lessor", "Quayside Warehouse Trust Inc", "property", "6798", "Real Estate Investment Trusts"),
    Kind("broker", "Dunlin Street Securities Inc", "banks", "6211", "Security Brokers, Dealers & Flotation Companies"),
    Kind("fund", "Kittiwake Lending Corp", "commodities", "6799", "Investors, NEC"),
    Kind("unbalanced", "Guillemot Furnishings Inc", "goods", "2510", "Household Furniture"),
    Kind("a_part", "Fulmar Tool & Die Co", "machines", "3559", "Special Industry Machinery, NEC"),
    Kind("given_anew", "Razorbill Paper Corp", "materials", "2621", "Paper Mills"),
    Kind("placeholder", "Shearwater Devices Inc", "devices", "3845", "Electromedical & Electrotherapeutic Apparatus"),
    Kind("other_currency", "Minho Ceramica SA", "goods", "2844", "Perfumes, Cosmetics & Other Toilet Preparations",
         ("S1", "Portugal", "BRAGA", "EUR")),
    Kind("other_standard", "Akko Optical Systems Ltd", "machines", "3559", "Special Industry Machinery, NEC",
         ("L3", "Israel", "HAIFA", "USD")),
    Kind("annual_6k", "Skagen Rederi A/S", "machines", "3728", "Aircraft Parts & Auxiliary Equipment, NEC",
         ("G7", "Denmark", "SKAGEN", "DKK")),
    Kind("owned", "Puffin Rock Freight Corp", "transport", "4213", "Trucking (No Local)", None, 2013),
    Kind("holding", "Puffin Rock Holdings Inc", "transport", "4213", "Trucking (No Local)", None, 2013),
    # Listed of late, with names as most are filed: one has reported quarters and no year so far, one a single quarter.
    Kind("quarters_alone", "GANNET HEAD CANNERIES INC /DE/", "goods", "2033", "Canned, Frozen & Preserved Fruit, Veg",
         None, 2026),
    Kind("one_quarter", "STORM PETREL MOORINGS CORP", "machines", "3559", "Special Industry Machinery, NEC", None, 2027, 5),
)  # fmt: skip
#: From this fiscal year on reports are in dollars, or by the international standard; the sheet of the year before is
#: given anew.
CHANGED = 2024
#: Dollars for ten euros, in all reports alike.
_DOLLARS = 11
#: The day on which a holding company took the place, and the ticker, of the company it owns.
TAKEN_OVER = date(2025, 7, 1)
#: What stands on the cover before shares are given out.
PLACEHOLDER = 1_000
#: What the new way to draw up a sheet adds to both of its sides, as a share of assets.
ADDED = 0.08

_SALES = TaggedShare("RevenueFromContractWithCustomerExcludingAssessedTax", 0.9, rest=True)
#: Kind → column of the books → the tags that state it, in place of the usual one.
_TOLD: Mapping[str, Mapping[str, tuple[TaggedShare, ...]]] = {
    "oil_and_gas": {
        "revenue": (TaggedShare("Revenues"), TaggedShare("OilAndGasRevenue", 0.94)),
        "plant": (TaggedShare("PropertyPlantAndEquipmentNet"), TaggedShare("OilAndGasPropertyFullCostMethodNet", 0.9)),
        "capital": (
            TaggedShare("PaymentsToAcquireOilAndGasPropertyAndEquipment", 0.95),
            TaggedShare("PaymentsToAcquireOtherPropertyPlantAndEquipment", 0.95, rest=True),
        ),
    },
    "utility": {
        "revenue": (
            TaggedShare("RegulatedAndUnregulatedOperatingRevenue"),
            TaggedShare("RegulatedOperatingRevenue", 0.94),
            TaggedShare("UnregulatedOperatingRevenue", 0.94, rest=True),
        ),
        "plant": (
            TaggedShare("PropertyPlantAndEquipmentNet"),
            TaggedShare("PublicUtilitiesPropertyPlantAndEquipmentNet", 0.9),
        ),
    },
    "lessor": {
        "revenue": (TaggedShare("Revenues"), TaggedShare("OperatingLeaseLeaseIncome", 0.9), _SALES),
        "plant": (TaggedShare("RealEstateInvestmentPropertyNet"),),
        "capital": (
            TaggedShare("PaymentsToAcquireRealEstateHeldForInvestment", 0.8),
            TaggedShare("PaymentsForCapitalImprovements", 0.8, rest=True),
        ),
    },
    "broker": {
        "revenue": (
            TaggedShare("RevenuesNetOfInterestExpense"),
            TaggedShare("BrokerageCommissionsRevenue", 0.4),
            TaggedShare("InvestmentBankingRevenue", 0.2),
        ),
        "deposits": (TaggedShare("PayablesToBrokerDealersAndClearingOrganizations"),),
        **dict.fromkeys(("interest_left", "provision", "premiums"), ()),
    },
    "fund": {
        # Interest is three times what it costs to earn it; net income is with what its loans gain and lose.
        "expenses": (
            TaggedShare("OperatingExpenses"),
            TaggedShare("GrossInvestmentIncomeOperating", 3),
            TaggedShare("NetInvestmentIncome", 2),
        ),
        "equity": (TaggedShare("AssetsNet"),),
    },
    "a_part": {"capital": (TaggedShare("PaymentsToAcquireOtherPropertyPlantAndEquipment", 0.1),)},
    "unbalanced": {"liabilities": (TaggedShare("Liabilities", 1.1),)},
}


def by_gaap(kind: str, label: int) -> bool:
    """Whether a company abroad still reports by the standard of the United States."""
    return kind == "other_standard" and label < CHANGED


def in_dollars(kind: str, label: int) -> bool:
    """Whether a company that keeps its books in euros reports in dollars."""
    return kind == "other_currency" and label >= CHANGED


def dollars(value: float) -> int | float:
    """Euros in dollars; whole thousands stay whole, so what adds up in the one does in the other."""
    return value * _DOLLARS // 10 if isinstance(value, int) else round(value * _DOLLARS / 10, 2)


def tags(kind: str, source: str) -> tuple[TaggedShare, ...] | None:
    """The tags that state a column of the books; None: the usual one."""
    return _TOLD.get(kind, {}).get(source)
