"""The same world on both engines: whatever is asked, the bytes of the answers' data are the same."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2
import pytest
from msgspec import structs

from almanac.store.engine import opening, sqlite
from almanac.store.observations.reading.metadata import MetadataCache
from tests.support import postgres
from tests.support.copied_data import move
from tests.support.requests_at_random import ask, requests
from tests.support.service import Service, copy

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.sqlite,  # it moves a world from a file by itself, in the runs where files are files
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


def test_requests_of_one_turn_have_the_same_answers(both: tuple[Service, Service]) -> None:
    held, moved = both
    targets = [
        f"/observations?country={country}&limit={limit}{more}"
        for more in ("", "&order=desc", "&as_of=2024-06-01", "&period_start=2020-01-01", "&sources=all", "&contry=USA")
        for limit in (3, 100)
        for country in ("USA", "JPN")
    ]
    here, there = together(held, targets), together(moved, targets)
    assert [answer.status_code for answer in here] == [answer.status_code for answer in there]
    for one, other in zip(here, there, strict=True):
        assert one.json().get("data") == other.json().get("data")
        assert one.headers.get("etag") == other.headers.get("etag")


def together(service: Service, targets: list[str]) -> list[httpx2.Response]:
    """All of them asked in one turn of the event loop."""
    transport = httpx2.ASGITransport(service.app, client=("127.0.0.1", 5000))

    async def send() -> list[httpx2.Response]:
        async with httpx2.AsyncClient(transport=transport, base_url="http://api.example") as client:
            headers = {"x-api-key": service.keys["pro"]}
            return await asyncio.gather(*(client.get(target, headers=headers) for target in targets))

    return asyncio.run(send())


@pytest.mark.deep
def test_two_thousand_random_requests_have_the_same_answers(both: tuple[Service, Service]) -> None:
    told, other = differences(both, seed=12, count=2_000)
    assert other == []
    assert told > 2_000


def test_a_connection_lost_while_nobody_used_it_is_nobodys_loss(both: tuple[Service, Service]) -> None:
    _, moved = both
    url = moved.settings.database_url
    assert url is not None
    # A name that nobody has asked for before is looked for in the database.
    targets = [f"/observations?entity=company_nobody{number}&limit=1" for number in range(4)]
    assert [answer.status_code for answer in together(moved, targets[:1])] == [200]
    with closing(opening.connect(opening.Server(url))) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).fetchall()
    answers = together(moved, [*targets[1:], "/observations?country=USA&limit=1", "/observations?country=JPN&limit=1"])
    assert [answer.status_code for answer in answers] == [200] * 5
    assert [len(answer.json()["data"]) for answer in answers] == [0, 0, 0, 1, 1]


def test_a_name_that_takes_too_long_to_find_is_given_up(
    both: tuple[Service, Service], monkeypatch: pytest.MonkeyPatch
) -> None:
    _, moved = both
    together(moved, ["/observations?country=USA&limit=1"])
    monkeypatch.setattr(moved.app, "_settings", structs.replace(moved.app._settings, request_seconds=0.3))
    monkeypatch.setattr(MetadataCache, "entity", lambda self, _: self._db.execute("SELECT pg_sleep(20)").get)
    begun = time.monotonic()
    (answer,) = together(moved, ["/observations?entity=company_nobody9&limit=1"])
    assert time.monotonic() - begun < 10
    assert (answer.status_code, answer.json()["error"]["details"]["reason"]) == (503, "late")
