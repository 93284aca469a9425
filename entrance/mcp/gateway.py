"""The MCP gateway: shows a session what it may use, and has it used only after that is on record.

A refused call of a tool is a result with `isError` and the reason, not a transport error: the agent
reads it and goes on. A tool's failure, time limit or over-long answer is told the same way.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import orjson
import structlog

from entrance.decision import Allow, Deny, Hold
from entrance.errors import SandgateError, Unavailable
from entrance.log.body_hash import BodyHash, hash_of_body
from entrance.log.records import Audit, Decided, Outcome, Traffic
from entrance.mcp.catalogue import Entry, names_of
from entrance.mcp.connection import TOUCHED, Caller, Connection, Lost, Starting, Unreadable
from entrance.mcp.judging import Judge
from entrance.mcp.lists import PATIENCE_S, WHY_CHARS, Lists
from entrance.mcp.messages import Failure, Json
from entrance.mcp.offering import Offering
from entrance.mcp.policy import Ruled, granted, is_shown, may_be_held
from entrance.mcp.recorded import of_arguments
from entrance.mcp.results import size_of, text_result
from entrance.mcp.showing import shown_tool
from entrance.mcp.spilling import Spilling
from entrance.ports import Cause, ResultFiles
from entrance.session import Session

log = structlog.get_logger()

RESULT_CHARS = 36_000
"""Below what harnesses keep (Codex: 40,000 bytes; Claude Code: 100,000): what they cut can't be had again."""
CALL_TIMEOUT_S = 50.0
"""Below the minute after which Claude Code and Codex give a tool up: our answer says more."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a tool may take, how much of its answer the agent gets, how long lists are waited for."""

    call_timeout_s: float = CALL_TIMEOUT_S
    result_chars: int = RESULT_CHARS
    list_patience_s: float = PATIENCE_S


@dataclass(frozen=True, slots=True)
class _Called:
    """A call that was allowed, on its way: where it goes, and what of it is on record."""

    entry: Entry
    params: Json
    deciding: "asyncio.Future[int]"
    """The decision's number, once it is on the disk."""
    sent: BodyHash


class Gateway:
    """What every connection offers, behind one list and one call. `clock` counts seconds."""

    def __init__(
        self,
        connections: Mapping[str, Connection],
        audit: Audit,
        clock: Callable[[], float],
        limits: Limits | None = None,
        *,
        judge: Judge | None = None,
        files: ResultFiles | None = None,
        redacted: Callable[[str], str] = str,
    ) -> None:
        """`redacted` takes secrets out of what is written down, as far as their values are known."""
        self._audit = audit
        self._clock = clock
        self._limits = limits or Limits()
        self._judge = judge or Judge()
        self._redacted = redacted
        self._spilling = Spilling(files, self._limits.result_chars)
        lists = Lists(self._limits.call_timeout_s, self._limits.list_patience_s)
        self.offering = Offering(connections, lists, self._judge.pins)

    async def tools(self, caller: Caller) -> list[Json]:
        """The tools granted to the session, as MCP lists them.

        A connection that can't be reached is left out. Raises: Unavailable when there is nothing to
        list: without tools an agent can't end its run, and some harnesses work on in vain.
        """
        entries, down = await self.offering.tools(caller)
        if down and not entries:
            raise Unavailable(f"no tools can be listed now: {'; '.join(down)}")
        listed = [
            self._shown(caller.session, entry)
            for _, entry in sorted(entries.items())
            if _may(caller, entry)
        ]
        if not listed:
            raise Unavailable("no tools can be listed: none is granted to this run")
        return listed

    def _shown(self, session: Session, entry: Entry) -> Json:
        if entry.trouble:
            log.warning("schema_left_out", tool=entry.shown, trouble=entry.trouble)
        held = _may_be_held(session, entry)
        return shown_tool(entry, held=held, for_harness=bool(session.harness))

    async def call(self, caller: Caller, params: Json, call: str = "") -> Json | Failure:
        """Call a tool by the name that it is shown under, if the session may. `call`: the call's id.

        Raises: Unavailable when the call, or what came of it, can't be recorded.
        """
        name, session = params["name"], caller.session
        entry, down = await self.offering.tool(caller, name)
        arguments = params.get("arguments") or {}
        ruled = (
            await self._ruled(session, entry, arguments) if entry else _unknown(session, name, down)
        )
        deciding = self._audit.deciding(
            Decided(
                "tool_call",
                f"{entry.connection}/{entry.name}"[:300] if entry else name[:200],
                ruled.decision,
                session,
                rule=ruled.rule,
                detail={**of_arguments(arguments, self._redacted), **_further(params)},
                cause=Cause(tool=name[:200], call=call),
            )
        )
        if entry and isinstance(ruled.decision, Allow):
            sent = hash_of_body(_raw_of(params))
            return await self._perform(caller, _Called(entry, params, deciding, sent))
        seq = await self._audit.kept(deciding)
        if entry and isinstance(ruled.decision, Hold):
            told = await self._judge.held(session, entry, arguments, ruled, decision=seq, call=call)
            return text_result(told.text, is_error=told.is_error or _promises(session, entry))
        return text_result(f"Refused: {ruled.decision.reason}.", is_error=True)

    async def _ruled(self, session: Session, entry: Entry, arguments: Json) -> Ruled:
        """What becomes of a call of a tool that there is. Arguments that are wrong are told, not held."""
        facts_of = self.offering.named(entry.connection).facts
        ruled = await self._judge.ruled(session, facts_of, entry, arguments)
        if not isinstance(ruled.decision, Hold):
            return ruled
        trouble = entry.shape.trouble_with(arguments)
        return (
            Ruled(Deny(f"its arguments are wrong: {trouble}"), "bad_arguments")
            if trouble
            else ruled
        )

    async def _perform(self, caller: Caller, called: _Called) -> Json | Failure:
        """Prepare the call while its record gets to the disk, and have it leave then."""
        started = self._clock()
        recorded = partial(self._audit.kept, called.deciding)
        word = "crashed"
        result: Json | Failure = text_result("", is_error=True)
        try:
            word, result = await self._answer(replace(caller, may_leave=recorded), called)
        except asyncio.CancelledError:  # the client left in mid-call, or cancelled it
            word = "cancelled"
            raise
        finally:
            seq = await recorded()
            ms = round((self._clock() - started) * 1000)
            detail, came = _came(result)
            traffic = Traffic.of(called.sent, came)
            await self._audit.ended(Outcome(seq, word, {**detail, "ms": ms}, traffic))
        if isinstance(result, Failure):
            return result
        told = await self._spilling.told(caller.session, seq, result)
        meta = {key: value for key, value in _meta(result).items() if key != TOUCHED}
        told = {name: value for name, value in told.items() if name != "_meta"}
        return {**told, "_meta": meta} if meta else told

    async def _answer(self, caller: Caller, called: _Called) -> tuple[str, Json | Failure]:
        entry, limit = called.entry, self._limits.call_timeout_s
        arguments = called.params.get("arguments") or {}
        if trouble := entry.shape.trouble_with(arguments):
            text = f"{entry.shown} was not called, its arguments are wrong: {trouble}"
            return "bad_arguments", text_result(text, is_error=True)
        params = {**called.params, "name": entry.name, "arguments": arguments}
        try:
            async with asyncio.timeout(limit):
                result = await self.offering.named(entry.connection).do(
                    caller, "tools/call", params
                )
        except TimeoutError:
            text = f"{entry.shown} gave no answer in {limit:g} s; whether it was done is not known"
            return "timeout", text_result(text, is_error=True)
        except SandgateError as error:
            return _failed(entry, error)
        if isinstance(result, Failure):
            return "error", result
        return ("error" if result.get("isError") else "ok"), result


def _failed(entry: Entry, error: SandgateError) -> tuple[str, Json]:
    match error:
        case Starting():
            return "unavailable", text_result(str(error)[:WHY_CHARS], is_error=True)
        case Unavailable():
            wait = f"{error.retry_after_s:.0f} s" if error.retry_after_s else "a minute"
            text = f"{entry.connection} can't be reached now; try again in {wait}"
            return "unavailable", text_result(text, is_error=True)
        case Lost():
            text = f"{entry.connection} went away in mid-call; whether it was done is not known"
            return "unknown", text_result(text, is_error=True)
        case Unreadable():
            text = f"{entry.shown}: {error}; whether it was done is not known"
            return "unknown", text_result(text, is_error=True)
        case _:
            log.warning("tool_failed", tool=entry.shown, error=str(error))
            return "failed", text_result(f"{entry.shown} failed: {error}", is_error=True)


def _raw_of(params: Json) -> bytes:
    """What is hashed of a call: its arguments, and whatever else of it reaches the server."""
    further = {key: params[key] for key in ("inputResponses", "requestState") if key in params}
    arguments = params.get("arguments") or {}
    said = {"arguments": arguments, **further} if further else arguments
    return orjson.dumps(said, option=orjson.OPT_SORT_KEYS)


def _further(params: Json) -> dict[str, str]:
    """What the record has of a call beside its arguments: answers to what its server asked before."""
    if not {"inputResponses", "requestState"} & params.keys():
        return {}
    return {"further_sha256": hashlib.sha256(_raw_of(params)).hexdigest()}


def _came(result: Json | Failure) -> tuple[dict[str, Any], BodyHash]:
    if isinstance(result, Failure):
        raw = orjson.dumps([result.code, result.message, result.data])
        return {"touched": [], "chars": len(result.message), "code": result.code}, hash_of_body(raw)
    touched = _meta(result).get(TOUCHED, [])
    raw = orjson.dumps({key: value for key, value in result.items() if key != "_meta"})
    return {"touched": touched, "chars": size_of(result)}, hash_of_body(raw)


def _meta(result: Json) -> Json:
    meta = result.get("_meta")
    return meta if isinstance(meta, dict) else {}


def _may(caller: Caller, entry: Entry) -> bool:
    return not entry.hidden and is_shown(caller.session, entry.connection, entry.name)


def _unknown(session: Session, name: str, down: Sequence[str]) -> Ruled:
    if down:
        reason = f"{name[:100]} can't be called now: {'; '.join(down)}"
        return Ruled(Deny(reason), "unreachable")
    named = names_of({connection: each.names for connection, each in granted(session).items()})
    mine = ", ".join(sorted(named.values())) or "none"
    reason = f"there is no tool {name[:100]}; the tools of this run are: {mine}"
    return Ruled(Deny(reason), "no_such_tool")


def _may_be_held(session: Session, entry: Entry) -> bool:
    return may_be_held(session, entry.connection, entry.name)


def _promises(session: Session, entry: Entry) -> bool:
    """Whether clients hold the tool's results to a schema, which only an error need not fit."""
    return "outputSchema" in entry.listed and not _may_be_held(session, entry)
