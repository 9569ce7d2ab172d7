"""The companies of the simulated world: their habits, and what happens to each. All are invented."""

from __future__ import annotations

import functools
import re
from datetime import date
from typing import Any

import msgspec

from almanac.sandbox.data import table
from almanac.sandbox.noise import uniforms

#: No regulator has given out a number as high as these.
FIRST_CIK = 9_900_001
#: The fiscal year whose figures the oldest reports give for comparison.
FIRST_YEAR = 2013
#: Companies that keep their numbers, for load tests: those of filings have six digits, of which a company has twenty.
MOST = 40_000


class YearEnd(msgspec.Struct, frozen=True):
    """
    The rule of a fiscal year's last day: `month` (its last day), `last` (its last Saturday) or `near` (the Saturday
    nearest to its last day).
    """

    month: int
    rule: str = "month"
    #: Year of the last day minus the year the filer calls it by: 1 for retailers whose year ends in January.
    behind: int = 0


class Trade(msgspec.Struct, frozen=True):
    """One line of business. Shares are of revenue, days are days of revenue (or of its cost), rates are per year."""

    name: str
    #: `goods` (also services and property), `finance`, `fund` or `shell`: the kind of its books.
    books: str
    #: Companies of the United States in it, and the second words of their names, used in turn.
    count: int
    words: tuple[str, ...]
    #: Codes of the regulator's list of industries with their titles, used in turn.
    industries: tuple[tuple[str, str], ...]
    cost: float = 0.6
    research: float = 0.0
    selling: float = 0.15
    capital: float = 0.05
    #: Property, plant and equipment per yearly revenue, at the start.
    plant: float = 0.3
    receivable_days: float = 50.0
    inventory_days: float = 0.0
    growth: float = 0.06
    swing: float = 0.05
    #: Size of the seasons: how far the best quarter is above the mean.
    season: float = 0.03
    debt: float = 0.25
    tax: float = 0.23


class Seat(msgspec.Struct, frozen=True):
    """A country as the regulator writes it: its code in addresses and its name, a city, the currency of the books."""

    code: str
    country: str
    city: str
    currency: str
    #: Size of the currency's unit: yen per dollar, about.
    units: float = 1.0


class Filer(msgspec.Struct, frozen=True, kw_only=True):
    """One filer with all that is fixed about it."""

    number: int
    name: str
    trade: Trade
    sic: str
    sic_title: str
    ticker: str
    year_end: YearEnd = YearEnd(12)
    #: `quarter` (10-Q, or 6-K abroad), `half` (6-K) or `annual`: how often it reports figures.
    cadence: str = "quarter"
    #: 10-K, 20-F or 40-F.
    annual_form: str = "10-K"
    seat: Seat | None = None
    first_year: int = FIRST_YEAR
    #: How it reports as few others do; empty for most.
    kind: str = ""
    #: The company whose books it goes on with, once that one is gone.
    continues: Filer | None = None
    #: Filings stop on that day; how it came: `bought`, `owned` (by a new holding company) or `bankrupt`.
    gone: tuple[date, str] | None = None
    #: A fiscal year whose last two quarters had to be restated by an amendment.
    error: int | None = None
    #: A fiscal year that the next one's reports show otherwise: `regrouped`, `discontinued`, `spun_off` (without a
    #: part of the group, in another tag of revenue), `narrowed` (its tag of revenue holds a part; from the annual
    #: report on), or `given_anew` (the sheet holds more on both sides).
    recast: tuple[int, str] | None = None
    #: A fiscal year, and the column of the books that has the other sign in its own annual report (`first`) or in the
    #: next one's comparison (`again`).
    turned: tuple[int, str, str] | None = None
    split: tuple[date, int] | None = None
    #: Its name until that day.
    former: tuple[str, date] | None = None
    #: The last fiscal year that ends in the old month; then half a year of transition and years to June.
    moved: int | None = None
    two_classes: bool = False

    @property
    def cik(self) -> int:
        """Return the number that the regulator knows it by."""
        return FIRST_CIK + self.number

    @property
    def currency(self) -> str:
        """Return the currency of its books."""
        return self.seat.currency if self.seat else "USD"

    @property
    def seed(self) -> list[float]:
        """Return forty random numbers that belong to the company. The n-th always has the same meaning."""
        return _seed(self.number)

    @property
    def large(self) -> bool:
        """Return whether it keeps its books in millions; the others do in thousands."""
        return self.seed[0] > 0.62

    @property
    def scale(self) -> int:
        """Return the unit of its books."""
        return 1_000_000 if self.large else 1_000

    @property
    def tagged_quarters(self) -> int:
        """Return the fiscal year from which its quarterly reports carry tagged figures; older ones are documents only."""
        return 2022 if self.large else 2023

    @property
    def pays(self) -> bool:
        """Return whether it pays dividends, unless its books say otherwise."""
        return self.has("dividends") or self.trade.name == "property"

    def has(self, habit: str) -> bool:
        """Return whether it has one of the habits in the table of companies."""
        remainders: list[int] = table("companies")["habits"][habit]["remainders"]
        return self.number % table("companies")["habits"][habit]["divisor"] in remainders


@functools.lru_cache(maxsize=1_024)
def _seed(number: int) -> list[float]:
    return uniforms(f"company/{number}", 40).tolist()  # type: ignore[no-any-return]


@functools.cache
def companies() -> tuple[Filer, ...]:
    """Return all companies, those of the United States first, by number."""
    trades = {trade["name"]: trade for trade in table("trades")["trade"]}
    rows: list[dict[str, Any]] = []
    for trade in trades.values():
        year_ends = trade.get("year_ends", table("trades")["year_ends"])
        for turn in range(trade["count"]):
            number = len(rows)
            sic, title = trade["industries"][turn % len(trade["industries"])]
            rows.append(
                {"name": _name(number, trade["words"][turn % len(trade["words"])]), "trade": trade, "sic": sic,
                 "sic_title": title, "year_end": year_ends[number % len(year_ends)]}
            )  # fmt: skip
    for field, events in table("companies")["life_events"].items():
        for number, event in events.items():
            rows[int(number)][field] = event
    for company in table("companies")["company"]:
        row = company | {"trade": trades[company["trade"]]}
        if "continues" in row:
            row["continues"] = next(other for other in rows if other.get("kind") == row["continues"])
        rows.append(row)
    for number, (row, ticker) in enumerate(zip(rows, _tickers([row["name"] for row in rows]), strict=True)):
        row["number"] = number
        row.setdefault("ticker", ticker)
    return msgspec.convert(rows, tuple[Filer, ...])


def _name(number: int, word: str) -> str:
    """Return the name of the n-th company, whose trade brings the second word."""
    first_words = table("companies")["first_words"].split()
    endings = ("Inc", "Corp", "Inc.", "Co", "Holdings, Inc.", "Group Inc", "Corporation", "INC /DE/")
    ending = endings[int(_seed(number)[1] * len(endings))]
    return f"{first_words[(number * 37) % len(first_words)]} {word} {ending}"


def _tickers(names: list[str]) -> list[str]:
    """Return a ticker for each name, of three to five letters. The first of two that would be equal keeps the short one."""
    tickers: dict[str, None] = {}
    for number, name in enumerate(names):
        letters, *words = (re.sub(r"[^A-Z]", "", text.upper()) for text in (name, *name.split()))
        second = words[1][:1] if len(words) > 1 else "X"
        tries = [letters[:3] + second, letters[0] + letters[2:4] + second, letters[:4]]
        tries += [letters[:2] + letters[4:5] + second + chr(65 + (number + step) % 26) for step in range(26)]
        tickers[next(ticker for ticker in tries if ticker not in tickers)] = None
    return list(tickers)


def filer(number: int) -> Filer:
    """
    Return the company of a number: one of the world's own, or a further one for load tests.

    A further one has the habits and life events of an ordinary company of the United States, and books, a name and a ticker of
    its own.
    """
    if number < len(companies()):
        return companies()[number]
    models = [company for company in companies() if company.seat is None and not company.kind]
    model = models[number % len(models)]
    name = _name(number, model.trade.words[number // len(models) % len(model.trade.words)])
    # Five letters, the last four of which no other has; the world's own tickers come first.
    digits = "".join(chr(65 + number // 26**place % 26) for place in (3, 2, 1, 0))
    taken = {company.ticker for company in companies()}
    ticker = next(ticker for letter in name[0] + "XYZQ" if (ticker := letter.upper() + digits) not in taken)
    return msgspec.structs.replace(model, number=number, name=name, ticker=ticker, former=None)
