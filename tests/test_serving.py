"""What keeps going beside the requests."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from almanac.serving import _Every, at_turn


def test_it_goes_on_after_a_failure_and_does_it_once_more_when_stopped() -> None:
    done: list[int] = []
    enough = threading.Event()

    def action() -> None:
        done.append(len(done))
        if len(done) == 1:
            raise OSError("the disk is full")
        if len(done) == 3:
            enough.set()

    every = _Every(0.001, action)
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
from almanac.serving import _take_turns
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
