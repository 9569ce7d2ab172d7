"""What a failed request was reading is let go of as soon as it is answered: no cycle of references keeps it."""

import asyncio
import contextlib
import gc
import time
import weakref

from almanac.api.server.threads import Threads
from almanac.store.engine.deadline import Deadline
from almanac.store.engine.errors import StoppedError


class Rows:
    """What is being read."""


async def stays():
    """A client that waits."""
    await asyncio.Event().wait()


async def in_a_thread(work):
    threads = Threads(2)
    try:
        await threads.heavy("one", "/observations", work, stays, Deadline(60))
    finally:
        threads.close()


def test_rows_of_a_request_that_failed_are_let_go_of():
    read = []

    def work():
        rows = Rows()
        read.append(weakref.ref(rows))
        raise StoppedError("nobody waits")

    async def run():
        with contextlib.suppress(StoppedError):
            await in_a_thread(work)

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
