"""The true books of the simulated banks, insurers, funds and blank-check companies, quarter by quarter."""

from __future__ import annotations

import numpy as np

from almanac.sandbox.companies.books import RESTRICTED_SINCE, TrueBooks, chance, habit, labels, trend
from almanac.sandbox.companies.calendar import Calendar
from almanac.sandbox.companies.cast import Filer
from almanac.sandbox.noise import wander


def finance(company: Filer, calendar: Calendar) -> TrueBooks:
    """
    A group that lends, takes deposits and insures: a bank more of the one, an insurer more of the other.

    Loans, deposits and reserves follow the group's size; securities take up what is left, so that cash stays as wanted.
    """
    trade, luck, count = company.trade, company.luck.tolist(), len(calendar.ends)
    bank = trade.name == "banks"
    low, high = (25_000.0, 900_000.0) if company.large else (900_000.0, 20_000_000.0)
    size = trend(company, calendar, low * (high / low) ** luck[3], "size")
    # A balance sheet is no longer in a quarter of 14 weeks.
    size = (size * 91.3125 / (np.array(calendar.ends) - np.array(calendar.starts) + 1)).tolist()
    lent, taken, reserved = (0.64, 0.74, 0.03) if bank else (0.1, 0.06, 0.62)
    lent, taken = lent * (0.9 + 0.2 * luck[5]), taken * (0.94 + 0.08 * luck[6])
    rates = (1 + 0.8 * wander("interest", count, 0.95, 0.5)).clip(0.25, 2.2)
    yields = (0.036 + 0.006 * luck[7] + 0.012 * rates).tolist()
    cheap = (0.012 * rates * (0.8 + 0.4 * luck[8])).tolist()
    losses = (0.0045 * (0.5 + luck[9]) * habit(company, "losses", count, 0.4).clip(0.1, 4.0)).tolist()
    written = ((0.006 if bank else 0.26) * (0.8 + 0.4 * luck[10]) * habit(company, "premiums", count, 0.03)).tolist()
    claims = (0.69 * habit(company, "claims", count, 0.06)).tolist()
    fees = ((0.009 if bank else 0.003) * habit(company, "fees", count, 0.06)).tolist()
    thrift = (0.5 + 0.16 * luck[11]) * habit(company, "running", count, 0.02)
    running_shares = thrift.tolist()
    exchange = (chance(company, "exchange", count) * 0.006).tolist()
    spare = (0.2 * wander(f"company/{company.number}/restricted", count, 0.8, 1.0)).tolist()
    years = labels(calendar)

    start = size[0]
    loans, deposits, reserves = round(start * lent), round(start * taken), round(start * reserved)
    debt = round(start * 0.07)
    restricted_base = round(start * 0.004) if company.has("restricted") else 0
    restricted, cash = restricted_base, round(start * 0.05)
    plant = round(start * 0.012)
    goodwill = round(start * 0.015) if company.has("goodwill") else 0
    intangible = round(goodwill * 0.25)
    other_owned, other_owed = round(start * 0.03), round(start * 0.025)
    owing = deposits + reserves + debt + other_owed
    own = round(start * (0.09 if bank else 0.17))
    temporary = round(own * 0.04) if company.has("temporary") else 0
    minority = round(own * 0.03) if company.has("minority") else 0
    securities = owing + own - loans - cash - restricted - plant - goodwill - intangible - other_owned
    equity = own - temporary - minority
    retained = round(equity * 0.6)
    price = 22 + 60 * luck[13]
    shares = max(2_000, round(1.2 * equity * company.scale / price / 1_000))
    per_share = round(max(0.01, 0.02 / 4 * price), 2) if company.has("dividends") else 0.0

    books = TrueBooks()
    profits: list[int] = []
    for quarter in range(count):
        target = size[quarter]
        earned = round((loans * yields[quarter] * 1.15 + securities * yields[quarter] * 0.75) / 4)
        interest = round((deposits * cheap[quarter] + debt * (0.02 + cheap[quarter])) / 4)
        left = earned - interest
        provision = round(loans * losses[quarter] / 4)
        premiums, other_fees = round(target * written[quarter] / 4), round(target * fees[quarter] / 4)
        beside = premiums + other_fees
        costs = round((left + other_fees) * running_shares[quarter]) + round(premiums * (0.22 if not bank else 0.1))
        running = round(premiums * claims[quarter]) + costs
        before_tax = left - provision + beside - running
        tax = round(before_tax * trade.tax) if before_tax > 0 else round(before_tax * 0.1)
        profit = before_tax - tax
        others = round(profit * 0.03) if minority and profit > 0 else 0
        income = profit - others
        granted, worn = round(max(left, 0) * 0.012), round(plant * 0.02) + round(intangible * 0.02)
        gone = round(intangible * 0.02)
        kept = round(target * reserved) - reserves
        from_operations = profit + provision + worn + granted + kept
        profits.append(income)
        if quarter % 4 == 0 and quarter and per_share:
            good = sum(profits[-5:-1]) > 2 * per_share * shares * 4_000 / company.scale
            per_share = round(per_share * 1.05 + 0.004, 2) if good else max(0.01, round(per_share * 0.8, 2))
        dividends = round(per_share * shares * 1_000 / company.scale)
        back = round(max(income, 0) * 0.25) if company.has("repurchases") else 0
        more = round(target * 0.07) - debt
        repaid = round(debt * 0.04) + max(0, -more)
        issued = more + repaid
        moved = round(cash * exchange[quarter]) if company.has("exchange") else 0
        held = restricted
        if restricted_base and years[quarter] >= RESTRICTED_SINCE:
            held = max(1, round(restricted_base * (1 + max(-0.8, spare[quarter]))))
        lending = round(target * lent) - loans
        gathered = round(target * taken) - deposits
        spent = round(plant * 0.026)
        wanted = round(target * 0.05) - cash
        financed = gathered + issued - repaid - dividends - back
        bought = from_operations + financed + moved - lending - provision - spent - wanted - (held - restricted)
        invested = -lending - provision - spent - bought
        change = from_operations + invested + financed + moved
        cash += change - (held - restricted)
        restricted = held
        loans += lending
        securities += bought
        deposits += gathered
        reserves += kept
        debt += more
        plant += spent - (worn - gone)
        intangible -= gone
        equity += income - dividends - back + granted + moved
        retained += income - dividends
        minority += others
        price = max(2.0, 1.3 * equity * company.scale / (shares * 1_000))
        opening = shares
        shares += round(granted * 0.5 * company.scale / price / 1_000)
        shares -= min(round(back * company.scale / price / 1_000), shares // 12)
        basic = (opening + shares) // 2
        short = round(debt * 0.3)
        total = cash + restricted + loans + securities + plant + goodwill + intangible + other_owned
        books.post(
            {
                "interest_earned": earned, "interest": interest, "interest_left": left, "provision": provision,
                "premiums": premiums, "beside": beside, "running": running, "revenue": left + beside,
                "before_tax": before_tax, "tax": tax, "profit": profit, "others": others, "income": income,
                "wearing": worn, "granted": granted, "from_operations": from_operations, "capital": spent,
                "invested": invested, "financed": financed, "dividends": dividends, "repurchases": back,
                "issued": issued, "repaid": repaid, "exchange": moved, "change": change,
            },
            {
                "cash": cash, "restricted": restricted, "cash_total": cash + restricted, "loans": loans,
                "securities": securities, "plant": plant, "goodwill": goodwill, "intangible": intangible,
                "assets": total, "deposits": deposits, "short": short, "long": debt - short, "debt": debt,
                "liabilities": deposits + reserves + debt + other_owed, "retained": retained, "equity": equity,
                "minority": minority, "with_minority": equity + minority, "temporary": temporary,
            },
            (basic, round(basic * 1.008) if income > 0 else basic, shares), per_share,
        )  # fmt: skip
    return books


def fund(company: Filer, calendar: Calendar) -> TrueBooks:
    """A trust that holds a commodity: its net assets follow a price, its income is what the price does."""
    count = len(calendar.ends)
    returns = (0.01 + 0.06 * chance(company, "price", count)).tolist()
    subscribed = (0.04 * chance(company, "units", count)).tolist()
    shares = 40_000 + round(60_000 * float(company.luck[3]))
    equity = shares * 45 * 1_000 // company.scale
    books = TrueBooks()
    for quarter in range(count):
        costs = round(equity * 0.001)
        income = round(equity * returns[quarter]) - costs
        taken = round(equity * max(-0.2, subscribed[quarter]))
        shares = max(1_000, round(shares * (1 + taken / equity)))
        equity += income + taken
        books.post(
            {"expenses": costs, "income": income},
            {"assets": equity + costs, "liabilities": costs, "equity": equity, "cash": round(equity * 0.001)}
            | {"minority": 0, "temporary": 0},
            (shares,) * 3,
        )
    return books


def shell(company: Filer, calendar: Calendar) -> TrueBooks:
    """A company that looks for another to merge with; its money lies in a trust that its holders can have back."""
    count = len(calendar.ends)
    trust, cash = 0, 0
    raised = 150_000 + round(200_000 * float(company.luck[3]))
    owed = round(raised * 0.035)
    books = TrueBooks()
    for quarter in range(count):
        brought = raised + 2_500 if quarter == 0 else 0
        costs, yielded = 280 + round(150 * float(company.luck[5 + quarter % 20])), round(trust * 0.006)
        laid_by = raised if quarter == 0 else 0
        cash += brought - costs - laid_by
        back = max(0, 400 - cash)  # the sponsor lends what is missing
        cash += back
        owed += back
        trust += laid_by + yielded
        income = yielded - costs
        equity = cash - owed  # all of the trust is its holders'; what is left is a deficit
        books.post(
            {
                "expenses": costs, "operating": -costs, "income": income, "from_operations": -costs,
                "invested": -laid_by, "financed": brought + back, "change": brought + back - costs - laid_by,
            },
            {
                "cash": cash, "assets": cash + trust, "liabilities": owed, "temporary": trust, "retained": equity,
                "equity": equity, "minority": 0, "cash_total": cash,
            },
            (round(raised / 10 * 1.25),) * 3,
        )  # fmt: skip
    return books
