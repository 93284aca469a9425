"""A connection whose tools answer as they are told to."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from entrance.errors import Unavailable
from entrance.ports import Tool, ToolResult
from entrance.session import Session

GET_ITEM = Tool(
    "get_item",
    "Read a work item.",
    {
        "type": "object",
        "properties": {"key": {"type": "string"}},
        "required": ["key"],
        "additionalProperties": False,
    },
    read_only=True,
)
DELETE_ITEM = Tool("delete_item", "Delete a work item.", {"type": "object"})


@dataclass
class FakeTools:
    """`entrance.ports.ToolProvider` for tests. `answer` is given back; `calls` is what was asked."""

    connection: str = "tracker"
    offers: Sequence[Tool] = (GET_ITEM, DELETE_ITEM)
    answer: ToolResult = field(default_factory=lambda: ToolResult("done", touched=("T-1",)))
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    down: bool = False
    hangs: bool = False
    crashes: bool = False

    async def tools(self, session: Session) -> Sequence[Tool]:
        del session
        self._reach()
        return self.offers

    async def call(self, session: Session, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        del session
        self._reach()
        self.calls.append((tool, dict(arguments)))
        if self.crashes:
            raise RuntimeError("a bug of ours")
        if self.hangs:
            await asyncio.Event().wait()
        return self.answer

    def _reach(self) -> None:
        if self.down:
            raise Unavailable(f"{self.connection} can't be reached")
