"""
A company's own fiscal calendar as its filings show it: which days its years, quarters and halves end on.

A period is the company's own where a periodic report is about it: the report date of its filing, else the last day of
the periods in it. Years and quarters that only stand beside those in a comparative column are added where income,
revenue or cash flow is given for them. Nothing is assumed about months: years of 52 and 53 weeks, changed year ends
and short periods of transition are what the filings say they are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from almanac.derived.companies.facts import BUCKETS, CompanyInput, Disclosure, known_at, letter
from almanac.derived.companies.fiscal_year_names import (
    calendar_quarters,
    fiscal_years,
    likely_year,
    quarter_at,
    told_apart,
    year_from,
)
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
        found: list[Span] = []
        last: int | None = end
        while last is not None and (span := self.quarters.get(last)) is not None and span.start >= start:
            found.append(span)
            if span.start == start:
                return found
            last = span.previous
        return []

    @property
    def ends(self) -> set[int]:
        """Every own period end."""
        return {*self.years, *self.quarters, *self.halves}


class ReportPeriod(NamedTuple):
    """What one periodic report says of the calendar. `kind`: year, quarter, half, stub (a period of transition)."""

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
    """What all filings of a company say of its periods, with the time each became known."""

    def __init__(self, company: CompanyInput, disclosures: Iterable[Disclosure], core: frozenset[str]) -> None:
        """`core`: tags that show that a period was reported (income, revenue, cash flow)."""
        spans: dict[str, Counter[tuple[str, int, int]]] = defaultdict(Counter)
        said: dict[tuple[str, int], dict[int, Counter[int]]] = defaultdict(lambda: defaultdict(Counter))
        for disclosure in disclosures:
            if disclosure.start is None:
                continue
            name = letter(disclosure.start, disclosure.end)
            if name is None:
                continue
            spans[disclosure.vintage.accession][name, disclosure.start, disclosure.end] += 1
            if name == "Q" and disclosure.end - disclosure.start >= _QUARTER_DAYS[1]:
                continue
            if disclosure.tag in core:
                said[name, disclosure.end][disclosure.known][disclosure.start] += 1
        #: (letter, end) → when core facts of that length were stated, and where most of them begin.
        self.evidence = {
            period: [
                (known, max(starts, key=lambda day: (starts[day], day))) for known, starts in sorted(times.items())
            ]
            for period, times in said.items()
        }
        self._evident = {name: sorted(end for letter_, end in self.evidence if letter_ == name) for name in BUCKETS}
        owns = [
            own
            for filing in company.filings.values()
            if is_periodic(filing.form) and (own := _own(filing, spans.get(filing.accession, Counter()))) is not None
        ]
        #: An amendment without figures tells of no period: the index often dates it by what it is about (a savings plan).
        self.owns: list[ReportPeriod] = sorted(
            (own for own in owns if own.tagged or not company.filings[own.accession].form.endswith("/A")),
            key=lambda own: (own.known, own.accession),
        )
        self.moments: set[int] = {own.known for own in self.owns}
        for found in self.evidence.values():
            self.moments.update(known for known, _ in found)
        #: Accession → the period end its report is about.
        self.own_end = {own.accession: own.end for own in owns}
        #: Last day of a period → when reports about it became known.
        self.own_known: dict[int, set[int]] = defaultdict(set)
        for own in self.owns:
            self.own_known[own.end].add(own.known)

    def at(self, moment: int) -> FiscalPeriods:
        """Return the calendar as known at a moment."""
        first: dict[tuple[str, int], ReportPeriod] = {}
        for own in self.owns:
            if own.known > moment:
                break
            held = first.setdefault((own.kind, own.end), own)
            if own.tagged and not held.tagged:
                first[own.kind, own.end] = own
        annual = {end: own for (kind, end), own in first.items() if kind == "year"}
        stubs = {end: own for (kind, end), own in first.items() if kind == "stub"}
        quarterly = {end: own for (kind, end), own in first.items() if kind == "quarter"}
        half = {end: own for (kind, end), own in first.items() if kind == "half"}
        years = self._years(annual, stubs, moment)
        # Some report the second quarter beside the half-year, or the half-year only: the first taken from it leaves it.
        low, high = BUCKETS["Q"]
        seconds = {
            end: own
            for end, own in half.items()
            if self._known("Q", end, moment) is not None or any(low <= end - one <= high for one in quarterly)
        }
        if quarterly or stubs or seconds:
            quarters = self._quarters(years, {**seconds, **stubs, **quarterly}, moment)
        else:
            quarters = {}
        calendar = calendar_quarters((span.start, end) for end, span in quarters.items())
        quarters = {end: span._replace(calendar=calendar[end]) for end, span in quarters.items()}
        halves = self._halves(years, half, moment)
        return FiscalPeriods(years, quarters, halves, _to_date(years, quarters))

    def _known(self, name: str, end: int, moment: int) -> int | None:
        """Where periods of that length and end begin, if any is known by then: as first stated, but for a real change."""
        held: int | None = None
        for known, start in self.evidence.get((name, end), ()):
            if known > moment:
                break
            # Another company's accounts took the place of the registrant's (a reverse merger), not a slip of a day.
            if held is None or abs(start - held) > SLACK:
                held = start
        return held

    def _near(self, name: str, end: int, slack: int, moment: int) -> int | None:
        """Return the evident end of a period nearest to a day; of two as near the earlier."""
        ends = self._evident[name]
        best: int | None = None
        for candidate in ends[bisect_left(ends, end - slack) : bisect_right(ends, end + slack)]:
            if self._known(name, candidate, moment) is not None and (
                best is None or abs(candidate - end) < abs(best - end)
            ):
                best = candidate
        return best

    def _years(self, annual: dict[int, ReportPeriod], stubs: dict[int, ReportPeriod], moment: int) -> dict[int, Span]:
        ends = {end for end in annual if _is_sure(end, annual)} or set(annual)
        for end in sorted(ends, reverse=True):
            later = end
            while (before := self._near("A", later - 365, DRIFT, moment)) is not None and not any(
                abs(before - known) < _APART for known in ends
            ):
                ends.add(before)
                later = before
        boundaries = sorted({*ends, *stubs})
        spans: dict[int, Span] = {}
        labels = fiscal_years({end: annual[end].fiscal_year if end in annual else None for end in ends})
        low, high = BUCKETS["A"]
        for end in sorted(ends):
            previous = _before(boundaries, end)
            start = self._known("A", end, moment)
            if previous is not None and low <= end - previous <= high:
                start = previous + 1
            elif start is None and end in annual:
                start = annual[end].start
            if start is not None:
                kept = previous if previous in ends and previous == start - 1 else None
                spans[end] = Span(start, end, kept, labels[end], "FY")
        return spans

    def _quarters(self, years: dict[int, Span], own: dict[int, ReportPeriod], moment: int) -> dict[int, Span]:
        # In order all the while: whether one is near is asked at every moment of every quarter that is or could be there.
        ends = sorted({*(end for end, report in own.items() if report.tagged), *years})
        for end in sorted(own, reverse=True):
            year_ago = self._near("Q", end - 365, DRIFT, moment)
            if year_ago is not None and not _any_within(ends, year_ago, 20):
                insort(ends, year_ago)
        for year in years.values():
            for place in (1, 2, 3):
                guess = year.start - 1 + round((year.end - year.start + 1) * place / 4)
                if _any_within(ends, guess, _QUARTER_DRIFT + DRIFT):
                    continue
                found = self._near("Q", guess, _QUARTER_DRIFT, moment)
                if found is not None:
                    insort(ends, found)
        low, high = _QUARTER_DAYS
        for end in sorted(own.keys() - set(ends)):
            # The index alone dates this report, and sometimes by a slip: it makes no second quarter beside another.
            if not _any_within(ends, end, low - 1):
                insort(ends, end)
        spans: dict[int, Span] = {}
        named: dict[int, tuple[int, str]] = {}
        previous: int | None
        year_ends = sorted(years)
        for place, end in enumerate(ends):
            before = ends[place - 1] if place else None
            start: int | None
            if before is not None and low <= end - before <= high:
                start, previous = before + 1, before
            else:
                start = self._known("Q", end, moment)
                if start is None and (end in years or end not in own):
                    # Quarters of another year end may lie in between, where it moved.
                    start = next((one + 1 for one in reversed(ends[:place]) if low <= end - one <= high), None)
                if start is None and end in own:
                    start = own[end].start
                previous = start - 1 if start is not None and start - 1 in spans else None
            if start is None:
                continue
            report = own.get(end)
            if _is_off(end, years, year_ends):
                word = _own_word(report) or _a_year_before(end, own)
                if word is not None:
                    named[end] = word
            label = (
                named.get(end)
                or _quarter_label(end, years, year_ends, report)
                or _a_year_before(end, own)
                or self._by_year_to_date(end, moment)
            )
            if label is not None:
                spans[end] = Span(start, end, previous, *label)
        # Where the year end moved two quarters may have one name: that is what the filer calls both.
        return _told_apart({end: span for end, span in spans.items() if end not in named}, years, own) | {
            end: spans[end] for end in named
        }

    def _by_year_to_date(self, end: int, moment: int) -> tuple[int, str] | None:
        """Fiscal year and quarter of a report that has no word for them, by the day from which it counts the year."""
        for name, quarter in (("N", "Q3"), ("S", "Q2")):
            start = self._known(name, end, moment)
            if start is not None:
                return year_from(start), quarter
        return None

    def _halves(self, years: dict[int, Span], own: dict[int, ReportPeriod], moment: int) -> dict[int, Span]:
        spans: dict[int, Span] = {}
        year_ends = sorted(years)
        low, high = BUCKETS["S"]
        for end in sorted(own):
            place = bisect_right(year_ends, end)
            before = year_ends[place - 1] if place else None
            year = years[year_ends[place]] if place < len(year_ends) else None
            start = self._known("S", end, moment)
            if year is not None and year.start <= end:
                spans[end] = Span(year.start, end, None, year.fiscal_year, "H1")
                if low <= year.end - end <= high:
                    spans[year.end] = Span(end + 1, year.end, end, year.fiscal_year, "H2")
            elif before is not None and low <= end - before <= high:
                spans[end] = Span(before + 1, end, before, years[before].fiscal_year + 1, "H1")
            elif not years and start is not None:
                spans[end] = Span(start, end, None, year_from(start), "H1")
        return spans


def _to_date(years: dict[int, Span], quarters: dict[int, Span]) -> dict[int, Span]:
    """From the first day of its year, or the day after the last year that is known, to the end of a quarter inside it."""
    spans: dict[int, Span] = {}
    year_ends = sorted(years)
    for end, quarter in quarters.items():
        place = bisect_left(year_ends, end)
        year = years[year_ends[place]] if place < len(year_ends) else None
        start = year_ends[place - 1] + 1 if place else None
        if year is not None and year.start <= end:
            start = year.start
        if end not in years and start is not None and letter(start, end) in {"S", "N"}:
            spans[end] = quarter._replace(start=start, previous=None)
    return spans


def _told_apart(spans: dict[int, Span], years: Mapping[int, Span], own: Mapping[int, ReportPeriod]) -> dict[int, Span]:
    """Quarters of which no two have one name: of two, that of a known year keeps it, then that with a word of its own."""

    def doubt(end: int) -> int:
        if any(year.start <= end <= year.end for year in years.values()):
            return 0
        return 1 if end in own and own[end].fiscal_period in _QUARTERS else 2

    called = told_apart({end: (span.fiscal_year, span.fiscal_period) for end, span in spans.items()}, doubt)
    return {end: span._replace(fiscal_year=called[end]) for end, span in spans.items()}


def _own(filing: Filing, spans: Counter[tuple[str, int, int]]) -> ReportPeriod | None:
    """Return the period a periodic report is about, or None where it cannot be told."""
    form = base_form(filing.form)
    by_end: Counter[int] = Counter()
    end: int | None
    for (_, _, last), count in spans.items():
        by_end[last] += count
    end = reported = filing.report_date
    if reported is not None:
        near = next(
            (found for days in (_SNAP, SLACK) if (found := [one for one in by_end if abs(one - reported) <= days])),
            None,
        )
        if near:
            end = max(near, key=lambda day: (by_end[day], -abs(day - reported), day))
        elif form == "6-K":
            end = None  # dated by the event that made it, not by the period it tells of
    if end is None and by_end and filing.form == form:
        most = max(by_end.values())
        end = max(day for day, count in by_end.items() if 5 * count >= most)
    if end is None:
        return None
    lengths: Counter[str] = Counter()
    for (name, _, last), count in spans.items():
        if last == end:
            lengths[name] += count
    if form in ANNUAL_FORMS:
        kind = "stub" if form == "10-KT" and lengths and not lengths["A"] else "year"
    elif form == "10-QT":
        kind = "stub"
    elif form == "6-K":
        # A few lines for a quarter (dividends) beside the statements of a half-year or a year make no quarter.
        kind = max(("quarter", "half", "year"), key=lambda one: lengths[_LENGTHS[one]])
        if not lengths[_LENGTHS[kind]]:
            return None
    else:
        kind = "quarter"
    name, plain = ("A", 364) if kind == "year" else ("Q", 90)
    longest = _QUARTER_DAYS[1] if name == "Q" else BUCKETS[name][1]
    starts = {
        first: count
        for (length, first, last), count in spans.items()
        if length == name and last == end and end - first < longest
    }
    start = max(starts, key=lambda first: (starts[first], first)) if starts else end - plain
    year = likely_year(end, filing.fiscal_year)
    return ReportPeriod(known_at(filing), start, end, kind, year, filing.fiscal_period, filing.accession, bool(spans))


def _any_within(ends: Sequence[int], day: int, days: int) -> bool:
    """Whether any of some days, ascending, is at most so many days away from one."""
    place = bisect_left(ends, day - days)
    return place < len(ends) and ends[place] <= day + days


def _before(ends: Sequence[int], end: int) -> int | None:
    place = bisect_left(ends, end)
    return ends[place - 1] if place else None


def _is_sure(end: int, annual: Mapping[int, ReportPeriod]) -> bool:
    """Whether a report's year end is beyond doubt: there are figures for it, or a report of the year beside it."""
    return annual[end].tagged or any(abs(abs(end - other) - 365) <= DRIFT for other in annual)


def _quarter_label(
    end: int, years: dict[int, Span], year_ends: Sequence[int], own: ReportPeriod | None
) -> tuple[int, str] | None:
    """Fiscal year and quarter: by its place in its year, the filer's own word where the year is not known."""
    place = bisect_left(year_ends, end)
    if place < len(year_ends) and years[year_ends[place]].start <= end:
        year = years[year_ends[place]]
        number = 4 if end == year.end else quarter_at(end - year.start + 1)
        return year.fiscal_year, f"Q{min(number, 4)}"
    word = own.fiscal_period if own is not None and own.fiscal_period in _QUARTERS else None
    if place and end - year_ends[place - 1] <= 330:
        before = years[year_ends[place - 1]]
        counted = f"Q{quarter_at(end - before.end)}"
        if own is not None and own.fiscal_year is not None and word is not None:
            likely = word == counted and own.fiscal_year - before.fiscal_year in {1, 2}
            if likely or own.kind == "stub":
                return own.fiscal_year, word
        return before.fiscal_year + 1, counted
    if own is not None and own.fiscal_year is not None and word is not None:
        return own.fiscal_year, word
    if place < len(year_ends):
        # Before the first year that is known: counted back from it.
        first = years[year_ends[place]]
        back = (first.start - 1 - end + 45) // 91
        return first.fiscal_year - 1 - back // 4, f"Q{4 - back % 4}"
    return None


def _is_off(end: int, years: Mapping[int, Span], year_ends: Sequence[int]) -> bool:
    """Tell whether a day is none on which a quarter of the year that it is in ends, or of the one after the last that is known."""
    place = bisect_left(year_ends, end)
    if place < len(year_ends) and years[year_ends[place]].start <= end:
        days, length = (
            end - years[year_ends[place]].start + 1,
            years[year_ends[place]].end - years[year_ends[place]].start + 1,
        )
    elif place:
        days, length = end - year_ends[place - 1], 365
    else:
        return False
    return days <= length and min(abs(days - round(length * part / 4)) for part in (1, 2, 3, 4)) > _QUARTER_DRIFT


def _own_word(own: ReportPeriod | None) -> tuple[int, str] | None:
    """Return what a filer calls the quarter that its report is about; a period of transition ends a year."""
    if own is None or own.fiscal_year is None:
        return None
    if own.kind == "stub" and own.fiscal_period == "FY":
        return own.fiscal_year, "Q4"
    return (own.fiscal_year, own.fiscal_period) if own.fiscal_period in _QUARTERS else None


def _a_year_before(end: int, own: dict[int, ReportPeriod]) -> tuple[int, str] | None:
    """Name of a comparative quarter from the report it stands in."""
    for later, report in own.items():
        if abs(later - 365 - end) <= DRIFT and report.fiscal_year is not None and report.fiscal_period in _QUARTERS:
            return report.fiscal_year - 1, report.fiscal_period
    return None


_LENGTHS = {"quarter": "Q", "half": "S", "year": "A"}
_QUARTERS = frozenset(["Q1", "Q2", "Q3", "Q4"])
