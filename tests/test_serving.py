"""What keeps going beside the requests."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from pathlib import Path

import uvloop

from almanac.applications import at_turn
from almanac.periodic import Every
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


def test_metrics_are_loaded_only_by_processes_that_know_their_folder() -> None:
    """Loaded sooner, they would count in the memory of each worker, and `/metrics` would show none of it."""
    code = "import sys, almanac.serving, almanac.api.server.logs, almanac.pipeline.workplace; sys.exit('prometheus_client' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
