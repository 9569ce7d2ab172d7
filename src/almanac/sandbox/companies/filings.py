"""What each simulated company files with the regulator, and when: reports, amendments, announcements, letters.

A filing depends on its company and its own occasion only, so a later `now` adds filings and changes none.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

from almanac.domain.filings import NEW_YORK, known_at
from almanac.sandbox.companies.books import TrueBooks
from almanac.sandbox.companies.calendar import Calendar, FiscalYear
from almanac.sandbox.companies.cast import FIRST_YEAR, Filer

#: The regulator's own letters and orders, and notices, carry numbers of its own.
_LETTERS, _ORDERS = "0000000000", "9999999995"
#: From this calendar year on the quarterly results are announced in an 8-K of their own.
_RESULTS_SINCE = 2019
#: Days from the year's end to a spin-off: after its annual report, before the next quarter's.
_SPUN_OFF_AFTER = 88
#: Items of announcements that come without a reason of ours, as often as they stand here.
_ANNOUNCED = (
    "5.02", "5.02,9.01", "5.02", "1.01,9.01", "1.01,2.03,9.01", "7.01,9.01", "7.01,9.01", "8.01,9.01", "8.01", "2.05",
    "5.03,9.01", "3.02", "1.02", "4.01,9.01",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ReportedFigures:
    """What a filing's figures are about: a fiscal year up to its quarter `last`."""

    year: FiscalYear
    last: int
    #: `FY`, `Q1` … as the filing says of itself; None where such filings do not say.
    period: str | None

    @property
    def whole(self) -> bool:
        return self.last == self.year.last


@dataclass(frozen=True, slots=True)
class Paper:
    """One filing. Days are ordinals; `stamp` is the acceptance time as the regulator's index states it."""

    form: str
    filed: int
    stamp: datetime
    #: From when it can be read (unix seconds), by the rule that the whole service keeps.
    known: int
    #: Key of its place among the company's filings.
    accepted: datetime
    report: int | None = None
    items: str = ""
    prefix: str = ""
    figures: ReportedFigures | None = None
    accession: str = ""


def correction_day(company: Filer, calendar: Calendar) -> int | None:
    """The first day that filings show the restated year, once that year is over; None where nothing is restated."""
    for year in calendar.years:
        if year.label == company.error and year.last < len(calendar.ends):
            return office_day(calendar.ends[year.last] + 190)
    return None


def office_day(day: int) -> int:
    """The day itself, or the next one on which the regulator's office is open."""
    while True:
        held = date.fromordinal(day)
        if held.weekday() < 5 and (held.month, held.day) not in {(1, 1), (7, 4), (12, 25)}:
            return day
        day += 1


def docket(company: Filer, calendar: Calendar, books: TrueBooks, now: int) -> list[Paper]:
    """All filings of the company that can have been fetched by `now`, in order of acceptance, with their numbers."""
    # The last page that a filing changes is fetched an hour after the first one.
    papers = [paper for paper in _Clerk(company, calendar, books).papers(now) if fetched_after(paper) + 3600 <= now]
    papers.sort(key=lambda paper: (paper.accepted, paper.form))
    counts: Counter[tuple[str, int]] = Counter()
    numbered = []
    for paper in papers:
        year, prefix = paper.accepted.year, paper.prefix or f"{company.cik:010d}"
        counts[prefix, year] += 1
        serial = counts[prefix, year] + (company.number * 20 if paper.prefix else 0)
        numbered.append(replace(paper, accession=f"{prefix}-{year % 100:02d}-{serial:06d}"))
    return numbered


def fetched_after(paper: Paper) -> int:
    """The earliest fetch that has this filing in it."""
    return paper.known + 3600


class _Clerk:
    def __init__(self, company: Filer, calendar: Calendar, books: TrueBooks) -> None:
        self.company, self.calendar, self.books = company, calendar, books
        self.last = company.gone[0].toordinal() if company.gone else None
        self.luck = company.luck.tolist()

    def draw(self, *what: object) -> float:
        """A number in [0, 1) that belongs to the company and the occasion."""
        text = "/".join(map(str, (self.company.number, *what)))
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2.0**64

    def paper(
        self, form: str, day: int, *, report: int | None = None, items: str = "", prefix: str = "",
        figures: ReportedFigures | None = None,
    ) -> Paper:  # fmt: skip
        """A filing accepted on the first office day from `day` on: before trading, after it, or in the evening."""
        day = office_day(day)
        chance = self.draw(form, day, items)
        habit = self.luck[18] * 0.7 + chance * 0.3
        if prefix:
            seconds = 9 * 3600 + chance * 7 * 3600
        elif habit < 0.3:
            seconds = 6 * 3600 + 300 + chance * 9000
        elif habit < 0.86:
            seconds = 16 * 3600 + 300 + chance * 4500
        else:
            seconds = 17 * 3600 + 2100 + chance * 12_000
        accepted = datetime.combine(date.fromordinal(day), datetime.min.time()) + timedelta(seconds=int(seconds))
        filed = day if seconds <= 17.5 * 3600 else office_day(day + 1)
        wrong_clock = self.company.has("new_york_clock") and accepted.year < 2023
        stamp = accepted.replace(tzinfo=UTC) if wrong_clock else accepted.replace(tzinfo=NEW_YORK).astimezone(UTC)
        return Paper(form, filed, stamp, known_at(filed, stamp), accepted, report, items, prefix, figures)

    def papers(self, now: int) -> Iterator[Paper]:
        today = datetime.fromtimestamp(now, UTC).date()
        first = self.company.continues.gone if self.company.continues else None
        for paper in self._all(today):
            if (self.last is None or paper.filed <= self.last) and (
                first is None or paper.filed > first[0].toordinal()
            ):
                yield paper
        if self.company.gone:
            yield from self._farewell(*self.company.gone)

    def _all(self, today: date) -> Iterator[Paper]:
        young = self.company.first_year > FIRST_YEAR
        if young:
            yield from self._listing()
        # The oldest year is there for comparison only.
        for year in self.calendar.years if young else self.calendar.years[1:]:
            for quarter in range(year.first, min(year.last + 1, len(self.calendar.ends))):
                yield from self._report(year, quarter)
        yield from self._befallen()
        since = FIRST_YEAR + 1 if not young else date.fromordinal(self.calendar.starts[0]).year
        for calendar_year in range(since + 1, today.year + 1):
            yield from self._unasked(calendar_year)

    # Periodic reports

    def _report(self, year: FiscalYear, quarter: int) -> Iterator[Paper]:
        company, end = self.company, self.calendar.ends[quarter]
        whole, part = quarter == year.last, quarter - year.first + 1
        figures = ReportedFigures(year, quarter, "FY" if whole else f"Q{part}")
        if company.seat:
            yield from self._report_abroad(figures, part, end)
            return
        slack = int(self.draw("lag", end) * 5)
        prompt = 26 if company.large else 44
        day = end + (prompt + int(self.luck[19] * 28) if whole else 22 + int(self.luck[19] * 14)) + slack
        late = self.draw("late", end) < 0.02 or (whole and year.label == company.error)
        form = ("10-KT" if year.transition else "10-K") if whole else "10-Q"
        if late:
            due = end + (76 if whole else 46)
            yield self.paper(f"NT {form.removesuffix('T')}", due, report=end)
            day = due + 9 + slack
        tagged = whole or year.label >= company.tagged_quarters
        report = self.paper(form, day, report=end, figures=figures if tagged else None)
        yield report
        if date.fromordinal(end).year >= _RESULTS_SINCE and company.trade.books in {"goods", "finance"}:
            told = min(day, report.accepted.toordinal()) - 1 - int(self.draw("results", end) * 5)
            yield self.paper("8-K", told, report=told, items="2.02,9.01")
        if whole and company.trade.books != "fund":
            yield from self._meeting(end, day)
        if year.label == company.error:
            yield from self._restatement(figures, end)

    def _report_abroad(self, figures: ReportedFigures, part: int, end: int) -> Iterator[Paper]:
        company, slack = self.company, int(self.draw("lag", end) * 6)
        if figures.whole:
            prompt = 60 if company.annual_form == "40-F" else 85
            day = end + prompt + int(self.luck[19] * 25) + slack
            told_before = company.kind == "annual_6k"  # the annual report itself carries no tagged figures
            if told_before:
                yield self.paper("6-K", day - 30, report=end, figures=ReportedFigures(figures.year, figures.last, None))
            yield self.paper(company.annual_form, day, report=end, figures=None if told_before else figures)
        elif company.cadence == "quarter" or (company.cadence == "half" and part == 2):
            tagged = figures.year.label >= company.tagged_quarters
            told = ReportedFigures(figures.year, figures.last, None)  # a 6-K names neither its year nor its period
            day = end + 38 + int(self.luck[19] * 25) + slack
            yield self.paper("6-K", day, report=end, figures=told if tagged else None)

    def _meeting(self, end: int, day: int) -> Iterator[Paper]:
        called = day + 24 + int(self.draw("proxy", end) * 12)
        held = called + 41
        yield self.paper("DEF 14A", called, report=held)
        if self.company.number % 2:
            yield self.paper("8-K", held + 2, report=held, items="5.07")

    def _restatement(self, figures: ReportedFigures, end: int) -> Iterator[Paper]:
        """The last two quarters of the year were wrong: said so, asked about, filed anew."""
        day = correction_day(self.company, self.calendar)
        if day is None:
            return
        if figures.whole:  # the year follows its quarter by some days
            yield self.paper("UPLOAD", day - 75, prefix=_LETTERS)
            yield self.paper("CORRESP", day - 61)
            yield self.paper("8-K", day - 24, report=day - 28, items="4.02,9.01")
            yield self.paper("10-K/A", day + 6, report=end, figures=figures)
        elif figures.last == figures.year.last - 1 and figures.year.label >= self.company.tagged_quarters:
            yield self.paper("10-Q/A", day, report=end, figures=figures)

    # Everything else

    def _listing(self) -> Iterator[Paper]:
        start = self.calendar.starts[0] if self.calendar.starts else None
        if start is None:
            return
        yield self.paper("S-1", start - 110)
        yield self.paper("UPLOAD", start - 86, prefix=_LETTERS)
        yield self.paper("CORRESP", start - 77)
        yield self.paper("S-1/A", start - 70)
        yield self.paper("EFFECT", start - 34, prefix=_ORDERS)
        yield self.paper("424B4", start - 32)
        yield self.paper(
            "8-K",
            start - 27,
            report=start - 30,
            items="8.01,9.01" if self.company.trade.books == "shell" else "3.03,5.03",
        )

    def _befallen(self) -> Iterator[Paper]:
        company = self.company
        if company.split:
            day = company.split[0].toordinal()
            yield self.paper("8-K", day - 24, report=day - 25, items="8.01,9.01")
            yield self.paper("8-K", day, report=day, items="5.03,9.01")
        for year in self.calendar.years:
            if company.recast == (year.label, "spun_off") and year.last < len(self.calendar.ends):
                day = self.calendar.ends[year.last] + _SPUN_OFF_AFTER
                yield self.paper("8-K", day, report=day - 1, items="2.01,9.01")
        if company.former:
            day = company.former[1].toordinal()
            yield self.paper("8-K", day, report=day, items="5.03,9.01") if not company.seat else self.paper("6-K", day)
        if company.moved:
            day = date(company.moved + 1, 3, 2).toordinal()
            yield self.paper("8-K", day, report=day - 3, items="5.03")
        first_told = 0 if company.first_year > FIRST_YEAR else 4
        for quarter, price in enumerate(self.books.flows.get("takeover", ())):
            if price and quarter >= first_told and not company.seat:
                day = self.calendar.starts[quarter] + 20 + int(self.draw("takeover", quarter) * 45)
                yield self.paper("8-K", day, report=day - 2, items="2.01,9.01")

    def _unasked(self, year: int) -> Iterator[Paper]:
        """Announcements, letters and registrations of a calendar year."""
        company, first = self.company, date(year, 1, 3).toordinal()
        if company.seat:
            yield self.paper("6-K", first + int(self.draw("6-K", year) * 350))
            return
        if company.trade.books == "fund":
            return
        for turn in range(int(self.draw("how many", year) * 2.6)):
            day = first + int(self.draw("announced", year, turn) * 355)
            items = _ANNOUNCED[int(self.draw("items", year, turn) * len(_ANNOUNCED))]
            yield self.paper("8-K", day, report=day - 2, items=items)
        if self.draw("letter", year) < 0.07:
            day = first + 90 + int(self.draw("letter day", year) * 150)
            yield self.paper("UPLOAD", day, prefix=_LETTERS)
            yield self.paper("CORRESP", day + 12)
        if self.draw("shares", year) < 0.08:
            yield self.paper("S-8", first + 120 + int(self.draw("shares day", year) * 90))
        if company.number % 8 == 1:  # what insiders file is nobody's event, but it is in the index
            yield self.paper("4", first + 60 + int(self.draw("insider", year) * 60), report=first + 58)

    def _farewell(self, gone: date, how: str) -> Iterator[Paper]:
        day = gone.toordinal()
        if how == "bought":
            yield self.paper("8-K", day - 118, report=day - 119, items="1.01,8.01,9.01")
            yield self.paper("DEFM14A", day - 70, report=day - 30)
            yield self.paper("8-K", day, report=day, items="2.01,3.01,3.03,5.01,5.02,9.01")
        elif how == "owned":
            yield self.paper("8-K", day, report=day, items="1.01,3.01,3.03,5.03,9.01")
        else:
            yield self.paper("8-K", day - 96, report=day - 97, items="1.03,2.04,9.01")
            yield self.paper("8-K", day - 88, report=day - 90, items="3.01")
        yield self.paper("25-NSE", day + 1)
        yield self.paper("15-12G", day + 11)
