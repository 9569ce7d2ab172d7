"""Leases: one owner at a time, whatever processes try at once; and turns that outlive a rebuild."""

import threading
from contextlib import closing

import pytest

from almanac.domain.cadence import Turn
from almanac.store.engine import opening
from almanac.store.log import payloads, schedule


@pytest.fixture
def path(tmp_path):
    with closing(opening.create(tmp_path / "data.db")):
        return tmp_path / "data.db"


@pytest.fixture
def db(path):
    with closing(opening.connect(path)) as opened:
        yield opened


def test_one_owner_until_it_runs_out(db):
    assert schedule.take(db, "fred", "a", 100, 700) == Turn(None, 0, None)
    assert schedule.take(db, "fred", "b", 699, 1_299) is None
    assert schedule.take(db, "rba", "b", 699, 1_299) == Turn()  # another source
    assert schedule.read(db)["fred"] == schedule.SourceTurn(Turn(), "a", 700)
    assert (schedule.read(db)["fred"].by(699), schedule.read(db)["fred"].by(700)) == ("a", None)
    assert schedule.take(db, "fred", "b", 700, 1_300) == Turn()  # taken over
    assert schedule.read(db)["fred"].owner == "b"


def test_what_the_former_owner_does_after_that_changes_nothing(db):
    schedule.take(db, "fred", "a", 100, 700)
    schedule.take(db, "fred", "b", 700, 1_300)
    assert schedule.renew(db, "fred", "a", 2_000) is False
    assert schedule.end(db, "fred", "a", Turn(150)) is False
    schedule.leave(db, "fred", "a")
    assert schedule.read(db)["fred"] == schedule.SourceTurn(Turn(), "b", 1_300)


def test_renewing_ending_and_leaving(db):
    schedule.take(db, "fred", "a", 100, 700)
    assert schedule.renew(db, "fred", "a", 900) is True
    assert schedule.take(db, "fred", "b", 899, 1_500) is None
    assert schedule.end(db, "fred", "a", Turn(120, 3, 500)) is True
    assert schedule.read(db)["fred"] == schedule.SourceTurn(Turn(120, 3, 500), None, 0)
    assert schedule.end(db, "fred", "a", Turn(130)) is False  # it was given back
    assert schedule.take(db, "fred", "b", 800, 1_400) == Turn(120, 3, 500)
    schedule.leave(db, "fred", "b")
    assert schedule.read(db)["fred"] == schedule.SourceTurn(Turn(120, 3, 500), None, 0)


def test_a_command_of_a_person_ends_the_turn_and_the_pause_but_no_lease(db):
    schedule.note(db, "rba", 50)
    assert schedule.read(db)["rba"] == schedule.SourceTurn(Turn(50))
    schedule.take(db, "fred", "a", 100, 700)
    schedule.end(db, "fred", "a", Turn(120, 3, 500))
    schedule.take(db, "fred", "b", 100, 700)
    schedule.note(db, "fred", 110)
    assert schedule.read(db)["fred"] == schedule.SourceTurn(Turn(120), "b", 700)
    schedule.note(db, "fred", 130)
    assert schedule.read(db)["fred"].turn == Turn(130)


def test_of_many_that_try_at_once_one_gets_it(path):
    start, got = threading.Barrier(8), []

    def one(owner):
        with closing(opening.connect(path)) as mine:
            start.wait()
            if schedule.take(mine, "fred", owner, 100, 700) is not None:
                got.append(owner)

    threads = [threading.Thread(target=one, args=[str(number)]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with closing(opening.connect(path)) as db:
        assert [schedule.read(db)["fred"].owner] == got


def test_turns_and_leases_outlive_a_rebuild(db):
    schedule.take(db, "fred", "a", 100, 700)
    schedule.note(db, "rba", 50)
    before = schedule.read(db)
    with db.transaction():
        db.recreate()
    assert (
        schedule.read(db)
        == before
        == {"fred": schedule.SourceTurn(Turn(), "a", 700), "rba": schedule.SourceTurn(Turn(50))}
    )


# -- the log as those who run the service read it ---------------------------------------------------------------------


def test_runs_come_latest_first_and_page_by_their_beginning(tmp_path):
    db = opening.create(tmp_path / "data.db")
    with db.transaction():
        for number, source in enumerate(("one", "two", "one")):
            payloads.start_run(db, f"run{number}", source, "invented", 3, 100 + number)
        payloads.finish_run(db, "run0", "2 payloads", 160)
    assert [one.run for one in payloads.runs(db, 10)] == ["run2", "run1", "run0"]
    assert [one.run for one in payloads.runs(db, 10, source="one")] == ["run2", "run0"]
    assert [one.run for one in payloads.runs(db, 1, before=102)] == ["run1"]
    assert payloads.runs(db, 9, before=101) == [("run0", "one", "invented", 3, 100, 160, "2 payloads")]
    assert payloads.runs(db, 1)[0][5:] == (None, None)
    db.close()


def test_what_a_source_said_last_is_its_last_attempts(tmp_path):
    db = opening.create(tmp_path / "data.db")
    with db.transaction():
        payloads.note_attempt(db, "one", 100, succeeded=False, kept=False, error="no answer")
        payloads.note_attempt(db, "one", 200, succeeded=False, kept=False, error="no answer again")
        payloads.note_attempt(db, "two", 300, succeeded=True, kept=True, error=None)
    found = {source: (word.last_attempt, word.failures, word.last_error) for source, word in payloads.tried(db).items()}
    assert found == {"one": (200, 2, "no answer again"), "two": (300, 0, None)}
    db.close()
