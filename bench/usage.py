"""The cost of counting usage and of querying it: millions of counters, and the queries of the usage page."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path

import apsw

from almanac.domain.times import day_at
from almanac.store.usage.counts import BY_ENDPOINT, BY_KEY, DAY, FIGURES, IN_ALL, CountedUse, UsageFile
from almanac.store.usage.reports import UsageReports

#: Minute counters; accounts, one of which has half of all requests; keys; endpoints; days covered.
COUNTERS = 5_000_000
ACCOUNTS, KEYS, ENDPOINTS, DAYS = 1_000, 100_000, 45, 30
#: Keys of that account.
OWN_KEYS = 50
STATUSES = (200, 200, 200, 304, 400, 404, 429)
_TRIES = 9


def _last() -> int:
    """Return the minute after the last counter, the end of yesterday."""
    return int(time.time()) // 86_400 * DAY


def account_name(number: int) -> str:
    """Return the id of an invented account."""
    return f"acc_{number:020}"


def counters(number: int) -> Iterator[CountedUse]:
    """Yield invented counts in order of time. Half of them belong to the first account and its own keys."""
    chance, first = random.Random(1), _last() - DAYS * DAY
    for place in range(number):
        minute = first + place * DAYS * DAY // number
        own = chance.random() < 0.5
        account = 0 if own else chance.randrange(1, ACCOUNTS)
        key = (
            chance.randrange(OWN_KEYS)
            if own
            else OWN_KEYS + account + ACCOUNTS * chance.randrange((KEYS - OWN_KEYS) // ACCOUNTS)
        )
        seconds = chance.lognormvariate(-5.0, 1.0)
        endpoint, status = f"/endpoint/{chance.randrange(ENDPOINTS)}", chance.choice(STATUSES)
        yield CountedUse(minute, account_name(account), f"alm_{key:08}", endpoint, status, (1, int(seconds * 1e6)))


def prepare(folder: Path, say: Callable[[str], None]) -> Path:
    """
    Return the file with all counters up to yesterday. It is created once a day, because pages show the last thirty
    days.
    """
    path = folder / f"usage-{COUNTERS}-{date.fromordinal(_last() // DAY + day_at(0))}.db"
    if path.exists():
        return path
    say(f"making {COUNTERS:,} counters, two minutes the first time")
    for old in folder.glob(f"usage-{COUNTERS}-*"):
        old.unlink()
    unfinished = path.with_suffix(".unfinished")
    file = UsageFile(unfinished)
    load(file, counters(COUNTERS))
    with file.opened() as db:
        db.pragma("wal_checkpoint(TRUNCATE)")
    file.close()
    unfinished.rename(path)
    return path


def load(file: UsageFile, counted: Iterable[CountedUse]) -> None:
    """
    Load a large number of counts into an empty file, with the same result as `UsageFile.add`.

    They are first collected in a temporary table and then written in the order of the tables. In any other order each
    row would need its own page of the file, which takes hours for millions.
    """
    names: dict[str, int] = {}

    def number(name: str) -> int:
        return names.setdefault(name, len(names) + 1)

    def row(one: CountedUse) -> tuple[int, ...]:
        return (number(one.account), one.minute, number(one.key), number(one.endpoint), one.status, *one.figures)

    figures, sums = ", ".join(FIGURES), ", ".join(f"sum({one})" for one in FIGURES)
    marks = ", ".join("?" * (5 + len(FIGURES)))
    with file.opened() as db:
        db.execute(f"CREATE TEMP TABLE gathered(account, at, key, endpoint, status, {figures})")
        with db.transaction():
            db.executemany(f"INSERT INTO gathered VALUES({marks})", map(row, counted))
            db.executemany("INSERT INTO name(name, n) VALUES(?, ?)", names.items())
            db.execute(
                f"INSERT INTO counter SELECT account, at, 1, key, endpoint, status, {sums} FROM gathered"
                " GROUP BY 1, 2, 3, 4, 5, 6"
            )
            for part, name in ((IN_ALL, "0"), (BY_KEY, "key"), (BY_ENDPOINT, "endpoint")):
                db.execute(
                    f"INSERT INTO daily SELECT account, {part}, at / {DAY}, {name}, status, {sums} FROM gathered"
                    " GROUP BY 1, 2, 3, 4, 5"
                )
        db.execute("DROP TABLE gathered")


def measure(folder: Path, say: Callable[[str], None]) -> str:
    """Measure each query about the largest account over thirty days, in milliseconds. Returns a table."""
    path = prepare(folder, say)
    file = UsageFile(path)
    reports, last = UsageReports(file), day_at(_last() * 60) - 1
    asked = (account_name(0), last - DAYS + 1, last)
    questions: dict[str, Callable[[], object]] = {
        "requests in all": lambda: reports.total(*asked),
        "by day": lambda: reports.by("day", *asked),
        "by key": lambda: reports.by("key", *asked),
        "by endpoint": lambda: reports.by("endpoint", *asked),
        "by status": lambda: reports.by("status", *asked),
        "of a page of 100 accounts": lambda: reports.requests([account_name(one) for one in range(100)], *asked[1:]),
        "first rows for a spreadsheet": lambda: next(reports.counters(*asked)),
    }
    try:
        lines = [(name, _timed(question)) for name, question in questions.items()]
        lines.append(("200 counters written", _written(file)))
        with apsw.Connection(str(path)) as db:
            held = db.execute("SELECT count(*) FROM counter").get
    finally:
        file.close()
    rows = [f"| {name} | {statistics.median(times):.2f} | {max(times):.2f} |" for name, times in lines]
    return "\n".join([f"| usage, {held:,} counters | median ms | most ms |", "| --- | --: | --: |", *rows])


def _timed(question: Callable[[], object]) -> list[float]:
    times = []
    for _ in range(_TRIES):
        began = time.perf_counter()
        question()
        times.append((time.perf_counter() - began) * 1000)
    return times


def _written(file: UsageFile) -> list[float]:
    """
    Measure a worker's flush in its own thread. Counts are added to existing rows, so the number of rows stays the same
    after the first time.
    """
    more = [one._replace(minute=_last() + 1) for one in counters(200)]
    return _timed(lambda: file.add(more))
