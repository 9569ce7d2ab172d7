"""
Statements beside those that edgartools makes from the same files: every difference has a cause, none is a fault of ours.

The judge is the value that the contract asks for, read anew from the file: the newest state by a report, and of a line of a
balance sheet that of the sheet. That a number was filed at some time explains nothing.

`make oracle` installs it and runs this; the table of counts goes to standard output (`pytest -s`).
"""

import json
import subprocess
import sys
from collections import Counter, defaultdict
from datetime import date
from functools import lru_cache

import pytest

from almanac.catalog.companies import SHEET_ANEW, items
from almanac.derived.companies.facts import letter
from almanac.derived.companies.line_items import line_items_at
from almanac.domain.companies import base_form, is_periodic
from tests.support.paths import ROOT

from .company_files import FOLDER, company, facts_of
from .files import REAL

PYTHON = ROOT / ".venv-oracle/bin/python"
pytestmark = [
    *REAL,
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="edgartools is not installed: `make oracle` does so"),
]
NOW = 1 << 40
PER_SHARE = {"earnings_per_share_diluted", "weighted_average_shares_diluted"}
#: Days by which the two may say the end of one period.
NEAR = 6

CAUSES = {
    "currency": "a filer in another currency: edgartools takes the dollars given for convenience",
    "split": "edgartools counts in today's shares, we as filed",
    "precision": "the same number, ours to more digits",
    "sign": "the filings give both signs: ours is the one that the income, or what was filed first, has",
    "restated": "other states of the same tag: edgartools takes the first or the last filed, ours is the newest by a report",
    "lone": "a later report gives the line alone, as the cash or equity another period begins with: it replaces nothing",
    "anew": "a later report gives the balance sheet anew, without the line",
    "tag": "another tag: ours is the total, or the filer's line",
    "operands": "a part of a year from other states of the longer periods",
    "per share": "average shares weighted by days, and income over them",
    "refused": "we serve none: no two figures of one basis lead to it",
}


def files():
    """CIK → its file; of two snapshots of a company the later one."""
    paths = sorted((FOLDER / "companyfacts").iterdir()) if FOLDER.is_dir() else []
    return {int(path.name[3:13]): path for path in paths if "earlier" not in path.name}


def told(path, home):
    """What edgartools makes of a file. It is given a home of its own and opens no connection."""
    command = [PYTHON, ROOT / "tests/support/oracle.py", path]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env={"HOME": str(home)}, timeout=300)
    return json.loads(done.stdout)


class Differences:
    """The cells of one company that differ, and why."""

    def __init__(self, cik):
        self.company = company(cik)
        self.line_items = line_items_at(self.company, NOW)
        #: (letter, last day) → value → tags that were ever filed with it; instants are I.
        self.filed = defaultdict(lambda: defaultdict(set))
        #: The same of the newest states by reports alone, and of all that reports ever gave.
        self.newest = defaultdict(lambda: defaultdict(set))
        self.reported = defaultdict(lambda: defaultdict(set))
        states = {}
        for fact in sorted(facts_of(cik), key=lambda fact: (fact.filed, fact.accession)):
            kind = "I" if fact.start is None else letter(fact.start, fact.end)
            self.filed[kind, fact.end][fact.value].add(fact.tag)
            if is_periodic(fact.form) or base_form(fact.form) == "8-K":
                states[fact.tag, kind, fact.start, fact.end] = fact.value
                self.reported[kind, fact.end][fact.value].add(fact.tag)
        for (tag, kind, _, end), value in states.items():
            self.newest[kind, end][value].add(tag)

    def amount(self, frequency, item, end):
        """Our amount, None where there is none."""
        kind = "I" if items()[item].is_instant else frequency[0].upper()
        days = sorted(range(end - NEAR, end + NEAR + 1), key=lambda day: (abs(day - end), day))
        amounts = (self.line_items.of(kind, day).amounts.get(item) for day in days)
        return next((amount for amount in amounts if amount is not None), None)

    def cause(self, frequency, item, end, theirs):
        """The cause of a difference; None where the two are equal."""
        ours = self.amount(frequency, item, end)
        if ours is None:
            return self.absent(frequency, item, end)
        if abs(ours.value - theirs) <= 1e-9 * abs(theirs):
            return None
        if self.company.currency != "USD":
            return "currency"
        if item in PER_SHARE:
            return self.of_shares(ours, theirs)
        if is_precision(ours, theirs):
            return "precision"
        return self.of_amounts(frequency, item, end, ours, theirs)

    def absent(self, frequency, item, end):
        kind = "I" if items()[item].is_instant else frequency[0].upper()
        if self.line_items.of(kind, end).remarks.get(item) is not None:
            return "refused"
        sheet = self.company.facts.get(SHEET_ANEW, {}).get((None, end), [])
        if kind == "I" and sheet and items()[item].tags() & set(sheet[-1].without):
            return "anew"
        return "per share" if item in PER_SHARE else "unexplained"

    def of_shares(self, ours, theirs):
        ratio = max(abs(ours.value / theirs), abs(theirs / ours.value)) if theirs and ours.value else 0
        if ratio >= 1.45:
            return "split"
        if ours.method is not None:
            return "per share"
        return "precision" if is_precision(ours, theirs) else "restated"

    def of_amounts(self, frequency, item, end, ours, theirs):
        kind = "I" if items()[item].is_instant else frequency[0].upper()
        tags = {name.rpartition(":")[0] for name in ours.tags}
        theirs_in = set().union(*(self.filed[kind, end + drift][theirs] for drift in range(-NEAR, NEAR + 1)))
        if theirs == -ours.value:
            return "sign"
        if theirs_in & tags:
            turned = -theirs in self.filed[kind, end] or self.line_items.of(kind, end).remarks.get(item)
            if turned and theirs * ours.value < 0:
                return "sign"
            return (
                "restated"
                if ours.method is not None or self.among(self.newest, kind, end, ours)
                else self.lone(kind, end, ours)
            )
        if theirs_in:
            return "tag"
        if frequency == "quarterly" and kind != "I":
            return "operands"
        return "unexplained"

    def among(self, values, kind, end, ours):
        """Whether our value is among these of its own tags, to a digit that a later one left out."""
        tags = {name.rpartition(":")[0] for name in ours.tags}
        return any(
            tags & of and (value == ours.value or rounds(value, ours.value))
            for drift in range(-NEAR, NEAR + 1)
            for value, of in values[kind, end + drift].items()
        )

    def lone(self, kind, end, ours):
        return "lone" if kind == "I" and self.among(self.reported, kind, end, ours) else "unexplained"


def rounds(coarse, exact, parts=1):
    """Whether a number is another one in hundreds, thousands or millions, rounded or cut off, made of so many such parts."""
    unit = next((10**digits for digits in (6, 5, 3, 2) if coarse % 10**digits == 0), 1)
    return abs(coarse - exact) < parts * unit


def is_precision(ours, theirs):
    """Whether theirs is ours with fewer digits, as far as the rounding of what ours was made of tells."""
    return rounds(theirs, ours.value, 1 if ours.method is None else 3)


@lru_cache(maxsize=1)
def compared(home):
    """(item, cause or None) → cells: cik, frequency, day, theirs, ours."""
    found = defaultdict(list)
    for cik, path in files().items():
        mine = Differences(cik)
        for frequency, end, item, theirs in told(path, home):
            day = date.fromisoformat(end).toordinal()
            ours = mine.amount(frequency, item, day)
            cell = (cik, frequency, end, theirs, ours and ours.value, ours and ours.method)
            found[item, mine.cause(frequency, item, day, theirs)].append(cell)
    return found


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    return compared(tmp_path_factory.mktemp("oracle"))


def test_every_difference_has_a_cause(cells, capsys):
    names = [None, *CAUSES]
    lines = [f"{'':36}" + "".join(f"{name or 'equal':>11}" for name in names)]
    counts = Counter({name: len(of) for name, of in cells.items()})
    for item in sorted({item for item, _ in cells}):
        lines.append(f"{item:36}" + "".join(f"{counts[item, name]:11,}" for name in names))
    totals = [sum(n for (_, cause), n in counts.items() if cause == name) for name in names]
    lines.append(f"{'all':36}" + "".join(f"{total:11,}" for total in totals))
    with capsys.disabled():
        sys.stdout.write("\n".join(["", *lines, ""]))
    unexplained = {item: of for (item, cause), of in cells.items() if cause == "unexplained"}
    assert unexplained == {}
    assert len({item for item, _ in cells}) == 17
    assert totals[0] > 6_000
    assert totals[0] / sum(totals) > 0.85


def test_no_difference_is_a_fault_of_ours(cells):
    """What was wrong before: parts of a year below zero, the rounded number for the exact one, a sign nobody confirms."""
    for (item, cause), found in cells.items():
        for cik, frequency, end, theirs, ours, method in found:
            where = (item, cause, cik, frequency, end, theirs, ours, method)
            if cause is None or ours is None:
                continue
            derived = method is not None and method != "sum_of_tags"
            assert not (derived and ours < 0 and items()[item].never_negative), where
            # A quarter that is stated in millions goes before the difference of exact figures.
            rounded = (
                method is None
                and cause != "operands"
                and item not in PER_SHARE
                and ours % 10**6 == 0
                and theirs % 10**6 != 0
            )
            assert not (rounded and rounds(ours, theirs)), where
            assert ours * theirs >= 0 or cause in {"sign", "restated", "operands"}, where
