"""The server's start and stop, told to those who asked for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import structlog
from starlette.types import Receive, Send

log = structlog.get_logger("almanac.lifespan")


async def lifespan(
    receive: Receive, send: Send, on_startup: Sequence[Callable[[], None]], on_shutdown: Sequence[Callable[[], None]]
) -> None:
    """Answer the ASGI lifespan protocol. A callback that raises is logged and told to the server, which then stops."""
    while True:
        message = await receive()
        phase = message["type"].removeprefix("lifespan.")
        try:
            for callback in on_startup if phase == "startup" else on_shutdown:
                callback()
        except Exception as error:  # whatever it is, the server must hear of it and stop
            log.exception("lifespan failed", phase=phase)
            await send({"type": f"lifespan.{phase}.failed", "message": str(error)})
            return
        await send({"type": f"lifespan.{phase}.complete"})
        if phase == "shutdown":
            return
