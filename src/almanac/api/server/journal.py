"""The journal of answers: a line in the log, the counts and the usage of each, and a line of what a slow request asked for."""

from __future__ import annotations

import asyncio
import random
import time

import structlog

from almanac.api.contract.endpoint import Endpoint
from almanac.api.server.logs import AccessLine, access, told_text
from almanac.api.server.request import ClientRequest
from almanac.api.use import metrics
from almanac.api.use.usage import Tally

log = structlog.get_logger("almanac.access")


#: Entries of a journal that wait at most. A busy worker reaches them before the time is up.
_MOST_HELD = 64


def tell_slow(request: ClientRequest, endpoint: Endpoint, status: int, seconds: float) -> None:
    """
    Count a slow request that was answered, or given up, and log what it asked for.

    Parameters are those of the endpoint alone, without what looks like a key; a cursor is only said to be there, for it holds
    where a walk stands and no question.
    """
    metrics.SLOW.labels(endpoint.path).inc()
    asked = {**request.path, **{name: value for name, value in request.pairs if name in endpoint.by_name}}
    deadline = request.deadline
    log.warning(
        "a slow request",
        request_id=request.id.decode(),
        path=endpoint.path,
        parameters={name: "…" if name == "cursor" else told_text(value) for name, value in asked.items()},
        heavy=request.where == "heavy",
        read=None if request.list_plan is None else request.list_plan.value,
        status=status,
        ms=round(seconds * 1000, 3),
        # None of a file, which is read inside the process.
        database_ms=None
        if deadline is None or not deadline.database_seconds
        else round(deadline.database_seconds * 1000, 3),
        account=None if request.key is None else request.key.account_id,
        key=None if request.key is None else request.key.prefix,
    )


class Journal:
    """
    What is noted of each answer: its line in the log, the counts, and what its account used. Written a little later, several
    at a time: that costs less than half.

    Entries wait for up to `hold_seconds`; it then needs a running event loop, and `flush` at the end. For one thread.

    `share` of the good answers, drawn by lot, have a line in the log; every error has one. All are counted, in `tally`
    by key.
    """

    def __init__(self, hold_seconds: float = 0.0, share: float = 1.0, tally: Tally | None = None) -> None:
        self._hold_seconds = hold_seconds
        self._share = share
        self._tally = tally
        self._held: list[tuple[int, AccessLine, float]] = []

    def add(self, line: AccessLine, seconds: float) -> None:
        """Note an answer that was sent just now, and how long it took."""
        held = self._held
        held.append((time.time_ns(), line, seconds))
        if not self._hold_seconds or len(held) >= _MOST_HELD:
            self.flush()
        elif len(held) == 1:
            asyncio.get_running_loop().call_later(self._hold_seconds, self.flush)

    def flush(self) -> None:
        """Write what waits."""
        held, self._held = self._held, []
        if not held:
            return
        times: dict[tuple[str | None, str, int, str | None, str | None], list[float]] = {}
        for _, line, seconds in held:
            times.setdefault((line.path, line.method, line.status, line.account, line.key), []).append(seconds)
        for (path, method, status, account, key), many in times.items():
            metrics.observe(path or metrics.OTHER, method, status, many)
            if self._tally is not None and account is not None and key is not None:
                self._tally.add(held[0][0], account, key, path, status, many)
        lines = [(at, line) for at, line, _ in held]
        if self._share < 1:  # which lines are left out is no secret
            lines = [(at, line) for at, line in lines if line.status >= 400 or random.random() < self._share]  # noqa: S311
        access.write(lines)
