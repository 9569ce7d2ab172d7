"""Requests of one turn of the event loop: what one of them does at its end, and waits for until then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from almanac.api.contract.ports import Turns

T = TypeVar("T")


async def at_end(turns: Turns, work: Callable[[], T]) -> T:
    """What `work` gives at the end of this turn, where those asked before it have theirs. Raises what it raises."""
    done: asyncio.Future[T] = asyncio.get_running_loop().create_future()

    def finish() -> None:
        if done.cancelled():
            return  # nobody waits any more
        try:
            found = work()
        except BaseException as error:  # whatever it is, it is raised where it is waited for
            done.set_exception(error)
        else:
            done.set_result(found)

    turns.at_end(finish)
    return await done
