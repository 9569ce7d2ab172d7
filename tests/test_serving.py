"""What keeps going beside the requests."""

from __future__ import annotations

import asyncio
import threading

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
