"""Both screeners: one filter text, one evaluator, one memory of columns."""

from __future__ import annotations

from almanac.api import equity_screener, macro_screener
from almanac.api.endpoint import Endpoint
from almanac.api.screening import Held


def endpoints(held: Held) -> tuple[Endpoint, ...]:
    """The screeners, over what a process holds."""
    return (*macro_screener.endpoints(held), *equity_screener.endpoints(held))
