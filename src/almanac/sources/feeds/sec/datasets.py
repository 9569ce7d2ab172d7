"""The SEC's Financial Statement Data Sets: one zip archive a quarter, with the numbers of all statements filed in it.

`sub.txt` lists the filings, `num.txt` the numbers, `pre.txt` the lines of their statements, all tab-separated with a line
of names. The archive is read line by line: of `num.txt`, which is large, only the rows that are taken are ever held.

Traps. A period's end is rounded to the nearest end of a month and its length to whole quarters, so the periods are not
those of the company-facts interface for a filer whose quarters end on a weekday. The acceptance time is New York's
clock, rounded to the minute.
"""

from __future__ import annotations

import codecs
import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import chain
from typing import NamedTuple

import msgspec

from almanac.domain.companies import CompanyFacts, CompanyRecord, Fact, Filing, FormerName
from almanac.domain.filings import NEW_YORK, known_at, minute_rounded
from almanac.domain.periods import add_months
from almanac.sources.base import Parsed, SourceChanged
from almanac.sources.feeds.sec import statement_lines
from almanac.sources.feeds.sec.facts import (
    MONETARY,
    accession,
    is_currency,
    number,
    odd_days,
    plain_unit,
)
from almanac.sources.feeds.sec.statement_lines import TOTAL_REVENUE
from almanac.sources.formats import strict
from almanac.sources.formats.archive import Archive, Budget

#: Bytes of all members, of one, and of a line: several times those of the largest quarter so far.
_TOTAL, _MEMBER, _LINE = 8 << 30, 4 << 30, 1 << 16
_SUB = """
    adsh cik name sic countryba stprba cityba zipba bas1 bas2 baph countryma stprma cityma zipma mas1 mas2 countryinc
    stprinc ein former changed afs wksi fye form period fy fp filed accepted prevrpt detail instance nciks aciks
    """.split()  # noqa: SIM905  (a list of columns is read faster than forty quoted words)
_NUM = ["adsh", "tag", "version", "ddate", "qtrs", "uom", "coreg", "value", "footnote"]
#: Editions before November 2024 have no column of segments: they list no such rows.
_SEGMENTS = "segments"
_ACCEPTED = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.0)?")
_YEAR = re.compile(r"[12][0-9]{3}")
#: The data sets' names of taxonomies → those of company facts.
_TAXONOMY = {"ifrs": "ifrs-full"}
_LONGEST = 4  # quarters


class Submission(NamedTuple):
    """One line of `sub.txt`."""

    cik: int
    filing: Filing
    record: CompanyRecord


class Table:
    """A tab-separated member, read row by row. Raises SourceChanged naming the column or line at fault."""

    def __init__(self, lines: Iterator[bytes], where: str, known: Sequence[str], optional: Sequence[str] = ()) -> None:
        self.where = where
        self._lines = lines
        self.names = self._cells(next(lines, b"").removeprefix(codecs.BOM_UTF8), 1)
        missing = sorted({*known} - {*self.names})
        #: Columns that nobody reads.
        self.unknown = sorted({*self.names} - {*known, *optional})
        told = [f"has no column {', '.join(missing)}"] if missing else []
        told += ["has a column twice"] if len(set(self.names)) != len(self.names) else []
        if told:
            raise SourceChanged(f"{where} {', '.join(told)}")

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number of each line, and its cells."""
        width = len(self.names)
        for place, line in enumerate(self._lines, 2):
            cells = self._cells(line, place)
            if len(cells) != width:
                raise SourceChanged(f"{self.where}, line {place} has {len(cells)} cells, expected {width}")
            yield place, cells

    def _cells(self, line: bytes, place: int) -> list[str]:
        try:
            return line.decode().rstrip("\r").split("\t")
        except UnicodeDecodeError:
            raise SourceChanged(f"{self.where}, line {place} is not utf-8") from None


def read(body: bytes, name: str, wanted: frozenset[str]) -> Parsed:
    """
    Filings, companies, and the facts of the wanted tags that are of the whole company: no co-registrant, no segment.

    What is passed over is counted by its reason. Raises SourceChanged naming member, line and column.
    """
    where = f"data set {name}"
    archive = Archive(body, Budget(_TOTAL, _MEMBER), where)
    parsed = Parsed()
    with archive.open("sub.txt") as stream:
        table = Table(stream.lines(_LINE), f"{where}/sub.txt", _SUB)
        parsed.meet(table.unknown, "column of sub.txt")
        submissions = _submissions(table)
    totals: dict[str, str] = {}
    if TOTAL_REVENUE in wanted and "pre.txt" in archive.names:
        with archive.open("pre.txt") as stream:
            lines = stream.lines(_LINE)
            first = next(lines, b"")
            if first.strip():
                table = Table(chain([first], lines), f"{where}/pre.txt", statement_lines.COLUMNS)
                totals = statement_lines.own_totals(dict(zip(table.names, row, strict=True)) for _, row in table.rows())
    with archive.open("num.txt") as stream:
        table = Table(stream.lines(_LINE), f"{where}/num.txt", _NUM, [_SEGMENTS])
        # As the segments once were, it may be a dimension: what is of the whole company then is in doubt.
        if table.unknown:
            raise SourceChanged(f"{table.where} has columns nobody reads: {', '.join(table.unknown)}")
        currencies = _read_numbers(parsed, table, submissions, wanted, totals)
    latest = {
        one.cik: one.record
        for one in sorted(submissions.values(), key=lambda one: (one.filing.filed, one.filing.accession))
    }
    for cik, record in latest.items():
        rows = currencies[cik]
        currency = min(rows, key=lambda unit: (-rows[unit], unit), default=None)
        parsed.companies.append(msgspec.structs.replace(record, currency=currency))
    parsed.filings += ((one.cik, one.filing) for one in submissions.values())
    return parsed


def _submissions(table: Table) -> dict[str, Submission]:
    found: dict[str, Submission] = {}
    for place, cells in table.rows():
        row = dict(zip(table.names, cells, strict=True))
        where = f"{table.where}, line {place}"
        adsh = accession(row["adsh"], where)
        if adsh in found:
            raise SourceChanged(f"{where}: filing {adsh} is there twice")
        cik = number(row["cik"], where)
        filed = _day(row["filed"], f"{where}, filed")
        accepted = _accepted(row["accepted"], f"{where}, accepted") if row["accepted"] else None
        if row["fy"] and _YEAR.fullmatch(row["fy"]) is None:
            raise SourceChanged(f"{where}, fy: {strict.shown(row['fy'])} is not a year")
        filing = Filing(
            adsh,
            row["form"],
            filed,
            None if accepted is None else known_at(filed, accepted),
            _day(row["period"], f"{where}, period") if row["period"] else None,
            int(row["fy"]) if row["fy"] else None,
            row["fp"] or None,
        )
        # `changed` is the day of the change to the former name, not from it (EDGAR's "date of name change"): until when it was
        # used is not stated.
        changed = date.fromordinal(_day(row["changed"], f"{where}, changed")).isoformat() if row["changed"] else None
        record = CompanyRecord(
            cik=cik,
            part="datasets",
            name=row["name"].strip() or f"CIK {cik}",
            sic=row["sic"] or None,
            fiscal_year_end=row["fye"] or None,
            former_names=(FormerName(row["former"], changed),) if row["former"] else (),
            state_of_incorporation=row["stprinc"] or row["countryinc"] or None,
            country=row["countryba"] or None,
        )
        found[adsh] = Submission(cik, filing, record)
    return found


def _read_numbers(
    parsed: Parsed,
    table: Table,
    submissions: Mapping[str, Submission],
    wanted: frozenset[str],
    totals: Mapping[str, str],
) -> Mapping[int, Mapping[str, int]]:
    """
    Read what is taken of `num.txt`, and count what is not. `totals`: filing → its own tag of total revenue.

    Return the rows in each currency by company.
    """
    facts: dict[int, list[Fact]] = {}
    currencies: dict[int, Counter[str]] = defaultdict(Counter)
    tags, units, days = {tag: tag for tag in wanted}, dict[str, str](), dict[str, int]()
    place_of = {name: place for place, name in enumerate(table.names)}
    adsh, tag, version, ddate, qtrs, uom, coreg, value = (
        place_of[name] for name in ("adsh", "tag", "version", "ddate", "qtrs", "uom", "coreg", "value")
    )
    segments = place_of.get(_SEGMENTS)
    for line, cells in table.rows():
        where = f"{table.where}, line {line}"
        submission = submissions.get(cells[adsh])
        if submission is None:
            raise SourceChanged(f"{where}: filing {strict.shown(cells[adsh])} is not in sub.txt")
        taxonomy, slash, _ = cells[version].partition("/")
        taxonomy = _TAXONOMY.get(taxonomy, taxonomy)
        own = not slash and totals.get(cells[adsh]) == cells[tag] and is_currency(cells[uom])
        if not slash and not own:
            parsed.unmapped["custom tags"] += 1
            continue
        if cells[coreg]:
            parsed.unmapped["rows of a co-registrant"] += 1
            continue
        if segments is not None and cells[segments]:
            parsed.unmapped["rows of a segment"] += 1
            continue
        if is_currency(cells[uom]) and taxonomy in MONETARY:
            currencies[submission.cik][cells[uom]] += 1
        full = TOTAL_REVENUE if own else tags.get(f"{taxonomy}:{cells[tag]}")
        if full is None:
            parsed.unmapped[f"{taxonomy} (other tags)"] += 1
        elif not cells[value]:
            parsed.unmapped["rows without a value"] += 1
        else:
            end = days.get(cells[ddate]) or days.setdefault(cells[ddate], _day(cells[ddate], f"{where}, ddate"))
            if not (cells[qtrs].isascii() and cells[qtrs].isdigit()):
                raise SourceChanged(f"{where}, qtrs: {strict.shown(cells[qtrs])} is not a number of quarters")
            quarters = int(cells[qtrs])
            if quarters > _LONGEST:
                parsed.unmapped["rows of more than four quarters"] += 1
                continue
            filing, unit = submission.filing, units.setdefault(cells[uom], plain_unit(cells[uom]))
            start = _start(end, quarters) if quarters else None
            odd = odd_days(start, end, filing.filed)
            if odd is not None:
                parsed.unmapped[f"rows of {odd}"] += 1
                continue
            amount = strict.number(cells[value], f"{where}, value of {full} in {filing.accession}")
            statement = (filing.accession, filing.form, filing.filed, filing.fiscal_year, filing.fiscal_period)
            facts.setdefault(submission.cik, []).append(Fact(full, unit, start, end, amount, *statement))
    parsed.facts += (CompanyFacts(cik, tuple(rows)) for cik, rows in facts.items())
    return currencies


@functools.lru_cache(maxsize=4_096)
def _start(end: int, quarters: int) -> int:
    """Return the first day of so many quarters that end on a day: of whole months, as the data sets round both."""
    return add_months(date.fromordinal(end + 1), -3 * quarters).toordinal()


def _day(text: str, where: str) -> int:
    return strict.day(text, where, strict.COMPACT_DAY, "20260131").toordinal()


def _accepted(text: str, where: str) -> datetime:
    """Parse New York's clock; a time rounded to the minute is taken as the latest that it can mean."""
    match = _ACCEPTED.fullmatch(text)
    if match is None:
        raise SourceChanged(f"{where}: {strict.shown(text)} is not a time like 2026-01-31 16:05:00.0")
    try:
        return minute_rounded(datetime.fromisoformat(match[1]).replace(tzinfo=NEW_YORK))
    except ValueError as error:
        raise SourceChanged(f"{where}: {strict.shown(text)}: {error}") from None
