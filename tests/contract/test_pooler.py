"""Behind PgBouncer, which gives each transaction another connection: the same answers, and an ingest that comes out the same."""

import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from almanac.pipeline.context import PipelineContext
from almanac.pipeline.operate.verify import Checked, verify
from almanac.store.engine import opening
from tests.faults.mirrors import TREASURY_SOURCE, year_file, year_url
from tests.support import clusters, poolers, postgres
from tests.support.copied_data import move
from tests.support.paths import ROOT
from tests.support.requests_at_random import ask, requests
from tests.support.service import Service, copy, make_accounts, settings

from .test_engines import Client

pytestmark = [
    pytest.mark.pooler,
    pytest.mark.skipif(poolers.why_not() is not None, reason=poolers.why_not() or ""),
]
#: 2026-11-10T00:00:00Z
FETCHED = 1_794_268_800


@pytest.fixture(scope="module")
def pooler() -> Iterator[str]:
    with poolers.pooling() as address:
        yield address


@pytest.fixture
def behind(pooler: str) -> Iterator[dict[str, str]]:
    """Settings of an empty database behind the pooler."""
    with postgres.own_database("pooled") as name:
        yield {"DATABASE_URL": f"{pooler}/{name}?pooler=transaction"}


def test_random_requests_have_the_same_answers(built: Path, behind: dict[str, str], tmp_path: Path) -> None:
    home = copy(built, tmp_path / "home")
    with (
        closing(opening.connect(home / "data.db", read_only=True)) as source,
        closing(opening.create(opening.Server(behind["DATABASE_URL"]))) as target,
    ):
        move(source, target)
    with closing(Service(home)) as here, closing(Service(home, behind)) as there:
        held, pooled = Client(here), Client(there)
        other = [target for target in requests(held, 13, 60) if list(ask(held, target)) != list(ask(pooled, target))]
    assert other == []


def test_an_ingest_comes_out_the_same_while_others_read(behind: dict[str, str], tmp_path: Path) -> None:
    """Readers and the writer share three connections to the server."""
    home = tmp_path / "home"
    with PipelineContext(settings(home, **behind)):
        pass
    make_accounts(settings(home))
    service = Service(home, behind)
    told: list[object] = []
    over = threading.Event()

    def read() -> None:
        while not over.is_set():
            answer = service.get("/observations", "enterprise", None, country="USA", limit=100)
            told.append(answer.status_code)

    readers = [threading.Thread(target=read, daemon=True) for _ in range(4)]
    for one in readers:
        one.start()
    try:
        for year in (2025, 2026):
            service.ingest(TREASURY_SOURCE, year_url(year), year_file(year, "2026-10-30"), FETCHED, "application/xml")
    finally:
        over.set()
        for one in readers:
            one.join()
    assert set(told) == {200}
    with service.world() as world:
        assert list(verify(world, Checked())) == []
    with closing(Service(home)) as plain:
        for year in (2025, 2026):
            plain.ingest(TREASURY_SOURCE, year_url(year), year_file(year, "2026-10-30"), FETCHED, "application/xml")
        everything = plain.walk("/observations", "enterprise", limit=500)
    assert service.walk("/observations", "enterprise", limit=500) == everything
    assert len(everything) > 2_000
    service.close()


def _away(cluster: clusters.Cluster, retry: int) -> float:
    """For how long somebody waits who asks through a pooler while its server begins anew, from when it is there again, seconds."""
    import psycopg

    with (
        poolers.pooling(cluster.url, retry) as address,
        psycopg.connect(f"{address}/postgres", autocommit=True, prepare_threshold=None) as waiting,
        ThreadPoolExecutor(1) as thread,
    ):
        cluster.stop()
        answer = thread.submit(waiting.execute, "SELECT 1")
        time.sleep(1.0)  # the pooler finds it away meanwhile
        cluster.start()
        began = time.monotonic()
        assert answer.result(60).fetchone() == (1,)
        return time.monotonic() - began


@pytest.mark.slow
@pytest.mark.skipif(clusters.why_not() is not None, reason=clusters.why_not() or "")
def test_a_server_that_begins_anew_is_asked_again_soon() -> None:
    """With what the page for operators says; PgBouncer's own default keeps everybody waiting many times as long."""
    (said,) = re.findall(r"(?m)^server_login_retry = (\d+)$", (ROOT / "docs/operations.md").read_text("utf-8"))
    with clusters.folder() as folder:
        cluster = clusters.Cluster(folder / "server").make()
        try:
            shown, by_default = _away(cluster, int(said)), _away(cluster, 15)
        finally:
            cluster.stop()
    assert shown + 1 < by_default / 3, (shown, by_default)
