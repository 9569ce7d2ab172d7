"""The small simulated world, built once for all workers, and a model's client over it."""

from __future__ import annotations

import asyncio
import fcntl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client

from .world import Served, build


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    root = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        root = root.parent
    with (root / "mcp-world.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = root / "mcp-world"
        if not done.exists():
            making = root / "mcp-world.making"
            build(making)
            making.rename(done)
    return done


@pytest.fixture(scope="session")
def served(home: Path) -> Served:
    return Served.over(home)


class Model:
    """A client of the protocol over a server in memory: what a model sees of a call."""

    def __init__(self, served: Served, key: str = "pro") -> None:
        self._server = served.server(key)

    def ask(self, work: Callable[[Client], Any]) -> Any:
        async def connected() -> Any:
            async with Client(self._server) as client:
                return await work(client)

        return asyncio.run(connected())

    def call(self, tool: str, **arguments: Any) -> str:
        """The text of an answer that must be one."""
        result = self.ask(lambda client: client.call_tool(tool, arguments))
        text = _text(result)
        assert not result.is_error, text
        return text

    def refused(self, tool: str, **arguments: Any) -> str:
        """The text of an error that must be one."""
        result = self.ask(lambda client: client.call_tool(tool, arguments))
        text = _text(result)
        assert result.is_error, text
        return text


def _text(result: Any) -> str:
    assert result.structured_content is None
    (content,) = result.content
    assert content.type == "text"
    return content.text


@pytest.fixture(scope="session")
def model(served: Served) -> Model:
    return Model(served)


@pytest.fixture(scope="session")
def free(served: Served) -> Model:
    return Model(served, "free")
