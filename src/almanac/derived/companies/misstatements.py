"""
Numbers of filings that are not what they say: in another scale, quoted from another statement, or no count of shares.

**Another scale.** Reports give money in thousands by mistake, or a thousand times too large. Several lines tell it together,
whatever the company grew: each is about a thousand times off what earlier filings gave of the same period, or of the one before.
Shares tell which filing is mistaken: income over earnings per share does not come to the shares on the cover then. All that is
looked at was known when the filing was.

**Quotations.** A report in millions repeats what an earlier one stated in thousands, rounded so that its columns add up, and the
text of a note speaks of "about 12.3 billion". Company facts have one value of a fact from each filing, so the rounded one stands
there alone. It restates nothing: the exact number stays.

**Counts of shares outstanding.** Filers leave placeholders (1, 100, 1,000 shares of a shell to be), and slip by thousands. What
tells are the average shares of the periods that end with a count, the shares that earnings per share imply, and the counts before
and after. A count 50 times off all that the same report says is none; one that is off by a power of ten is none where its
neighbours say so too.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from almanac.catalog.companies import SHEET_ANEW
from almanac.derived.companies.facts import CompanyInput, Facts, FactVintage, KnownFacts, letter
from almanac.derived.companies.precision import agree, foots, quotes, spelled, usual_unit

#: Tags that tell of the number of shares of a period.
AVERAGES = (
    "us-gaap:WeightedAverageNumberOfSharesOutstandingBasic",
    "us-gaap:WeightedAverageNumberOfDilutedSharesOutstanding",
    "us-gaap:WeightedAverageNumberOfShareOutstandingBasicAndDiluted",
    "us-gaap:WeightedAverageLimitedPartnershipUnitsOutstanding",
    "ifrs-full:WeightedAverageShares",
    "ifrs-full:AdjustedWeightedAverageShares",
)
PER_SHARE = ("us-gaap:EarningsPerShareBasic", "us-gaap:EarningsPerShareDiluted", "ifrs-full:BasicEarningsLossPerShare")
INCOMES = ("us-gaap:NetIncomeLoss", "us-gaap:ProfitLoss", "ifrs-full:ProfitLossAttributableToOwnersOfParent")
#: Earnings per share below this are too coarse to tell how many shares there are.
COARSE = 0.05

_Span = tuple[int | None, int]

# -- another scale -------------------------------------------------------------------------------------------------------

#: Lines that must be off together, and part of all that can be compared.
_LINES, _MOST = 3, 0.8
#: Powers of ten by which filings slip; how far off one growth may put a line, and how far rounding may, in powers of ten.
_POWERS = (-6, -3, 3, 6)
_GROWTH, _EXACT = 0.7, 0.01
#: The first where shares say that a filing is mistaken.
_WILD_GROWTH = 1.2
#: The same for a number of shares.
_EVEN = 0.2
#: Times that a number of shares may change between two reports while money changes a thousandfold by mistake.
_STEADY = 1.5
#: Days before a period within which another one is its neighbour.
_PERIOD_BEFORE_DAYS = 400

#: What tags have in their names of amounts per share or unit, and of numbers of them.
_NO_MONEY = ("Shares", "PerShare", "PerUnit", "PerOutstanding", "UnitsOutstanding")

#: Tag (with its currency, where that is not the main one), span, state.
_Row = tuple[str, _Span, FactVintage]


class Slip(NamedTuple):
    """A filing in another scale: since when that is known, and whether its balances and its flows are."""

    since: int
    balances: bool
    flows: bool

    def concerns(self, start: int | None) -> bool:
        """Return whether a fact of the filing is in another scale; `start` None: a balance."""
        return self.balances if start is None else self.flows


def is_money(tag: str) -> bool:
    """Tell whether a tag is of an amount of money, neither per share or unit nor a number of them."""
    return tag != SHEET_ANEW and not tag.startswith("dei:") and not any(word in tag for word in _NO_MONEY)


def slips(company: CompanyInput) -> dict[str, Slip]:
    """Find the filings of a company that are in another scale, in the order in which filings became known."""
    rows: dict[str, list[_Row]] = defaultdict(list)
    for currency, facts in {"": company.facts, **company.others}.items():
        suffix = currency and f" {currency}"  # won are a thousandth of dollars
        for tag, periods in facts.items():
            for span, history in periods.items():
                for state in history:
                    rows[state.accession].append((tag + suffix, span, state))
    found_slips: dict[str, Slip] = {}
    earlier = _Earlier({}, {})
    #: The shares that the last filing counted.
    shares: float | None = None
    #: Filings whose income does not fit their shares.
    doubted: set[str] = set()
    in_order = sorted((min(state.known for _, _, state in of_filing), name) for name, of_filing in rows.items())
    for known, accession in in_order:
        stated = rows[accession]
        newest: dict[str, _Row] = {}
        for row in stated:
            if row[0] not in newest or row[1][1] > newest[row[0]][1][1]:
                newest[row[0]] = row
        cover = newest.get("dei:EntityCommonStockSharesOutstanding")
        counted = cover[2].value if cover is not None and cover[2].value > 0 else None
        if counted and shares and any(abs(math.log10(counted / shares) - power) < _EVEN for power in (-6, -3)):
            counted = None  # the cover slipped with the money
        fits = _fits(newest, stated, counted or shares)
        is_steady = bool(counted and shares and max(counted, shares) <= _STEADY * min(counted, shares))
        growth = _WILD_GROWTH if fits is False else _GROWTH
        flows, balances = (_off(earlier, accession, stated, growth, instants=instants) for instants in (False, True))
        mistaken = doubted & (flows.filings | balances.filings)
        # Lines alone say that a filing slipped where shares did not change, or where it gives known figures anew.
        flows_tell, balances_tell = (is_steady or off.exact >= _LINES for off in (flows, balances))
        wrong_flows = flows.is_most and not mistaken and (fits is False or (fits is None and flows_tell))
        wrong_balances = balances.is_most and not mistaken and (wrong_flows or balances_tell)
        if wrong_flows or wrong_balances:
            alike = balances.lines >= _MOST * balances.compared
            found_slips[accession] = Slip(known, wrong_balances or (wrong_flows and alike), wrong_flows)
            continue
        for name in mistaken if fits is not False else ():
            found_slips[name] = Slip(known, balances=True, flows=True)
        if fits is False:
            doubted.add(accession)
        shares = counted or shares
        for tag, span, state in stated:
            earlier.figures[tag, span] = (state.value, accession)
            line = (tag, letter(*span))
            if state.value and (line not in earlier.last or span[1] >= earlier.last[line][0]):
                earlier.last[line] = (span[1], state.value)
    return found_slips


class _Earlier(NamedTuple):
    """Values that filings of the right scale gave."""

    #: The last figure of each fact, and the filing.
    figures: dict[tuple[str, _Span], tuple[float, str]]
    #: Tag and letter → end and value of the last period.
    last: dict[tuple[str, str | None], tuple[int, float]]


class _Off(NamedTuple):
    """Return what of a filing's balances or flows is off by a power of ten."""

    lines: int
    compared: int
    #: Lines of which an earlier filing gave the same figure but for the scale, and those filings.
    exact: int
    filings: frozenset[str]

    @property
    def is_most(self) -> bool:
        return self.lines >= _LINES and self.lines >= _MOST * self.compared


def _off(earlier: _Earlier, accession: str, rows: Iterable[_Row], growth: float, *, instants: bool) -> _Off:
    compared: set[str] = set()
    exact: set[str] = set()
    filings: set[str] = set()
    by_power: dict[int, set[str]] = defaultdict(set)
    for tag, span, state in rows:
        if (span[0] is None) != instants or not state.value or not is_money(tag):
            continue
        before, filing = earlier.figures.get((tag, span), (0.0, accession))
        if not before:
            end, value = earlier.last.get((tag, letter(*span)), (0, 0.0))
            before = value if span[1] - _PERIOD_BEFORE_DAYS <= end < span[1] else 0.0
        if not before:
            continue
        compared.add(tag)
        times = math.log10(abs(state.value / before))
        power = next((power for power in _POWERS if abs(times - power) < growth), None)
        if power is not None:
            by_power[power].add(tag)
            if filing != accession and abs(times - power) < _EXACT:
                exact.add(tag)
                filings.add(filing)
    return _Off(max(map(len, by_power.values()), default=0), len(compared), len(exact), frozenset(filings))


def _fits(newest: Mapping[str, _Row], rows: Iterable[_Row], counted: float | None) -> bool | None:
    """Return whether the income of a filing, or else its average shares, is of the scale of the shares counted; None: nothing tells."""
    if counted is None:
        return None
    values = {(tag, span): state.value for tag, span, state in rows}
    implied = [
        values[income, row[1]] / row[2].value
        for row in (newest.get(tag) for tag in PER_SHARE)
        if row is not None and abs(row[2].value) >= COARSE
        for income in INCOMES
        if (income, row[1]) in values
    ]
    implied = [shares for shares in implied if shares > 0] or [
        row[2].value for row in (newest.get(tag) for tag in AVERAGES) if row is not None and row[2].value > 0
    ]
    if not implied:
        return None
    times = [math.log10(shares / counted) for shares in implied]
    if any(abs(power_off) < _GROWTH for power_off in times):
        return True
    return False if all(any(abs(power_off - power) < _GROWTH for power in _POWERS) for power_off in times) else None


def without_restated(company: CompanyInput, slipped: Mapping[str, Slip]) -> CompanyInput:
    """Leave out what filings in another scale give of periods that were known: those stay as they were."""

    def is_restated(tag: str, span: _Span, state: FactVintage) -> bool:
        slip = slipped.get(state.accession)
        return slip is not None and slip.since == state.known and slip.concerns(span[0]) and not tag.startswith("dei:")

    def kept(facts: Facts) -> Facts:
        return {
            tag: {
                span: [history[0], *(state for state in history[1:] if not is_restated(tag, span, state))]
                for span, history in periods.items()
            }
            for tag, periods in facts.items()
        }

    if not slipped:
        return company
    others = {currency: kept(facts) for currency, facts in company.others.items()}
    return company._replace(facts=kept(company.facts), others=others)


# -- quotations ----------------------------------------------------------------------------------------------------------

#: Units by which a flow may be off: it is a sum of lines that were rounded themselves.
_COLUMN_UNITS = 2


class _Change(NamedTuple):
    """A later state of a fact, and the number that stood before it."""

    tag: str
    span: _Span
    state: FactVintage
    before: float


def without_quotations(company: CompanyInput) -> CompanyInput:
    """Leave out the states of facts that only quote a number which an earlier filing stated exactly."""
    others = {currency: _without_quotations(facts) for currency, facts in company.others.items()}
    return company._replace(facts=_without_quotations(company.facts), others=others)


def _without_quotations(facts: Facts) -> Facts:
    changes = list(_changes(facts))
    units = _units(facts, {change.state.accession for change in changes})
    rounded, quoted, anew = list[_Change](), list[_Change](), set[tuple[str, _Span]]()
    for change in changes:
        value, accession = change.state.value, change.state.accession
        if foots(value, change.before, units[accession], 1 if change.span[0] is None else _COLUMN_UNITS):
            rounded.append(change)
        elif quotes(value, change.before, units[accession]):
            quoted.append(change)
        elif not agree(value, change.before):
            anew.add((accession, change.span))
    # A filing that restates another line of the period gives that period anew, whatever the digits of its numbers.
    rounded += [change for change in quoted if (change.state.accession, change.span) not in anew]
    exact: dict[str, dict[_Span, Sequence[FactVintage]]] = {}
    for tag, span, quotation, _ in rounded:
        periods = exact.setdefault(tag, dict(facts[tag]))
        periods[span] = [state for state in periods[span] if state is not quotation]
    return {**facts, **exact}


def _changes(facts: Facts) -> Iterator[_Change]:
    """Yield each state of money after the first with the most exact number that stood before."""
    for tag, periods in facts.items():
        for span, history in periods.items() if is_money(tag) else ():
            before = history[0].value
            for state in history[1:]:
                yield _Change(tag, span, state, before)
                if not (agree(state.value, before) or quotes(state.value, before, 1.0)):
                    before = state.value


def _units(facts: Facts, accessions: Iterable[str]) -> Mapping[str, float]:
    """Return the unit that each of some filings states its money in."""
    values: dict[str, list[float]] = {accession: [] for accession in accessions}
    for tag, periods in facts.items():
        for history in periods.values() if is_money(tag) else ():
            for state in history:
                if state.accession in values:
                    values[state.accession].append(state.value)
    return {accession: usual_unit(numbers) for accession, numbers in values.items()}


# -- counts of shares ----------------------------------------------------------------------------------------------------

#: Days before and after a count within which another one is its neighbour.
NEIGHBOUR_DAYS = 200
#: Days before the end of a period within which the averages of another one are those before.
AVERAGES_DAYS = 400
#: Times by which a count differs from all that tells of it and is none; less than the least differs by nothing.
_NO_COUNT, _NO_DIFFERENCE = 50.0, 7.0


def doubt(known_facts: KnownFacts, tag: str, day: int, end: int, count: float) -> str | None:
    """Why a count of a tag, dated `day`, is not that of the period that ends on `end`; None where it may be."""
    if count <= 0:
        return f"{spelled(count)} shares"
    implied = [*_of_the_period(known_facts, end)]
    beside = [*_counts_beside(known_facts, tag, day)]
    agrees = any(_ratio(count, other) < _NO_DIFFERENCE for other in implied)
    if agrees or not (implied or beside):
        return None
    off = [_ratio(count, other) for other in implied]
    if all(map(_is_slip, off)) and any(
        _ratio(count, other) < _NO_DIFFERENCE for other in _averages_before(known_facts, end)
    ):
        return None  # it is the averages that slipped since
    if off and min(off) >= _NO_COUNT:
        of_one_size = max(implied) < _NO_DIFFERENCE * min(implied)
        if of_one_size or not any(_ratio(count, other) < 2 for other in beside):
            return f"{spelled(count)} shares, the average is {spelled(implied[0])}"
    slipped = beside and all(_is_slip(_ratio(count, other)) for other in beside)
    if slipped and (off or len(beside) > 1):
        return f"{spelled(count)} shares, a slip by powers of ten beside the counts before and after"
    return None


def _of_the_period(known_facts: KnownFacts, end: int) -> Iterator[float]:
    for tag in AVERAGES:
        for fact in known_facts.tags.get(tag, {}).get(end, {}).values():
            if fact.latest.value > 0:
                yield fact.latest.value
    for tag in PER_SHARE:
        for start, fact in known_facts.tags.get(tag, {}).get(end, {}).items():
            if abs(fact.latest.value) >= COARSE:
                incomes = (known_facts.fact(income, start, end) for income in INCOMES)
                income = next((fact for fact in incomes if fact is not None), None)
                if income is not None and income.latest.value * fact.latest.value > 0:
                    yield income.latest.value / fact.latest.value


def _averages_before(known_facts: KnownFacts, end: int) -> Iterator[float]:
    """Averages of the period before, as they were given first."""
    for tag in AVERAGES:
        days = known_facts.tags.get(tag, {})
        last = max((day for day in days if end - AVERAGES_DAYS <= day < end), default=None)
        if last is not None:
            yield from (fact.states[0].value for fact in days[last].values() if fact.states[0].value > 0)


def _counts_beside(known_facts: KnownFacts, tag: str, day: int) -> Iterator[float]:
    """Return the counts of that tag next before and next after a day."""
    days = known_facts.tags.get(tag, {})
    near = [other for other in days if other != day and abs(other - day) <= NEIGHBOUR_DAYS and None in days[other]]
    for other in (
        max((other_day for other_day in near if other_day < day), default=None),
        min((other_day for other_day in near if other_day > day), default=None),
    ):
        if other is not None and days[other][None].latest.value > 0:
            yield days[other][None].latest.value


def _ratio(one: float, other: float) -> float:
    return max(one / other, other / one)


def _is_slip(times: float) -> bool:
    """Return whether a ratio is near ten, a hundred, a thousand or a further power of ten."""
    power = math.log10(times)
    return power > 0.8 and abs(power - round(power)) < 0.1
