"""The route of the counter for backends: `/backend/<path>`, for programs of MCP servers in sandboxes.

Which system it is, and whose credential, is the session's; a request names a path below it. Redirects
are not followed, cookies not kept, and what may not be done twice is not sent twice.
"""

import asyncio
from dataclasses import dataclass, field
from http import HTTPStatus
from io import BytesIO

import aiohttp
from aiohttp import hdrs, web
from yarl import URL

from entrance.answers import refusal
from entrance.backend.addresses import Way
from entrance.backend.headers import back, onward
from entrance.decision import Allow, Decision, Deny
from entrance.errors import Forbidden, Malformed, NotFound
from entrance.honeytokens.watch import TO_THE_SANDBOX, Attempt, Watch
from entrance.identity import BACKEND, SESSION
from entrance.intake import BodyRefused, read_body, read_whole
from entrance.log.body_hash import BodyHash, hash_of_body
from entrance.log.records import Audit, Decided, Outcome, Request, Traffic
from entrance.session import Session
from entrance.turns import Turns
from entrance.vault.credentials import SecretHeaders
from entrance.vault.vault import Vault

RULE = "backend"
"""What a record names as the rule that decided."""
BODY_BYTES = 16 << 20
"""Of a request, and of an answer: either is looked through whole."""
AT_ONCE = 4
"""Of one run."""
_TIMES = aiohttp.ClientTimeout(total=120, sock_connect=10)

_NONE = "This server has no backend: its connection names no URL and secret."
_ODD = "This is no address of a backend: ask for a path below the URL that you were given."
TROUBLES = {
    "unreachable": "The backend can't be reached, or broke off; whether it did something is not known.",
    "packed": "The backend's answer is packed though nobody asked for it; it is not passed on.",
    "too_large": f"The backend's answer is too large: at most {BODY_BYTES} bytes pass here.",
}
"""What can come of a request without an answer that is passed on, and how it is told."""


@dataclass(slots=True)
class _Going:
    """A request that was allowed, and what is seen of its answer."""

    method: str
    way: Way
    headers: dict[str, str]
    body: bytes = field(repr=False)
    secret: SecretHeaders = field(repr=False)
    status: int = 0
    came: BodyHash = field(default_factory=BodyHash, repr=False)
    result: str = "cancelled"
    """What came of it, in a word; stands as it is when the client left before anything did."""


class BackendCounter:
    """Lets a server's requests through to its one backend, with the vault's credential on them."""

    def __init__(
        self, http: aiohttp.ClientSession, audit: Audit, vault: Vault, watch: Watch
    ) -> None:
        """`http` keeps no cookies and unpacks nothing; who makes it closes it."""
        self._http = http
        self._audit = audit
        self._vault = vault
        self._watch = watch
        self._turns = Turns(AT_ONCE)

    def routes(self) -> list[web.RouteDef]:
        """To be added to the entrance's application, behind its identity middleware."""
        return [web.route(hdrs.METH_ANY, f"{BACKEND}{{path:/.*}}", self._handle)]

    async def _handle(self, request: web.Request) -> web.Response:
        session = request[SESSION]
        async with self._turns.turn(session.run):  # bodies are held whole
            return await self._judged(request, session)

    async def _judged(self, request: web.Request, session: Session) -> web.Response:
        if session.backend is None:
            return await self._refuse(request, _NONE)
        target = request.raw_path.removeprefix(BACKEND)
        if target == request.raw_path:  # in another form than the one that is judged
            return await self._refuse(request, _ODD, HTTPStatus.BAD_REQUEST)
        base = session.backend.url.rstrip("/")
        way = Way(f"{request.scheme}://{request.host}{BACKEND}", base, url := base + target)
        try:
            body = await read_body(request, BODY_BYTES)
            if found := self._watch.look(session, body):
                attempt = Attempt("request", f"{request.method} {BACKEND}")
                await self._watch.refuse(session, found, "the body of a request", attempt)
                return refusal(request.path, HTTPStatus.FORBIDDEN, "refused", TO_THE_SANDBOX)
            secret = await self._vault.headers_for(session.backend.secret, request.method, url)
        except BodyRefused as refused:
            return await self._refuse(request, str(refused), refused.status, url)
        except (Forbidden, NotFound, Malformed) as error:
            return await self._refuse(request, str(error), url=url)
        going = _Going(request.method, way, onward(request.headers), body, secret)
        return await self._sent(session, going, request.path)

    async def _sent(self, session: Session, going: _Going, path: str) -> web.Response:
        """Record it, send it on, and say what came of it, however that ends."""
        seq = await self._record(session, going.method, going.way.asked, Allow())
        try:
            return await self._answered(going, path)
        finally:
            moved = Traffic.of(hash_of_body(going.body), going.came, going.status)
            await self._audit.came_of_it(Outcome(seq, going.result, traffic=moved))

    async def _answered(self, going: _Going, path: str) -> web.Response:
        try:
            async with self._http.request(
                going.method,
                URL(going.way.asked, encoded=True),  # the very one that was judged
                data=BytesIO(going.body) if going.body else None,
                headers={**going.headers, **going.secret},
                skip_auto_headers=(hdrs.CONTENT_TYPE, hdrs.USER_AGENT),
                allow_redirects=False,
                timeout=_TIMES,
            ) as answer:
                going.status = answer.status
                if answer.headers.get(hdrs.CONTENT_ENCODING, "identity") != "identity":
                    return _failed(going, path, "packed")
                body = await read_whole(answer, BODY_BYTES, going.came)
        except (aiohttp.ClientError, TimeoutError, ConnectionError):
            return _failed(going, path, "unreachable")
        if body is None:
            return _failed(going, path, "too_large")
        going.result = "ok"
        redact = going.secret.redact_all
        headers = {
            name: redact(value.encode("utf-8", "surrogateescape")).decode("utf-8", "replace")
            for name, value in back(answer.headers, going.way).items()
        }
        # Headers are cheap to look through; a body may be large, and has a processor of its own.
        told = await asyncio.to_thread(redact, body)
        return web.Response(status=going.status, body=told, headers=headers)

    async def _refuse(
        self,
        request: web.Request,
        reason: str,
        status: int = HTTPStatus.FORBIDDEN,
        url: str = "",
    ) -> web.Response:
        await self._record(request[SESSION], request.method, url, Deny(reason))
        return refusal(request.path, status, "refused", reason)

    async def _record(self, session: Session, method: str, url: str, decision: Decision) -> int:
        asked = Request.to(method, url) if url else None
        subject = f"{method} {asked.url if asked else BACKEND}"[:300]
        return await self._audit.decided(
            Decided("http", subject, decision, session, request=asked, rule=RULE, door="entrance")
        )


def _failed(going: _Going, path: str, trouble: str) -> web.Response:
    going.result = trouble
    return refusal(path, HTTPStatus.BAD_GATEWAY, trouble, TROUBLES[trouble])
