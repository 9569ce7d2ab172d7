"""Files that are whole or absent: kills at every step, full disks, and many writers at once."""

import errno
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from almanac.store.raw.blobs import Folder
from almanac.store.raw.captures import RawStore
from tests.store.raw.invented import flaws

from .invented import BODY, OBJECT, files, keep


@pytest.fixture
def store(tmp_path):
    return RawStore(Folder(tmp_path))


class Died(BaseException):
    """Stands for a kill: no `except Exception` may swallow it."""


def failing(real, at, error):
    """`real`, but for call number `at`, which raises."""
    calls = iter(range(1, 1_000))

    def call(*args, **kwargs):
        if next(calls) == at:
            raise error
        return real(*args, **kwargs)

    return call


#: Every call by which `keep` changes the disk on an empty folder, with how often it happens.
STEPS = [("fsync", 8), ("replace", 1), ("link", 1), ("open", 8)]


def test_the_steps_are_all_the_steps(store, monkeypatch):
    counted = dict.fromkeys((name for name, _ in STEPS), 0)

    def counting(name, real):
        def call(*args, **kwargs):
            counted[name] += 1
            return real(*args, **kwargs)

        return call

    for name in counted:
        monkeypatch.setattr(os, name, counting(name, getattr(os, name)))
    keep(store)
    assert list(counted.items()) == STEPS


@pytest.mark.parametrize("error", [Died(), OSError(errno.ENOSPC, "no space left on device")], ids=["killed", "full"])
@pytest.mark.parametrize(("step", "at"), [(step, at + 1) for step, times in STEPS for at in range(times)])
def test_killed_at_any_step_nothing_is_half_there_and_the_next_run_completes(
    store, tmp_path, monkeypatch, step, at, error
):
    with monkeypatch.context() as patch:
        patch.setattr(os, step, failing(getattr(os, step), at, error))
        with pytest.raises(type(error)):
            keep(store, clock=500)
    after = RawStore(Folder(tmp_path))
    # An index file may only be there if its object is, whole.
    assert flaws(after) == []
    seen = list(after.captures())
    for capture in seen:
        assert after.read(capture) == BODY
    kept = keep(after, clock=600)
    # If the first run had got as far as the index file, its word stays.
    assert kept.ingested_at == (500 if seen else 600)
    assert after.read(kept) == BODY
    assert list(after.captures()) == [kept]
    assert files(tmp_path) == [f"index/sandbox-one/{kept.id}.json", OBJECT]


@pytest.mark.parametrize("step", ["replace", "link"])
def test_a_kill_that_leaves_no_time_to_clean_up_leaves_only_temporary_names(store, tmp_path, monkeypatch, step):
    if step == "link":
        keep(store, fetched_at=1)  # the object is there, so that the unfinished file is that of the index
    before = files(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", failing(Path.unlink, 1, Died()))
        patch.setattr(os, step, failing(getattr(os, step), 1, Died()))
        with pytest.raises(Died):
            keep(store)
    left = sorted(set(files(tmp_path)) - set(before))
    assert [name.split("/")[-1][:12] for name in left] == [".unfinished-"]
    assert len(list(store.captures())) == len(before) // 2
    assert flaws(store) == []
    assert store.blobs.tidy() == 1
    assert files(tmp_path) == before
    kept = keep(store)
    assert store.blobs.tidy() == 0
    assert store.read(kept) == BODY


def test_a_writer_whose_temporary_file_is_tidied_away_writes_it_again(store, tmp_path, monkeypatch):
    tidied = []
    for name, real in {"replace": os.replace, "link": os.link}.items():

        def tidied_once(src, dst, name=name, real=real):
            if name not in tidied:
                tidied.append(name)
                assert store.blobs.tidy() == 1
            real(src, dst)

        monkeypatch.setattr(os, name, tidied_once)
    kept = keep(store)
    assert tidied == ["replace", "link"]
    assert RawStore(Folder(tmp_path)).read(kept) == BODY


def test_a_writer_that_is_always_tidied_away_gives_up_with_an_error(store, tmp_path, monkeypatch):
    def gone(src, dst):
        Path(src).unlink()
        raise FileNotFoundError(src)

    monkeypatch.setattr(os, "replace", gone)
    with pytest.raises(FileNotFoundError):
        keep(store)
    assert files(tmp_path) == []


def test_of_many_threads_the_first_word_stays(tmp_path):
    stores = [RawStore(Folder(tmp_path)) for _ in range(8)]
    barrier = threading.Barrier(8)

    def run(number):
        barrier.wait()
        return [keep(stores[number], f"invented {n}".encode(), fetched_at=9_000, clock=number) for n in range(20)]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(run, range(8)))
    # All were told the same ingestion, that of whoever came first, and it is the one on disk.
    assert all(result == results[0] for result in results)
    assert sorted(results[0], key=lambda capture: capture.order) == list(stores[0].captures())
    assert flaws(stores[0]) == []
    assert len(files(tmp_path)) == 40


KEEPER = """
import sys
from pathlib import Path
from almanac.store.raw.blobs import Folder
from almanac.store.raw.captures import RawStore

store = RawStore(Folder(Path(sys.argv[1])))
print("ready", flush=True)
sys.stdin.readline()
for n in range(50):
    kept = store.keep("sandbox-one", f"https://data.example/{n}", b"invented", "text/csv", 9_000, int(sys.argv[2]))
    print(kept.id, kept.ingested_at)
"""


def test_of_many_processes_the_first_word_stays(tmp_path):
    running = [
        subprocess.Popen(
            [sys.executable, "-c", KEEPER, tmp_path, str(clock)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for clock in (100, 200, 300)
    ]
    with ExitStack() as stack:
        for process in running:
            stack.enter_context(process)
            assert process.stdout.readline() == "ready\n"
        for process in running:
            process.stdin.write("go\n")
            process.stdin.flush()
        told = [process.stdout.read().splitlines() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0]
    # Each process was told the same of each capture, and that is what is on disk.
    assert told[0] == told[1] == told[2]
    assert len(told[0]) == 50
    store = RawStore(Folder(tmp_path))
    assert sorted(f"{kept.id} {kept.ingested_at}" for kept in store.captures()) == sorted(told[0])
    assert flaws(store) == []
    assert len(files(tmp_path)) == 51


def test_what_is_kept_is_for_its_owner_alone(tmp_path, monkeypatch):
    """Whatever mask the process has; a folder that an earlier version left open is closed at the first tidying."""
    root = tmp_path / "raw"
    store = RawStore(Folder(root))
    old = os.umask(0)
    try:
        keep(store)
    finally:
        os.umask(old)
    modes = {path.is_dir(): path.stat().st_mode & 0o777 for path in (root, *root.rglob("*"))}
    assert modes == {True: 0o700, False: 0o600}
