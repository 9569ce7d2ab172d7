"""Of a list without end a page fetches from PostgreSQL about the rows that it shows, as SQLite finds them: not the whole table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import islice
from typing import Any

import psycopg
import pytest

from almanac.domain.observations import ReportedValue
from almanac.domain.periods import SPAN_BITS, Period
from almanac.store.engine import opening
from almanac.store.engine.moving import move
from almanac.store.observations.period_days import END
from almanac.store.observations.reading import history, topic_rows, walks
from almanac.store.observations.reading.changes import Changes
from almanac.store.observations.reading.reader import Reader, View
from almanac.store.observations.reading.selection import Selection
from almanac.store.observations.reading.topic_rows import TopicRows
from almanac.store.observations.reading.walks import Walk, _Part
from almanac.store.observations.reading.wanted_keys import WantedKeys
from tests.support import postgres
from tests.support.small_world import ALPHA, BETA, DAY_SECONDS, START, SmallWorld, sent

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.sqlite,  # it moves a world from a file by itself, in the runs where files are files
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]

#: So many days of two sources, so many revisions of one cell, and so many topics without a row.
DAYS, REVISIONS, TOPICS = 3_000, 1_500, 1_000
#: A page, what is found beside it, and what one more fetch brings.
FEW = 700
LATEST = START + 400 * DAY_SECONDS
REVISED = Period.parse("2020-01-01").key


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    name, url = postgres.fresh()
    # Days since the year 1970, of the width that keys of days have.
    first = Period.parse("2000-01-01").key
    width = Period.parse("2000-01-02").key - first
    days = [ReportedValue(first + day * width, float(day % 7)) for day in range(DAYS)]
    revised = [ReportedValue(REVISED, float(at), START - REVISIONS + at) for at in range(REVISIONS)]
    with SmallWorld() as world:
        for source in (ALPHA, BETA):
            world.send([sent(source, 1, ("yield_2y.aaa", days, None))])
        world.send([sent(ALPHA, 2, ("yield_5y.aaa", revised, None))])
        with closing(opening.create(opening.Server(url))) as target:
            move(world.db, target)
            with target.transaction():
                target.execute(
                    "INSERT INTO topic(topic, indicator, entity, frequency, kind)"
                    f" SELECT n, 'zz' || n, 'country_aaa', 'M', 'raw' FROM generate_series(10000, {10_000 + TOPICS - 1}) n"
                )
                target.execute(
                    "INSERT INTO change(topic, version, low, high) SELECT topic, 1, 0, 0 FROM topic WHERE topic >= 10000"
                )
            target.truncate_log(0)
    found = Reader(opening.Server(url))
    yield found
    found.close()
    postgres.drop(name)


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each statement brought."""
    from almanac.store.engine.postgres.asking import Asking

    counts: list[int] = []
    loaded, every = Asking.loaded, psycopg.RawCursor.fetchall

    def noted(found: list[Any]) -> list[Any]:
        counts.append(len(found))
        return found

    monkeypatch.setattr(Asking, "loaded", lambda self, result: noted(loaded(self, result)))
    monkeypatch.setattr(psycopg.RawCursor, "fetchall", lambda self: noted(every(self)))
    return counts


def listed(**more: Any) -> Callable[[View], tuple[list[Any], Any]]:
    asked = {"as_of": None, "every": True, "sort": "topic", "descending": False, "after": None, "limit": 100, **more}
    selection = asked.pop("selection", Selection(kind="raw"))
    return lambda view: view.page(selection, version=view.version, **asked)


def stated(**more: Any) -> Callable[[View], tuple[list[Any], Any]]:
    asked = {"as_of": LATEST, "every": True, "descending": False, "after": None, "limit": 100, **more}
    return lambda view: view.cell_vintages(Selection(), version=view.version, **asked)


@pytest.mark.parametrize(
    "page",
    [
        listed(),
        listed(descending=True),
        listed(as_of=LATEST),
        stated(),
        stated(every=False),
        lambda view: Changes(view, Selection(), 0, view.version, None).page(
            every=True, descending=False, after=None, limit=100
        ),
    ],
    ids=["all", "all descending", "all then", "vintages", "vintages of the chosen", "changes"],
)
def test_a_page_of_a_long_list(
    reader: Reader, fetched: list[int], page: Callable[[View], tuple[list[Any], Any]]
) -> None:
    with reader.view() as view:
        fetched.clear()
        rows, following = page(view)
    assert len(rows) == 100
    assert following is not None
    assert 100 <= sum(fetched) < FEW


def keys(view: View, sort: str) -> WantedKeys:
    return WantedKeys("vintages", Selection(), sort, view.version, LATEST, False, 100, history=True)


def walk(view: View) -> Walk:
    return Walk(view._db, view.extents, keys(view, "period_end"))


def of_one_day(view: View) -> Iterator[Any]:
    return walk(view)._day(END, "TRUE", REVISED >> SPAN_BITS, None)


def of_one_topic(view: View) -> Iterator[Any]:
    rows = TopicRows(view._db, keys(view, "ingested_at"))
    return rows.of_each([("yield_2y", "country_aaa", "D", topic(view))], "TRUE", (), None, 0)


def topic(view: View) -> int:
    found: int = view.execute("SELECT topic FROM topic WHERE indicator = 'yield_2y'").get
    return found


def topics_of_many(view: View) -> Iterator[Any]:
    return TopicRows(view._db, keys(view, "ingested_at")).topics("(SELECT topic FROM topic)", "TRUE", (), None)


def topics_of_a_value(view: View) -> Iterator[Any]:
    return walk(view)._shared(_Part("any", "x.kind", "TRUE"), "FROM topic x", "raw", None)  # type: ignore[arg-type]  # any value will do


def of_one_series(view: View) -> Iterator[Any]:
    number: int = view.execute("SELECT max(series) FROM series WHERE topic = ?", (topic(view),)).get
    last = Period.parse("2020-01-01").key
    series = view.directory.series(number)
    return iter(history.newest(view, series, last, version=view.version, as_of=None, limit=100))


@pytest.mark.parametrize(
    "rows", [of_one_day, of_one_topic, topics_of_many, topics_of_a_value, of_one_series], ids=lambda one: one.__name__
)
def test_the_first_of_many_rows(
    reader: Reader, fetched: list[int], monkeypatch: pytest.MonkeyPatch, rows: Callable[[View], Iterator[Any]]
) -> None:
    for module in (topic_rows, walks):
        monkeypatch.setattr(module, "TOPICS", 50)
    if rows is topics_of_a_value:
        monkeypatch.setattr(TopicRows, "of_each", lambda self, topics, *_: topics)
    with reader.view() as view:
        topic(view)
        fetched.clear()
        assert len(list(islice(rows(view), 100))) == 100
    assert 100 <= sum(fetched) < FEW
