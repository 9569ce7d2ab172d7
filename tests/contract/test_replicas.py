"""A primary and a streaming replica, made for the test: what is read where, and what is left when the primary is killed."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import filterfalse, pairwise
from pathlib import Path

import psycopg
import pytest

from almanac.store.engine import opening, sqlite
from almanac.store.engine.errors import UnavailableError
from almanac.store.engine.moving import move
from almanac.store.observations.reading.reader import Reader
from almanac.store.observations.reading.replicas import Replicas
from tests.support import clusters, moving_rows, postgres
from tests.support.clusters import Cluster
from tests.support.service import Service, copy

pytestmark = [
    pytest.mark.sqlite,  # it moves a world from a file by itself, in the runs where files are files
    pytest.mark.slow,
    pytest.mark.postgres,
    pytest.mark.skipif(clusters.why_not() is not None, reason=clusters.why_not() or ""),
]


@pytest.fixture
def pair() -> Iterator[tuple[Cluster, Cluster]]:
    """A primary that acknowledges nothing that its replica does not have too, and that replica."""
    with clusters.folder() as folder:
        primary, replica = Cluster(folder / "primary"), Cluster(folder / "replica")
        try:
            primary.make(synchronous_standby_names="*", synchronous_commit="local", hot_standby_feedback="on")
            replica.follow(primary)
            run(primary, "ALTER SYSTEM SET synchronous_commit = 'on'", "SELECT pg_reload_conf()")
            yield primary, replica
        finally:
            replica.stop()
            primary.stop()


def run(cluster: Cluster, *statements: str) -> None:
    with psycopg.connect(cluster.url, autocommit=True) as server:
        for one in statements:
            server.execute(one)


def test_reads_go_on_and_nothing_acknowledged_is_lost(pair: tuple[Cluster, Cluster]) -> None:
    primary, replica = pair
    places = [opening.Server(one.url) for one in pair]
    writer = opening.create(places[0])
    moving_rows.advance(writer)
    caught_up(replica, primary)
    acknowledged = [1]
    told: list[list[moving_rows.Seen]] = [[], []]
    lost: list[int] = [0, 0]
    killed, enough = threading.Event(), threading.Event()

    def read(number: int) -> None:
        replicas = Replicas(Reader(places[0]), [Reader(places[1])])
        after = 0
        while after < 200:
            least = told[number][-1][0] if told[number] else 0
            try:
                with replicas.view(least) as view:
                    told[number].append(moving_rows.seen(view))
                after += killed.is_set()
            except UnavailableError:
                # The one statement that was on its way to the primary when that was killed.
                lost[number] += 1
            if len(told[number]) >= 100:
                enough.set()
        replicas.close()

    def write() -> None:
        try:
            while True:
                acknowledged.append(moving_rows.advance(writer))
        except UnavailableError:
            writer.close()

    threads = [threading.Thread(target=write), *(threading.Thread(target=read, args=(number,)) for number in (0, 1))]
    for one in threads:
        one.start()
    assert enough.wait(60)
    primary.kill()
    killed.set()
    for one in threads:
        one.join(120)
    for of_one in told:
        assert len(of_one) > 200
        assert list(filterfalse(moving_rows.is_whole, of_one)) == []
        assert all(before[0] <= after[0] for before, after in pairwise(of_one))
    # At most the one that was under way, and one that found neither far enough at that moment.
    assert max(lost) <= 2

    replica.promote()
    with closing(opening.create(places[1])) as resumed:
        version, *_ = there = moving_rows.seen(resumed)
        # The last may be there though nobody was told.
        assert version in {acknowledged[-1], acknowledged[-1] + 1}
        assert moving_rows.is_whole(there)
        assert moving_rows.advance(resumed) == version + 1
    reader = Reader(places[1])
    with reader.view() as view:
        assert moving_rows.seen(view) == (version + 1, {float(version + 1)}, moving_rows.TOPICS)
    reader.close()


def test_who_has_seen_a_write_is_told_nothing_older(pair: tuple[Cluster, Cluster], built: Path, tmp_path: Path) -> None:
    primary, replica = pair
    home = copy(built, tmp_path / "home")
    with (
        postgres.files(),
        closing(sqlite.connect(home / "data.db", read_only=True)) as source,
        closing(opening.create(opening.Server(primary.url))) as target,
    ):
        move(source, target)
    settings = {"DATABASE_URL": primary.url, "DATABASE_READ_URLS": replica.url}
    service = Service(home, settings)

    def version(key: str, url: str = "/observations?country=USA&indicator=cpi_index&limit=1") -> int:
        answer = service.get(url, key)
        assert answer.status_code == 200, answer.text
        return int(answer.headers["x-data-version"])

    caught_up(replica, primary)
    first = version("pro")
    assert version("free") == first
    run(replica, "SELECT pg_wal_replay_pause()")
    # Written, and kept by the replica, which shows it to nobody.
    with closing(opening.create(opening.Server(primary.url))) as db:
        moving_rows.advance(db)
    with closing(opening.connect(opening.Server(primary.url), read_only=True)) as db:
        newest = moving_rows.seen(db)[0]
    assert newest == first + 1
    assert version("pro") == version("free") == first  # from the replica: nobody was told of more
    seen = Service(home, settings).app._answers._seen  # of another worker
    assert seen is not None
    with service.reader.view() as view:
        epoch = view.epoch
    seen.note(account(service, "pro"), newest, epoch)  # as by an answer to what only the primary could tell
    assert version("pro") == newest
    run(replica, "SELECT pg_wal_replay_resume()")
    caught_up(replica, primary)
    primary.kill()
    assert version("pro") == newest
    assert version("free") == newest
    replica.kill()
    assert service.get("/observations?limit=1").status_code == 503
    service.close()


def account(service: Service, plan: str) -> str:
    found = service.accounts.verify(service.keys[plan], now=0)
    return str(found.account_id)  # type: ignore[union-attr]  # the key is good


def caught_up(replica: Cluster, primary: Cluster) -> None:
    """Wait until the replica shows all that the primary has written."""
    with psycopg.connect(primary.url) as server:
        (place,) = server.execute("SELECT pg_current_wal_lsn()").fetchone() or ("",)
    with psycopg.connect(replica.url, autocommit=True) as server:
        for _ in range(1_000):
            if (server.execute("SELECT pg_last_wal_replay_lsn() >= %s", (place,)).fetchone() or (False,))[0]:
                return
            server.execute("SELECT pg_sleep(0.01)")
    raise AssertionError("the replica never caught up")
