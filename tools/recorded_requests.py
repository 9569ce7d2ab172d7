"""
Answers of a service in this process, recorded, and compared with those of another version of the program: what a change of the
store must not change.

`python -m tools.recorded_requests HOME FILE` makes the invented world in HOME unless it is there, asks requests by
chance over every operation and mixtures of orders, bounds and filters over the lists of observations, and writes one line
of JSON for each answer. `--again FILE` asks those of a file again and tells the differences; questions that are refused as
too broad by now are counted and listed apart. `--database URL` moves the world to an empty database of PostgreSQL first.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2

from almanac.store.engine import opening, sqlite
from almanac.store.observations.reading.query import SORTS
from tests.support import invented_mirror
from tests.support.copied_data import move
from tests.support.requests_at_random import ask, requests
from tests.support.service import Service, build

#: Days that fall before, into and behind what the invented world was told when.
_DAYS = ("1990-01-01", "2010-06-30", "2019-12-31", "2023-03-01", "2024-11-05", "2025-06-30", "2025-12-31", "2026-03-31")
_LISTS = ("/observations", "/derived-observations", "/observations/vintages", "/observations/changes")
_CHANCES: tuple[tuple[float, str, tuple[str, ...]], ...] = (
    (0.5, "order", ("asc", "desc")),
    (0.4, "sources", ("preferred", "all")),
    (0.25, "start_date", _DAYS),
    (0.25, "end_date", _DAYS),
    (0.25, "period_start", _DAYS),
    (0.25, "period_end", _DAYS),
    (0.1, "period", ("2024", "2025-Q1", "2025-03", "FY2024", "FY2025-Q1")),
    (0.3, "as_of", _DAYS),
    (0.25, "frequency", ("D", "M", "Q", "A")),
    (0.1, "country", ("USA", "JPN", "USA,JPN")),
    (0.3, "limit", ("1", "7", "100", "500")),
)


class InProcessClient(httpx2.Client):
    """A service in this process, asked as one elsewhere would be."""

    def __init__(self, service: Service) -> None:
        super().__init__()
        self._service = service
        #: `details.reason` of the answer before, where it was refused.
        self.reason: str | None = None

    def get(self, url: Any, **_: Any) -> httpx2.Response:
        """The answer to a target."""
        answer = self._service.request("GET", str(url))
        refused = answer.status_code == 400
        self.reason = answer.json()["error"]["details"].get("reason") if refused else None
        return answer


def broad(seed: int, count: int, sources: list[str]) -> Iterator[str]:
    """Targets over everything that lists of observations have: orders, bounds and filters by chance."""
    chance = random.Random(seed)
    for number in range(count):
        path = _LISTS[number % len(_LISTS)]
        query = {name: chance.choice(values) for likely, name, values in _CHANCES if chance.random() < likely}
        if path.endswith("/changes"):
            query["since"] = str(chance.randint(0, 12))
        elif path.endswith("/vintages"):
            query["sort"] = chance.choice(("topic", "observed_at"))
        else:
            query["sort"] = chance.choice(tuple(SORTS))
        if sources and chance.random() < 0.2:
            query["source_id"] = ",".join(chance.sample(sources, min(2, len(sources))))
        yield f"{path}?{urlencode(query)}"


def record(service: Service, file: Path, targets: list[str]) -> list[tuple[Any, ...]]:
    """Ask, write down and return (target, status, digest, why it was refused)."""
    found: list[tuple[Any, ...]] = []
    client = InProcessClient(service)
    with file.open("w") as out:
        for target in targets:
            for told in ask(client, target):
                found.append((*told, client.reason))
                out.write(json.dumps(found[-1]) + "\n")
    return found


def make(home: Path) -> None:
    """The invented world, companies too."""
    from tests.contract import filed
    from tests.support.service import settings

    build(home, invented_mirror.write(home.with_name(f"{home.name}-mirror")))
    filed.add(settings(home).home / "data.db")


def moved(home: Path, url: str) -> None:
    """Let an empty database have what the file of a home has."""
    with (
        closing(sqlite.connect(home / "data.db", read_only=True)) as source,
        closing(opening.create(opening.Server(url))) as target,
    ):
        move(source, target)
        target.truncate_log(0)


def main() -> int:
    """Record, or record again and compare."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("home", type=Path)
    read.add_argument("file", type=Path)
    read.add_argument("--count", type=int, default=2_000)
    read.add_argument("--seed", type=int, default=11)
    read.add_argument("--database")
    read.add_argument("--again", type=Path)
    given = read.parse_args()
    if not given.home.exists():
        make(given.home)
    if given.database:
        moved(given.home, given.database)
    service = Service(given.home, {"DATABASE_URL": given.database or ""})
    with closing(service):
        held = [tuple(json.loads(line)) for line in given.again.read_text().splitlines()] if given.again else []
        targets = [one[0] for one in held if "#" not in one[0]]
        if not held:
            client = InProcessClient(service)
            names = sorted(one["id"] for one in client.get("/sources?limit=200").json()["data"])
            targets = [*requests(client, given.seed, given.count // 2), *broad(given.seed, given.count // 2, names)]
        answers = record(service, given.file, targets)
    if not held:
        sys.stdout.write(f"{len(targets)} requests, {len(answers)} answers\n")
        return 0
    before, after = ({one[0]: one[1:] for one in some} for some in (held, answers))
    other = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    broad_now = [name for name in other if (after.get(name) or ("", "", ""))[2] == "too_broad"]
    gone = {name.split("#", maxsplit=1)[0] for name in broad_now}
    other = [name for name in other if name.split("#", maxsplit=1)[0] not in gone]
    for name in other[:50]:
        sys.stdout.write(f"{name}: {before.get(name)} then, {after.get(name)} now\n")
    for name in broad_now:
        sys.stdout.write(f"too broad by now: {name}\n")
    sys.stdout.write(
        f"{len(targets)} requests, {len(answers)} answers, {len(other)} differ, {len(broad_now)} too broad\n"
    )
    return 1 if other else 0


if __name__ == "__main__":
    sys.exit(main())
