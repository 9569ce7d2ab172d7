"""kill -9 of a worker process, and of the process that owns it: nothing is lost or there twice, and nothing is left running."""

import signal
import time
from pathlib import Path

import pytest

from tests.support.filed_company import rows
from tests.support.processes import PATIENCE, run
from tests.support.treasury_home import write_mirror

from .states import same, state, unfinished, version

pytestmark = pytest.mark.slow

#: Workers start at once; at the n-th job those there are written down, and they or their owner are killed.
KILLS = """
import os, signal, time
from pathlib import Path
from almanac.pipeline import processes
processes.WORTHWHILE = 0
left, real = {job}, processes.Processes.job
def job(self, *a, **k):
    global left
    left -= 1
    made = real(self, *a, **k)
    if not left:
        workers = list(self._pool._processes)
        Path({note!r}).write_text(" ".join(map(str, workers)))
        for pid in workers if {worker} else [os.getpid()]:
            os.kill(pid, signal.SIGKILL)
    return made
processes.Processes.job = job
"""
#: Jobs of which the first are readings, the later ones companies; and the one among them at which to kill.
JOBS = [1, 9, 24, 28, 32]


@pytest.fixture(scope="module")
def mirror(tmp_path_factory):
    return write_mirror(tmp_path_factory.mktemp("mirror") / "m", rows())


@pytest.fixture(scope="module")
def undisturbed(mirror, tmp_path_factory):
    home = tmp_path_factory.mktemp("undisturbed") / "home"
    run(home, "ingest", "sec", "--from", mirror, expect=3, PROCESSES="1")
    return home


def ended(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True


def check_gone(note):
    """That every worker written down ends."""
    workers = [int(word) for word in note.read_text().split()]
    assert workers
    until = time.monotonic() + PATIENCE
    while not all(map(ended, workers)):
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.parametrize("job", JOBS)
def test_the_owner_of_workers_is_killed(job, mirror, undisturbed, tmp_path):
    home, note = tmp_path / "home", tmp_path / "workers"
    before = KILLS.format(job=job, note=str(note), worker=False)
    run(home, "ingest", "sec", "--from", mirror, before=before, expect=-signal.SIGKILL, PROCESSES="3")
    check_gone(note)
    run(home, "ingest", "sec", "--from", mirror, expect=3, PROCESSES="2")
    same(state(undisturbed), state(home))
    assert unfinished(home) == []


@pytest.mark.parametrize("job", JOBS)
def test_workers_are_killed(job, mirror, undisturbed, tmp_path):
    home, note = tmp_path / "home", tmp_path / "workers"
    before = KILLS.format(job=job, note=str(note), worker=True)
    done = run(home, "ingest", "sec", "--from", mirror, before=before, expect=3, PROCESSES="3")
    assert done.stderr.count("a worker process ended before its time") == 1
    check_gone(note)
    same(state(undisturbed), state(home))
    assert version(home) == version(undisturbed)


def test_a_rebuild_whose_workers_are_killed_ends_well(mirror, undisturbed, tmp_path):
    home, note = tmp_path / "home", tmp_path / "workers"
    run(home, "ingest", "sec", "--from", mirror, expect=3, PROCESSES="1")
    before = KILLS.format(job=30, note=str(note), worker=True)
    run(home, "rebuild", before=before, PROCESSES="2")
    check_gone(note)
    same(state(undisturbed), state(home))
