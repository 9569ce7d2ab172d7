"""The core of a client: its options, its pace, the names it has looked up, and the driver that executes plans."""

from __future__ import annotations

from typing import TypeVar

from almanac_client._lookups import Known, Way
from almanac_client._settings import Options
from almanac_client._transport import AsyncDriver, Driver, Pace, Plan

T = TypeVar("T")


class Core:
    """A client's options and the driver that executes its plans."""

    __slots__ = ("driver", "known", "options", "pace")

    def __init__(self, options: Options, driver: Driver) -> None:
        self.options = options
        self.driver = driver
        self.known = Known()
        self.pace = Pace(driver.clock)

    @property
    def way(self) -> Way:
        """The context that a plan needs."""
        return Way(self.options, self.pace, self.known)

    def run(self, plan: Plan[T]) -> T:
        return self.driver.run(plan, self.options)


class AsyncCore:
    """A client's options and the asynchronous driver that executes its plans."""

    __slots__ = ("driver", "known", "options", "pace")

    def __init__(self, options: Options, driver: AsyncDriver) -> None:
        self.options = options
        self.driver = driver
        self.known = Known()
        self.pace = Pace(driver.clock)

    @property
    def way(self) -> Way:
        """The context that a plan needs."""
        return Way(self.options, self.pace, self.known)

    async def run(self, plan: Plan[T]) -> T:
        return await self.driver.run(plan, self.options)
