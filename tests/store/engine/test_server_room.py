"""How much a database on a server takes."""

import time

import pytest

from almanac.ops import HostGauges
from almanac.store.engine import opening
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

    before = opening.database_bytes(at)
    with psycopg.connect(at.url, autocommit=True) as db:
        db.execute("CREATE TABLE much AS SELECT repeat('x', 1000) AS a FROM generate_series(1, 2000)")
    assert opening.database_bytes(at) > before + 1_000_000


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
