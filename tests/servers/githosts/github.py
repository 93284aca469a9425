"""A stand-in of GitHub's REST API: an App and its installation tokens, or PATs; pull requests."""

import asyncio
import base64
import threading
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from orchestrator.clock import WallClock
from orchestrator.stack.git_cgi import answer
from tests.servers.githosts.serving import Host, Pull, Refused, Repo, page_of, refused, serving

APP = "12345"
LASTS = timedelta(hours=1)
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
JWT_LONGEST_S = 600


@cache
def app_key() -> tuple[str, Any]:
    """The App's private key in PEM, as GitHub hands it out (PKCS#1), and its public half."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    return pem.decode(), key.public_key()


@dataclass
class Token:
    """What a token opens: `repositories` None is every one."""

    permissions: Mapping[str, str]
    repositories: frozenset[str] | None
    ends: datetime | None = None


@dataclass
class GitHub(Host):
    """`now` is the host's own clock, which its Date headers tell."""

    now: datetime = EPOCH
    installations: dict[str, int] = field(default_factory=dict)
    """Full name to installation."""
    grants: Mapping[str, str] = field(
        default_factory=lambda: {
            "contents": "write",
            "metadata": "read",
            "pull_requests": "write",
        }
    )
    """What the App's owner was given."""
    tokens: dict[str, Token] = field(default_factory=dict)
    revoked: list[str] = field(default_factory=list)
    numbers: Any = field(default_factory=lambda: count(1))
    widen: bool = False
    """Whether it makes tokens for more than was asked."""
    everywhere: bool = False
    """Whether it passes over the repositories that were asked for."""
    git: Path | None = None
    """Bare repositories, `owner/name.git`, that it serves beside its API."""

    def has(self, name: str, branch: str) -> bool:
        """Whether a repository has a branch."""
        there = self.git is not None and (self.git / f"{name}.git/refs/heads" / branch).is_file()
        return there or branch in self.repos[name].branches

    def pat(self, token: str, *repositories: str) -> None:
        """Let a personal access token in."""
        self.tokens[token] = Token(
            {"contents": "write", "pull_requests": "write"}, frozenset(repositories)
        )


def date_of(at: datetime) -> str:
    return at.strftime("%a, %d %b %Y %H:%M:%S GMT")


@asynccontextmanager
async def github(host: GitHub) -> AsyncIterator[str]:
    """Serve it; the base URL of its API."""
    api = _Api(host)
    routes = [
        web.get("/repos/{owner}/{name}/installation", api.installation),
        web.post("/app/installations/{id}/access_tokens", api.make_token),
        web.delete("/installation/token", api.revoke),
        web.get("/repos/{owner}/{name}/pulls", api.pulls),
        web.post("/repos/{owner}/{name}/pulls", api.create),
        web.get("/repos/{owner}/{name}/pulls/{number}", api.pull),
        web.patch("/repos/{owner}/{name}/pulls/{number}", api.update),
        web.route("*", "/{owner}/{name}.git/{service:.+}", api.serve_git),
    ]
    async with serving(host, routes) as base:
        yield base


@dataclass
class _Api:
    host: GitHub

    async def installation(self, request: web.Request) -> web.Response:
        self._app(request)
        found = self.host.installations.get(_name(request))
        if found is None:
            raise _not_found()
        return self._told(200, {"id": found, "app_id": int(APP)})

    async def make_token(self, request: web.Request) -> web.Response:
        self._app(request)
        host, body = self.host, await request.json()
        number = int(request.match_info["id"])
        there = {name for name, where in host.installations.items() if where == number}
        if not there:
            raise _not_found()
        owner = next(iter(there)).partition("/")[0]
        named = [f"{owner}/{one}" for one in body.get("repositories", ())]
        wanted = set(named) or there
        if not wanted <= there:
            raise refused(
                422,
                message="There is at least one repository that does not exist or is not accessible"
                " to the parent installation.",
                documentation_url="https://docs.github.com/rest",
                status="422",
            )
        asked: Mapping[str, str] = body.get("permissions") or host.grants
        if any(name not in host.grants for name in asked):
            raise refused(
                422,
                message="The permissions requested are not granted to this installation.",
                documentation_url="https://docs.github.com/rest",
                status="422",
            )
        given = host.grants if host.widen else {**asked, "metadata": "read"}
        token, ends = f"ghs_minted{next(host.numbers):030d}", host.now + LASTS
        host.tokens[token] = Token(given, frozenset(wanted), ends)
        made = {
            "token": token,
            "expires_at": ends.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "permissions": dict(given),
            "repository_selection": "selected",
            "repositories": [{"id": 1, "full_name": one} for one in sorted(wanted)],
        }
        if host.everywhere:
            del made["repositories"]
            made["repository_selection"] = "all"
        return self._told(201, made)

    async def revoke(self, request: web.Request) -> web.Response:
        token = _shown(request)
        if self._token(request) is None:
            raise _bad()
        self.host.revoked.append(token)
        del self.host.tokens[token]
        return web.Response(status=204)

    async def pulls(self, request: web.Request) -> web.Response:
        repo = self._repo(request, "read")
        owner = request.match_info["owner"]
        head, base = request.query.get("head", ""), request.query.get("base", "")
        state = request.query.get("state", "open")
        rows = [
            _json(self.host, request, pull)
            for pull in reversed(repo.pulls)
            if head in {"", f"{owner}:{pull.head}"}
            and base in {"", pull.base}
            and state in {"all", pull.state}
        ]
        page, headers = page_of(request, rows, "per_page", 100)
        return self._told(200, page, headers)

    async def pull(self, request: web.Request) -> web.Response:
        repo = self._repo(request, "read")
        return self._told(200, _json(self.host, request, _numbered(repo, request)))

    async def create(self, request: web.Request) -> web.Response:
        repo = self._repo(request, "write")
        body = await request.json()
        if trouble := _wrong(self.host, request, body):
            raise refused(422, message="Validation Failed", errors=[trouble], status="422")
        pull = repo.add(body["head"], body["base"], body["title"], body.get("body", ""))
        return self._told(201, _json(self.host, request, pull))

    async def update(self, request: web.Request) -> web.Response:
        repo = self._repo(request, "write")
        found, body = _numbered(repo, request), await request.json()
        found.title, found.body = body.get("title", found.title), body.get("body", found.body)
        return self._told(200, _json(self.host, request, found))

    async def serve_git(self, request: web.Request) -> web.StreamResponse:
        """git's smart HTTP, for tokens that may."""
        writes = "git-receive-pack" in request.path_qs
        token = self._token(request)
        level = token.permissions.get("contents") if token else None
        if token is None or level not in ({"write"} if writes else {"read", "write"}):
            ask = {"WWW-Authenticate": 'Basic realm="GitHub"'}
            return web.Response(status=401, headers=ask, text="Bad credentials")
        if token.repositories is not None and _name(request) not in token.repositories:
            raise _not_found()
        assert self.host.git
        return await answer(request, self.host.git)

    def _told(
        self, status: int, body: Any, headers: Mapping[str, str] | None = None
    ) -> web.Response:
        limits = {"x-ratelimit-limit": "5000", "x-ratelimit-remaining": "4999"}
        told = {"Date": date_of(self.host.now), **limits, **(headers or {})}
        return web.json_response(body, status=status, headers=told)

    def _app(self, request: web.Request) -> None:
        """Refuse what shows no good token of the App's own. Raises: Refused."""
        now = int(self.host.now.timestamp())
        try:
            claims = jwt.decode(
                _shown(request),
                app_key()[1],
                algorithms=["RS256"],
                issuer=APP,
                options={"verify_exp": False, "verify_iat": False},
            )
        except jwt.InvalidTokenError as error:
            raise refused(
                401, message="A JSON web token could not be decoded", status="401"
            ) from error
        if not claims["iat"] <= now < claims["exp"] <= now + JWT_LONGEST_S:
            raise refused(
                401,
                message="'Expiration time' claim ('exp') is too far in the future",
                status="401",
            )

    def _token(self, request: web.Request) -> Token | None:
        token = self.host.tokens.get(_shown(request))
        ended = token is not None and token.ends is not None and token.ends <= self.host.now
        return None if ended else token

    def _repo(self, request: web.Request, level: str) -> Repo:
        token, name = self._token(request), _name(request)
        if token is None:
            raise _bad()
        repo = self.host.repos.get(name)
        seen = token.repositories is None or name in token.repositories
        if repo is None or not seen:
            raise _not_found()
        has = token.permissions.get("pull_requests")
        if has is None or (level == "write" and has != "write"):
            raise refused(403, message="Resource not accessible by integration", status="403")
        return repo


def _wrong(host: GitHub, request: web.Request, body: Mapping[str, Any]) -> dict[str, str] | None:
    """What is wrong with a new pull request, in GitHub's form."""
    head, base = body["head"], body["base"]
    repo = host.repos[_name(request)]
    for name, branch in (("base", base), ("head", head)):
        if not host.has(_name(request), branch):
            return {"resource": "PullRequest", "field": name, "code": "invalid"}
    if repo.open_for(head, base):
        owner = request.match_info["owner"]
        message = f"A pull request already exists for {owner}:{head}."
        return {"resource": "PullRequest", "code": "custom", "message": message}
    if len(body.get("body") or "") > 65536:
        message = "body is too long (maximum is 65536 characters)"
        return {"resource": "PullRequest", "code": "custom", "field": "body", "message": message}
    return None


def _json(host: GitHub, request: web.Request, pull: Pull) -> dict[str, Any]:
    name = _name(request)
    return {
        "number": pull.number,
        "url": f"{host.base}/repos/{name}/pulls/{pull.number}",
        "html_url": f"https://github.com/{name}/pull/{pull.number}",
        "state": pull.state,
        "title": pull.title,
        "body": pull.body,
        "head": {"ref": pull.head, "label": f"{name.partition('/')[0]}:{pull.head}"},
        "base": {"ref": pull.base},
    }


def _numbered(repo: Repo, request: web.Request) -> Pull:
    """Raises: Refused."""
    number = int(request.match_info["number"])
    for pull in repo.pulls:
        if pull.number == number:
            return pull
    raise _not_found()


def _shown(request: web.Request) -> str:
    """The token of a request; GitHub takes it as a bearer's, and as a password (git's way)."""
    kind, _, value = request.headers.get("Authorization", "").partition(" ")
    if kind == "Basic":
        return base64.b64decode(value).decode().partition(":")[2]
    return value if kind in {"Bearer", "token"} else ""


def _name(request: web.Request) -> str:
    return "{owner}/{name}".format_map(request.match_info)


def _bad() -> Refused:
    return refused(401, message="Bad credentials", documentation_url="https://docs.github.com/rest")


def _not_found() -> Refused:
    return refused(404, message="Not Found", documentation_url="https://docs.github.com/rest")


@contextmanager
def github_in_a_thread(host: GitHub) -> Iterator[str]:
    """Serve it beside a test that isn't a coroutine, by the machine's clock; the base URL of its API."""
    started, stop = threading.Event(), threading.Event()

    async def serve() -> None:
        async with github(host):
            started.set()
            while not stop.is_set():
                host.now = WallClock().now()
                await asyncio.sleep(0.2)

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    try:
        assert started.wait(20)
        yield host.base
    finally:
        stop.set()
        thread.join(20)
