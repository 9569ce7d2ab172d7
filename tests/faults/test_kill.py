"""kill -9 at any instant: nothing is lost, nothing is there twice, and the next run says the same as an undisturbed one."""

import random
import shutil
import signal
import time

import pytest

from tests.support.postgres import address as on_a_server
from tests.support.processes import PATIENCE, ingest, run, start

from .mirrors import SOURCES, TREASURY_SOURCE, large
from .states import same, state, unfinished, version

SEED = 20261120
KILLS = 12

#: Kills its own process inside the n-th call of a function: before the call is made, or when it has returned.
DIES = """
import os, signal, apsw
calls = {when}
def died():
    global calls
    calls -= 1
    return not calls
def killed():
    os.kill(os.getpid(), signal.SIGKILL)
def inside(real):
    def call(*a, **k):
        mine = died()
        if mine and not {after}: killed()
        result = real(*a, **k)
        if mine: killed()
        return result
    return call
class Connection(apsw.Connection):
    def execute(self, sql, *rest, **more):
        mine = {name!r} == sql.split()[0] and died()
        if mine and not {after}: killed()
        found = super().execute(sql, *rest, **more)
        if mine: killed()
        return found
    def executemany(self, *a, **k):
        mine = {name!r} == "executemany" and died()
        if mine and not {after}: killed()
        found = super().executemany(*a, **k)
        if mine: killed()
        return found
def on_a_server(owner, method, mine):
    real = getattr(owner, method)
    dying = inside(real)
    setattr(owner, method, lambda self, *a, **k: (dying if mine(*a[:1]) else real)(self, *a, **k))
if hasattr(os, {name!r}):
    setattr(os, {name!r}, inside(getattr(os, {name!r})))
elif "ALMANAC_DATABASE_URL" in os.environ:
    import psycopg
    from almanac.store.engine.postgres import Connection
    on_a_server(psycopg.Connection, "execute", lambda sql: {name!r} == sql.split()[0])
    on_a_server(psycopg.Connection, "commit", lambda: {name!r} == "COMMIT")
    on_a_server(Connection, "_run", lambda statement: {name!r} == statement.sql.split()[0])
    on_a_server(Connection, "executemany", lambda sql: {name!r} == "executemany")
else:
    apsw.Connection = Connection
"""

#: (function or statement, which call, after it). A file is written with fsync, then replace (object) or link (capture).
POINTS = [
    ("fsync", 1, False), ("fsync", 3, True), ("fsync", 9, False), ("replace", 1, False), ("replace", 2, True),
    ("link", 1, False), ("link", 1, True), ("link", 3, False), ("BEGIN", 3, True), ("COMMIT", 1, False), ("COMMIT", 2, True),
    ("COMMIT", 4, False), ("COMMIT", 5, True), ("COMMIT", 7, False), ("executemany", 1, True), ("executemany", 6, True), ("INSERT", 9, True),
]  # fmt: skip
#: In the suite of every day.
FEW = [POINTS[11]]


def killed_at(home, point, *arguments, expect=-signal.SIGKILL):
    name, when, after = point
    return run(home, *arguments, before=DIES.format(name=name, when=when, after=after), expect=expect)


def check_point(point, tmp_path, small_mirror, small_home):
    home = tmp_path / "home"
    killed_at(home, point, "ingest", TREASURY_SOURCE, "--from", small_mirror)
    ingest(home, small_mirror, (TREASURY_SOURCE,))
    same(state(small_home), state(home))
    assert unfinished(home) == []
    return home


@pytest.mark.parametrize("point", FEW, ids=str)
def test_a_kill_at_a_chosen_instant_of_an_ingest(point, tmp_path, small_mirror, small_home):
    check_point(point, tmp_path, small_mirror, small_home)


@pytest.mark.deep
@pytest.mark.parametrize("point", [point for point in POINTS if point not in FEW], ids=str)
def test_a_kill_at_every_kind_of_instant_of_an_ingest(point, tmp_path, small_mirror, small_home):
    home = check_point(point, tmp_path, small_mirror, small_home)
    assert run(home, "verify").stdout.startswith("no problem; 4 payloads, ")


#: Responses in the large mirror; a line is said of each.
LINES = len(large())


def kill_after(home, lines, seconds, *arguments):
    """Kill a command so many seconds after it said so many lines: a share of its work, however slow the machine."""
    process = start(home, *arguments)
    assert process.stderr is not None
    with process.stderr as said:
        while lines:
            words = said.readline().split()
            # A slow machine is told in between how long the rest takes.
            if words[-1] != b"left":
                assert words[0] in {b"read", b"not", b"quarantined"}
                lines -= 1
        time.sleep(seconds)
        process.kill()
    assert process.wait(PATIENCE) == -signal.SIGKILL


@pytest.mark.deep
@pytest.mark.parametrize("number", range(KILLS))
def test_kills_at_random_instants_of_an_ingest(number, tmp_path, large_mirror, large_home):
    """One instant from each twelfth of the run, so that they are spread over all of it."""
    chance = random.Random(SEED + number)
    lines = int((number + chance.random()) / KILLS * (LINES - 3))
    home = tmp_path / "home"
    kill_after(home, lines, chance.random() * 0.15, "ingest", *SOURCES, "--from", large_mirror)
    if lines and number % 4 == 0:
        # Between the kill and the next run, too, what is there is sound.
        assert run(home, "verify").stdout.startswith("no problem; ")
    ingest(home, large_mirror, SOURCES)
    same(state(large_home), state(home))
    assert unfinished(home) == []


@pytest.mark.deep
@pytest.mark.real
def test_kills_at_random_instants_of_an_ingest_of_real_files(tmp_path, real_mirror):
    undisturbed, home = tmp_path / "undisturbed", tmp_path / "home"
    command = ("ingest", "us-treasury-par", "mof-japan", "fred", "--from", real_mirror)
    first = run(undisturbed, *command, expect=None)
    lines = len(first.stderr.splitlines())
    chance = random.Random(SEED)
    for _ in range(3):
        kill_after(home, int(chance.random() * lines / 4), chance.random() * 0.15, *command)
    assert run(home, *command, expect=None).returncode == first.returncode
    same(state(undisturbed), state(home))


@pytest.mark.slow
@pytest.mark.parametrize(
    "point", [pytest.param(("executemany", 5, True), marks=pytest.mark.slow), ("COMMIT", 1, False)], ids=str
)
def test_a_kill_during_a_rebuild_leaves_the_old_state_served(point, tmp_path, small_home):
    home = tmp_path / "home"
    shutil.copytree(small_home, home)
    before, number = state(home), version(home)
    killed_at(home, point, "rebuild")
    same(before, state(home))
    assert version(home) == number
    assert run(home, "rebuild").stdout == f"4 payloads replayed, data version {number + 1}\n"
    same(before, state(home))


def restore(home, file):
    """A backup of what is on a server holds no data: they are made anew."""
    run(home, "restore", file)
    if on_a_server(home):
        run(home, "rebuild")


@pytest.mark.slow
@pytest.mark.parametrize(
    "point", [pytest.param(("fsync", 1, False), marks=pytest.mark.slow), ("link", 1, False)], ids=str
)
def test_a_kill_during_a_backup_leaves_no_file_and_the_next_clears_up(point, tmp_path, small_home):
    home, file = tmp_path / "home", tmp_path / "all.almanac"
    shutil.copytree(small_home, home)
    killed_at(home, point, "backup", file)
    assert not file.exists()
    assert len(unfinished(tmp_path)) == 1
    run(home, "backup", file)
    assert unfinished(tmp_path) == []
    other = tmp_path / "other"
    restore(other, file)
    same(state(home), state(other))


@pytest.mark.slow
@pytest.mark.parametrize(
    "point", [pytest.param(("open", 6, True), marks=pytest.mark.slow), ("fsync", 3, False)], ids=str
)
def test_a_kill_during_a_restore_leaves_nothing_in_the_home_and_the_next_clears_up(point, tmp_path, small_home):
    file, home = tmp_path / "all.almanac", tmp_path / "home"
    run(small_home, "backup", file)
    killed_at(home, point, "restore", file)
    assert [path.name for path in home.iterdir() if "unfinished" not in path.name] == []
    assert unfinished(tmp_path) != []
    restore(home, file)
    same(state(small_home), state(home))
    assert unfinished(tmp_path) == []


#: A simulated world of some hundred pages in small groups, so that there are many instants to be killed at.
FEW_PAGES = """
from almanac.sandbox import world
from almanac.pipeline.ingest import simulation
every = world.world
def few(now, observations=None, companies=True, market=None):
    return world.SimulatedPages(every(now, observations, companies=False)._captures[:150], 0, now)
world.world = few
simulation._GROUP = 10
"""


@pytest.mark.deep
def test_kills_during_the_loading_of_the_simulated_world(tmp_path):
    home, undisturbed = tmp_path / "home", tmp_path / "undisturbed"
    run(undisturbed, "sandbox", before=FEW_PAGES)
    for name, when, after in (("COMMIT", 6, False), ("executemany", 40, True), ("link", 50, True)):
        # First the fault: what FEW_PAGES imports takes the connection as it finds it.
        fault = DIES.format(name=name, when=when, after=after) + FEW_PAGES
        run(home, "sandbox", before=fault, expect=-signal.SIGKILL)
    run(home, "sandbox", before=FEW_PAGES)
    same(state(undisturbed), state(home))
    assert state(home)["world"] == [("simulated",)]
