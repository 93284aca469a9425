"""The counter: each request that a client may make, and who answers it."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from entrance.decision import Decision
from entrance.errors import Unavailable
from entrance.log.records import Audit, Decided
from entrance.mcp.beyond import Beyond
from entrance.mcp.beyond_policy import Wish, asks_of, decide_beyond, has_more_than_tools
from entrance.mcp.connection import Back, Caller
from entrance.mcp.envelope import HANDSHAKE_VERSIONS, MODERN_VERSIONS
from entrance.mcp.gateway import Gateway
from entrance.mcp.listening import ALL, Listening
from entrance.mcp.messages import (
    INTERNAL_ERROR,
    SERVER_INFO,
    SUBSCRIPTION_KEY,
    Failure,
    Json,
    Reply,
    Request,
    success,
)
from entrance.mcp.methods import METHODS
from entrance.mcp.protocol import call_of, not_found
from entrance.mcp.session_ids import Agreed, can_be_asked
from entrance.ports import Sessions
from entrance.session import Session
from entrance.tool_policy import Ask

INSTRUCTIONS = (
    "These tools are the only way to the world outside this sandbox. Every call is recorded. "
    "A refused call says why; do not look for another way round it."
)
_Answering = Callable[[Caller, Request], Awaitable[Json | Failure]]


class Counter:
    """Answers requests; sessions and HTTP are the business of whoever stands before it."""

    def __init__(
        self, gateway: Gateway, sessions: Sessions, audit: Audit, clock: Callable[[], float]
    ) -> None:
        self._gateway = gateway
        self._offering = gateway.offering
        self._audit = audit
        self._beyond = Beyond(gateway.offering, audit, clock)
        self._listening = Listening(gateway.offering, sessions)
        self._answering: Mapping[str, _Answering] = {
            "ping": self._ping,
            "server/discover": self._discover,
            "tools/list": self._tools,
            "tools/call": lambda caller, asked: gateway.call(caller, asked.params, call_of(asked)),
            "prompts/list": self._prompts,
            "prompts/get": lambda caller, asked: self._beyond.prompt(caller, asked.params),
            "resources/list": self._resources,
            "resources/templates/list": self._templates,
            "resources/read": self._resource,
            "resources/subscribe": self._resource,
            "resources/unsubscribe": self._resource,
            "completion/complete": lambda caller, asked: self._beyond.completion(
                caller, asked.params
            ),
            "logging/setLevel": lambda caller, asked: self._beyond.level(caller, asked.params),
            "subscriptions/listen": self._listen,
        }

    async def answer(self, session: Session, request: Request, back: Back) -> Reply:
        """The answer to a request. Raises: Unavailable when something can't be recorded."""
        group = METHODS[request.method].group
        if group not in {"gateway", "tools"} and group not in self.capabilities(session):
            return not_found(request)
        caller = self._caller(session, back)
        result = await self._answering[request.method](caller, request)
        if isinstance(result, Failure):
            return result.reply(request.id)
        return success(request, result)

    def initialized(self, session: Session, request: Request) -> tuple[Agreed, Reply]:
        """What is agreed on with a client of the handshake era, and the answer that tells it."""
        wanted = request.params.get("protocolVersion")
        version = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        capabilities = {k: v for k, v in self.capabilities(session).items() if k != "listening"}
        told = {
            "protocolVersion": version,
            "capabilities": capabilities,
            "serverInfo": SERVER_INFO,
            "instructions": INSTRUCTIONS,
        }
        agreed = Agreed(version, can_be_asked(request.params.get("capabilities")))
        return agreed, success(request, told)

    def capabilities(self, session: Session) -> dict[str, Any]:
        """What the session can use here: its tools, and whatever else it was granted."""
        mine = self._offering.of(session)
        theirs = [each.name for each in mine if each.foreign]
        found: dict[str, Any] = {"tools": {"listChanged": True}, "listening": {}}
        if theirs:
            found["logging"] = {}
        if any(has_more_than_tools(session, name) for name in theirs):
            found |= {
                "prompts": {"listChanged": True},
                "resources": {"listChanged": True, "subscribe": True},
                "completions": {},
            }
        return found

    async def listen(self, session: Session, back: Back) -> None:
        """Tell a client of the handshake era, on its stream, what happens, until the run is over."""
        caller = self._caller(session, back)
        await self._listening.listen(caller, ALL, back.tell)

    async def leave(self, session: Session) -> None:
        """The run has no client any more."""
        self._offering.lists.leave(session.token_sha256)
        for each in self._offering.of(session):
            await each.leave(session)

    def _caller(self, session: Session, back: Back) -> Caller:
        return Caller(session, back, partial(self._may_ask, session), partial(self._asks, session))

    def _asks(self, session: Session, connection: str) -> frozenset[Ask]:
        return asks_of(session, connection, self._offering.named(connection).bounds)

    async def _may_ask(
        self, session: Session, connection: str, ask: Ask | None, params: Json
    ) -> Decision:
        bounds = self._offering.named(connection).bounds
        asked = ask or "something unknown"
        ruled = decide_beyond(session, Wish("ask", connection, asked, bounds))
        await self._audit.decided(
            Decided(
                "request",
                f"{connection}/asks {asked}",
                ruled.decision,
                session,
                detail={"keys": sorted(params)[:20]},
                door="mcp",
                rule=ruled.rule,
            )
        )
        return ruled.decision

    async def _ping(self, caller: Caller, asked: Request) -> Json:
        del caller, asked
        return {}

    async def _discover(self, caller: Caller, asked: Request) -> Json:
        del asked
        capabilities = self.capabilities(caller.session)
        capabilities.pop("listening", None)
        return {
            "supportedVersions": list(MODERN_VERSIONS),
            "capabilities": capabilities,
            "instructions": INSTRUCTIONS,
        }

    async def _tools(self, caller: Caller, asked: Request) -> Json | Failure:
        del asked
        try:
            return {"tools": await self._gateway.tools(caller)}
        except Unavailable as error:
            return Failure(INTERNAL_ERROR, str(error))

    async def _prompts(self, caller: Caller, asked: Request) -> Json:
        del asked
        return {"prompts": await self._beyond.prompts(caller)}

    async def _resources(self, caller: Caller, asked: Request) -> Json:
        del asked
        return {"resources": await self._beyond.resources(caller, "resources")}

    async def _templates(self, caller: Caller, asked: Request) -> Json:
        del asked
        return {"resourceTemplates": await self._beyond.resources(caller, "resources/templates")}

    async def _resource(self, caller: Caller, asked: Request) -> Json | Failure:
        return await self._beyond.resource(caller, asked.method, asked.params)

    async def _listen(self, caller: Caller, asked: Request) -> Json:
        """A modern client's stream: acknowledged at once, then told until it leaves, or the run is over."""
        tag = {SUBSCRIPTION_KEY: asked.id}
        wanted = self._listening.agreed(caller.session, asked.params["notifications"])

        async def tell(method: str, params: Json) -> None:
            meta = params.get("_meta")
            tagged = {**(meta if isinstance(meta, dict) else {}), **tag}
            await caller.back.tell(method, {**params, "_meta": tagged})

        await tell("notifications/subscriptions/acknowledged", {"notifications": wanted})
        await self._listening.listen(caller, wanted, tell)
        return {"_meta": tag}
