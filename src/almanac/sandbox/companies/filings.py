"""
The filings of each simulated company: reports, amendments, announcements, letters, and when each was filed.

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
from almanac.sandbox.companies.filers import FIRST_YEAR, Filer
from almanac.sandbox.data import table

#: From this calendar year on the quarterly results are announced in an 8-K of their own.
_RESULTS_SINCE = 2019
#: Days from the year's end to a spin-off: after its annual report, before the next quarter's.
_SPUN_OFF_AFTER = 88


@dataclass(frozen=True, slots=True)
class ReportedFigures:
    """The period of a filing's figures: a fiscal year up to its quarter `last`."""

    year: FiscalYear
    last: int
    #: `FY`, `Q1` … as the filing says of itself; None where such filings do not say.
    period: str | None

    @property
    def whole(self) -> bool:
        """Return whether it is the whole year."""
        return self.last == self.year.last


@dataclass(frozen=True, slots=True)
class Filing:
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

    @property
    def fetched_after(self) -> int:
        """Return the earliest fetch that has this filing in it."""
        return self.known + 3600


def correction_day(company: Filer, calendar: Calendar) -> int | None:
    """Return the first day on which filings show the restated year, or None if no year that is over is restated."""
    for year in calendar.years:
        if year.label == company.error and year.last < len(calendar.ends):
            return _office_day(calendar.ends[year.last] + 190)
    return None


def _office_day(ordinal: int) -> int:
    """Return the day itself, or the next one on which the regulator's office is open."""
    while True:
        day = date.fromordinal(ordinal)
        if day.weekday() < 5 and (day.month, day.day) not in {(1, 1), (7, 4), (12, 25)}:
            return ordinal
        ordinal += 1


def filings_of(company: Filer, calendar: Calendar, books: TrueBooks, now: int) -> list[Filing]:
    """Return all filings of the company that can have been fetched by `now`, in order of acceptance, numbered."""
    today = datetime.fromtimestamp(now, UTC).date()
    gone = company.gone[0].toordinal() if company.gone else date.max.toordinal()
    since = company.continues.gone[0].toordinal() if company.continues and company.continues.gone else 0
    author = _Author(company, calendar)
    filings = [filing for filing in author.filings(books, today) if since < filing.filed <= gone]
    if company.gone:
        filings += author.event(company.gone[1], gone)
    # The last page that a filing changes is fetched an hour after the first one.
    filings = [filing for filing in filings if filing.fetched_after + 3600 <= now]
    filings.sort(key=lambda filing: (filing.accepted, filing.form))
    counts: Counter[tuple[str, int]] = Counter()
    for place, filing in enumerate(filings):
        year, prefix = filing.accepted.year, filing.prefix or f"{company.cik:010d}"
        counts[prefix, year] += 1
        serial = counts[prefix, year] + (company.number * 20 if filing.prefix else 0)
        filings[place] = replace(filing, accession=f"{prefix}-{year % 100:02d}-{serial:06d}")
    return filings


class _Author:
    """A company as the author of its filings."""

    def __init__(self, company: Filer, calendar: Calendar) -> None:
        self.company, self.calendar = company, calendar

    def draw(self, *occasion: object) -> float:
        """Return a number in [0, 1) that belongs to the company and the occasion."""
        text = "/".join(map(str, (self.company.number, *occasion)))
        digest = hashlib.blake2b(text.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") / 2.0**64

    def filing(
        self, form: str, day: int, *, report: int | None = None, items: str = "", prefix: str = "",
        figures: ReportedFigures | None = None,
    ) -> Filing:  # fmt: skip
        """Return a filing accepted on the first office day from `day` on: before trading, after it, or in the evening."""
        day = _office_day(day)
        chance = self.draw(form, day, items)
        habit = self.company.seed[18] * 0.7 + chance * 0.3
        if prefix:
            seconds = 9 * 3600 + chance * 7 * 3600
        elif habit < 0.3:
            seconds = 6 * 3600 + 300 + chance * 9000
        elif habit < 0.86:
            seconds = 16 * 3600 + 300 + chance * 4500
        else:
            seconds = 17 * 3600 + 2100 + chance * 12_000
        accepted = datetime.combine(date.fromordinal(day), datetime.min.time()) + timedelta(seconds=int(seconds))
        filed = day if seconds <= 17.5 * 3600 else _office_day(day + 1)
        wrong_clock = self.company.has("new_york_clock") and accepted.year < 2023
        stamp = accepted.replace(tzinfo=UTC) if wrong_clock else accepted.replace(tzinfo=NEW_YORK).astimezone(UTC)
        return Filing(form, filed, stamp, known_at(filed, stamp), accepted, report, items, prefix, figures)

    def event(self, name: str, day: int) -> Iterator[Filing]:
        """Yield the filings that come with an event."""
        for row in table("filings")[name]:
            report = day + row["reported"] if "reported" in row else None
            items, prefix = row.get("items", ""), row.get("prefix", "")
            yield self.filing(row["form"], day + row["days"], report=report, items=items, prefix=prefix)

    def filings(self, books: TrueBooks, today: date) -> Iterator[Filing]:
        """Yield all filings but those of the company's end."""
        years, starts, ends = self.calendar.years, self.calendar.starts, self.calendar.ends
        young = self.company.first_year > FIRST_YEAR
        if young and starts:
            yield from self.event("listed", starts[0])
            items = "8.01,9.01" if self.company.trade.books == "shell" else "3.03,5.03"
            yield self.filing("8-K", starts[0] - 27, report=starts[0] - 30, items=items)
        # The oldest year is there for comparison only.
        for year in years if young else years[1:]:
            for quarter in range(year.first, min(year.last + 1, len(ends))):
                figures = ReportedFigures(
                    year, quarter, "FY" if quarter == year.last else f"Q{quarter - year.first + 1}"
                )
                yield from self._report_abroad(figures) if self.company.seat else self._report(figures)
        yield from self._life_events(books)
        since = date.fromordinal(starts[0]).year if young else FIRST_YEAR + 1
        for calendar_year in range(since + 1, today.year + 1):
            yield from self._irregular(calendar_year)

    def _report(self, figures: ReportedFigures) -> Iterator[Filing]:
        """Yield a periodic report with what comes with it: notices, results, the annual meeting, corrections."""
        company, seed, year, end = self.company, self.company.seed, figures.year, self.calendar.ends[figures.last]
        slack = int(self.draw("lag", end) * 5)
        if figures.whole:
            form, due = "10-KT" if year.transition else "10-K", end + 76
            day = end + (26 if company.large else 44) + int(seed[19] * 28) + slack
        else:
            form, due = "10-Q", end + 46
            day = end + 22 + int(seed[19] * 14) + slack
        if self.draw("late", end) < 0.02 or (figures.whole and year.label == company.error):
            yield self.filing(f"NT {form.removesuffix('T')}", due, report=end)
            day = due + 9 + slack
        tagged = figures.whole or year.label >= company.tagged_quarters
        report = self.filing(form, day, report=end, figures=figures if tagged else None)
        yield report
        if date.fromordinal(end).year >= _RESULTS_SINCE and company.trade.books in {"goods", "finance"}:
            results = min(day, report.accepted.toordinal()) - 1 - int(self.draw("results", end) * 5)
            yield self.filing("8-K", results, report=results, items="2.02,9.01")
        if figures.whole and company.trade.books != "fund":
            called = day + 24 + int(self.draw("proxy", end) * 12)
            meeting = called + 41
            yield self.filing("DEF 14A", called, report=meeting)
            if company.number % 2:
                yield self.filing("8-K", meeting + 2, report=meeting, items="5.07")
        corrected = correction_day(company, self.calendar) if year.label == company.error else None
        if corrected is None:
            return
        # The last two quarters of the year were wrong. The year follows its quarter by some days.
        if figures.whole:
            yield from self.event("error_found", corrected)
            yield self.filing("10-K/A", corrected + 6, report=end, figures=figures)
        elif figures.last == year.last - 1 and tagged:
            yield self.filing("10-Q/A", corrected, report=end, figures=figures)

    def _report_abroad(self, figures: ReportedFigures) -> Iterator[Filing]:
        company, year, end = self.company, figures.year, self.calendar.ends[figures.last]
        day = end + int(company.seed[19] * 25) + int(self.draw("lag", end) * 6)
        unnamed = replace(figures, period=None)  # a 6-K names neither its year nor its period
        if figures.whole:
            day += 60 if company.annual_form == "40-F" else 85
            if company.kind == "annual_6k":  # the annual report itself carries no tagged figures
                yield self.filing("6-K", day - 30, report=end, figures=unnamed)
                yield self.filing(company.annual_form, day, report=end)
            else:
                yield self.filing(company.annual_form, day, report=end, figures=figures)
        elif company.cadence == "quarter" or (company.cadence == "half" and figures.last == year.first + 1):
            tagged = year.label >= company.tagged_quarters
            yield self.filing("6-K", day + 38, report=end, figures=unnamed if tagged else None)

    def _life_events(self, books: TrueBooks) -> Iterator[Filing]:
        company, calendar = self.company, self.calendar
        if company.split:
            yield from self.event("split", company.split[0].toordinal())
        for year in calendar.years:
            if company.recast == (year.label, "spun_off") and year.last < len(calendar.ends):
                day = calendar.ends[year.last] + _SPUN_OFF_AFTER
                yield self.filing("8-K", day, report=day - 1, items="2.01,9.01")
        if company.former:
            day = company.former[1].toordinal()
            yield self.filing("6-K", day) if company.seat else self.filing("8-K", day, report=day, items="5.03,9.01")
        if company.moved:
            day = date(company.moved + 1, 3, 2).toordinal()
            yield self.filing("8-K", day, report=day - 3, items="5.03")
        first = 0 if company.first_year > FIRST_YEAR else 4
        for quarter, price in enumerate(books.flows.get("takeover", ())):
            if price and quarter >= first and not company.seat:
                day = calendar.starts[quarter] + 20 + int(self.draw("takeover", quarter) * 45)
                yield from self.event("acquired", day)

    def _irregular(self, year: int) -> Iterator[Filing]:
        """Yield announcements, letters and registrations of a calendar year."""
        company, first = self.company, date(year, 1, 3).toordinal()
        if company.seat:
            yield self.filing("6-K", first + int(self.draw("6-K", year) * 350))
            return
        if company.trade.books == "fund":
            return
        announced = table("filings")["announced"]
        for turn in range(int(self.draw("how many", year) * 2.6)):
            day = first + int(self.draw("announced", year, turn) * 355)
            items = announced[int(self.draw("items", year, turn) * len(announced))]
            yield self.filing("8-K", day, report=day - 2, items=items)
        if self.draw("letter", year) < 0.07:
            yield from self.event("letter", first + 90 + int(self.draw("letter day", year) * 150))
        if self.draw("shares", year) < 0.08:
            yield self.filing("S-8", first + 120 + int(self.draw("shares day", year) * 90))
        if company.number % 8 == 1:  # insiders' reports are nobody's event, but they are in the index
            yield self.filing("4", first + 60 + int(self.draw("insider", year) * 60), report=first + 58)
