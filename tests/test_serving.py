"""What keeps going beside the requests."""

from __future__ import annotations

import asyncio
import gc
import json
import multiprocessing
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvloop

from almanac.api.server.warming import Warming
from almanac.config import Settings
from almanac.hosting import _Service, _Worker
from almanac.pipeline.workplace import Workplace
from almanac.repeating import Every
from almanac.serving import api, at_turn, dashboard, ready
from almanac.store.engine import opening, sqlite
from almanac.store.observations.reading.reader import Reader


def test_it_goes_on_after_a_failure_and_does_it_once_more_when_stopped() -> None:
    done: list[int] = []
    enough = threading.Event()

    def action() -> None:
        done.append(len(done))
        if len(done) == 1:
            raise OSError("the disk is full")
        if len(done) == 3:
            enough.set()

    every = Every(0.001, action, "what is tried")
    every.start()
    assert enough.wait(10)
    every.stop()
    assert len(done) >= 4  # three in their turn, one at the end


def test_what_is_put_off_comes_after_all_that_waits() -> None:
    told: list[str] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        loop.call_soon(told.append, "waited")
        assert at_turn(lambda: told.append("put off"))
        loop.call_soon(told.append, "came later")
        told.append("now")
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    asyncio.run(run())
    assert told == ["now", "waited", "put off", "came later"]
    assert not at_turn(lambda: told.append("never"))


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: other systems have no such policies")
@pytest.mark.parametrize(("given", "expected"), [("SCHED_OTHER", "SCHED_BATCH"), ("SCHED_IDLE", "SCHED_IDLE")])
def test_threads_take_turns_unless_the_operator_says_otherwise(given: str, expected: str) -> None:
    """The policy holds for threads and processes made afterwards."""
    program = f"""
import os, threading
from almanac.hosting import _take_turns
os.sched_setscheduler(0, os.{given}, os.sched_param(0))
_take_turns()
told = []
thread = threading.Thread(target=lambda: told.append(os.sched_getscheduler(0)))
thread.start()
thread.join()
child = os.popen("exec cat /proc/self/stat").read().rpartition(")")[2].split()
print(told == [os.{expected}], int(child[38]) == os.{expected})
"""
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "True"]


RESERVED = """
import json, os, sys
from pathlib import Path
from almanac.api.server import logs
from almanac.counting import reserve_metrics
logs.configure("error")
if sys.argv[2] == "full":
    def full(*_):
        raise OSError(28, "No space left on device")
    os.posix_fallocate = full
folder = Path(sys.argv[1])
os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)
assert "prometheus_client" not in sys.modules
reserve_metrics(folder)
from almanac.api.use import metrics
metrics.observe("/coverage", "GET", 200, [0.001])
print(json.dumps({path.name.partition("_")[0]: [path.stat().st_size, path.stat().st_blocks * 512] for path in folder.iterdir()}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux: elsewhere blocks are told otherwise")
@pytest.mark.parametrize("disk", ["room", "full"])
def test_metrics_have_their_room_or_stay_in_the_process(tmp_path: Path, disk: str) -> None:
    """The files that the library writes to through memory maps are ours, of the sizes reserved; or there are none."""
    done = subprocess.run([sys.executable, "-c", RESERVED, tmp_path, disk], check=True, capture_output=True, text=True)
    if disk == "room":
        sizes = {"counter": 2 << 20, "histogram": 512 << 10}
        assert json.loads(done.stdout) == {kind: [size, size] for kind, size in sizes.items()}
        assert done.stderr == ""
    else:
        assert json.loads(done.stdout) == {}
        told = json.loads(done.stderr)
        assert (told["event"], told["reason"]) == ("this worker's metrics are not shown", "No space left on device")


def test_who_asks_after_a_commit_is_answered_from_after_it(tmp_path: Path) -> None:
    """Although the request before, whose turn it came in, was begun before the commit."""
    path = tmp_path / "data.db"
    writer = opening.create(path)
    reader = Reader(path, at_turn=at_turn)
    seen: list[int] = []

    def look() -> None:
        with reader.view() as view:
            seen.append(view.version)

    async def run() -> None:
        loop = asyncio.get_running_loop()

        def commit_and_ask() -> None:
            sqlite.set_meta(writer, "version", "7")
            loop.call_soon_threadsafe(look)

        def first() -> None:
            with reader.view() as view:
                client = threading.Thread(target=commit_and_ask)
                client.start()
                client.join()
                seen.append(view.version)

        loop.call_soon(first)
        loop.call_soon(look)  # waits already, and so shares the state of the first
        await asyncio.sleep(0.05)

    for runner in (asyncio.run, uvloop.run):
        sqlite.set_meta(writer, "version", "0")
        seen.clear()
        runner(run())
        assert seen == [0, 0, 7]
    reader.close()
    writer.close()


def test_what_was_made_at_the_start_is_left_out_of_the_search_for_cycles() -> None:
    class Application:
        made: list[list[int]]

        def warm(self) -> None:
            self.made = [[number] for number in range(10_000)]

    application = Application()
    before = gc.get_freeze_count()
    try:
        ready(application)  # type: ignore[arg-type]  # all it needs is there
        assert application.made
        assert gc.get_freeze_count() - before > 10_000
    finally:
        gc.unfreeze()


@pytest.mark.skipif(sys.platform != "linux", reason="needs fork: the library spawns elsewhere")
@pytest.mark.parametrize("what", ["begins", "ends", "the service ends"])
def test_a_reload_waits_until_the_new_worker_is_about_to_listen(what: str) -> None:
    """Until it says so, ends, or the service is to end; never by a fixed time."""
    service, worker = object.__new__(_Service), object.__new__(_Worker)
    service._worker, service.interrupt_signal, worker.begins = worker, what == "the service ends", None

    def child() -> None:
        time.sleep(30 if what == "the service ends" else 0.5)
        if what == "begins":
            worker._begun()
            time.sleep(30)

    made = multiprocessing.get_context("fork").Process(target=child, daemon=True)
    begun = time.monotonic()
    service._begin(made.start)
    took = time.monotonic() - begun
    alive = made.is_alive()
    made.kill()
    made.join()
    assert worker.begins is None
    assert took < 0.5 if what == "the service ends" else 0.4 < took < 10
    assert what == "ends" or alive


@pytest.mark.parametrize(
    ("alive", "delay", "waits", "first"),
    [([True, True], 3.0, True, True), ([True, False], 0, False, True), ([False], 0, False, False), ([True], 3.0, True, True)],
)  # fmt: skip
def test_who_is_warm_before_it_listens(
    monkeypatch: pytest.MonkeyPatch, alive: list[bool], delay: float, *, waits: bool, first: bool
) -> None:
    """At a reload every worker, waited for; of those that died one that others stand in for, else none: it is needed at once."""
    service, worker = object.__new__(_Service), object.__new__(_Worker)
    service._worker, service._reloading, worker.warm_first = worker, False, False
    service.wrks = [
        SimpleNamespace(idx=n, inner=SimpleNamespace(is_alive=lambda one=one: one)) for n, one in enumerate(alive)
    ]  # type: ignore[misc]  # what is asked of them
    seen: list[tuple[bool, bool]] = []

    def spawn(self: object, *_: object) -> object:
        return SimpleNamespace(start="the library's own")

    def respawn(self: _Service, workers: list[int], *_: object) -> None:
        for number in workers:
            made = self._spawn_worker(number, None, None)
            seen.append((made.start != "the library's own", worker.warm_first))

    monkeypatch.setattr(_Service.__bases__[0], "_spawn_worker", spawn)
    monkeypatch.setattr(_Service.__bases__[0], "_respawn_workers", respawn)
    dead = [number for number, one in enumerate(alive) if delay or not one]
    service._respawn_workers(dead, None, None, delay)
    assert set(seen) == {(waits, first)}
    assert (service._reloading, worker.warm_first) == (False, False)


def test_a_worker_beside_others_is_warm_before_it_says_that_it_begins(tmp_path: Path) -> None:
    def begun() -> None:
        pass

    warming = Warming(lambda: None)
    settings = Settings(home=tmp_path)
    steps = [list(api(settings, warming, one)._on_startup) for one in (begun, None)]
    assert steps[0][-3:] == [warming.start, warming.wait, begun]
    assert steps[1][-1] == warming.start


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not tell which files are open")
@pytest.mark.parametrize("make", [api, dashboard])
def test_an_application_that_ends_lets_go_of_what_processes_share(
    tmp_path: Path, make: Callable[[Settings], Any]
) -> None:
    given = Settings(home=tmp_path)
    with Workplace(given):
        pass

    def shared() -> list[str]:
        links = [link.readlink() for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
        return [str(link) for link in links if link.is_relative_to(tmp_path / "run")]

    sent: list[str] = []
    open_meanwhile: list[list[str]] = []
    inbox = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

    async def receive() -> Any:
        message = next(inbox)
        open_meanwhile.append(shared())
        return message

    async def send(message: Any) -> None:
        sent.append(message["type"])

    asyncio.run(make(given)({"type": "lifespan"}, receive, send))
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert open_meanwhile[-1]
    assert shared() == []
