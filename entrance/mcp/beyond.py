"""Prompts, resources and completions: shown where granted, and used only after that is on record."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from typing import Literal

import orjson

from entrance.decision import Allow, Deny
from entrance.errors import SandgateError, Unavailable
from entrance.log.body_hash import hash_of_body
from entrance.log.records import Audit, Decided, Outcome, Traffic
from entrance.mcp.beyond_policy import Wish, beyond_of, decide_beyond, is_open
from entrance.mcp.catalogue import Entry, Granted, catalogue
from entrance.mcp.connection import Caller, Connection, Kind, Lost
from entrance.mcp.gateway import CALL_TIMEOUT_S
from entrance.mcp.lists import PATIENCE_S
from entrance.mcp.messages import INVALID_PARAMS, UNREACHABLE, Failure, Json
from entrance.mcp.offering import Offering
from entrance.mcp.policy import Ruled
from entrance.session import Session

RESULT_BYTES = 4 << 20
_URI: Mapping[Kind, str] = {"resources": "uri", "resources/templates": "uriTemplate"}
_WISHES: Mapping[Kind, Literal["resource", "template"]] = {
    "resources": "resource",
    "resources/templates": "template",
}
_LIMITS_S: Mapping[str, float] = {"logging/setLevel": PATIENCE_S}
"""How long is waited for what no agent waits for."""
_ANYBODY = Ruled(Allow(), "anybody")


class Beyond:
    """What connections offer beside tools. `clock` counts seconds."""

    def __init__(self, offering: Offering, audit: Audit, clock: Callable[[], float]) -> None:
        self._offering = offering
        self._audit = audit
        self._clock = clock

    async def prompts(self, caller: Caller) -> list[Json]:
        """The prompts granted to the session."""
        return [
            {**entry.listed, "name": shown}
            for shown, entry in sorted((await self._prompts(caller)).items())
            if isinstance(self._prompt(caller.session, entry).decision, Allow)
        ]

    async def resources(self, caller: Caller, kind: Kind) -> list[Json]:
        """The resources, or templates of such, that are granted to the session."""
        key = _URI[kind]
        offered, _ = await self._offering.of_kind(caller, kind)
        return [
            each
            for name, many in sorted(offered.items())
            for each in many
            if isinstance(each, dict) and isinstance(each.get(key), str)
            if is_open(caller.session, self._wish(_WISHES[kind], name, each[key]))
        ]

    async def prompt(self, caller: Caller, params: Json) -> Json | Failure:
        """Get a prompt by the name that it is shown under."""
        name = params["name"]
        entry = (await self._prompts(caller)).get(name)
        ruled = (
            self._prompt(caller.session, entry)
            if entry
            else Ruled(Deny(f"no prompt {name[:100]}"), "no_such_prompt")
        )
        connection = entry.connection if entry else ""
        sent = {**params, "name": entry.name if entry else name}
        return await self._done(caller, connection, "prompts/get", sent, ruled)

    async def resource(self, caller: Caller, method: str, params: Json) -> Json | Failure:
        """Read a resource, or begin or end to be told of its changes."""
        connection, ruled = self._holder(caller, params["uri"])
        return await self._done(caller, connection, method, params, ruled)

    async def completion(self, caller: Caller, params: Json) -> Json | Failure:
        """Complete an argument of a prompt, or of a resource's template."""
        ref = params["ref"]
        if ref.get("type") == "ref/resource" and isinstance(ref.get("uri"), str):
            connection, ruled = self._holder(caller, ref["uri"].partition("{")[0])
            return await self._done(caller, connection, "completion/complete", params, ruled)
        name = ref.get("name")
        entry = (await self._prompts(caller)).get(name) if isinstance(name, str) else None
        if entry is None:
            reason = "completion is for a prompt or a resource template that is granted"
            denied = Ruled(Deny(reason), "no_such_prompt")
            return await self._done(caller, "", "completion/complete", params, denied)
        sent = {**params, "ref": {**ref, "name": entry.name}}
        ruled = self._prompt(caller.session, entry)
        return await self._done(caller, entry.connection, "completion/complete", sent, ruled)

    async def level(self, caller: Caller, params: Json) -> Json | Failure:
        """Have every server log from this level on; a server that can't, or hangs, is left as it is."""
        done = [
            self._done(caller, each.name, "logging/setLevel", params, _ANYBODY)
            for each in self._offering.of(caller.session)
            if each.foreign
        ]
        await asyncio.gather(*done)
        return {}

    async def _prompts(self, caller: Caller) -> dict[str, Entry]:
        offered, _ = await self._offering.of_kind(caller, "prompts")
        granted = {name: Granted(beyond_of(caller.session, name).prompts) for name in offered}
        return catalogue(offered, granted)

    def _holder(self, caller: Caller, uri: str) -> tuple[str, Ruled]:
        """The connection at which a resource is granted; the first by name where several are."""
        reason = f"the resource {uri[:200]} was not granted to this run"
        ruled = Ruled(Deny(reason), "beyond_not_granted")
        for each in self._offering.of(caller.session):
            ruled = decide_beyond(caller.session, self._wish("resource", each.name, uri))
            if isinstance(ruled.decision, Allow):
                return each.name, ruled
        return "", ruled

    def _prompt(self, session: Session, entry: Entry) -> Ruled:
        return decide_beyond(session, self._wish("prompt", entry.connection, entry.name))

    def _wish(
        self, kind: Literal["prompt", "resource", "template"], connection: str, name: str
    ) -> Wish:
        return Wish(kind, connection, name, self._offering.named(connection).bounds)

    async def _done(
        self, caller: Caller, connection: str, method: str, params: Json, ruled: Ruled
    ) -> Json | Failure:
        decision = ruled.decision
        what = str(params.get("name") or params.get("uri") or params.get("level") or "")
        raw = orjson.dumps({key: params[key] for key in params if key != "_meta"})
        seq = await self._audit.decided(
            Decided(
                "request",
                f"{connection or 'mcp'}/{method} {what}".strip()[:300],
                decision,
                caller.session,
                detail={"params_sha256": hashlib.sha256(raw).hexdigest(), "bytes": len(raw)},
                door="mcp",
                rule=ruled.rule,
            )
        )
        if not isinstance(decision, Allow):
            data = {"uri": params["uri"]} if "uri" in params else None
            return Failure(INVALID_PARAMS, f"Refused: {decision.reason}.", data, 400)
        started, word = self._clock(), "crashed"
        result: Json | Failure = {}
        try:
            word, result = await self._answer(
                caller, self._offering.named(connection), method, params
            )
        except asyncio.CancelledError:
            word = "cancelled"
            raise
        finally:
            came = hash_of_body(_bytes_of(result))
            detail = {"ms": round((self._clock() - started) * 1000)}
            traffic = Traffic.of(hash_of_body(raw), came)
            await self._audit.ended(Outcome(seq, word, detail, traffic))
        return result

    async def _answer(
        self, caller: Caller, connection: Connection, method: str, params: Json
    ) -> tuple[str, Json | Failure]:
        name = connection.name
        try:
            async with asyncio.timeout(_LIMITS_S.get(method, CALL_TIMEOUT_S)):
                result = await connection.do(caller, method, params)
        except (TimeoutError, Lost):
            return "timeout", Failure(UNREACHABLE, f"{name} gave no answer")
        except Unavailable:
            return "unavailable", Failure(UNREACHABLE, f"{name} can't be reached now")
        except SandgateError as error:
            return "failed", Failure(UNREACHABLE, f"{name} failed: {error}")
        if isinstance(result, Failure):
            return "error", result
        if len(_bytes_of(result)) > RESULT_BYTES:
            return "too_large", Failure(
                UNREACHABLE, f"The answer is larger than {RESULT_BYTES} bytes"
            )
        return "ok", result


def _bytes_of(result: Json | Failure) -> bytes:
    if isinstance(result, Failure):
        return orjson.dumps([result.code, result.message, result.data])
    return orjson.dumps(result)
