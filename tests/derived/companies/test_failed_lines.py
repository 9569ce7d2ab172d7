"""
Whatever fails a grave check is marked wherever it goes: statements of simulated filers with one figure made wrong.

Screens, profiles and scores leave out what is marked so (`tests/contract/test_equity_screener.py`, `test_companies.py`).
"""

import random

import pytest

from almanac.catalog.companies import items
from almanac.catalog.measures import TTM, measures
from almanac.derived.companies import ratios, ttm
from almanac.derived.companies.checks import FATAL
from almanac.derived.companies.derivation import derive
from almanac.domain.observations import FAILED
from almanac.domain.periods import Frequency, days_of
from almanac.pipeline.context import SIMULATED, PipelineContext
from almanac.pipeline.derive.companies import read
from tests.support.service import settings
from tests.support.simulated_filers import first_of_trades, load

pytestmark = pytest.mark.slow

LETTERS = {"quarterly": "Q", "annual": "A", "semiannual": "S"}


@pytest.fixture(scope="module")
def filers(tmp_path_factory):
    """What the statements of a few simulated filers are made from."""
    chosen = settings(tmp_path_factory.mktemp("failed") / "home")
    cast = list(first_of_trades().values())[:4]
    load(chosen, cast)
    with PipelineContext(chosen, kind=SIMULATED) as world:
        found = [read(world.db, f"company_{one.cik:010d}") for one in cast]
    assert len(found) == 4
    return found


def made_wrong(company, lot):
    """The same with one fact turned, or a thousand times as large, in every state of it."""
    places = [(tag, place) for tag, periods in company.facts.items() for place in periods if not tag.startswith("dei:")]
    tag, place = lot.choice(places)
    factor = lot.choice([-1, 1_000, 3])
    changed = [state._replace(value=state.value * factor) for state in company.facts[tag][place]]
    return company._replace(facts={**company.facts, tag: {**company.facts[tag], place: changed}})


def standing(cells):
    """Last day and letter of the vintages that stand, with the newest of each."""
    for (slug, frequency), periods in cells.items():
        for period, made in periods.items():
            if made[-1].value is not None:
                yield slug, frequency, days_of(period), made[-1]


def unmarked(company):
    """How many lines failed a grave check, and what rests on one of them without being marked so."""
    outcome = derive(company, measure=ratios.measures, reach=ttm.REACH_DAYS)
    failed = set()
    for key, versions in outcome.statements.items():
        body = versions[-1].body
        for check in body.quality.checks if body is not None else ():
            if check.status == "failed" and check.name in FATAL:
                end = days_of(key.period)[1]
                failed |= {(item, LETTERS[body.frequency], end) for item in check.items or () if item in body.items}
    lines = items()
    found = [
        (slug, frequency, end)
        for slug, frequency, (_, end), vintage in standing(outcome.items)
        if (slug, frequency.value, end) in failed and not vintage.flags & FAILED
    ]
    for slug, frequency, (start, end), vintage in standing(outcome.items):
        measure = measures().get(slug)
        if measure is None or vintage.flags & FAILED:
            continue
        for name in measure.inputs:
            item = name.removesuffix(TTM)
            # The basis of a figure per share is told by the diluted average, and by the basic one where there is none.
            if item == "weighted_average_shares_basic" and end in _ends(outcome, "weighted_average_shares_diluted"):
                continue
            at_end = {(item, letter, end) for letter in LETTERS.values()}
            # A sum of quarters rests on each of them; a year, and one that is moved on, on the year, and on quarters since.
            year = max((one for one in _years(outcome, item) if one <= end), default=0)
            since = max(start, year)
            quarters = {(item, "Q", day) for day in _ends(outcome, item) if since < day <= end and year != end}
            rests = at_end if lines[item].is_instant else quarters | {(item, "A", year)} if year > start else quarters
            if rests & failed:
                found.append((slug, frequency, end, sorted(rests & failed)))
    return len(failed), found


def _ends(outcome, item, frequency=Frequency.QUARTERLY):
    cells = outcome.items.get((item, frequency), {})
    return {days_of(period)[1] for period, made in cells.items() if made[-1].value is not None}


def _years(outcome, item):
    return _ends(outcome, item, Frequency.ANNUAL)


def test_what_is_right_fails_nothing(filers):
    assert [unmarked(company) for company in filers] == [(0, [])] * len(filers)


def test_what_rests_on_any_of_many_wrong_figures_is_marked(filers):
    # Most of what a wrong figure touches is left out with its reason, and so fails nothing.
    assert wrong(filers, range(160)) > 60


def wrong(filers, seeds):
    """How many lines failed over so many wrong figures; nothing that rests on them is unmarked."""
    failed = 0
    for seed in seeds:
        lot = random.Random(seed)
        count, found = unmarked(made_wrong(lot.choice(filers), lot))
        assert found == [], seed
        failed += count
    return failed
