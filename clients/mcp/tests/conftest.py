"""The small simulated world, built once for all workers, and a model's client over it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client

from tests.contract.conftest import worker_id
from tests.support.service import copy
from tests.support.worlds import once

from .world import Served, build

__all__ = ["worker_id"]


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    return copy(once(tmp_path_factory, worker_id, "documented", build), tmp_path_factory.mktemp("mcp") / "home")


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
