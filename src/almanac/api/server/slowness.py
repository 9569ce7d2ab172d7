"""Requests that took long: which question it was, with which parameters, and how much of the time the database took."""

from __future__ import annotations

import structlog

from almanac.api.contract.endpoint import Endpoint
from almanac.api.server import logs
from almanac.api.server.auth import split_query
from almanac.api.server.exchange import ClientRequest
from almanac.api.use import metrics

log = structlog.get_logger("almanac.access")


def tell(request: ClientRequest, endpoint: Endpoint, query: bytes, status: int, seconds: float) -> None:
    """
    Count a request that was answered, or given up, and say in a line of its own what it asked for.

    Parameters are those of the endpoint alone, without what looks like a key; a cursor is only said to be there, for it holds
    where a walk stands and no question.
    """
    metrics.SLOW.labels(endpoint.path).inc()
    asked = {**request.path, **{name: value for name, value in split_query(query).pairs if name in endpoint.by_name}}
    deadline = request.deadline
    log.warning(
        "a slow request",
        request_id=request.id.decode(),
        path=endpoint.path,
        parameters={name: "…" if name == "cursor" else logs.told_text(value) for name, value in asked.items()},
        heavy=request.heavy,
        read=None if request.list_plan is None else request.list_plan.way.value,
        status=status,
        ms=round(seconds * 1000, 3),
        # None where nothing was measured: a page that is read in the event loop from a file.
        database_ms=None
        if deadline is None or not deadline.database_seconds
        else round(deadline.database_seconds * 1000, 3),
        account=None if request.key is None else request.key.account_id,
        key=None if request.key is None else request.key.prefix,
    )
