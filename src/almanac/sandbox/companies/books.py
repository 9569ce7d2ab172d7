"""
The true books of the simulated companies, quarter by quarter, in whole units of their scale.

Each figure follows from the ones before it, so assets always equal liabilities and equity, and the change in cash is the
sum of the cash flows. The columns are named where they are posted.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

import numpy as np

from almanac.sandbox.companies.calendar import Calendar
from almanac.sandbox.companies.filers import Filer
from almanac.sandbox.noise import Floats, normals, wander

#: From this fiscal year on restricted cash is part of the cash-flow statement, and moves.
RESTRICTED_SINCE = 2018
#: Share of income that is paid out, by trade.
_PAYOUT = {"property": 0.75, "utilities": 0.6}
#: Other current assets and accrued costs of a trade, as a share of a quarter's revenue.
_OTHER_CURRENT, _ACCRUED = 0.12, 0.3
_PAYABLE_DAYS = 45


@dataclass
class TrueBooks:
    """Flows of each quarter, levels at its end; both in the company's scale. Shares in thousands, before any split."""

    flows: dict[str, list[int]] = field(default_factory=dict)
    levels: dict[str, list[int]] = field(default_factory=dict)
    basic: list[int] = field(default_factory=list)
    diluted: list[int] = field(default_factory=list)
    outstanding: list[int] = field(default_factory=list)
    #: Dividends declared per share in each quarter.
    per_share: list[float] = field(default_factory=list)

    def post(
        self, flows: Mapping[str, int], levels: Mapping[str, int], shares: tuple[int, int, int], per_share: float = 0.0
    ) -> None:
        """Close a quarter. `shares` are basic, diluted and outstanding."""
        for columns, row in ((self.flows, flows), (self.levels, levels)):
            for name, amount in row.items():
                columns.setdefault(name, []).append(amount)
        for column, count in zip((self.basic, self.diluted, self.outstanding), shares, strict=True):
            column.append(count)
        self.per_share.append(per_share)

    @functools.cached_property
    def sums(self) -> dict[str, list[int]]:
        """Return the sum of each flow over the quarters before a place."""
        return {line: [0, *itertools.accumulate(amounts)] for line, amounts in self.flows.items()}

    def total(self, line: str, first: int, last: int) -> int:
        """Return a flow over the quarters `first` to `last`."""
        return self.sums[line][last + 1] - self.sums[line][first]


def true_books(company: Filer, calendar: Calendar) -> TrueBooks:
    """Return the books of a company over all quarters of its calendar."""
    if company.trade.books == "goods":
        operations = _Operations(company, calendar)
        for quarter in range(len(calendar.ends)):
            operations.run(quarter)
        return operations.books
    return {"finance": _financial_group, "fund": _fund, "shell": _shell}[company.trade.books](company, calendar)


def _trend(company: Filer, calendar: Calendar, start: float, name: str) -> Floats:
    """Return a path that starts near `start` and grows about as the trade does, per quarter of 91 days."""
    trade, count = company.trade, len(calendar.ends)
    growth = np.log(1 + trade.growth + 0.06 * (company.seed[2] - 0.45)) / 4
    months = np.array([date.fromordinal(end).month for end in calendar.ends])
    peak = 12 if trade.name != "utilities" else 2
    season = trade.season * np.cos(2 * np.pi * (months - peak) / 12)
    swing = wander(f"company/{company.number}/{name}", count, 0.88, trade.swing)
    path: Floats = start * np.exp(growth * np.arange(count) + season + swing) * _days(calendar) / 91.3125
    return path


def _days(calendar: Calendar) -> Floats:
    days: Floats = np.array(calendar.ends) - np.array(calendar.starts) + 1
    return days


def _variation(company: Filer, name: str, count: int, spread: float) -> Floats:
    """Return a factor near 1 for each quarter."""
    path: Floats = 1 + wander(f"company/{company.number}/{name}", count, 0.7, spread)
    return path


def _chance(company: Filer, name: str, count: int) -> Floats:
    return normals(f"company/{company.number}/{name}", count)


def _restricted_cash(company: Filer, calendar: Calendar, base: int) -> list[int]:
    """Return restricted cash at the end of each quarter."""
    moves = (0.2 * wander(f"company/{company.number}/restricted", len(calendar.ends), 0.8, 1.0)).tolist()
    labels = [next(year.label for year in calendar.years if quarter <= year.last) for quarter in range(len(moves))]
    return [
        max(1, round(base * (1 + max(-0.8, move)))) if base and label >= RESTRICTED_SINCE else base
        for move, label in zip(moves, labels, strict=True)
    ]


class _Operations:
    """A company that sells goods, services or the use of property, at the end of a quarter. Amounts in its scale."""

    def __init__(self, company: Filer, calendar: Calendar) -> None:
        trade, seed, count = company.trade, company.seed, len(calendar.ends)
        self.company, self.trade, self.scale = company, trade, company.scale
        units = company.seat.units if company.seat else 1.0
        low, high = (400.0, 12_000.0) if company.large else (9_000.0, 300_000.0)
        start = units * low * (high / low) ** seed[3]
        # Its habits
        self.burning = trade.name == "medicines" and not company.large and seed[4] > 0.45
        self.levered = company.number % 60 == 26
        strained = 1.16 if seed[16] > 0.9 else 1.07 if seed[16] > 0.75 else 1.0
        cost = trade.cost * (0.92 + 0.15 * seed[5]) * strained
        research = trade.research * (0.7 + 0.6 * seed[6]) * (4.0 if self.burning else 1.0)
        selling = trade.selling * (0.85 + 0.3 * seed[7])
        self.rate, self.tax_rate = 0.03 + 0.04 * seed[9], trade.tax * (0.85 + 0.3 * seed[14])
        self.depreciation_rate = trade.capital / trade.plant * 0.85 / 4
        self.minority_share = 0.03 + 0.08 * seed[15]
        self.pays = company.pays and not self.burning
        self.buys_back = company.has("repurchases") and not self.burning
        #: Yearly revenues of debt that it keeps by borrowing anew; 0: it pays its debt down.
        self.borrows = trade.debt * (0.4 + 1.2 * seed[12]) if seed[17] < 0.7 else 0.0
        # What happens to it in each quarter
        self.revenues = _trend(company, calendar, start, "revenue").tolist()
        self.costs = (cost * _variation(company, "cost", count, 0.05 if trade.swing > 0.06 else 0.03)).tolist()
        self.researches = (research * _variation(company, "research", count, 0.05)).tolist()
        self.sellings = (selling * _variation(company, "selling", count, 0.03)).tolist()
        capital = trade.capital * (0.7 + 0.6 * seed[8])
        self.capitals = (capital * _variation(company, "capital", count, 0.12)).tolist()
        exchanges = 0.012 * _chance(company, "exchange", count)
        self.exchanges = (exchanges if company.has("exchange") or company.seat else 0 * exchanges).tolist()
        self.works = (0.06 * _chance(company, "works", count)).tolist()
        self.takeovers = (_chance(company, "takeover", count) > 1.9).tolist()
        has_restricted = company.has("restricted") and company.seat is None
        self.restricted = round(4 * start * 0.012) if has_restricted else 0
        self.restricted_path = _restricted_cash(company, calendar, self.restricted)
        self._open(start, seed)
        self.books = TrueBooks()
        self.profits: list[int] = []

    def _open(self, start: float, seed: list[float]) -> None:
        """Draw up the opening balance sheet. Other assets make up what is missing for a sound equity."""
        company, trade, yearly = self.company, self.trade, 4 * start
        self.cash, self.investments = round(yearly * (0.1 + 0.15 * seed[10])), 0
        self.receivable = round(start * trade.receivable_days / 91)
        self.inventory = round(start * trade.cost * trade.inventory_days / 91)
        self.payable = round(start * trade.cost * _PAYABLE_DAYS / 91)
        self.other_current, self.accrued = round(start * _OTHER_CURRENT), round(start * _ACCRUED)
        self.plant = round(yearly * trade.plant)
        self.goodwill = round(yearly * 0.3 * (0.3 + seed[11])) if company.has("goodwill") else 0
        self.intangible = round(self.goodwill * 0.5)
        self.debt = round(yearly * trade.debt * (0.4 + 1.2 * seed[12]))
        self.other_debts = round(yearly * 0.06)
        assets = self.cash + self.restricted + self._current() + self.plant + self.goodwill + self.intangible
        debts = self.payable + self.accrued + self.debt + self.other_debts
        self.other_assets = max(round(yearly * 0.08), round(debts / 0.8) - assets)
        net_assets = assets + self.other_assets - debts
        # Books kept abroad have no temporary equity.
        self.temporary = round(net_assets * 0.05) if company.has("temporary") and company.seat is None else 0
        self.minority = round(net_assets * 0.04) if company.has("minority") else 0
        self.equity = net_assets - self.temporary - self.minority
        self.retained = -round(self.equity * 1.5) if self.burning else round(self.equity * 0.55)
        price = 18 + 70 * seed[13]
        self.shares = max(2_000, round(2.2 * yearly * company.scale / price / 1_000))
        margin = max(0.02, 1 - trade.cost - trade.research - trade.selling) * (1 - trade.tax) * 0.75
        payout = _PAYOUT.get(trade.name, 0.3) * start * margin * company.scale / (self.shares * 1_000)
        self.per_share = round(max(0.01, payout), 2) if self.pays else 0.0

    def _current(self) -> int:
        return self.receivable + self.inventory + self.other_current

    def run(self, quarter: int) -> None:
        """Run one quarter: trade, then money, then owners; then close the books."""
        flows = self._trade(quarter)
        flows |= self._money(quarter, flows)
        self._close(quarter, flows)

    def _trade(self, quarter: int) -> dict[str, int]:
        revenue = round(self.revenues[quarter])
        cost, research = round(revenue * self.costs[quarter]), round(revenue * self.researches[quarter])
        selling = round(revenue * self.sellings[quarter])
        depreciation, amortization = round(self.plant * self.depreciation_rate), round(self.intangible * 0.025)
        expenses = research + selling + amortization
        operating = revenue - cost - expenses
        interest = round(self.debt * self.rate / 4)
        before_tax = operating - interest + round((self.cash + self.investments) * 0.004)
        tax = round(before_tax * (self.tax_rate if before_tax > 0 else 0.08))
        profit = before_tax - tax
        others = round(profit * self.minority_share) if self.minority and profit > 0 else 0
        granted = round(revenue * (0.045 if self.trade.name == "software" else 0.009))
        capital_before = self._current() - self.payable - self.accrued
        self.receivable = round(revenue * self.trade.receivable_days / 91 * (1 + self.works[quarter]))
        self.inventory = round(cost * self.trade.inventory_days / 91 * (1 - self.works[quarter]))
        self.other_current, self.accrued = round(revenue * _OTHER_CURRENT), round(revenue * _ACCRUED)
        self.payable = round(cost * _PAYABLE_DAYS / 91 * (1 + self.works[quarter] / 2))
        tied_up = self._current() - self.payable - self.accrued - capital_before
        self.plant -= depreciation
        self.intangible -= amortization
        wearing = depreciation + amortization
        return {
            "revenue": revenue, "cost": cost, "gross": revenue - cost, "research": research, "selling": selling,
            "marketing": round(selling * 0.6), "general": selling - round(selling * 0.6), "expenses": expenses,
            "costs": cost + expenses, "operating": operating, "interest": interest, "before_tax": before_tax,
            "tax": tax, "profit": profit, "others": others, "income": profit - others, "discontinued": 0,
            "wearing": wearing, "granted": granted, "from_operations": profit + wearing + granted - tied_up,
        }  # fmt: skip

    def _money(self, quarter: int, flows: dict[str, int]) -> dict[str, int]:
        """Invest, pay out, borrow and repay so that cash stays between a month's and half a year's sales."""
        revenue, income = flows["revenue"], flows["income"]
        capital = round(revenue * self.capitals[quarter])
        takes_over = self.takeovers[quarter] and self.company.has("goodwill") and not self.burning
        takeover = round(revenue * 0.25) if takes_over else 0
        if quarter % 4 == 0 and quarter and self.pays:
            risen = round(self.per_share * 1.06 + 0.004, 2)
            self.per_share = risen if sum(self.profits[-4:]) > 0 else max(0.01, round(self.per_share / 2, 2))
        per_share = self.per_share
        bought_back = 0
        if self.buys_back or self.levered:
            bought_back = round(max(income, 0) * (1.7 if self.levered else 0.35))
        repaid, issued, stock, set_aside = round(self.debt * 0.025), 0, 0, 0
        if self.borrows:
            issued = max(0, round((4 * revenue * self.borrows - self.debt) * 0.1) + repaid)
        exchange = round(self.cash * self.exchanges[quarter])
        restricted = self.restricted_path[quarter] - self.restricted
        ordinary = round(per_share * self.shares * 1_000 / self.scale)
        spent = capital + takeover + ordinary + bought_back + repaid - issued + restricted
        left = self.cash + flows["from_operations"] + exchange - spent
        least, most = round(revenue * 0.3), round(revenue * 1.6)
        if left < least:
            set_aside = -min(self.investments, least - left)
            missing = least - left + set_aside
            stock = missing + 2 * revenue if self.burning and missing else 0
            issued += missing + round(revenue * 0.15) if not self.burning and missing else 0
        elif left > most:
            surplus = left - most
            if self.company.has("investments"):
                set_aside = round(surplus * 0.6)
            else:
                early = min(self.debt - repaid, surplus)
                repaid += early
                if self.buys_back:
                    bought_back += round((surplus - early) * 0.6)
                elif self.pays:
                    per_share = round(per_share + (surplus - early) * 0.6 * self.scale / (self.shares * 1_000), 2)
        dividends = round(per_share * self.shares * 1_000 / self.scale)
        invested, financed = -capital - takeover - set_aside, issued + stock - repaid - dividends - bought_back
        change = flows["from_operations"] + invested + financed + exchange
        self.cash += change - restricted
        self.restricted += restricted
        self.investments += set_aside
        self.plant += capital
        self.goodwill += round(takeover * 0.6)
        self.intangible += takeover - round(takeover * 0.6)
        self.debt += issued - repaid
        self.declared = per_share
        return {
            "capital": capital, "takeover": takeover, "invested": invested, "financed": financed,
            "dividends": dividends, "repurchases": bought_back, "issued": issued, "repaid": repaid, "stock": stock,
            "exchange": exchange, "change": change,
        }  # fmt: skip

    def _close(self, quarter: int, flows: dict[str, int]) -> None:
        income, bought_back, dividends = flows["income"], flows["repurchases"], flows["dividends"]
        self.equity += income - dividends - bought_back + flows["granted"] + flows["stock"] + flows["exchange"]
        self.retained += income - dividends
        self.minority += flows["others"]
        price = max(2.0, 2.2 * 4 * self.revenues[quarter] * self.scale / (self.shares * 1_000))
        opening = self.shares
        self.shares += round((flows["stock"] + flows["granted"] * 0.6) * self.scale / price / 1_000)
        self.shares -= min(round(bought_back * self.scale / price / 1_000), self.shares // 40)
        self.profits.append(income)
        basic = (opening + self.shares) // 2
        shares = (basic, round(basic * 1.012) if income > 0 else basic, self.shares)
        short = round(self.debt * 0.11)
        current = self.cash + self.investments + self._current()
        fixed = self.restricted + self.plant + self.goodwill + self.intangible + self.other_assets
        levels = {
            "cash": self.cash, "restricted": self.restricted, "cash_total": self.cash + self.restricted,
            "investments": self.investments, "receivable": self.receivable, "inventory": self.inventory,
            "current": current, "plant": self.plant, "goodwill": self.goodwill, "intangible": self.intangible,
            "assets": current + fixed, "payable": self.payable, "short": short,
            "owed_soon": self.payable + self.accrued + short, "long": self.debt - short, "debt": self.debt,
            "liabilities": self.payable + self.accrued + self.debt + self.other_debts, "retained": self.retained,
            "equity": self.equity, "minority": self.minority, "with_minority": self.equity + self.minority,
            "temporary": self.temporary,
        }  # fmt: skip
        self.books.post(flows, levels, shares, self.declared)


def _financial_group(company: Filer, calendar: Calendar) -> TrueBooks:
    """
    Return the books of a group that lends, takes deposits and insures: a bank more of the one, an insurer more of the other.

    Loans, deposits and reserves follow the group's size; securities take up what is left, so that cash stays as wanted.
    """
    trade, seed, count = company.trade, company.seed, len(calendar.ends)
    bank = trade.name == "banks"
    low, high = (25_000.0, 900_000.0) if company.large else (900_000.0, 20_000_000.0)
    # A balance sheet is no longer in a quarter of 14 weeks.
    sizes = (_trend(company, calendar, low * (high / low) ** seed[3], "size") * 91.3125 / _days(calendar)).tolist()
    lent, deposited, reserved = (0.64, 0.74, 0.03) if bank else (0.1, 0.06, 0.62)
    lent, deposited = lent * (0.9 + 0.2 * seed[5]), deposited * (0.94 + 0.08 * seed[6])
    # Of the whole market: no company's own.
    rates = (1 + 0.8 * wander("interest", count, 0.95, 0.5)).clip(0.25, 2.2)
    yields = (0.036 + 0.006 * seed[7] + 0.012 * rates).tolist()
    deposit_rates = (0.012 * rates * (0.8 + 0.4 * seed[8])).tolist()
    losses = (0.0045 * (0.5 + seed[9]) * _variation(company, "losses", count, 0.4).clip(0.1, 4.0)).tolist()
    premium_share = (0.006 if bank else 0.26) * (0.8 + 0.4 * seed[10])
    premium_shares = (premium_share * _variation(company, "premiums", count, 0.03)).tolist()
    claims = (0.69 * _variation(company, "claims", count, 0.06)).tolist()
    fee_shares = ((0.009 if bank else 0.003) * _variation(company, "fees", count, 0.06)).tolist()
    running_shares = ((0.5 + 0.16 * seed[11]) * _variation(company, "running", count, 0.02)).tolist()
    exchanges = (_chance(company, "exchange", count) * 0.006).tolist()

    start = sizes[0]
    loans, deposits, reserves = round(start * lent), round(start * deposited), round(start * reserved)
    debt = round(start * 0.07)
    restricted, cash = round(start * 0.004) if company.has("restricted") else 0, round(start * 0.05)
    restricted_path = _restricted_cash(company, calendar, restricted)
    plant = round(start * 0.012)
    goodwill = round(start * 0.015) if company.has("goodwill") else 0
    intangible = round(goodwill * 0.25)
    other_assets, other_debts = round(start * 0.03), round(start * 0.025)
    net_assets = round(start * (0.09 if bank else 0.17))
    temporary = round(net_assets * 0.04) if company.has("temporary") else 0
    minority = round(net_assets * 0.03) if company.has("minority") else 0
    balance = deposits + reserves + debt + other_debts + net_assets
    securities = balance - loans - cash - restricted - plant - goodwill - intangible - other_assets
    equity = net_assets - temporary - minority
    retained = round(equity * 0.6)
    price = 22 + 60 * seed[13]
    shares = max(2_000, round(1.2 * equity * company.scale / price / 1_000))
    per_share = round(max(0.01, 0.02 / 4 * price), 2) if company.has("dividends") else 0.0

    books = TrueBooks()
    profits: list[int] = []
    for quarter, size in enumerate(sizes):
        earned = round((loans * yields[quarter] * 1.15 + securities * yields[quarter] * 0.75) / 4)
        interest = round((deposits * deposit_rates[quarter] + debt * (0.02 + deposit_rates[quarter])) / 4)
        left = earned - interest
        provision = round(loans * losses[quarter] / 4)
        premiums, fees = round(size * premium_shares[quarter] / 4), round(size * fee_shares[quarter] / 4)
        costs = round((left + fees) * running_shares[quarter]) + round(premiums * (0.22 if not bank else 0.1))
        running = round(premiums * claims[quarter]) + costs
        before_tax = left - provision + premiums + fees - running
        tax = round(before_tax * trade.tax) if before_tax > 0 else round(before_tax * 0.1)
        profit = before_tax - tax
        others = round(profit * 0.03) if minority and profit > 0 else 0
        income = profit - others
        granted = round(max(left, 0) * 0.012)
        depreciation, amortization = round(plant * 0.02), round(intangible * 0.02)
        reserving = round(size * reserved) - reserves
        from_operations = profit + provision + depreciation + amortization + granted + reserving
        profits.append(income)
        if quarter % 4 == 0 and quarter and per_share:
            good = sum(profits[-5:-1]) > 2 * per_share * shares * 4_000 / company.scale
            per_share = round(per_share * 1.05 + 0.004, 2) if good else max(0.01, round(per_share * 0.8, 2))
        dividends = round(per_share * shares * 1_000 / company.scale)
        bought_back = round(max(income, 0) * 0.25) if company.has("repurchases") else 0
        borrowing = round(size * 0.07) - debt
        repaid = round(debt * 0.04) + max(0, -borrowing)
        issued = borrowing + repaid
        exchange = round(cash * exchanges[quarter]) if company.has("exchange") else 0
        restricting = restricted_path[quarter] - restricted
        lending, depositing = round(size * lent) - loans, round(size * deposited) - deposits
        capital = round(plant * 0.026)
        cash_wanted = round(size * 0.05) - cash
        financed = depositing + issued - repaid - dividends - bought_back
        spent = lending + provision + capital + cash_wanted + restricting
        bought = from_operations + financed + exchange - spent
        invested = -lending - provision - capital - bought
        change = from_operations + invested + financed + exchange
        cash += change - restricting
        restricted += restricting
        loans += lending
        securities += bought
        deposits += depositing
        reserves += reserving
        debt += borrowing
        plant += capital - depreciation
        intangible -= amortization
        equity += income - dividends - bought_back + granted + exchange
        retained += income - dividends
        minority += others
        price = max(2.0, 1.3 * equity * company.scale / (shares * 1_000))
        opening = shares
        shares += round(granted * 0.5 * company.scale / price / 1_000)
        shares -= min(round(bought_back * company.scale / price / 1_000), shares // 12)
        basic = (opening + shares) // 2
        short = round(debt * 0.3)
        books.post(
            {
                "interest_earned": earned, "interest": interest, "interest_left": left, "provision": provision,
                "premiums": premiums, "beside": premiums + fees, "running": running, "revenue": left + premiums + fees,
                "before_tax": before_tax, "tax": tax, "profit": profit, "others": others, "income": income,
                "wearing": depreciation + amortization, "granted": granted, "from_operations": from_operations,
                "capital": capital, "invested": invested, "financed": financed, "dividends": dividends,
                "repurchases": bought_back, "issued": issued, "repaid": repaid, "exchange": exchange, "change": change,
            },
            {
                "cash": cash, "restricted": restricted, "cash_total": cash + restricted, "loans": loans,
                "securities": securities, "plant": plant, "goodwill": goodwill, "intangible": intangible,
                "assets": cash + restricted + loans + securities + plant + goodwill + intangible + other_assets,
                "deposits": deposits, "short": short, "long": debt - short, "debt": debt,
                "liabilities": deposits + reserves + debt + other_debts, "retained": retained, "equity": equity,
                "minority": minority, "with_minority": equity + minority, "temporary": temporary,
            },
            (basic, round(basic * 1.008) if income > 0 else basic, shares), per_share,
        )  # fmt: skip
    return books


def _fund(company: Filer, calendar: Calendar) -> TrueBooks:
    """Return the books of a trust that holds a commodity: net assets follow a price, whose changes are its income."""
    count = len(calendar.ends)
    returns = (0.01 + 0.06 * _chance(company, "price", count)).tolist()
    subscriptions = (0.04 * _chance(company, "units", count)).tolist()
    shares = 40_000 + round(60_000 * company.seed[3])
    equity = shares * 45 * 1_000 // company.scale
    books = TrueBooks()
    for quarterly_return, subscription in zip(returns, subscriptions, strict=True):
        costs = round(equity * 0.001)
        income = round(equity * quarterly_return) - costs
        subscribed = round(equity * max(-0.2, subscription))
        shares = max(1_000, round(shares * (1 + subscribed / equity)))
        equity += income + subscribed
        books.post(
            {"expenses": costs, "income": income},
            {
                "assets": equity + costs, "liabilities": costs, "equity": equity, "cash": round(equity * 0.001),
                "minority": 0, "temporary": 0,
            },
            (shares,) * 3,
        )  # fmt: skip
    return books


def _shell(company: Filer, calendar: Calendar) -> TrueBooks:
    """Return the books of a company that looks for another to merge with. Its holders can have back its money in trust."""
    trust, cash = 0, 0
    raised = 150_000 + round(200_000 * company.seed[3])
    debts = round(raised * 0.035)
    books = TrueBooks()
    for quarter in range(len(calendar.ends)):
        brought, to_trust = (raised + 2_500, raised) if quarter == 0 else (0, 0)
        costs, interest = 280 + round(150 * company.seed[5 + quarter % 20]), round(trust * 0.006)
        cash += brought - costs - to_trust
        lent = max(0, 400 - cash)  # the sponsor lends what is missing
        cash += lent
        debts += lent
        trust += to_trust + interest
        equity = cash - debts  # all of the trust is its holders'; what is left is a deficit
        books.post(
            {
                "expenses": costs, "operating": -costs, "income": interest - costs, "from_operations": -costs,
                "invested": -to_trust, "financed": brought + lent, "change": brought + lent - costs - to_trust,
            },
            {
                "cash": cash, "assets": cash + trust, "liabilities": debts, "temporary": trust, "retained": equity,
                "equity": equity, "minority": 0, "cash_total": cash,
            },
            (round(raised / 10 * 1.25),) * 3,
        )  # fmt: skip
    return books
