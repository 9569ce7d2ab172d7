"""The verification in the background: what it finds, that it writes nothing, rests, and goes on where it was."""

import contextlib
import json
import threading

import pytest

from almanac.pipeline.operate import patrol as module
from almanac.pipeline.operate.patrol import Patrol
from almanac.pipeline.operate.rounds import Rounds, path_of, read
from almanac.store.engine import sqlite
from almanac.store.raw.captures import RawStore
from almanac.store.raw.folder import Folder
from tests.support.treasury_home import TWO_YEARS

TWO = f"series = (SELECT series FROM series WHERE id = '{TWO_YEARS}')"
ROW = f"rowid = (SELECT rowid FROM vintages WHERE {TWO} AND to_version = 2147483647 ORDER BY period DESC LIMIT 1)"


class Rests:
    """Stands for the event that ends a patrol: notes how long it was to rest, and ends it after so many rests."""

    def __init__(self, most=10**9):
        self.rests = []
        self._most = most

    def is_set(self):
        return len(self.rests) >= self._most

    def wait(self, timeout):
        self.rests.append(timeout)
        return self.is_set()


class Ticks:
    """A clock that counts a second with each look."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        self.now += 1.0
        return self.now


def patrol(world, stop=None, clock=None):
    return Patrol(world.settings, stop or Rests(), now=lambda: 1_800_000_000, clock=clock or Ticks())


def whole(world):
    """A whole round, begun anew."""
    path_of(world.settings).unlink(missing_ok=True)
    assert patrol(world).go_round()
    return read(path_of(world.settings))


def test_a_healthy_store_has_no_problem_and_nothing_is_written_to_it(world):
    version = sqlite.meta(world.db, "version")
    before = world.db.change_token()
    found = whole(world)
    assert (found.problems, found.present, found.last.problems, found.last.places) == (0, None, 0, [])
    assert (found.last.started, found.last.completed) == (1_800_000_000, 1_800_000_000)
    assert (sqlite.meta(world.db, "version"), world.db.change_token()) == (version, before)
    assert path_of(world.settings).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        (
            f"UPDATE vintages SET value = value + 0.015625 WHERE {TWO} AND to_version = 2147483647",
            f"series {TWO_YEARS}, ",
        ),
        (f"UPDATE current SET marked = replace(marked, '3', '7') WHERE {TWO}", f"series {TWO_YEARS}, "),
        (f"UPDATE series SET rows = rows + 1 WHERE {TWO}", f"series {TWO_YEARS}"),
        (f"DELETE FROM current WHERE {TWO}", f"series {TWO_YEARS}, "),
    ],
)
def test_what_was_damaged_is_found_and_named_without_its_value(world, damage, place):
    said = damage.replace("replace(marked, '3', '7')", "CAST(replace(CAST(marked AS TEXT), '3', '7') AS BLOB)")
    assert world.db.update(said, ()) > 0
    found = whole(world)
    assert found.problems == found.last.problems > 0
    assert all(one.startswith(place) for one in found.last.places), found.last.places
    noted = path_of(world.settings).read_text()
    for value in world.db.execute(f"SELECT DISTINCT value FROM vintages WHERE {TWO} AND value IS NOT NULL"):
        assert str(value[0]) not in noted


@pytest.mark.sqlite  # its schema is damaged
def test_a_damaged_raw_payload_and_a_damaged_index_are_found(world):
    capture = next(RawStore(Folder(world.settings.raw_path)).captures())
    path = world.settings.raw_path / f"objects/{capture.sha256[:2]}/{capture.sha256}.zst"
    path.write_bytes(path.read_bytes()[:-9])
    world.db.execute("PRAGMA writable_schema = 1")
    # An index that says another column than it was made over: what is in it no longer agrees with its table.
    world.db.execute(
        "UPDATE sqlite_schema SET sql = 'CREATE INDEX series_hash ON series(topic)' WHERE name = 'series_hash'"
    )
    found = whole(world)
    assert f"raw store: objects/{capture.sha256[:2]}/{capture.sha256}.zst" in found.last.places
    assert "table series" in found.last.places


@pytest.mark.sqlite  # pages of its file are damaged
def test_pages_that_cannot_be_read_end_no_round_and_no_process(world):
    path = world.settings.data_path
    world.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    (root,) = world.db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'vintages'").fetchone()
    size = world.db.pragma("page_size")
    with path.open("r+b") as file:
        file.seek((root - 1) * size)
        file.write(b"\xff" * size)
    found = whole(world)
    assert found.problems >= 1
    assert found.last.completed is not None
    with path.open("r+b") as file:
        file.seek(size)
        file.write(b"\xff" * (path.stat().st_size - size))
    assert whole(world).problems >= 1


def test_a_round_goes_on_where_it_was_ended(world):
    """And what it has found is told before it is over."""
    world.db.execute(f"UPDATE series SET rows = rows + 1 WHERE {TWO}")
    undisturbed = whole(world).last
    path_of(world.settings).unlink()
    seen = []
    for _ in range(1_000):
        # Each time another process: it is ended at its second rest, somewhere.
        if patrol(world, Rests(2)).go_round():
            break
        noted = read(path_of(world.settings))
        seen.append((noted.present.stage, noted.present.after))
    assert seen == sorted(set(seen), key=seen.index)  # never at a place twice
    assert {stage for stage, _ in seen} == {"raw", "payloads", "tables", "topics"}
    assert read(path_of(world.settings)).last.problems == undisturbed.problems


def test_it_takes_a_tenth_of_a_core(world):
    """By the clock it was given, each piece takes some seconds, and is followed by a rest nine times as long."""
    rests, clock = Rests(), Ticks()
    assert patrol(world, rests, clock).go_round()
    assert len(rests.rests) > 20
    assert min(rests.rests) >= 9
    assert all(rest % 9 < 1e-6 or 9 - rest % 9 < 1e-6 for rest in rests.rests)


def test_rounds_begin_so_many_hours_after_one_another(world):
    rests = Rests(1)
    waits = patrol(world, rests)
    waits.rounds = Rounds(last=whole(world).last)
    waits._now = lambda: 1_800_000_000 + 3_600
    waits.run()
    assert rests.rests == [23 * 3_600]


@pytest.mark.sqlite  # its file is away
def test_a_store_that_is_not_there_is_no_damage_and_is_waited_for(world):
    path = world.settings.data_path
    away = path.with_name("away.db")
    path.rename(away)
    rests = Rests()

    def wait(timeout):
        rests.rests.append(timeout)
        if timeout == module._STORE_PAUSE:
            with contextlib.suppress(FileNotFoundError):
                away.rename(path)
        return False

    rests.wait = wait
    assert patrol(world, rests).go_round()
    assert rests.rests.count(module._STORE_PAUSE) == 1
    assert read(path_of(world.settings)).problems == 0


def test_what_was_noted_and_cannot_be_read_is_a_new_round(world, tmp_path):
    whole(world)
    path = path_of(world.settings)
    for text in ("", "{", json.dumps({"present": 7}), "\xff"):
        path.write_text(text, "latin-1")
        assert read(path) == Rounds()
    assert read(tmp_path / "none") == Rounds()
    assert Patrol(world.settings, threading.Event()).go_round()
