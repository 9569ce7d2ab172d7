"""How much a database on a server takes, and how much room there is where the server tells."""

import shutil
import time

import pytest

from almanac.ops import HostGauges
from almanac.store.engine import opening
from almanac.store.engine.postgres import room as asked
from tests.support import postgres
from tests.support.treasury_home import settings

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]


@pytest.fixture
def at():
    name, url = postgres.fresh()
    yield opening.Server(url)
    postgres.drop(name)


def test_the_size_is_the_servers_own_and_grows_with_what_is_stored(at):
    import psycopg

    before, *_ = opening.server_room(at)
    with psycopg.connect(at.url, autocommit=True) as db:
        db.execute("CREATE TABLE much AS SELECT repeat('x', 1000) AS a FROM generate_series(1, 2000)")
    assert opening.server_room(at)[0] > before + 1_000_000


@pytest.mark.parametrize(
    ("folder", "host", "told"),
    [("/", "127.0.0.1", True), ("/", "/run/postgresql", True), ("/", "192.0.2.1", False), ("/nowhere", "::1", False), (None, "::1", False)],
)  # fmt: skip
def test_the_room_is_told_of_a_folder_that_is_on_this_machine(monkeypatch, folder, host, told):
    class Link:
        info = type("Info", (), {"host": host})

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def execute(self, _):
            return self

        def fetchone(self):
            return 17, folder

    monkeypatch.setattr(asked, "opened", lambda *_, **__: Link())
    total = shutil.disk_usage("/").total
    found = asked.room("", prepared=True)
    assert (found.database, found.total) == (17, total if told else None)


def test_a_server_that_does_not_answer_holds_no_scrape_up(tmp_path):
    """Its port takes connections, and nobody speaks: what is known otherwise is shown."""
    import socket

    with socket.socket() as mute, postgres.files():
        mute.bind(("127.0.0.1", 0))
        mute.listen()
        url = f"postgresql://a@127.0.0.1:{mute.getsockname()[1]}/b?connect_timeout=3"
        chosen = settings(tmp_path).__class__(home=tmp_path / "home", database_url=url)
        begun = time.monotonic()
        found = {one.name: one for one in HostGauges(chosen).collect()}
        assert time.monotonic() - begun < 2.5
    assert [one.labels["database"] for one in found["almanac_database_bytes"].samples] == []
    assert [one.labels["folder"] for one in found["almanac_disk_free_bytes"].samples] == ["home"]
