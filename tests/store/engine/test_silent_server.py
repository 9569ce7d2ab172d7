"""A server that says nothing is given up when nobody waits for it any more: connecting, reading, writing and ending alike."""

import pytest

from almanac.store.engine import opening
from almanac.store.engine.deadline import Deadline, deadline_scope
from almanac.store.engine.errors import SilentError, StoppedError
from almanac.store.engine.opening import Server
from tests.support import postgres
from tests.support.stalling import way_to

pytestmark = [
    pytest.mark.postgres,
    pytest.mark.skipif(postgres.why_not() is not None, reason=postgres.why_not() or ""),
]


def soon():
    return deadline_scope(Deadline(0.1, grace=0.1))


@pytest.fixture
def server():
    name, url = postgres.fresh()
    opening.create(Server(url)).close()
    with way_to(url) as (way, by_way):
        yield way, Server(by_way)
    postgres.drop(name)


@pytest.fixture
def way(server):
    return server[0]


@pytest.fixture
def db(server):
    opened = opening.connect(server[1])
    yield opened
    opened.close(True)


def count(db):
    with db.snapshot():
        return db.execute("SELECT count(*) FROM meta").get


def test_a_read_is_given_up_and_the_next_one_connects_anew(way, db):
    before = count(db)
    way.stall()
    for _ in range(2):  # over the connection that was there, and over a new one
        with pytest.raises(SilentError), soon():
            count(db)
    way.go_on()
    assert count(db) == before


def test_statements_within_a_snapshot_and_its_end_wait_no_longer(way, db):
    with pytest.raises(SilentError), soon(), db.snapshot():
        way.stall()
        db.execute("SELECT 1")
    way.go_on()
    with db.snapshot():
        way.stall()  # its end is sent, and nobody waits for the answer
    with pytest.raises(SilentError), soon():
        count(db)


def test_a_writer_undoes_nothing_that_it_cannot_reach(way, db):
    with pytest.raises(SilentError), soon(), db.transaction():
        db.execute("UPDATE meta SET v = '7' WHERE k = 'reference'")
        way.stall()
        db.execute("UPDATE meta SET v = '8' WHERE k = 'reference'")
    way.go_on()
    with db.transaction():
        assert db.execute("SELECT v FROM meta WHERE k = 'reference'").get == "0"


def test_a_server_that_answers_is_kept(db):
    """It ends the statement, and the connection goes on."""
    with pytest.raises(StoppedError) as stopped, deadline_scope(Deadline(0.1)), db.snapshot():
        db.execute("SELECT pg_sleep(600)")
    assert not isinstance(stopped.value, SilentError)
    link = db.link
    assert count(db) > 0
    assert db.link is link
