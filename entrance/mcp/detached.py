"""A server's tools where no client waits: for calls that a person has allowed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from entrance.decision import Decision, Deny
from entrance.errors import Unavailable
from entrance.mcp import schemas
from entrance.mcp.catalogue import named
from entrance.mcp.connection import Caller, Connection, Lost, Unreadable
from entrance.mcp.messages import METHOD_NOT_FOUND, Era, Failure, Json
from entrance.ports import Tool, ToolResult
from entrance.session import Session
from entrance.tool_policy import Ask

_NOBODY = "nobody is there to be asked"


class _NoClient:
    """Implements `connection.Back`."""

    era: Era = "handshake"

    async def tell(self, method: str, params: Json) -> None:
        """Nobody hears it."""

    async def ask(self, method: str, params: Json) -> Json | Failure:
        del method, params
        return Failure(METHOD_NOT_FOUND, _NOBODY)


async def _nobody(_: str, __: Ask | None, ___: Json) -> Decision:
    return Deny(_NOBODY)


@dataclass(frozen=True, slots=True)
class Detached:
    """Implements `ports.ToolProvider` and `ports.Remembers`."""

    behind: Connection

    @property
    def connection(self) -> str:
        return self.behind.name

    async def tools(self, session: Session) -> Sequence[Tool]:
        listed = named(await self.behind.listed(_caller(session), "tools"))
        return [_tool(each) for each in listed]

    def doubt(self, session: Session) -> bool:
        return self.behind.doubt(session, "tools")

    async def call(self, session: Session, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        params = {"name": tool, "arguments": dict(arguments)}
        try:
            result = await self.behind.do(_caller(session), "tools/call", params)
        except (Lost, Unreadable) as error:
            raise Unavailable(str(error)) from error
        if isinstance(result, Failure):
            return ToolResult(f"{tool} failed: {result.message}", is_error=True)
        return ToolResult(_text_of(result), is_error=result.get("isError") is True)


def _caller(session: Session) -> Caller:
    return Caller(session, _NoClient(), _nobody)


def _tool(listed: Json) -> Tool:
    schema, _ = schemas.shown(listed.get("inputSchema"))
    return Tool(listed["name"], str(listed.get("description") or ""), schema, listed=listed)


def _text_of(result: Json) -> str:
    """What it says, as text: what is no text as the JSON that it is."""
    content = result.get("content")
    parts = content if isinstance(content, list) else []
    return "\n".join(
        part["text"]
        if isinstance(part, dict) and isinstance(part.get("text"), str)
        else orjson.dumps(part).decode()
        for part in parts
    )
