"""The companies of the simulated world: who they are, and what befalls each. All invented.

Whom something befalls is written down by number, so that there are as many of each kind as the tests of a service need.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from almanac.sandbox.companies.kinds import CHANGED, KINDS, TAKEN_OVER
from almanac.sandbox.companies.names import incorporated, lei, name_of, place, tickers
from almanac.sandbox.companies.trades import ABROAD, TRADES, Trade
from almanac.sandbox.noise import Floats, uniforms

#: No regulator has given out a number as high as these.
FIRST_CIK = 9_900_001
#: The fiscal year whose figures the oldest reports give for comparison.
FIRST_YEAR = 2013
#: From this fiscal year on quarterly reports carry tagged figures, large companies' and others'; older ones are
#: documents only.
TAGGED_QUARTERS = (2022, 2023)


@dataclass(frozen=True, slots=True)
class YearEnd:
    """The rule of a fiscal year's last day: `month` (its last day), `last` (its last Saturday) or `near` (the Saturday
    nearest to its last day).
    """

    rule: str
    month: int
    #: Year of the last day minus the year the filer calls it by: 1 for retailers whose year ends in January.
    behind: int = 0


@dataclass(frozen=True, slots=True)
class Seat:
    """A country as the regulator writes it: its code in addresses and its name, a city, the currency of the books."""

    code: str
    country: str
    city: str
    currency: str
    #: Size of the currency's unit: yen per dollar, about.
    units: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Filer:
    """One filer with all that is fixed about it."""

    number: int
    name: str
    trade: Trade
    sic: str
    sic_title: str
    ticker: str
    year_end: YearEnd
    #: `quarter` (10-Q, or 6-K abroad), `half` (6-K) or `annual`: how often it reports figures.
    cadence: str = "quarter"
    #: 10-K, 20-F or 40-F.
    annual_form: str = "10-K"
    seat: Seat | None = None
    first_year: int = FIRST_YEAR
    #: How it reports as few others do, by key of `KINDS`; empty for most.
    kind: str = ""
    #: The company whose books it goes on with, once that one is gone.
    continues: Filer | None = field(default=None, repr=False)
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
    #: What it was called until that day.
    former: tuple[str, date] | None = None
    #: The last fiscal year that ends in the old month; then half a year of transition and years to June.
    moved: int | None = None
    two_classes: bool = False
    #: Chance that belongs to the company: the n-th number always has the same meaning.
    luck: Floats = field(repr=False, compare=False)

    @property
    def cik(self) -> int:
        return FIRST_CIK + self.number

    @property
    def currency(self) -> str:
        return self.seat.currency if self.seat else "USD"

    @property
    def large(self) -> bool:
        """Keeps its books in millions; the others in thousands."""
        return bool(self.luck[0] > 0.62)

    @property
    def scale(self) -> int:
        return 1_000_000 if self.large else 1_000

    @property
    def tagged_quarters(self) -> int:
        """The fiscal year from which its quarterly reports carry tagged figures."""
        return TAGGED_QUARTERS[0 if self.large else 1]

    @property
    def pays(self) -> bool:
        """Whether it pays dividends, unless its books say otherwise."""
        return self.has("dividends") or self.trade.name == "property"

    @property
    def lei(self) -> str | None:
        return lei(self.cik) if self.number % 3 == 0 else None

    def has(self, what: str) -> bool:
        """Whether it reports one of the things that some report and others do not."""
        chosen, parts = HABITS[what]
        return self.number % parts in chosen


#: By number: remainders of the division, and the divisor. Each holds for over a hundred filers in US dollars.
HABITS: dict[str, tuple[frozenset[int], int]] = {
    "minority": (frozenset({0, 2}), 5),
    "temporary": (frozenset({1, 3}), 5),
    "restricted": (frozenset({0, 3}), 5),
    "investments": (frozenset({0, 1, 3, 4, 6}), 7),
    "exchange": (frozenset({0, 2}), 4),
    "goodwill": (frozenset({0, 1, 2, 4}), 6),
    "dividends": (frozenset({0, 2, 4}), 6),
    "repurchases": (frozenset({1, 2, 3}), 6),
    "gross": (frozenset({0, 4}), 5),
    "liabilities": (frozenset({0, 1, 3}), 4),
    "both_sides": (frozenset({2}), 4),
    "expenses": (frozenset({0, 1, 2, 5}), 7),
    #: Acceptance times in New York's clock under the sign of UTC, as the regulator's index has for some filers.
    "new_york_clock": (frozenset({4}), 5),
}

_DECEMBER, _JUNE, _SEPTEMBER = YearEnd("month", 12), YearEnd("month", 6), YearEnd("month", 9)
_SHOPS = (YearEnd("near", 1, 1), YearEnd("month", 1, 1), YearEnd("near", 1, 1), YearEnd("month", 1), _DECEMBER)
_OTHERS = (
    _DECEMBER, _DECEMBER, _JUNE, _DECEMBER, _DECEMBER, _SEPTEMBER, _DECEMBER, _DECEMBER, YearEnd("last", 9), _DECEMBER,
    _DECEMBER, YearEnd("near", 12), _DECEMBER,
)  # fmt: skip

#: number → first fiscal year: listed since. The shells are among them.
_YOUNG = {7: 2018, 25: 2019, 33: 2021, 41: 2020, 58: 2022, 66: 2019, 139: 2021, 306: 2021, 307: 2022}
_GONE = {
    11: (date(2017, 5, 3), "bought"), 29: (date(2018, 9, 18), "bought"), 48: (date(2019, 6, 26), "bankrupt"),
    77: (date(2020, 7, 14), "bankrupt"), 86: (date(2021, 4, 8), "bought"), 103: (date(2022, 2, 16), "bought"),
    121: (date(2023, 10, 11), "bought"), 147: (date(2024, 3, 20), "bankrupt"), 160: (date(2025, 6, 12), "bought"),
    181: (date(2026, 1, 29), "bought"),
}  # fmt: skip
_ERRORS = {5: 2024, 38: 2023, 63: 2016, 92: 2019, 127: 2025, 155: 2022, 201: 2024, 263: 2018}
_RECASTS = {
    2: (2023, "regrouped"), 14: (2024, "discontinued"), 27: (2017, "regrouped"), 51: (2022, "discontinued"),
    70: (2024, "regrouped"), 83: (2015, "regrouped"), 98: (2024, "discontinued"), 110: (2019, "regrouped"),
    118: (2023, "discontinued"), 133: (2021, "regrouped"), 144: (2024, "regrouped"), 152: (2020, "discontinued"),
    166: (2023, "regrouped"), 175: (2023, "regrouped"), 68: (2023, "spun_off"), 111: (2023, "narrowed"),
    114: (2023, "narrowed"),
}  # fmt: skip
#: A tax, and the loss of a company that makes one every year.
_TURNED = {101: (2023, "tax", "first"), 43: (2023, "income", "again")}
_SPLITS = {
    9: (date(2023, 8, 25), 3), 20: (date(2024, 6, 7), 10), 45: (date(2018, 3, 2), 2), 88: (date(2022, 7, 15), 20),
    130: (date(2025, 5, 16), 4), 220: (date(2021, 11, 12), 2),
}  # fmt: skip
_MOVED = {72: 2020}
_TWO_CLASSES = {3, 36, 80, 106, 190, 250}
#: Tickers that are a country's code too, as some real ones are: who asks for a place is not told of a company.
_CODES = {10: "USA", 12: "FRA"}
#: Former names, with the day they ended.
_FORMER = {
    4: ("Pixelforge Games Inc", date(2019, 5, 20)), 22: ("Ohmlight Circuits Corp", date(2016, 10, 3)),
    33: ("Starling Merger Corp II", date(2021, 6, 30)), 44: ("Vitalgene Research Inc", date(2022, 1, 10)),
    55: ("Hearthstead Diagnostics Co", date(2018, 8, 6)), 69: ("Old Mill Bakeries Inc", date(2017, 4, 24)),
    90: ("Catalog Traders Corp", date(2020, 2, 3)), 99: ("Ironclad Tooling Co", date(2015, 9, 14)),
    112: ("Meridian Motor Parts Inc", date(2023, 3, 1)), 131: ("Black Prairie Oil Co", date(2021, 10, 18)),
    149: ("Tin & Zinc Consolidated Corp", date(2016, 6, 1)), 164: ("Daily Lantern Publishing Co", date(2018, 12, 17)),
    178: ("Union Haulage Co", date(2019, 11, 11)), 188: ("Farmers & Mechanics Savings Bank", date(2017, 7, 3)),
    199: ("First Prairie National Corp", date(2020, 9, 1)), 214: ("Harborpoint Financial Corp", date(2016, 3, 7)),
    233: ("Citizens of the Valley Bancorp", date(2022, 5, 2)), 247: ("Mutual Hail Insurance Association", date(2018, 1, 2)),
    269: ("Plainsman Fidelity Co", date(2023, 6, 12)), 281: ("Northern Mariners Assurance Corp", date(2019, 4, 1)),
    295: ("Suburban Malls Trust", date(2021, 1, 4)), 310: ("Kontor Feinmechanik AG", date(2020, 3, 2)),
}  # fmt: skip
#: Names that two companies share, or nearly: 17 has the name of 16, and so on.
_SAME = {
    17: "Inc", 40: "Inc", 61: "Corp", 126: "Corp", 209: "Inc", 270: "Inc",
}  # fmt: skip

#: Field of a filer → number → what it is for that one.
_BEFALLS: dict[str, dict[int, Any]] = {
    "first_year": _YOUNG, "gone": _GONE, "error": _ERRORS, "recast": _RECASTS, "turned": _TURNED, "split": _SPLITS,
    "former": _FORMER, "moved": _MOVED,
}  # fmt: skip

_EURO = "EUR"
#: Name, seat, how often it reports figures, its annual form.
_ABROAD: tuple[tuple[str, Seat, str, str], ...] = (
    ("Nordhavn Software A/S", Seat("G7", "Denmark", "AARHUS", "DKK", 7), "half", "20-F"),
    ("Kanazawa Silicon Co Ltd", Seat("M0", "Japan", "KANAZAWA", "JPY", 140), "half", "20-F"),
    ("Rheinfeld Arzneimittel AG", Seat("2M", "Germany", "MAINZ", _EURO), "half", "20-F"),
    ("Brasserie de l'Escaut NV", Seat("C9", "Belgium", "GENT", _EURO), "half", "20-F"),
    ("Thurwalden Praezision AG", Seat("V8", "Switzerland", "WINTERTHUR", "CHF"), "half", "20-F"),
    ("Caledon North Sea plc", Seat("X0", "United Kingdom", "ABERDEEN", "GBP"), "half", "20-F"),
    ("Saguenay Nickel Mines Ltd", Seat("A8", "Quebec, Canada", "SAGUENAY", "CAD"), "quarter", "40-F"),
    ("Lusitana de Telecomunicacoes SA", Seat("S1", "Portugal", "PORTO", _EURO), "annual", "20-F"),
    ("Hsinchu Lightwave Corp", Seat("F5", "Taiwan, Province of China", "HSINCHU", "TWD", 31), "annual", "20-F"),
    ("Matsuyama Electric Works Ltd", Seat("M0", "Japan", "MATSUYAMA", "JPY", 140), "quarter", "20-F"),
    ("Oakham & Stroud plc", Seat("X0", "United Kingdom", "BRISTOL", "GBP"), "half", "20-F"),
    ("Haarlem Instruments NV", Seat("P7", "Netherlands", "HAARLEM", _EURO), "quarter", "20-F"),
    ("Okanagan Pipe Corp", Seat("A1", "British Columbia, Canada", "KELOWNA", "CAD"), "quarter", "40-F"),
    ("Busan Shipyards Co Ltd", Seat("M5", "Korea, Republic of", "BUSAN", "KRW", 1300), "annual", "20-F"),
    ("Provence Parfums SA", Seat("I0", "France", "GRASSE", _EURO), "half", "20-F"),
    ("Kagoshima Foods Co Ltd", Seat("M0", "Japan", "KAGOSHIMA", "JPY", 140), "half", "20-F"),
)


def _year_end(number: int, trade: Trade) -> YearEnd:
    if number in _MOVED or trade.books in {"fund", "shell"} or trade.name in {"insurers", "property"}:
        return _DECEMBER
    if trade.name == "banks":
        return _JUNE if number % 16 == 0 else _DECEMBER
    return _SHOPS[number % len(_SHOPS)] if trade.name == "shops" else _OTHERS[number % len(_OTHERS)]


def _named(names: list[str], number: int, own: str) -> str:
    if number not in _SAME:
        return own
    words = names[number - 1].split()
    return " ".join([*words[:2], _SAME[number]])


@functools.cache
def cast() -> tuple[Filer, ...]:
    """All companies, those of the United States first, by number."""
    places = [(trade, turn) for trade in TRADES for turn in range(trade.count)]
    lucks = [uniforms(f"company/{number}", 40) for number in range(len(places) + len(_ABROAD))]
    names: list[str] = []
    for number, (trade, turn) in enumerate(places):
        own = name_of(number, trade.words[turn % len(trade.words)], float(lucks[number][1]))
        names.append(_named(names, number, own))
    names += [*(name for name, *_ in _ABROAD), *(kind.name for kind in KINDS)]
    symbols = tickers(names, list(range(len(names))))
    for number, code in _CODES.items():
        symbols[number] = code
    found = []
    for number, (trade, turn) in enumerate(places):
        code, title = trade.sics[turn % len(trade.sics)]
        found.append(
            Filer(
                number=number, name=names[number], trade=trade, sic=code, sic_title=title, ticker=symbols[number],
                year_end=_year_end(number, trade), two_classes=number in _TWO_CLASSES, luck=lucks[number],
                **{name: table[number] for name, table in _BEFALLS.items() if number in table},
            )
        )  # fmt: skip
    by_name = {trade.name: trade for trade in TRADES}
    for turn, (name, seat, cadence, form) in enumerate(_ABROAD):
        number, trade = len(places) + turn, by_name[ABROAD[turn % len(ABROAD)]]
        code, title = trade.sics[turn % len(trade.sics)]
        found.append(
            Filer(
                number=number, name=name, trade=trade, sic=code, sic_title=title, ticker=symbols[number],
                year_end=YearEnd("month", 3) if seat.currency == "JPY" and turn != 1 else _DECEMBER, cadence=cadence,
                annual_form=form, seat=seat, former=_FORMER.get(number), luck=lucks[number],
            )
        )  # fmt: skip
    found += _special(len(found), symbols, by_name)
    return tuple(found)


def _special(first: int, symbols: list[str], trades: dict[str, Trade]) -> list[Filer]:
    """Those who report as few others do, after all others: whatever is added here changes none of those."""
    found: list[Filer] = []
    for number, kind in enumerate(KINDS, first):
        owned = next((one for one in found if one.kind == "owned"), None) if kind.key == "holding" else None
        found.append(
            Filer(
                number=number, name=kind.name, trade=trades[kind.trade], sic=kind.sic, sic_title=kind.title,
                ticker=owned.ticker if owned else symbols[number], year_end=YearEnd("month", kind.year_ends), kind=kind.key,
                cadence="half" if kind.seat else "quarter", annual_form="20-F" if kind.seat else "10-K",
                seat=Seat(*kind.seat) if kind.seat else None, first_year=kind.first_year, continues=owned,
                gone=(TAKEN_OVER, "owned") if kind.key == "owned" else None,
                recast=(CHANGED - 1, "given_anew") if kind.key == "given_anew" else None,
                luck=uniforms(f"company/{number}", 40),
            )
        )  # fmt: skip
    return found


#: Companies that keep their numbers, for load tests: those of filings have six digits, of which a company has twenty.
MOST = 40_000


def filer(number: int) -> Filer:
    """
    Return the company of a number: one of the world's own, or a further one for load tests.

    A further one does what an ordinary company of the United States does, and the same befalls it; its books, name and ticker
    are its own.
    """
    if number < len(cast()):
        return cast()[number]
    own = [one for one in cast() if one.seat is None and not one.kind]
    model = own[number % len(own)]
    luck = uniforms(f"company/{number}", 40)
    words = model.trade.words
    name = name_of(number, words[number // len(own) % len(words)], float(luck[1]))
    # Five letters, the last four of which no other has; the world's own tickers come first.
    digits, rest = "", number
    for _ in range(4):
        rest, digit = divmod(rest, 26)
        digits = chr(65 + digit) + digits
    taken = {one.ticker for one in cast()}
    ticker = next(one for letter in name[0] + "XYZQ" if (one := letter.upper() + digits) not in taken)
    return replace(model, number=number, name=name, ticker=ticker, former=None, luck=luck)


def address(company: Filer) -> tuple[str, str, str, str]:
    """State or country code, city, postal code and area code of its offices."""
    if company.seat:
        return company.seat.code, company.seat.city, "", "000"
    return place(company.number)


def law(company: Filer) -> str:
    """Where it is incorporated, by the regulator's code; empty where that is not said."""
    return company.seat.code if company.seat else incorporated(company.number, place(company.number)[0])
