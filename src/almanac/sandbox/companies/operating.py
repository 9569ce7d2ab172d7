"""The true books of the simulated companies that sell goods, services or the use of property, quarter by quarter."""

from __future__ import annotations

from almanac.sandbox.companies.books import RESTRICTED_SINCE, TrueBooks, chance, habit, labels, trend
from almanac.sandbox.companies.calendar import Calendar
from almanac.sandbox.companies.cast import Filer
from almanac.sandbox.noise import wander

#: Share of income that is paid out, by trade.
_PAYOUT = {"property": 0.75, "utilities": 0.6}
#: What a trade ties up in other current assets and in accrued costs, as a share of a quarter's revenue.
_OTHER_CURRENT, _ACCRUED = 0.12, 0.3
_PAYABLE_DAYS = 45


def goods(company: Filer, calendar: Calendar) -> TrueBooks:
    """The books over all quarters of the calendar."""
    firm = _Firm(company, calendar)
    for quarter in range(len(calendar.ends)):
        firm.live(quarter)
    return firm.books


class _Firm:
    """The state of one company at the end of a quarter, and how it gets to the next. Amounts in its scale."""

    def __init__(self, company: Filer, calendar: Calendar) -> None:
        trade, luck, count = company.trade, company.luck.tolist(), len(calendar.ends)
        self.company, self.trade, self.scale = company, trade, company.scale
        self.years = labels(calendar)
        units = company.seat.units if company.seat else 1.0
        low, high = (400.0, 12_000.0) if company.large else (9_000.0, 300_000.0)
        start = units * low * (high / low) ** luck[3]
        # What it is like
        self.burning = trade.name == "medicines" and not company.large and luck[4] > 0.45
        self.levered = company.number % 60 == 26
        strained = 1.16 if luck[16] > 0.9 else 1.07 if luck[16] > 0.75 else 1.0
        cost = trade.cost * (0.92 + 0.15 * luck[5]) * strained
        research = trade.research * (0.7 + 0.6 * luck[6]) * (4.0 if self.burning else 1.0)
        selling = trade.selling * (0.85 + 0.3 * luck[7])
        self.rate, self.tax_rate = 0.03 + 0.04 * luck[9], trade.tax * (0.85 + 0.3 * luck[14])
        self.wearing = trade.capital / trade.plant * 0.85 / 4
        self.minority_share = 0.03 + 0.08 * luck[15]
        self.pays = company.pays and not self.burning
        self.buys_back = company.has("repurchases") and not self.burning
        self.sets_aside = company.has("investments")
        #: Yearly revenues of debt that it keeps by borrowing anew; 0: it pays its debt down.
        self.borrows = trade.debt * (0.4 + 1.2 * luck[12]) if luck[17] < 0.7 else 0.0
        self.works_abroad = company.has("exchange") or company.seat is not None
        # What happens to it
        self.revenues = trend(company, calendar, start, "revenue").tolist()
        self.costs = (cost * habit(company, "cost", count, 0.05 if trade.swing > 0.06 else 0.03)).tolist()
        self.researches = (research * habit(company, "research", count, 0.05)).tolist()
        self.sellings = (selling * habit(company, "selling", count, 0.03)).tolist()
        self.capitals = (trade.capital * (0.7 + 0.6 * luck[8]) * habit(company, "capital", count, 0.12)).tolist()
        self.exchanges = (0.012 * chance(company, "exchange", count)).tolist()
        self.spares = (0.2 * wander(f"company/{company.number}/restricted", count, 0.8, 1.0)).tolist()
        self.works = (0.06 * chance(company, "works", count)).tolist()
        self.takeovers = (chance(company, "takeover", count) > 1.9).tolist()
        self._open(start, luck)
        self.books = TrueBooks()
        self.profits: list[int] = []

    def _open(self, start: float, luck: list[float]) -> None:
        """The opening balance sheet; what is missing for a sound equity is in other assets."""
        company, trade, yearly = self.company, self.trade, 4 * start
        here = company.seat is None  # books kept abroad have neither line
        self.restricted_base = round(yearly * 0.012) if company.has("restricted") and here else 0
        self.restricted = self.restricted_base
        self.cash, self.investments = round(yearly * (0.1 + 0.15 * luck[10])), 0
        self.receivable = round(start * trade.receivable_days / 91)
        self.inventory = round(start * trade.cost * trade.inventory_days / 91)
        self.payable = round(start * trade.cost * _PAYABLE_DAYS / 91)
        self.other_current, self.accrued = round(start * _OTHER_CURRENT), round(start * _ACCRUED)
        self.plant = round(yearly * trade.plant)
        self.goodwill = round(yearly * 0.3 * (0.3 + luck[11])) if company.has("goodwill") else 0
        self.intangible = round(self.goodwill * 0.5)
        self.debt = round(yearly * trade.debt * (0.4 + 1.2 * luck[12]))
        self.other_owed = round(yearly * 0.06)
        owned = self.cash + self.restricted + self._current() + self.plant + self.goodwill + self.intangible
        owing = self.payable + self.accrued + self.debt + self.other_owed
        self.other_owned = max(round(yearly * 0.08), round(owing / 0.8) - owned)
        own = owned + self.other_owned - owing
        self.temporary = round(own * 0.05) if company.has("temporary") and here else 0
        self.minority = round(own * 0.04) if company.has("minority") else 0
        self.equity = own - self.temporary - self.minority
        self.retained = -round(self.equity * 1.5) if self.burning else round(self.equity * 0.55)
        price = 18 + 70 * luck[13]
        self.shares = max(2_000, round(2.2 * yearly * company.scale / price / 1_000))
        margin = max(0.02, 1 - trade.cost - trade.research - trade.selling) * (1 - trade.tax) * 0.75
        share = _PAYOUT.get(trade.name, 0.3) * start * margin * company.scale / (self.shares * 1_000)
        self.per_share = round(max(0.01, share), 2) if self.pays else 0.0

    def _current(self) -> int:
        return self.receivable + self.inventory + self.other_current

    def live(self, quarter: int) -> None:
        """One quarter: trade, then money, then owners; then the books are closed."""
        flows = self._trade(quarter)
        flows |= self._money(quarter, flows)
        self._close(quarter, flows)

    def _trade(self, quarter: int) -> dict[str, int]:
        revenue = round(self.revenues[quarter])
        cost, research = round(revenue * self.costs[quarter]), round(revenue * self.researches[quarter])
        selling = round(revenue * self.sellings[quarter])
        worn, written = round(self.plant * self.wearing), round(self.intangible * 0.025)
        expenses = research + selling + written
        operating = revenue - cost - expenses
        interest = round(self.debt * self.rate / 4)
        before_tax = operating - interest + round((self.cash + self.investments) * 0.004)
        tax = round(before_tax * (self.tax_rate if before_tax > 0 else 0.08))
        profit = before_tax - tax
        others = round(profit * self.minority_share) if self.minority and profit > 0 else 0
        granted = round(revenue * (0.045 if self.trade.name == "software" else 0.009))
        before = self._current() - self.payable - self.accrued
        self.receivable = round(revenue * self.trade.receivable_days / 91 * (1 + self.works[quarter]))
        self.inventory = round(cost * self.trade.inventory_days / 91 * (1 - self.works[quarter]))
        self.other_current, self.accrued = round(revenue * _OTHER_CURRENT), round(revenue * _ACCRUED)
        self.payable = round(cost * _PAYABLE_DAYS / 91 * (1 + self.works[quarter] / 2))
        tied = self._current() - self.payable - self.accrued - before
        self.plant -= worn
        self.intangible -= written
        return {
            "revenue": revenue, "cost": cost, "gross": revenue - cost, "research": research, "selling": selling,
            "marketing": round(selling * 0.6), "general": selling - round(selling * 0.6), "expenses": expenses,
            "costs": cost + expenses, "operating": operating, "interest": interest, "before_tax": before_tax,
            "tax": tax, "profit": profit, "others": others, "income": profit - others, "discontinued": 0,
            "wearing": worn + written, "granted": granted,
            "from_operations": profit + worn + written + granted - tied,
        }  # fmt: skip

    def _money(self, quarter: int, flows: dict[str, int]) -> dict[str, int]:
        """What is invested, paid out, borrowed and repaid, so that cash stays between a month's and half a year's sales."""
        revenue, income = flows["revenue"], flows["income"]
        capital = round(revenue * self.capitals[quarter])
        wants = self.takeovers[quarter] and self.company.has("goodwill") and not self.burning
        takeover = round(revenue * 0.25) if wants else 0
        if quarter % 4 == 0 and quarter and self.pays:
            risen = round(self.per_share * 1.06 + 0.004, 2)
            self.per_share = risen if sum(self.profits[-4:]) > 0 else max(0.01, round(self.per_share / 2, 2))
        per_share = self.per_share
        back = round(max(income, 0) * (1.7 if self.levered else 0.35)) if self.buys_back or self.levered else 0
        repaid, issued, stock, aside = round(self.debt * 0.025), 0, 0, 0
        if self.borrows:
            issued = max(0, round((4 * revenue * self.borrows - self.debt) * 0.1) + repaid)
        moved = round(self.cash * self.exchanges[quarter]) if self.works_abroad else 0
        held = self.restricted
        if self.restricted_base and self.years[quarter] >= RESTRICTED_SINCE:
            held = max(1, round(self.restricted_base * (1 + max(-0.8, self.spares[quarter]))))
        ordinary = round(per_share * self.shares * 1_000 / self.scale)
        out = capital + takeover + ordinary + back + repaid - issued + held - self.restricted
        left = self.cash + flows["from_operations"] + moved - out
        least, most = round(revenue * 0.3), round(revenue * 1.6)
        if left < least:
            aside = -min(self.investments, least - left)
            lacking = least - left + aside
            stock = lacking + 2 * revenue if self.burning and lacking else 0
            issued += lacking + round(revenue * 0.15) if not self.burning and lacking else 0
        elif left > most:
            over = left - most
            if self.sets_aside:
                aside = round(over * 0.6)
            else:
                early = min(self.debt - repaid, over)
                repaid += early
                if self.buys_back:
                    back += round((over - early) * 0.6)
                elif self.pays:
                    per_share = round(per_share + (over - early) * 0.6 * self.scale / (self.shares * 1_000), 2)
        dividends = round(per_share * self.shares * 1_000 / self.scale)
        invested, financed = -capital - takeover - aside, issued + stock - repaid - dividends - back
        change = flows["from_operations"] + invested + financed + moved
        self.cash += change - (held - self.restricted)
        self.restricted = held
        self.investments += aside
        self.plant += capital
        self.goodwill += round(takeover * 0.6)
        self.intangible += takeover - round(takeover * 0.6)
        self.debt += issued - repaid
        self.declared = per_share
        return {
            "capital": capital, "takeover": takeover, "invested": invested, "financed": financed,
            "dividends": dividends, "repurchases": back, "issued": issued, "repaid": repaid, "stock": stock,
            "exchange": moved, "change": change,
        }  # fmt: skip

    def _close(self, quarter: int, flows: dict[str, int]) -> None:
        income, back, dividends = flows["income"], flows["repurchases"], flows["dividends"]
        self.equity += income - dividends - back + flows["granted"] + flows["stock"] + flows["exchange"]
        self.retained += income - dividends
        self.minority += flows["others"]
        price = max(2.0, 2.2 * 4 * self.revenues[quarter] * self.scale / (self.shares * 1_000))
        opening = self.shares
        self.shares += round((flows["stock"] + flows["granted"] * 0.6) * self.scale / price / 1_000)
        self.shares -= min(round(back * self.scale / price / 1_000), self.shares // 40)
        self.profits.append(income)
        basic = (opening + self.shares) // 2
        shares = (basic, round(basic * 1.012) if income > 0 else basic, self.shares)
        short = round(self.debt * 0.11)
        current = self.cash + self.investments + self._current()
        longer = self.restricted + self.plant + self.goodwill + self.intangible + self.other_owned
        levels = {
            "cash": self.cash, "restricted": self.restricted, "cash_total": self.cash + self.restricted,
            "investments": self.investments, "receivable": self.receivable, "inventory": self.inventory,
            "current": current, "plant": self.plant, "goodwill": self.goodwill, "intangible": self.intangible,
            "assets": current + longer, "payable": self.payable, "short": short,
            "owed_soon": self.payable + self.accrued + short, "long": self.debt - short, "debt": self.debt,
            "liabilities": self.payable + self.accrued + self.debt + self.other_owed, "retained": self.retained,
            "equity": self.equity, "minority": self.minority, "with_minority": self.equity + self.minority,
            "temporary": self.temporary,
        }  # fmt: skip
        self.books.post(flows, levels, shares, self.declared)
