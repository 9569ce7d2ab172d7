"""
What is picked for a past day never follows from what came later: an answer as of T is that of a store that knows nothing
later, whoever is asked: the interface, the client for Python, the tools for language models.

Left out is what is told as of today, whatever the moment: which companies there are, their names, tickers and sectors, the
ids of their series, and what a warning says of what is held now. Tools and methods that can be asked of today alone
(`almanac_find`, `almanac_rates`, a company's profile, `curve`) pick nothing for a past day.
"""

import inspect
import os
import random
from datetime import date, timedelta

import pytest

from almanac_client import Almanac
from tests.support import past_worlds
from tests.support.past_clients import client_differences, tool_differences, tool_questions, tools_of_past_days
from tests.support.past_worlds import company_pages, differences, economy_pages, load

QUESTIONS = 200
#: Of the client and of tools, which take several requests each.
CLIENT_QUESTIONS, TOOL_QUESTIONS = 54, 42
LAST = date(2026, 11, 19)


#: Days on which companies are asked of too. `ALMANAC_TEST_PAST_DAYS` names how many random ones are asked of beside these.
DEEP_DAYS = [
    date(2018, 6, 25),
    date(2019, 2, 10),
    date(2022, 3, 23),
    date(2022, 12, 28),
    date(2024, 11, 24),
    date(2025, 2, 27),
    date(2026, 6, 16),
]
MORE_DAYS = int(os.environ.get("ALMANAC_TEST_PAST_DAYS", "0"))


def some_days(count):
    return sorted(date(2018, 1, 31) + timedelta(days=n) for n in random.Random(37).sample(range(3_100), count))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    home = tmp_path_factory.mktemp("small") / "home"
    pages = economy_pages(LAST, past_worlds.in_small_world), company_pages(LAST, past_worlds.SMALL_FILERS)
    one = load(home, LAST, *pages)
    yield one
    one.close()


@pytest.mark.slow
def test_the_same_in_a_small_world(small, tmp_path):
    """A few series and companies, quickly."""
    day = date(2023, 8, 16)
    pages = economy_pages(day, past_worlds.in_small_world), company_pages(day, past_worlds.SMALL_FILERS)
    then = load(tmp_path / "home", day, *pages)
    try:
        assert differences(small, then, day, 30) == []
        assert client_differences(small, then, day, 9) == []
        assert tool_differences(small, then, day, 7) == []
        # The law can fail: of a later day this store does not know all.
        then.data_now = small.settings.clock()
        after = day + timedelta(days=120)
        assert differences(small, then, after, 10) != []
        assert client_differences(small, then, after, 9) != []
        assert tool_differences(small, then, after, 7) != []
    finally:
        then.close()


def test_everything_that_takes_a_past_day_is_asked(small):
    """A tool or a method more that does is a kind of question more."""
    assert {name for name, _ in tool_questions(small, LAST, 40)} == tools_of_past_days(small)
    methods = {name for name, _ in inspect.getmembers(Almanac, inspect.isfunction) if not name.startswith("_")}
    past = {name for name in methods if {"as_of", "at"} & inspect.signature(getattr(Almanac, name)).parameters.keys()}
    # And with a client made for a day.
    assert past - {"at"} == {"series", "frame", "panel", "statements", "brief"}
    assert methods >= {"triangle", "join_as_of"}


@pytest.fixture(scope="module")
def deep(tmp_path_factory):
    """Some places in depth, and companies of every kind."""
    home = tmp_path_factory.mktemp("deep") / "home"
    pages = economy_pages(LAST, past_worlds.in_depth), company_pages(LAST, past_worlds.some_filers())
    one = load(home, LAST, *pages)
    yield one
    one.close()


@pytest.mark.parametrize(
    "day",
    [
        pytest.param(day, marks=pytest.mark.deep if place else pytest.mark.slow)
        for place, day in enumerate(sorted({*DEEP_DAYS, *some_days(MORE_DAYS)}))
    ],
    ids=str,
)
def test_an_answer_as_of_a_day_is_that_of_a_store_that_knows_nothing_later(deep, tmp_path, day):
    pages = economy_pages(day, past_worlds.in_depth), company_pages(day, past_worlds.some_filers())
    then = load(tmp_path / "home", day, *pages)
    try:
        found = differences(deep, then, day, QUESTIONS)
        found += client_differences(deep, then, day, CLIENT_QUESTIONS)
        found += tool_differences(deep, then, day, TOOL_QUESTIONS)
        assert not found, (len(found), "\n".join(map(str, found[:40])))
    finally:
        then.close()


@pytest.fixture(scope="module")
def whole_world(tmp_path_factory):
    """All that the simulated publishers told of economies up to the last day. Companies of every kind are in the deep one."""
    one = load(tmp_path_factory.mktemp("whole") / "home", LAST, economy_pages(LAST))
    yield one
    one.close()


@pytest.mark.deep
@pytest.mark.parametrize("day", some_days(MORE_DAYS or 1), ids=str)
def test_the_same_of_all_economies(whole_world, tmp_path, day):
    """Each day is one more load of the world; a long run asks of more of them."""
    then = load(tmp_path / "home", day, economy_pages(day))
    try:
        found = differences(whole_world, then, day, QUESTIONS)
        found += client_differences(whole_world, then, day, CLIENT_QUESTIONS)
        found += tool_differences(whole_world, then, day, TOOL_QUESTIONS)
        assert not found, (len(found), "\n".join(map(str, found[:40])))
    finally:
        then.close()
