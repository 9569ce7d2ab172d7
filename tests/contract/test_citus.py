"""The data spread over several machines by Citus: the same answers, nothing torn under a writer, one machine lost and back."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from itertools import count, filterfalse
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from almanac.pipeline.context import PipelineContext
from almanac.pipeline.ingest.mirrored import from_mirror
from almanac.pipeline.ingest.outcome import exit_code
from almanac.pipeline.operate.rebuild import rebuild
from almanac.pipeline.operate.verify import Checked, verify
from almanac.store.engine import citus, opening, sqlite
from almanac.store.engine.data_schema import meta
from almanac.store.engine.errors import UnavailableError
from tests.support import clusters, invented_mirror, moving_rows, postgres
from tests.support.copied_data import move
from tests.support.service import SOURCES, Service, build, copy, settings

from .test_engines import differences

CITUS = os.environ.get("ALMANAC_TEST_CITUS_URL", "")
pytestmark = [
    pytest.mark.sqlite,  # it moves a world from a file by itself, in the runs where files are files
    pytest.mark.citus,
    pytest.mark.skipif(not CITUS, reason="ALMANAC_TEST_CITUS_URL names no coordinator"),
]
PARTS = 8
_number = count()


@pytest.fixture
def place() -> Iterator[opening.Server]:
    """A schema of its own on the coordinator."""
    import psycopg

    name = f"almanac_test_{os.getpid()}_{next(_number)}"
    with psycopg.connect(CITUS, autocommit=True) as coordinator:
        coordinator.execute(f"CREATE SCHEMA {name}")
    yield opening.Server(f"{CITUS}{'&' if '?' in CITUS else '?'}options={quote(f'-csearch_path={name}')}")
    with psycopg.connect(CITUS, autocommit=True) as coordinator:
        coordinator.execute(f"DROP SCHEMA {name} CASCADE")


@pytest.fixture
def spread(built: Path, tmp_path: Path, place: opening.Server) -> Iterator[tuple[Service, Service]]:
    """The invented world on SQLite, and moved to Citus and spread."""
    home = copy(built, tmp_path / "home")
    with (
        postgres.files(),
        closing(sqlite.connect(home / "data.db", read_only=True)) as source,
        closing(opening.create(place)) as target,
    ):
        move(source, target)
    assert opening.distribute(place, PARTS)
    with postgres.files():
        held, moved = Service(home), Service(home, {"DATABASE_URL": place.url})
        yield held, moved
    held.close()
    moved.close()


def test_what_is_spread_is_told(place: opening.Server) -> None:
    assert opening.distribute(place, PARTS)
    assert not opening.distribute(place, PARTS)
    with closing(opening.connect(place)) as db:
        told = db.execute(
            "SELECT p.logicalrelid::text, p.partmethod::text, count(DISTINCT s.shardid), count(DISTINCT l.groupid)"
            " FROM pg_dist_partition p JOIN pg_dist_shard s USING(logicalrelid) JOIN pg_dist_placement l USING(shardid)"
            " WHERE p.logicalrelid::oid IN (SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace)"
            " GROUP BY 1, 2"
        ).fetchall()
    by_topic = {name for name, method, parts, machines in told if (method, parts) == ("h", PARTS) and machines > 1}
    everywhere = {name for name, method, parts, machines in told if (method, parts) == ("n", 1) and machines > 1}
    assert by_topic == {*citus.BY_TOPIC, citus.MARKS}
    assert everywhere > set(citus.EVERYWHERE)


def test_random_requests_have_the_same_answers(spread: tuple[Service, Service]) -> None:
    told, other = differences(spread, seed=13, count=150)
    assert other == []
    assert told > 150


@pytest.mark.slow
def test_two_thousand_random_requests_have_the_same_answers(spread: tuple[Service, Service]) -> None:
    told, other = differences(spread, seed=12, count=2_000)
    assert other == []
    assert told > 2_000


@pytest.mark.slow
def test_what_is_taken_in_is_the_same(place: opening.Server, tmp_path: Path) -> None:
    mirror = invented_mirror.write(tmp_path / "mirror")
    opening.distribute(place, PARTS)
    with postgres.files():
        build(tmp_path / "home", mirror)
        (tmp_path / "spread").mkdir()
        chosen = settings(tmp_path / "spread", DATABASE_URL=place.url)
        with PipelineContext(chosen) as world:
            outcomes = from_mirror(world, [world.catalog.sources[name] for name in SOURCES], mirror, lambda _: None)
            assert [(exit_code([one]), one.quarantined) for one in outcomes] == [(0, {})] * len(SOURCES)
            with closing(sqlite.connect(tmp_path / "home" / "data.db", read_only=True)) as held:
                assert rows(world.db) == rows(held)
            assert list(verify(world, Checked())) == []
        with PipelineContext(chosen, rebuilding=True) as world:
            assert rebuild(world, lambda _: None) > 10
            assert not opening.distribute(place, PARTS)
        with PipelineContext(chosen) as world:
            checked = Checked()
            assert list(verify(world, checked)) == []
            assert checked.vintages > 1_000


def rows(db: Any) -> dict[str, list[Any]]:
    """All that the tables hold of numbers, but for when it was taken in."""
    return {
        "series": sorted(db.execute("SELECT * FROM series")),
        "topic": sorted(db.execute("SELECT * FROM topic")),
        "change": sorted(db.execute("SELECT * FROM change")),
        "vintages": sorted(
            db.execute("SELECT topic, period, series, known_at, from_version, to_version FROM vintages")
        ),
    }


def test_no_reader_meets_a_version_that_is_not_all_there(place: opening.Server) -> None:
    opening.distribute(place, PARTS)
    read: list[moving_rows.Seen] = []
    through = threading.Event()

    def reading() -> None:
        with closing(opening.connect(place, read_only=True)) as db:
            while not through.is_set():
                with db.snapshot():
                    read.append(moving_rows.seen(db))

    readers = [threading.Thread(target=reading) for _ in range(2)]
    for one in readers:
        one.start()
    with closing(opening.connect(place)) as db:
        for _ in range(40):
            moving_rows.advance(db)
    through.set()
    for one in readers:
        one.join(60)
    assert list(filterfalse(moving_rows.is_whole, read)) == []
    assert len({version for version, *_ in read}) > 5


class Machine:
    """One of the workers, where it runs on this very host."""

    def __init__(self) -> None:
        import psycopg

        with psycopg.connect(CITUS) as coordinator:
            found = coordinator.execute(
                "SELECT nodename, nodeport FROM pg_dist_node WHERE shouldhaveshards ORDER BY nodeport LIMIT 1"
            ).fetchone() or ("", 0)
            role = coordinator.info.user
        with psycopg.connect(host=found[0], port=found[1], user=role, dbname="postgres") as server:
            (folder,) = server.execute("SHOW data_directory").fetchone() or ("",)
        self.folder = Path(folder)
        if not (self.folder / "postmaster.pid").is_file() or clusters.why_not() is not None:
            pytest.skip("the worker runs elsewhere, or it cannot be started again here")

    def kill(self) -> None:
        os.kill(int((self.folder / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def start(self) -> None:
        # While it was killed something of it may still go on for a moment, and hold its folder.
        for _ in range(20):
            try:
                clusters.run("pg_ctl", "-D", self.folder, "-l", self.folder.with_suffix(".log"), "-w", "start")
            except subprocess.CalledProcessError:
                continue
            return
        raise AssertionError("the worker does not start again")


@pytest.mark.slow
def test_a_machine_that_is_lost_takes_only_its_own_along_and_brings_it_back(
    spread: tuple[Service, Service], place: opening.Server
) -> None:
    _, service = spread
    pages = [f"/observations?country=USA&indicator={name}" for name in ("cpi_index", "real_gdp", "unemployment_rate")]
    pages += [f"/observations/latest?country={name}" for name in ("USA", "JPN")]
    pages += ["/observations?limit=100", "/indicators", "/sources", "/countries"]

    def asked(one: Service) -> dict[str, tuple[int, Any]]:
        answers = {page: one.get(page) for page in pages}
        return {
            page: (answer.status_code, answer.json()["data" if answer.status_code == 200 else "error"])
            for page, answer in answers.items()
        }

    before = asked(service)
    assert {status for status, _ in before.values()} == {200}
    with closing(opening.connect(place)) as db:
        version = meta(db, "version")
        machine = Machine()
        machine.kill()
        try:
            # One that remembers no page.
            other = Service(service.home, {"DATABASE_URL": place.url})
            during = asked(other)
            with pytest.raises(UnavailableError):
                moving_rows.advance(db)
        finally:
            machine.start()
        assert {status for status, _ in during.values()} == {200, 503}
        assert during["/observations?limit=100"][0] == 503
        assert during["/observations?limit=100"][1]["code"] == "service_unavailable"
        assert all(during[page] == before[page] for page in pages if during[page][0] == 200)
        # What the coordinator holds alone, and what stands on the other machine.
        assert during["/indicators"][0] == during[pages[0]][0] == 200
        assert meta(db, "version") == version
        assert asked(other) == before
        assert moving_rows.advance(db) == int(version or 0) + 1
        other.close()
