"""The model gateway's routes: `POST /model/<provider>/<path of its dialect>`.

Judged and recorded first, then sent on with the real key, metered as it streams, settled at its end.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from urllib.parse import urlencode

import structlog
from aiohttp import web

from entrance.answers import refusal
from entrance.decision import Allow, Decision, Deny
from entrance.errors import SandgateError, Unavailable
from entrance.honeytokens.canaries import Canary
from entrance.honeytokens.watch import TO_THE_SANDBOX, Attempt, Watch, noted
from entrance.identity import SESSION
from entrance.intake import BodyRefused, read_body
from entrance.log.records import Decided, Request
from entrance.model.call import Call, Settler
from entrance.model.dialects import Asked, Dialect, Endpoint
from entrance.model.dialects.anthropic import Anthropic
from entrance.model.dialects.gemini import Gemini
from entrance.model.dialects.openai_chat import ChatCompletions
from entrance.model.dialects.openai_responses import Responses
from entrance.model.headers import onward
from entrance.model.judge import Judge, Refused
from entrance.model.provider import DialectName, Provider
from entrance.model.upstream import Upstream
from entrance.model.way import Way, refuse
from entrance.session import Session
from entrance.vault.credentials import SecretHeaders
from entrance.vault.vault import Vault

log = structlog.get_logger()

BODY_BYTES = 32 << 20
"""What the Messages API itself takes at most."""

DIALECTS: Mapping[DialectName, Sequence[Dialect]] = {
    "anthropic": (Anthropic(),),
    "openai": (Responses(), ChatCompletions()),
    "google": (Gemini(),),
}

_NO_API = "There is no such model API here."


@dataclass(frozen=True, slots=True)
class _Counter:
    """Where a request is served."""

    provider: Provider
    dialect: Dialect
    endpoint: Endpoint


class ModelGateway:
    """Lets a run's model calls through, as far as its grants and budget go."""

    def __init__(
        self,
        providers: Sequence[Provider],
        vault: Vault,
        upstream: Upstream,
        settler: Settler,
        watch: Watch,
    ) -> None:
        self._providers = {provider.name: provider for provider in providers}
        self._vault = vault
        self._upstream = upstream
        self._settler = settler
        self._watch = watch
        self._judge = Judge(settler.prices, settler.budgets)

    def routes(self) -> list[web.RouteDef]:
        """To be added to the entrance's application, behind its identity middleware."""
        return [web.post("/model/{provider}{path:/.+}", self._handle)]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        counter = self._counter(request.match_info["provider"], request.match_info["path"])
        if counter is None:
            await self._record(request, request.path[:200], Deny(_NO_API), {"status": 404})
            return refusal(request.path, 404, "refused", _NO_API)
        dialect = counter.dialect
        try:
            body = await _body_of(request, counter)
            found = self._in_prompt(request[SESSION], body)
            if found and self._watch.in_prompts == "freeze":
                return await self._found(request, counter, found)
            asked = dialect.read_request(counter.endpoint, body)
        except BodyRefused as refused:
            return await self._turned_away(request, dialect, refused.status, str(refused))
        except (ValueError, TypeError) as error:
            reason = f"The body can't be read: {error}"[:300]
            return await self._turned_away(request, dialect, 400, reason)
        if isinstance(asked, Deny):
            return await self._turned_away(request, dialect, dialect.stop, asked.reason)
        return await self._judged(request, counter, asked, noted(found))

    def _in_prompt(self, session: Session, body: bytes) -> Canary | None:
        """A canary that the agent has read, and its model is told of with everything else."""
        return None if self._watch.in_prompts == "off" else self._watch.look(session, body)

    async def _found(
        self, request: web.Request, counter: _Counter, found: Canary
    ) -> web.StreamResponse:
        attempt = Attempt("model_call", counter.provider.name)
        await self._watch.refuse(request[SESSION], found, "a prompt", attempt)
        return refuse(counter.dialect, counter.dialect.stop, "refused", TO_THE_SANDBOX)

    def _counter(self, name: str, path: str) -> _Counter | None:
        provider = self._providers.get(name)
        for dialect in DIALECTS[provider.dialect] if provider else ():
            endpoint = dialect.endpoint(path)
            if provider and endpoint:
                return _Counter(provider, dialect, endpoint)
        return None

    async def _judged(
        self, request: web.Request, counter: _Counter, asked: Asked, note: Mapping[str, str]
    ) -> web.StreamResponse:
        session, model = request[SESSION], f"{counter.provider.name}:{asked.model}"
        dialect, endpoint = counter.dialect, counter.endpoint
        judged = await self._judge.judge(session, model, dialect, endpoint, asked)
        if isinstance(judged, Refused):
            await self._record(request, model[:200], judged.decision, {**judged.detail, **note})
            code = str(judged.detail.get("refused", "refused"))
            reason = judged.decision.reason
            return refuse(dialect, judged.status, code, reason, judged.headers)
        asked_for = _request(counter.provider.url(endpoint.path))
        detail = {**judged.detail, **note}
        record = Decided(
            "model_call", model[:200], Allow(), session, detail=detail, request=asked_for
        )
        # It gets to the disk while the call is made ready; `upstream` waits before it sends a byte.
        audit = self._settler.audit
        decided = partial(audit.kept, audit.deciding(record))
        call = Call(session, model, endpoint, judged.asked, decided, judged.reservation)
        return await self._settled(request, counter, call)

    async def _settled(
        self, request: web.Request, counter: _Counter, call: Call
    ) -> web.StreamResponse:
        started = self._settler.clock()
        try:
            response = await self._sent(request, counter, call)
        except BaseException as error:  # also when the client leaves, which cancels this
            if isinstance(error, Exception) and not isinstance(error, SandgateError):
                call.result = "crashed"
            await self._settler.settle(call, started)
            raise
        try:
            await self._settler.settle(call, started)
        except Unavailable:
            if not response.prepared:
                raise
            # The stream is out: there is nothing to take back.
            log.exception("call_not_settled", model=call.model)
        return response

    async def _sent(
        self, request: web.Request, counter: _Counter, call: Call
    ) -> web.StreamResponse:
        provider, dialect = counter.provider, counter.dialect
        url = provider.url(call.endpoint.path)
        try:
            secret: SecretHeaders = await self._vault.headers_for(provider.secret, "POST", url)
        except Unavailable:
            call.result = "vault_unavailable"
            raise
        except SandgateError as error:
            log.warning("provider_key_unusable", provider=provider.name, error=str(error))
            return refuse(dialect, dialect.stop, "no_key", call.fail("no_key"))
        passed = onward(request.headers, dialect.headers)
        way = Way(dialect, url + _query(request, dialect), passed, secret)
        return await self._upstream.relay(request, call, way)

    async def _turned_away(
        self, request: web.Request, dialect: Dialect, status: int, reason: str
    ) -> web.Response:
        await self._record(request, request.path[:200], Deny(reason), {"status": status})
        return refuse(dialect, status, "refused", reason)

    async def _record(
        self, request: web.Request, subject: str, decision: Decision, detail: Mapping[str, object]
    ) -> int:
        record = Decided("model_call", subject, decision, request[SESSION], detail=detail)
        return await self._settler.audit.decided(record)


@lru_cache(maxsize=256)
def _request(url: str) -> Request:
    return Request.to("POST", url)


def _query(request: web.Request, dialect: Dialect) -> str:
    """What is passed on of the request's query, with its question mark; empty for nothing."""
    if not request.query_string:
        return ""
    passed = {name: request.query[name] for name in request.query if name in dialect.query}
    return f"?{urlencode(passed)}" if passed else ""


async def _body_of(request: web.Request, counter: _Counter) -> bytes:
    """The request's body. Raises: BodyRefused, also when the query isn't what the endpoint has."""
    for name, value in counter.endpoint.query.items():
        if request.query.get(name) != value:
            raise BodyRefused(400, f"Ask with {name}={value}.")
    return await read_body(request, BODY_BYTES)
