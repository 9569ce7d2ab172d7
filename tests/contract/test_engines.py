"""The same world on both engines: whatever is asked, the bytes of the answers' data are the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest

from almanac.store.engine import opening, sqlite
from almanac.store.engine.moving import move
from tests.support import postgres
from tests.support.requests_at_random import ask, requests
from tests.support.service import Service, copy

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]


class Client(httpx2.Client):
    """A service in this process, asked as one elsewhere would be."""

    def __init__(self, service: Service) -> None:
        super().__init__()
        self._service = service

    def get(self, url: Any, **_: Any) -> httpx2.Response:
        return self._service.request("GET", str(url))


@pytest.fixture(scope="module")
def both(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Service]]:
    """The invented world on SQLite, and moved to PostgreSQL."""
    home = copy(built, tmp_path_factory.mktemp("engines") / "home")
    name, url = postgres.fresh()
    with (
        postgres.files(),
        closing(sqlite.connect(home / "data.db", read_only=True)) as source,
        closing(opening.create(opening.Server(url))) as target,
    ):
        move(source, target)
        target.truncate_log(0)
    with postgres.files():
        held, moved = Service(home), Service(home, {"DATABASE_URL": url})
        yield held, moved
    held.close()
    moved.close()
    postgres.drop(name)


def differences(both: tuple[Service, Service], seed: int, count: int) -> tuple[int, list[str]]:
    """How many answers were compared, and those that are others."""
    held, moved = map(Client, both)
    told, other = 0, []
    for target in requests(held, seed, count):
        here, there = list(ask(held, target)), list(ask(moved, target))
        told += len(here)
        if here != there:
            other.append(f"{target}: {here} and {there}")
    return told, other


def test_random_requests_have_the_same_answers(both: tuple[Service, Service]) -> None:
    told, other = differences(both, seed=11, count=150)
    assert other == []
    assert told > 150


@pytest.mark.slow
def test_two_thousand_random_requests_have_the_same_answers(both: tuple[Service, Service]) -> None:
    told, other = differences(both, seed=12, count=2_000)
    assert other == []
    assert told > 2_000
