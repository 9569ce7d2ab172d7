"""What a failed request was reading is let go of as soon as it is answered: no cycle of references keeps it."""

import asyncio
import contextlib
import gc
import time
import weakref

import pytest

from almanac.api.server.loop_turn import at_end
from almanac.api.server.threads import Threads
from almanac.api.use.slots import Slots
from almanac.store.engine.errors import StoppedError


class Rows:
    """What is being read."""


class Turn:
    """A turn of the event loop that ends with the next."""

    def expected(self):
        return None

    def failed_ahead(self, error):
        return False

    def at_end(self, work):
        asyncio.get_running_loop().call_soon(work)


async def stays():
    """A client that waits."""
    await asyncio.Event().wait()


async def in_a_thread(work):
    threads = Threads(Slots(2, None), 60)
    try:
        await threads.heavy("one", "/observations", work, stays)
    finally:
        threads.close()


async def at_the_end_of_a_turn(work):
    await at_end(Turn(), work)


@pytest.mark.parametrize("way", [in_a_thread, at_the_end_of_a_turn])
def test_rows_of_a_request_that_failed_are_let_go_of(way):
    read = []

    def work():
        rows = Rows()
        read.append(weakref.ref(rows))
        raise StoppedError("nobody waits")

    async def run():
        with contextlib.suppress(StoppedError):
            await way(work)

    gc.collect()
    gc.disable()
    try:
        asyncio.run(run())
        until = time.monotonic() + 5  # the thread comes to its end a moment later
        while read[0]() is not None and time.monotonic() < until:
            time.sleep(0.01)
        assert read[0]() is None
    finally:
        gc.enable()


def test_whoever_does_not_wait_any_more_is_not_told():
    async def run():
        done = []
        waiting = asyncio.ensure_future(at_end(Turn(), lambda: done.append(1)))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await asyncio.sleep(0)
        return done

    assert asyncio.run(run()) == []
