"""
A company's own fiscal calendar as its filings show it: which days its years, quarters and halves end on.

A period is the company's own where a periodic report is about it: the report date of its filing, else the last day of
the periods in it. Years and quarters that only stand beside those in a comparative column are added where income,
revenue or cash flow is given for them. Nothing is assumed about months: years of 52 and 53 weeks, changed year ends
and short periods of transition are what the filings say they are.

Fiscal years are called by the filer's own word for each in its annual report, else counted from those that have one.
Names rise with the years. A word that leaves no room for its neighbours' is overruled (covers are filled in wrongly,
most often in the first tagged reports), so one odd word moves no other year.
"""

from __future__ import annotations

import functools
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from typing import NamedTuple

from almanac.derived.companies.facts import BUCKETS, CompanyInput, Disclosure, known_at, letter
from almanac.domain.companies import ANNUAL_FORMS, Filing, base_form, is_periodic

#: Days by which the start that a filing writes for a period may differ from the day after the last one, and its last day
#: from the date of the report: half a month, to the end of which data sets round beside an index and facts that do not.
SLACK = 16
#: Days within which the period of a report is looked for first.
_SNAP = 10
#: Days by which two years, or two quarters a year apart, may differ from 365: weeks of 52 and 53.
DRIFT = 8
#: Days that at least lie between the ends of two fiscal years: twelve months shown beside a year are not one.
_APART = 300
#: Days by which a quarter's end may lie off the quarters of its year: quarters of 12 and 16 weeks.
_QUARTER_DRIFT = 25
#: Days of a quarter, at least and at most: 17 weeks are one, four months after a moved year end are none.
_QUARTER_DAYS = (BUCKETS["Q"][0], 119)


class Span(NamedTuple):
    """One own period. `previous`: end of the own period of that length just before it, where there is one."""

    start: int
    end: int
    previous: int | None
    fiscal_year: int
    fiscal_period: str
    #: Of a quarter the calendar year and quarter that it stands beside.
    calendar: tuple[int, int] | None = None


class FiscalPeriods(NamedTuple):
    """The fiscal calendar as known at one moment; spans by their last day."""

    years: dict[int, Span]
    quarters: dict[int, Span]
    halves: dict[int, Span]
    #: Years to date, by the ends of second and third quarters: reports give them beside the quarter, or alone.
    to_date: dict[int, Span]

    def of(self, kind: str) -> dict[int, Span]:
        """Return the periods of a kind: A, Q, S, or T for years to date."""
        return {"A": self.years, "Q": self.quarters, "S": self.halves, "T": self.to_date}[kind]

    def quarters_within(self, start: int, end: int) -> list[Span]:
        """Return the quarters that fill some days without a gap, the last first; none where one is not there."""
        filling: list[Span] = []
        last: int | None = end
        while last is not None and (span := self.quarters.get(last)) is not None and span.start >= start:
            filling.append(span)
            if span.start == start:
                return filling
            last = span.previous
        return []

    @property
    def ends(self) -> set[int]:
        """Every own period end."""
        return {*self.years, *self.quarters, *self.halves}


class ReportPeriod(NamedTuple):
    """Statement of one periodic report about the calendar. `kind`: year, quarter, half, stub (a period of transition)."""

    known: int
    #: Where most periods of its own length that end with it begin; a plain length where it states none (balances only).
    start: int
    end: int
    kind: str
    fiscal_year: int | None
    fiscal_period: str | None
    accession: str
    #: Whether it gives figures for periods of some length; without them only the regulator's index speaks for its end.
    tagged: bool = True


class FiscalCalendar:
    """Statements of all filings of a company about its periods, with the time each became known."""

    def __init__(self, company: CompanyInput, disclosures: Iterable[Disclosure], core: frozenset[str]) -> None:
        """`core`: tags that show that a period was reported (income, revenue, cash flow)."""
        spans: dict[str, Counter[tuple[str, int, int]]] = defaultdict(Counter)
        said: dict[tuple[str, int], dict[int, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
        for disclosure in disclosures:
            name = None if disclosure.start is None else letter(disclosure.start, disclosure.end)
            if disclosure.start is None or name is None:
                continue
            spans[disclosure.vintage.accession][name, disclosure.start, disclosure.end] += 1
            if disclosure.tag in core and (name != "Q" or disclosure.end - disclosure.start < _QUARTER_DAYS[1]):
                said[name, disclosure.end][disclosure.known][disclosure.start] += 1
        #: (letter, end) → when core facts of that length were stated, and where most of them begin; by day.
        self.evidence = {
            period: [
                (known, max(starts, key=lambda day: (starts[day], day))) for known, starts in sorted(times.items())
            ]
            for period, times in sorted(said.items(), key=lambda item: item[0][1])
        }
        own_reports = [
            report
            for filing in company.filings.values()
            if is_periodic(filing.form) and (report := _own(filing, spans.get(filing.accession, Counter()))) is not None
        ]
        #: An amendment without figures tells of no period: the index often dates it by what it is about (a savings plan).
        self.own_reports: list[ReportPeriod] = sorted(
            (
                report
                for report in own_reports
                if report.tagged or not company.filings[report.accession].form.endswith("/A")
            ),
            key=lambda report: (report.known, report.accession),
        )
        self.moments = {report.known for report in self.own_reports}
        self.moments.update(known for times in self.evidence.values() for known, _ in times)
        #: Accession → the period end its report is about.
        self.own_end = {report.accession: report.end for report in own_reports}
        #: Last day of a period → when reports about it became known.
        self.own_known: dict[int, set[int]] = defaultdict(set)
        for report in self.own_reports:
            self.own_known[report.end].add(report.known)

    def at(self, moment: int) -> FiscalPeriods:
        """Return the calendar as known at a moment."""
        reports: dict[str, dict[int, ReportPeriod]] = {kind: {} for kind in ("year", "stub", "quarter", "half")}
        for report in self.own_reports:
            if report.known > moment:
                break
            first = reports[report.kind].setdefault(report.end, report)
            if report.tagged and not first.tagged:
                reports[report.kind][report.end] = report
        starts: dict[str, dict[int, int]] = {name: {} for name in BUCKETS}
        for (name, end), times in self.evidence.items():
            start: int | None = None
            for known, day in times:
                # As first stated, but where another company's accounts took the place of the registrant's (a reverse
                # merger): a slip of a day is none.
                if known <= moment and (start is None or abs(day - start) > SLACK):
                    start = day
            if start is not None:
                starts[name][end] = start
        stubs, quarterly = reports["stub"], reports["quarter"]
        years = _years(starts, reports["year"], stubs)
        # Some report the second quarter beside the half-year, or the half-year only: the first taken from it leaves it.
        low, high = BUCKETS["Q"]
        seconds = {
            end: report
            for end, report in reports["half"].items()
            if end in starts["Q"] or any(low <= end - quarter <= high for quarter in quarterly)
        }
        own_quarters = {**seconds, **stubs, **quarterly}
        quarters = _quarters(starts, years, own_quarters) if own_quarters else {}
        calendar = calendar_quarters((span.start, end) for end, span in quarters.items())
        quarters = {end: span._replace(calendar=calendar[end]) for end, span in quarters.items()}
        return FiscalPeriods(years, quarters, _halves(starts, years, reports["half"]), _to_date(years, quarters))


#: Letter → last day → first day of the periods of that length, as far as core facts tell; by day.
_Starts = Mapping[str, Mapping[int, int]]


def _near(ends: Iterable[int], end: int, slack: int) -> int | None:
    """Return the end nearest to a day; of two as near the earlier."""
    near = [day for day in ends if abs(day - end) <= slack]
    return min(near, key=lambda day: (abs(day - end), day), default=None)


def _around(years: Mapping[int, Span], day: int) -> tuple[Span | None, Span | None]:
    """Return the last year that ends before a day, and the first that ends on it or later."""
    before: Span | None = None
    for year in years.values():
        if year.end >= day:
            return before, year
        before = year
    return before, None


def _years(starts: _Starts, annual: Mapping[int, ReportPeriod], stubs: Iterable[int]) -> dict[int, Span]:
    # A year end is beyond doubt where there are figures for it, or a report of the year beside it.
    sure = {
        end
        for end, report in annual.items()
        if report.tagged or any(abs(abs(end - other) - 365) <= DRIFT for other in annual)
    }
    ends = sure or set(annual)
    for end in sorted(ends, reverse=True):
        later = end
        while (before := _near(starts["A"], later - 365, DRIFT)) is not None and not any(
            abs(before - known) < _APART for known in ends
        ):
            ends.add(before)
            later = before
    boundaries = sorted({*ends, *stubs})
    spans: dict[int, Span] = {}
    labels = fiscal_years(tuple((end, annual[end].fiscal_year if end in annual else None) for end in sorted(ends)))
    low, high = BUCKETS["A"]
    for end in sorted(ends):
        previous = max((boundary for boundary in boundaries if boundary < end), default=None)
        start = starts["A"].get(end)
        if previous is not None and low <= end - previous <= high:
            start = previous + 1
        elif start is None and end in annual:
            start = annual[end].start
        if start is not None:
            kept = previous if previous in ends and previous == start - 1 else None
            spans[end] = Span(start, end, kept, labels[end], "FY")
    return spans


def _quarters(starts: _Starts, years: dict[int, Span], by_end: dict[int, ReportPeriod]) -> dict[int, Span]:
    # In order all the while: whether one is near is asked at every moment of every quarter that is or could be there.
    ends = sorted({*(end for end, report in by_end.items() if report.tagged), *years})
    for end in sorted(by_end, reverse=True):
        year_ago = _near(starts["Q"], end - 365, DRIFT)
        if year_ago is not None and not _any_within(ends, year_ago, 20):
            insort(ends, year_ago)
    for year in years.values():
        for place in (1, 2, 3):
            guess = year.start - 1 + round((year.end - year.start + 1) * place / 4)
            if not _any_within(ends, guess, _QUARTER_DRIFT + DRIFT):
                evident = _near(starts["Q"], guess, _QUARTER_DRIFT)
                if evident is not None:
                    insort(ends, evident)
    low, high = _QUARTER_DAYS
    for end in sorted(by_end.keys() - set(ends)):
        # The index alone dates this report, and sometimes by a slip: it makes no second quarter beside another.
        if not _any_within(ends, end, low - 1):
            insort(ends, end)
    spans: dict[int, Span] = {}
    named: set[int] = set()
    for place, end in enumerate(ends):
        before = ends[place - 1] if place else None
        report = by_end.get(end)
        start: int | None
        previous: int | None
        if before is not None and low <= end - before <= high:
            start, previous = before + 1, before
        else:
            start = starts["Q"].get(end)
            if start is None and (end in years or report is None):
                # Quarters of another year end may lie in between, where it moved.
                start = next((earlier + 1 for earlier in reversed(ends[:place]) if low <= end - earlier <= high), None)
            if start is None and report is not None:
                start = report.start
            if start is None:
                continue
            previous = start - 1 if start - 1 in spans else None
        label = _word_of(end, years, by_end)
        if label is not None:
            named.add(end)
        else:
            label = _counted(end, years, report) or _a_year_before(end, by_end) or _by_year_to_date(starts, end)
        if label is not None:
            spans[end] = Span(start, end, previous, *label)

    def doubt(end: int) -> int:
        if any(year.start <= end <= year.end for year in years.values()):
            return 0
        return 1 if end in by_end and by_end[end].fiscal_period in _QUARTERS else 2

    # Where the year end moved two quarters may have one name: that is what the filer calls both. Of others the quarter of a
    # known year keeps its name, then that with a word of its own.
    counted = {end: (span.fiscal_year, span.fiscal_period) for end, span in spans.items() if end not in named}
    apart = told_apart(counted, doubt)
    return {end: spans[end]._replace(fiscal_year=apart[end]) for end in counted} | {
        end: span for end, span in spans.items() if end in named
    }


def _halves(starts: _Starts, years: dict[int, Span], ends: Iterable[int]) -> dict[int, Span]:
    spans: dict[int, Span] = {}
    low, high = BUCKETS["S"]
    for end in sorted(ends):
        before, year = _around(years, end + 1)
        if year is not None and year.start <= end:
            spans[end] = Span(year.start, end, None, year.fiscal_year, "H1")
            if low <= year.end - end <= high:
                spans[year.end] = Span(end + 1, year.end, end, year.fiscal_year, "H2")
        elif before is not None and low <= end - before.end <= high:
            spans[end] = Span(before.end + 1, end, before.end, before.fiscal_year + 1, "H1")
        elif not years and end in starts["S"]:
            spans[end] = Span(starts["S"][end], end, None, _plain_year(starts["S"][end] + 364), "H1")
    return spans


def _to_date(years: dict[int, Span], quarters: dict[int, Span]) -> dict[int, Span]:
    """From the first day of its year, or the day after the last year that is known, to the end of a quarter inside it."""
    spans: dict[int, Span] = {}
    for end, quarter in quarters.items():
        before, year = _around(years, end)
        start = None if before is None else before.end + 1
        if year is not None and year.start <= end:
            start = year.start
        if end not in years and start is not None and letter(start, end) in {"S", "N"}:
            spans[end] = quarter._replace(start=start, previous=None)
    return spans


def _own(filing: Filing, spans: Counter[tuple[str, int, int]]) -> ReportPeriod | None:
    """Return the period a periodic report is about, or None where it cannot be told."""
    form = base_form(filing.form)
    by_end: dict[int, Counter[str]] = defaultdict(Counter)
    for (name, _, last), count in spans.items():
        by_end[last][name] += count
    totals = {last: lengths.total() for last, lengths in by_end.items()}
    end = reported = filing.report_date
    if reported is not None:
        off = {day: abs(day - reported) for day in totals}
        near = [day for day in off if off[day] <= _SNAP] or [day for day in off if off[day] <= SLACK]
        if near:
            end = max(near, key=lambda day: (totals[day], -off[day], day))
        elif form == "6-K":
            end = None  # dated by the event that made it, not by the period it tells of
    if end is None and totals and filing.form == form:
        end = max(day for day, count in totals.items() if 5 * count >= max(totals.values()))
    if end is None:
        return None
    lengths = by_end[end]
    kind = "year" if form in ANNUAL_FORMS else "stub" if form == "10-QT" else "quarter"
    if form == "10-KT" and lengths and not lengths["A"]:
        kind = "stub"
    elif form == "6-K":
        # A few lines for a quarter (dividends) beside the statements of a half-year or a year make no quarter.
        kind = max(("quarter", "half", "year"), key=lambda length: lengths[_LENGTHS[length]])
        if not lengths[_LENGTHS[kind]]:
            return None
    name, plain, longest = ("A", 364, BUCKETS["A"][1]) if kind == "year" else ("Q", 90, _QUARTER_DAYS[1])
    starts = {
        first: count
        for (length, first, last), count in spans.items()
        if length == name and last == end and end - first < longest
    }
    start = max(starts, key=lambda first: (starts[first], first)) if starts else end - plain
    year = likely_year(end, filing.fiscal_year)
    return ReportPeriod(known_at(filing), start, end, kind, year, filing.fiscal_period, filing.accession, bool(spans))


def _any_within(ends: Sequence[int], day: int, days: int) -> bool:
    """Return whether any of some days, ascending, is at most so many days away from one."""
    place = bisect_left(ends, day - days)
    return place < len(ends) and ends[place] <= day + days


def _counted(end: int, years: dict[int, Span], report: ReportPeriod | None) -> tuple[int, str] | None:
    """Return fiscal year and quarter: by its place in its year, by the filer's own word where the year is not known."""
    before, year = _around(years, end)
    if year is not None and year.start <= end:
        return year.fiscal_year, "Q4" if end == year.end else f"Q{quarter_at(end - year.start + 1)}"
    word = (
        None
        if report is None or report.fiscal_year is None or report.fiscal_period not in _QUARTERS
        else report.fiscal_period
    )
    if before is not None and end - before.end <= 330:
        counted = f"Q{quarter_at(end - before.end)}"
        if report is not None and report.fiscal_year is not None and word is not None:
            likely = word == counted and report.fiscal_year - before.fiscal_year in {1, 2}
            if likely or report.kind == "stub":
                return report.fiscal_year, word
        return before.fiscal_year + 1, counted
    if report is not None and report.fiscal_year is not None and word is not None:
        return report.fiscal_year, word
    if year is not None:
        # Before the first year that is known: counted back from it.
        back = (year.start - 1 - end + 45) // 91
        return year.fiscal_year - 1 - back // 4, f"Q{4 - back % 4}"
    return None


def _word_of(end: int, years: Mapping[int, Span], by_end: dict[int, ReportPeriod]) -> tuple[int, str] | None:
    """
    Return what a filer calls a quarter that ends on no day on which one of its year does, or of the one after the last
    that is known; a period of transition ends a year.
    """
    before, year = _around(years, end)
    if year is not None and year.start <= end:
        days, length = end - year.start + 1, year.end - year.start + 1
    elif before is not None:
        days, length = end - before.end, 365
    else:
        return None
    if days > length or min(abs(days - round(length * part / 4)) for part in (1, 2, 3, 4)) <= _QUARTER_DRIFT:
        return None
    report = by_end.get(end)
    if report is not None and report.fiscal_year is not None:
        if report.kind == "stub" and report.fiscal_period == "FY":
            return report.fiscal_year, "Q4"
        if report.fiscal_period in _QUARTERS:
            return report.fiscal_year, report.fiscal_period
    return _a_year_before(end, by_end)


def _a_year_before(end: int, by_end: dict[int, ReportPeriod]) -> tuple[int, str] | None:
    """Name of a comparative quarter from the report it stands in."""
    for later, report in by_end.items():
        if abs(later - 365 - end) <= DRIFT and report.fiscal_year is not None and report.fiscal_period in _QUARTERS:
            return report.fiscal_year - 1, report.fiscal_period
    return None


def _by_year_to_date(starts: _Starts, end: int) -> tuple[int, str] | None:
    """Fiscal year and quarter of a report that has no word for them, by the day from which it counts the year."""
    name = next((name for name in ("N", "S") if end in starts[name]), None)
    return None if name is None else (_plain_year(starts[name][end] + 364), "Q3" if name == "N" else "Q2")


_LENGTHS = {"quarter": "Q", "half": "S", "year": "A"}
_QUARTERS = frozenset(["Q1", "Q2", "Q3", "Q4"])


# -- names of years and quarters -----------------------------------------------------------------------------------------

#: Slips that a name counts for which is not above the one before: more than there can be words.
_NO_RISE = 1_000


class _Naming(NamedTuple):
    """
    One way to name years up to one of them. Of all ways the least counts: the one with the fewest slips of the filer.

    A slip is a run of neighbouring words that are overruled, or a number skipped between two years that adjoin.
    """

    slips: int
    overruled: int
    #: How often the names move against the calendar, and how far they are from it, where no word says so.
    moves: int
    odd: int
    names: tuple[int, ...]


def likely_year(end: int, word: int | None) -> int | None:
    """Return a filer's word for the fiscal year of a period that ends on a day; None where it cannot be: years are off by one at most."""
    return word if word is not None and abs(word - _plain_year(end)) <= 1 else None


@functools.lru_cache(maxsize=64)
def fiscal_years(words: tuple[tuple[int, int | None], ...]) -> Mapping[int, int]:
    """Return the fiscal year of each year end, ascending, from the filer's word for each, None where it has given none."""
    # Asked again at every report, of which few say something of a year.
    #: Ways by the last name's distance from the calendar year, and whether a word was overruled for it.
    ways: dict[tuple[int, bool], _Naming] = {}
    passed = before = 0
    for end, said in words:
        year, word = _plain_year(end), likely_year(end, said)
        passed, before = max(1, year - before), year
        longer: dict[tuple[int, bool], _Naming] = {}
        for off in (-1, 0, 1):
            against = word is not None and word != year + off
            namings = [_Naming(int(against), int(against), 0, abs(off), (year + off,))] if not ways else []
            for (off_before, was_against), way in ways.items():
                step = year + off - way.names[-1]
                # A name that does not rise costs more than any slip.
                slips = way.slips + (against and not was_against) + (step > passed) + (_NO_RISE if step < 1 else 0)
                moves, odd = way.moves + (off != off_before), way.odd + abs(off)
                namings.append(_Naming(slips, way.overruled + against, moves, odd, (*way.names, year + off)))
            longer[off, against] = min(namings)
        ways = longer
    labels: dict[int, int] = {}
    last: int | None = None
    for (end, _), name in zip(words, min(ways.values()).names if ways else (), strict=True):
        labels[end] = last = name if last is None else max(name, last + 1)
    return labels


def _plain_year(end: int) -> int:
    """Return the year a day is of; one in the first days of January is of the year before."""
    return date.fromordinal(end - 7).year


def calendar_quarters(spans: Iterable[tuple[int, int]]) -> dict[int, tuple[int, int]]:
    """
    Return calendar year and quarter of each of a company's quarters (first and last day), by the last day.

    It is the one in which the middle lies, or the next where the quarter just before has that: quarters of 12 and 16 weeks,
    and such as end in the middle of a calendar quarter, have two middles in one.
    """
    numbers: dict[int, int] = {}
    for start, end in sorted(spans, key=lambda span: span[1]):
        middle = date.fromordinal((start + end) // 2)
        number = 4 * middle.year + (middle.month - 1) // 3
        numbers[end] = max(number, numbers[start - 1] + 1) if start - 1 in numbers else number
    return {end: (number // 4, number % 4 + 1) for end, number in numbers.items()}


def quarter_at(days: int) -> int:
    """Return the number of the quarter that ends so many days after the year began."""
    return max(1, min(4, round(days / 91.3)))


def told_apart(names: Mapping[int, tuple[int, str]], doubt: Callable[[int], int]) -> dict[int, int]:
    """
    Last day of a quarter → its fiscal year, so that no two have one name. `names` are years and quarters as they came out;
    of two that share one the less doubtful keeps it.
    """
    if len(set(names.values())) == len(names):
        return {end: year for end, (year, _) in names.items()}
    apart = _stepped(names, sorted(names, key=lambda end: (doubt(end), end)))
    if all(likely_year(end, year) for end, year in apart.items()):
        return apart
    # The word is the one that is off: of neighbouring years there is none left for the other. Earlier ones keep their names.
    return _stepped(names, sorted(names, key=lambda end: (doubt(end) > 0, end)))


def _stepped(names: Mapping[int, tuple[int, str]], order: Iterable[int]) -> dict[int, int]:
    """Quarters that keep their names in an order: of one whose name is taken the year goes on to the next that is free."""
    named: dict[int, int] = {}
    holders: dict[tuple[int, str], int] = {}
    for end in order:
        year, quarter = names[end]
        step = 1 if end > holders.get((year, quarter), end) else -1
        while (year, quarter) in holders:
            year += step
        holders[year, quarter] = end
        named[end] = year
    return named
