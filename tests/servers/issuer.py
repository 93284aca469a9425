"""An authorization server that gives tokens to clients: RFC 8414, RFC 6749 (4.4), RFC 7523, RFC 8707."""

import base64
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

import jwt
from aiohttp import web

CLIENT, SECRET = "sandgate-tests", "a very/secret=client+secret"
_SIGNED = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"


@dataclass(frozen=True)
class Granted:
    """What a token is good for."""

    resource: str
    scopes: tuple[str, ...]


@dataclass
class Issuer:
    """What it was asked, and what it says when."""

    url: str = ""
    public_key: Any = None
    """Of a client that signs; without one, its secret is what is taken."""
    tokens: dict[str, Granted] = field(default_factory=dict)
    """Those that are good."""
    asked: list[dict[str, str]] = field(default_factory=list)
    """The forms of all requests for a token."""
    lasts_s: int = 3600
    says: dict[str, Any] = field(default_factory=dict)
    """Other things than the truth, in its metadata."""
    methods: tuple[str, ...] = ("client_secret_basic", "private_key_jwt")
    echoes: bool = False
    """Whether it repeats in an error what it was shown."""
    _numbers: Any = field(default_factory=itertools.count)

    def revoke(self) -> None:
        """No token is good any more."""
        self.tokens.clear()

    async def metadata(self, _: web.Request) -> web.Response:
        told = {
            "issuer": self.url,
            "token_endpoint": f"{self.url}/token",
            "token_endpoint_auth_methods_supported": list(self.methods),
            "response_types_supported": [],
        }
        return web.json_response(told | self.says)

    async def token(self, request: web.Request) -> web.Response:
        form = {key: str(value) for key, value in (await request.post()).items()}
        self.asked.append(form)
        shown = request.headers.get("authorization", "")
        if not self._is_client(shown, form):
            said = f"{shown} {form}" if self.echoes else "who are you?"
            error = {"error": "invalid_client", "error_description": said}
            return web.json_response(error, status=401)
        if form.get("grant_type") != "client_credentials":
            return web.json_response({"error": "unsupported_grant_type"}, status=400)
        token = f"token-{next(self._numbers)}-of-the-issuer"
        scopes = tuple(form.get("scope", "").split())
        self.tokens[token] = Granted(form.get("resource", ""), scopes)
        told = {"access_token": token, "token_type": "Bearer", "expires_in": self.lasts_s}
        return web.json_response(told | {"scope": " ".join(scopes)})

    def _is_client(self, shown: str, form: dict[str, str]) -> bool:
        if self.public_key is not None:
            return form.get("client_assertion_type") == _SIGNED and self._is_signed(form)
        if "client_secret_post" in self.methods:
            return (form.get("client_id"), form.get("client_secret")) == (CLIENT, SECRET)
        user, _, password = base64.b64decode(shown.removeprefix("Basic ")).decode().partition(":")
        return (unquote(user), unquote(password)) == (CLIENT, SECRET)

    def _is_signed(self, form: dict[str, str]) -> bool:
        claims = jwt.decode(
            form["client_assertion"],
            self.public_key,
            algorithms=["RS256", "ES256", "EdDSA"],
            audience=self.url,
            options={"require": ["exp", "iat", "jti", "iss", "sub"]},
        )
        return (claims["iss"], claims["sub"]) == (CLIENT, CLIENT)


@asynccontextmanager
async def issuing() -> AsyncIterator[Issuer]:
    """Serves until the block ends."""
    issuer = Issuer()
    app = web.Application()
    place = "/.well-known/oauth-authorization-server"
    app.add_routes([web.get(place, issuer.metadata), web.post("/token", issuer.token)])
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        issuer.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield issuer
    finally:
        await runner.cleanup()
