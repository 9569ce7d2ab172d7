"""The server: tools, resources, prompts and completion over the interface, served by the official SDK."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult

from . import __version__, completion, prompts, resources
from .caller import Callers, NoKeyError, with_key
from .declared import checked, said
from .guide import INSTRUCTIONS
from .text.refusals import RefusalError
from .toolbox import toolbox

logger = logging.getLogger(__name__)


class AlmanacServer(MCPServer[Any]):
    """The SDK's server, with errors that a model can act on."""

    def __init__(self, callers: Callers) -> None:
        @asynccontextmanager
        async def closing(_: MCPServer[Any]) -> AsyncIterator[None]:
            try:
                yield
            finally:
                await callers.close()

        self._made = {one.name: one for one in toolbox(callers.api)}
        super().__init__(
            "almanac",
            title="Almanac",
            version=__version__,
            description="Official economic and company data as known on any day, with sources.",
            instructions=INSTRUCTIONS,
            tools=list(self._made.values()),
            lifespan=closing,
            log_level="WARNING",
            middleware=[with_key],
            subscriptions=False,
        )
        resources.add(self, callers.api)
        prompts.add(self)
        completion.add(self, callers.api)

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[Any, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool. Any fault is reported as a tool error in the tool's own words."""
        made = self._made.get(name)
        if made is None:
            raise ToolError(RefusalError(f"there is no tool {name!r}", allowed=list(self._made)).text())
        wrong = checked(made, arguments)
        if wrong is not None:
            return said(wrong.text(), is_error=True)
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, NoKeyError):
                return said(RefusalError(str(error.__cause__)).text(), is_error=True)
            # Log the fault for the operator, and tell the model that its call was not the cause.
            logger.exception("a tool broke: %s", name)
            return said(
                RefusalError(f"{name} failed by a fault of its own; the same call will fail again").text(),
                is_error=True,
            )
