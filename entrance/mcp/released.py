"""Connections outside of any request: calls that a person has allowed are made once, tools are looked up."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import structlog

from entrance.errors import NotFound, SandgateError, Unavailable
from entrance.mcp.arguments import trouble_with
from entrance.mcp.policy import Call
from entrance.ports import Pins, Remembers, Tool, ToolProvider, ToolResult
from entrance.session import Session
from entrance.tool_policy import Mode

log = structlog.get_logger()

CALL_TIMEOUT_S = 300.0
"""Nobody's client waits for it, so it may take longer than a call that an agent makes."""
LIST_TIMEOUT_S = 30.0


@dataclass
class Released:
    """Makes them. `providers` by the connection's name."""

    providers: Mapping[str, ToolProvider] = field(default_factory=dict)
    call_timeout_s: float = CALL_TIMEOUT_S
    said: Callable[[str, str], Mode | None] = lambda _connection, _tool: None
    """What a connection itself says of a tool."""
    pins: Pins | None = None
    """None: nobody knows what tools were like before."""

    def mode_of(self, connection: str, tool: str) -> Mode | None:
        """What a connection itself says of a tool, whoever uses it; None: nothing."""
        return self.said(connection, tool)

    async def tool(self, session: Session, connection: str, tool: str) -> Tool:
        """A tool of a connection, granted or not. Raises: NotFound, Unavailable."""
        provider = self.providers.get(connection)
        if provider is None:
            known = ", ".join(sorted(self.providers)) or "none"
            raise NotFound(f"there is no connection {connection[:100]}; there are: {known}")
        found = await self._tool(provider, session, tool)
        if found is None:
            raise NotFound(f"{connection} has no tool {tool[:100]}")
        return found

    async def trouble(self, session: Session, wanted: Call) -> str:
        """Why it can't be called, as a sentence without its end; empty when it can.

        Raises: Unavailable when the connection can't be reached now.
        """
        provider = self.providers.get(wanted.connection)
        if provider is None:
            return f"there is no connection {wanted.connection} any more"
        if self.said(wanted.connection, wanted.tool) is Mode.FORBIDDEN:
            return f"{wanted.tool} is forbidden to all who use {wanted.connection}"
        tool = await self._tool(provider, session, wanted.tool)
        if tool is None:
            return f"{wanted.connection} has no tool {wanted.tool} any more"
        if await self._has_changed(session, wanted.connection, tool):
            return f"{wanted.tool} is another than the one a person has looked at"
        wrong = trouble_with(tool.input_schema, wanted.arguments)
        return f"its arguments don't fit {wanted.tool}: {wrong}" if wrong else ""

    async def call(self, session: Session, wanted: Call) -> ToolResult | None:
        """Call it, once; None when no answer was heard, and it may have been done."""
        provider = self.providers[wanted.connection]
        try:
            async with asyncio.timeout(self.call_timeout_s):
                return await provider.call(session, wanted.tool, wanted.arguments)
        except (TimeoutError, Unavailable) as error:
            log.warning("released_call_unheard", tool=wanted.tool, error=str(error))
            return None
        except SandgateError as error:
            return ToolResult(f"{wanted.tool} failed: {error}", is_error=True)

    async def _has_changed(self, session: Session, connection: str, tool: Tool) -> bool:
        if self.pins is None or not tool.listed:
            return False
        found = await self.pins.compared(session, connection, [tool.listed])
        return bool(found[tool.name].change)

    async def _tool(self, provider: ToolProvider, session: Session, name: str) -> Tool | None:
        """The tool as it is listed; one that isn't may have been added since its server was asked."""
        found = await _listed(provider, session, name)
        if found is None and isinstance(provider, Remembers) and provider.doubt(session):
            return await _listed(provider, session, name)
        return found


async def _listed(provider: ToolProvider, session: Session, name: str) -> Tool | None:
    try:
        async with asyncio.timeout(LIST_TIMEOUT_S):
            tools = await provider.tools(session)
    except TimeoutError as error:
        raise Unavailable(f"{provider.connection} doesn't list its tools now") from error
    return next((tool for tool in tools if tool.name == name), None)
