"""Requests of one turn of the event loop: what one of them does at its end, and waits for until then."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from typing import TypeVar

from almanac.api.contract.ports import Turns

T = TypeVar("T")


async def at_end(turns: Turns, work: Callable[[], T]) -> T:
    """What `work` gives at the end of this turn, where those asked before it have theirs. Raises what it raises."""
    done: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    turns.at_end(functools.partial(_finish, done, work))
    try:
        return await done
    finally:
        del done  # as below


def _finish(done: asyncio.Future[T], work: Callable[[], T]) -> None:
    if done.cancelled():
        return  # nobody waits any more
    try:
        found = work()
    except BaseException as error:  # whatever it is, it is raised where it is waited for
        done.set_exception(error)
    else:
        done.set_result(found)
    finally:
        # It holds the error, which knows of this frame: in a cycle, all that was being read would wait for the collector.
        del done
