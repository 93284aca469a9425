"""The model gateway's routes: `POST /model/<provider>/<path of its dialect>`.

Judged and recorded first, then sent on with the real key, metered as it streams, settled at its end.
"""

from collections.abc import Mapping, Sequence
from urllib.parse import urlencode

import structlog
from aiohttp import web

from entrance.answers import refusal
from entrance.audit import Decided
from entrance.decision import Decision, Deny
from entrance.errors import SandgateError, Unavailable
from entrance.identity import SESSION
from entrance.intake import BodyRefused, read_body
from entrance.model.budget import decide
from entrance.model.call import Call, Settler
from entrance.model.dialects import Asked, Dialect, Endpoint
from entrance.model.dialects.anthropic import Anthropic
from entrance.model.headers import onward
from entrance.model.provider import DialectName, Provider
from entrance.model.upstream import Upstream, Way
from entrance.vault.credentials import SecretHeaders
from entrance.vault.vault import Vault

log = structlog.get_logger()

BODY_BYTES = 32 << 20
"""What the Messages API itself takes at most."""

DIALECTS: Mapping[DialectName, Dialect] = {"anthropic": Anthropic()}

_NO_KEY = "The key for this provider is not set up for it; an operator has to look at it."


class ModelGateway:
    """Lets a run's model calls through, as far as its grants and budget go."""

    def __init__(
        self, providers: Sequence[Provider], vault: Vault, upstream: Upstream, settler: Settler
    ) -> None:
        self._providers = {provider.name: provider for provider in providers}
        self._vault = vault
        self._upstream = upstream
        self._settler = settler

    def routes(self) -> list[web.RouteDef]:
        """To be added to the entrance's application, behind its identity middleware."""
        return [web.post("/model/{provider}{path:/.+}", self._handle)]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        provider = self._providers.get(request.match_info["provider"])
        dialect = DIALECTS[provider.dialect] if provider else None
        endpoint = dialect.endpoints.get(request.match_info["path"]) if dialect else None
        if provider is None or dialect is None or endpoint is None:
            return await self._turned_away(request, 404, "There is no such model API here.")
        try:
            asked = dialect.read_request(await read_body(request, BODY_BYTES))
        except BodyRefused as refused:
            return await self._turned_away(request, refused.status, str(refused))
        except (ValueError, TypeError) as error:
            return await self._turned_away(request, 400, f"The body can't be read: {error}"[:300])
        if isinstance(asked, Deny):
            return await self._turned_away(request, 403, asked.reason)
        return await self._judged(request, provider, dialect, endpoint, asked)

    async def _judged(
        self,
        request: web.Request,
        provider: Provider,
        dialect: Dialect,
        endpoint: Endpoint,
        asked: Asked,
    ) -> web.StreamResponse:
        session, model = request[SESSION], f"{provider.name}:{asked.model}"
        spent = (await self._settler.meter.spent(session.run)).cost_usd
        priced = self._settler.prices.knows(model)
        decision = decide(session, model, priced=priced, spent_usd=spent)
        detail = {
            "path": endpoint.path,
            "bytes": len(asked.body),
            "stream": asked.streams,
            "spent_usd": str(spent),
            "budget_usd": str(session.budget_usd),
        }
        seq = await self._record(request, model[:200], decision, detail)
        if isinstance(decision, Deny):
            return refusal(request.path, 403, "refused", decision.reason)
        call = Call(session, model, endpoint, asked, seq, spent)
        started = self._settler.clock()
        try:
            response = await self._sent(request, provider, dialect, call)
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
            log.exception(
                "call_not_settled", model=model
            )  # the stream is out: nothing to take back
        return response

    async def _sent(
        self, request: web.Request, provider: Provider, dialect: Dialect, call: Call
    ) -> web.StreamResponse:
        url = provider.url(call.endpoint.path)
        try:
            secret: SecretHeaders = await self._vault.headers_for(provider.secret, "POST", url)
        except Unavailable:
            call.result = "vault_unavailable"
            raise
        except SandgateError as error:
            log.warning("provider_key_unusable", provider=provider.name, error=str(error))
            call.result = "no_key"
            return refusal(request.path, 403, "no_key", _NO_KEY)
        query = {name: request.query[name] for name in request.query if name in dialect.query}
        url += f"?{urlencode(query)}" if query else ""
        way = Way(dialect, url, onward(request.headers), secret)
        return await self._upstream.relay(request, call, way)

    async def _turned_away(self, request: web.Request, status: int, reason: str) -> web.Response:
        await self._record(request, request.path[:200], Deny(reason), {"status": status})
        return refusal(request.path, status, "refused", reason)

    async def _record(
        self, request: web.Request, subject: str, decision: Decision, detail: Mapping[str, object]
    ) -> int:
        record = Decided("model_call", subject, decision, request[SESSION], detail=detail)
        return await self._settler.audit.decided(record)
