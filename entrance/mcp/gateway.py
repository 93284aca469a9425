"""The MCP gateway: shows a session its tools, and has one called only after that is on record.

A refused call is a tool result with `isError` and the reason, not a transport error: the agent
reads it and goes on. A tool's failure, time limit or over-long answer is told the same way.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import structlog

from entrance.decision import Allow, Deny, Hold
from entrance.errors import SandgateError, Unavailable
from entrance.log.body_hash import BodyHash, hash_of_body
from entrance.log.records import Audit, Decided, Outcome, Traffic
from entrance.mcp.arguments import trouble_with
from entrance.mcp.catalogue import Entry, catalogue, granted
from entrance.mcp.judging import Judge
from entrance.mcp.policy import Ruled
from entrance.mcp.recorded import of_arguments
from entrance.ports import Cause, Tool, ToolProvider, ToolResult
from entrance.session import Session

log = structlog.get_logger()

RESULT_CHARS = 100_000
CALL_TIMEOUT_S = 50.0
"""Below the minute after which Claude Code and Codex give a tool up: our answer says more."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a tool may take, and how much of its answer the agent gets."""

    call_timeout_s: float = CALL_TIMEOUT_S
    result_chars: int = RESULT_CHARS


class Gateway:
    """The tools of every connection, behind one list and one call. `clock` counts seconds."""

    def __init__(
        self,
        providers: Sequence[ToolProvider],
        audit: Audit,
        clock: Callable[[], float],
        limits: Limits | None = None,
        judge: Judge | None = None,
    ) -> None:
        self._providers = {provider.connection: provider for provider in providers}
        self._audit = audit
        self._clock = clock
        self._limits = limits or Limits()
        self._judge = judge or Judge()
        if len(self._providers) != len(providers):
            raise ValueError("two tool providers have the same connection name")

    async def tools(self, session: Session) -> list[dict[str, Any]]:
        """The tools granted to the session, as MCP lists them.

        A connection that can't be reached is left out. Raises: Unavailable when there is nothing to
        list: without tools an agent can't end its run, and some harnesses work on in vain.
        """
        entries, down = await self._offered(session)
        if down and not entries:
            raise Unavailable(f"no tools can be listed now: {', '.join(down)} can't be reached")
        listed = [_listed(entry) for entry in granted(session, entries)]
        if not listed:
            raise Unavailable("no tools can be listed: none is granted to this run")
        return listed

    async def call(
        self, session: Session, name: str, arguments: Mapping[str, Any], call: str = ""
    ) -> ToolResult:
        """Call a tool by the name that it is shown under, if the session may. `call`: the call's id.

        Raises: Unavailable when the call, or what came of it, can't be recorded.
        """
        entries, down = await self._offered(session)
        entry = entries.get(name)
        ruled = (
            await self._ruled(session, entry, arguments) if entry else _unknown(session, name, down)
        )
        raw = orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS)
        seq = await self._audit.decided(
            Decided(
                "tool_call",
                f"{entry.connection}/{entry.tool.name}" if entry else name[:200],
                ruled.decision,
                session,
                rule=ruled.rule,
                detail=of_arguments(arguments),
                cause=Cause(tool=name[:200], call=call),
            )
        )
        if entry and isinstance(ruled.decision, Hold):
            return await self._judge.held(session, entry, arguments, ruled, decision=seq, call=call)
        if entry is None or not isinstance(ruled.decision, Allow):
            return ToolResult(f"Refused: {ruled.decision.reason}.", is_error=True)
        return await self._perform(session, entry, arguments, seq, hash_of_body(raw))

    async def _ruled(self, session: Session, entry: Entry, arguments: Mapping[str, Any]) -> Ruled:
        """What becomes of a call of a tool that there is. Arguments that are wrong are told, not held."""
        ruled = await self._judge.ruled(
            session, self._providers[entry.connection], entry, arguments
        )
        if not isinstance(ruled.decision, Hold):
            return ruled
        trouble = trouble_with(entry.tool.input_schema, arguments)
        return (
            Ruled(Deny(f"its arguments are wrong: {trouble}"), "bad_arguments")
            if trouble
            else ruled
        )

    async def _perform(
        self,
        session: Session,
        entry: Entry,
        arguments: Mapping[str, Any],
        seq: int,
        sent: BodyHash,
    ) -> ToolResult:
        started = self._clock()
        word, result = "crashed", ToolResult("", is_error=True)
        try:
            word, result = await self._answer(session, entry, arguments)
        except asyncio.CancelledError:  # the client left in mid-call
            word = "cancelled"
            raise
        finally:
            detail = {
                "touched": list(result.touched),
                "chars": len(result.text),
                "ms": round((self._clock() - started) * 1000),
            }
            moved = Traffic.of(sent, hash_of_body(result.text.encode(errors="replace")))
            await self._audit.came_of_it(Outcome(seq, word, detail, moved))
        return _capped(result, self._limits.result_chars)

    async def _answer(
        self, session: Session, entry: Entry, arguments: Mapping[str, Any]
    ) -> tuple[str, ToolResult]:
        trouble = trouble_with(entry.tool.input_schema, arguments)
        if trouble:
            text = f"{entry.shown} was not called, its arguments are wrong: {trouble}"
            return "bad_arguments", ToolResult(text, is_error=True)
        limit = self._limits.call_timeout_s
        try:
            async with asyncio.timeout(limit):
                provider = self._providers[entry.connection]
                result = await provider.call(session, entry.tool.name, arguments)
        except TimeoutError:
            text = f"{entry.shown} gave no answer in {limit:g} s; whether it was done is not known"
            return "timeout", ToolResult(text, is_error=True)
        except Unavailable:
            text = f"{entry.connection} can't be reached now; try again in a minute"
            return "unavailable", ToolResult(text, is_error=True)
        except SandgateError as error:
            log.warning("tool_failed", tool=entry.shown, error=str(error))
            return "failed", ToolResult(f"{entry.shown} failed: {error}", is_error=True)
        return ("error" if result.is_error else "ok"), result

    async def _offered(self, session: Session) -> tuple[dict[str, Entry], list[str]]:
        """What the session's connections offer, and those of them that can't be reached."""
        names = sorted(session.tools.keys() & self._providers.keys())
        answers = await asyncio.gather(*(self._tools_of(session, name) for name in names))
        offered = {
            name: tools for name, tools in zip(names, answers, strict=True) if tools is not None
        }
        return catalogue(offered), [name for name in names if name not in offered]

    async def _tools_of(self, session: Session, connection: str) -> Sequence[Tool] | None:
        try:
            async with asyncio.timeout(self._limits.call_timeout_s):
                return await self._providers[connection].tools(session)
        except (SandgateError, TimeoutError) as error:
            log.warning("connection_unreachable", connection=connection, error=str(error))
            return None


def _unknown(session: Session, name: str, down: Sequence[str]) -> Ruled:
    if down:
        reason = f"{name[:100]} can't be called now: {', '.join(down)} can't be reached"
        return Ruled(Deny(reason), "unreachable")
    mine = ", ".join(sorted(tool for tools in session.tools.values() for tool in tools)) or "none"
    reason = f"there is no tool {name[:100]}; the tools of this run are: {mine}"
    return Ruled(Deny(reason), "no_such_tool")


def _listed(entry: Entry) -> dict[str, Any]:
    return {
        "name": entry.shown,
        "description": entry.tool.description,
        "inputSchema": dict(entry.tool.input_schema),
        "annotations": {"readOnlyHint": entry.tool.read_only},
    }


def _capped(result: ToolResult, chars: int) -> ToolResult:
    """The result with at most `chars` characters, and a plain word about what is missing."""
    whole = len(result.text)
    if whole <= chars:
        return result
    mark = f"\n[cut here by Sandgate: {chars} of {whole} characters are shown; ask for less]"
    return ToolResult(result.text[:chars] + mark, result.is_error, result.touched)
