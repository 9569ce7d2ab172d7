"""What counting use costs, and what asking for it takes: millions of counters, and the questions of the page of usage."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw

from almanac.domain.times import day_at
from almanac.store.usage.counts import DAY, CountedUse, UsageFile
from almanac.store.usage.latency import BUCKETS, bucket
from almanac.store.usage.reports import UsageReports

#: Counters of minutes; accounts, one of which has half of all requests; keys; endpoints; days they are spread over.
COUNTERS = 5_000_000
ACCOUNTS, KEYS, ENDPOINTS, DAYS = 1_000, 100_000, 45, 30
STATUSES = (200, 200, 200, 304, 400, 404, 429)
_LAST = 29_833_333
_TRIES = 9
_BATCH = 50_000


def counters(number: int) -> Iterator[CountedUse]:
    """Invented ones, in the order of time. Half are the first account's, over fifty keys of its own."""
    chance = random.Random(1)
    for place in range(number):
        minute = _LAST - DAYS * DAY + place * DAYS * DAY // number
        own = chance.random() < 0.5
        account = 0 if own else chance.randrange(1, ACCOUNTS)
        key = chance.randrange(50) if own else 50 + account + ACCOUNTS * chance.randrange((KEYS - 50) // ACCOUNTS)
        seconds = chance.lognormvariate(-5.0, 1.0)
        buckets = [0] * BUCKETS
        buckets[bucket(seconds)] = 1
        endpoint, status = f"/endpoint/{chance.randrange(ENDPOINTS)}", chance.choice(STATUSES)
        yield CountedUse(
            minute, f"acc_{account:020}", f"alm_{key:08}", endpoint, status, (1, int(seconds * 1e6), *buckets)
        )


def prepare(folder: Path, say: Callable[[str], None]) -> Path:
    """The file with all of them, made once."""
    path = folder / f"usage-{COUNTERS}.db"
    if path.exists():
        return path
    say(f"making {COUNTERS:,} counters, some minutes the first time")
    unfinished = path.with_suffix(".unfinished")
    for part in folder.glob(f"{unfinished.name}*"):
        part.unlink()
    file, batch = UsageFile(unfinished), []
    for one in counters(COUNTERS):
        batch.append(one)
        if len(batch) == _BATCH:
            file.add(batch)
            batch.clear()
    file.add(batch)
    with file.opened() as db:
        db.pragma("wal_checkpoint(TRUNCATE)")
    file.close()
    unfinished.rename(path)
    return path


def measure(folder: Path, say: Callable[[str], None]) -> str:
    """Milliseconds of each question about the account that has most, over thirty days, as a table."""
    file = UsageFile(prepare(folder, say))
    reports, last = UsageReports(file), day_at(_LAST * 60)
    asked = (f"acc_{0:020}", last - DAYS + 1, last)
    questions: dict[str, Callable[[], object]] = {
        "requests in all": lambda: reports.total(*asked),
        "by day": lambda: reports.by("day", *asked),
        "by key": lambda: reports.by("key", *asked),
        "by endpoint": lambda: reports.by("endpoint", *asked),
        "by status": lambda: reports.by("status", *asked),
        "of a page of 100 accounts": lambda: reports.requests([f"acc_{one:020}" for one in range(100)], *asked[1:]),
        "first rows for a spreadsheet": lambda: next(reports.counters(*asked)),
    }
    try:
        lines = [(name, _timed(question)) for name, question in questions.items()]
        lines.append(("200 counters written", _written(file)))
        with apsw.Connection(str(folder / f"usage-{COUNTERS}.db")) as db:
            held = db.execute("SELECT count(*) FROM counter").get
    finally:
        file.close()
    rows = [f"| {name} | {statistics.median(times):.1f} | {max(times):.1f} |" for name, times in lines]
    return "\n".join([f"| usage, {held:,} counters | median ms | most ms |", "| --- | --: | --: |", *rows])


def _timed(question: Callable[[], object]) -> list[float]:
    times = []
    for _ in range(_TRIES):
        began = time.perf_counter()
        question()
        times.append((time.perf_counter() - began) * 1000)
    return times


def _written(file: UsageFile) -> list[float]:
    """What a worker's flush takes, in its own thread. The counts are added to: their number stays after the first time."""
    more = [one._replace(minute=_LAST + 1) for one in counters(200)]
    return _timed(lambda: file.add(more))
