"""Making, when a process starts, what its first requests would wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager

import structlog

from almanac.api.contract.endpoint import Endpoint
from almanac.store.observations.reading.reader import View

log = structlog.get_logger("almanac.warming")


def warm(
    endpoints: Iterable[Endpoint], open_view: Callable[[], AbstractContextManager[View]], clock: Callable[[], int]
) -> None:
    """What endpoints say they need. What cannot be made now, the first requests make themselves."""
    for endpoint in endpoints:
        if endpoint.warm is None:
            continue
        try:
            with open_view() as view:
                endpoint.warm(view, clock())
        except Exception as error:  # whatever it is, a request that needs it will meet it and say so
            log.warning("not warmed", path=endpoint.path, reason=str(error))
