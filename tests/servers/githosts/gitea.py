"""A stand-in of Gitea's and Forgejo's REST API: pull requests, with a token's scopes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.githosts.serving import Host, Pull, Repo, page_of, refused, serving

READ, WRITE = "read:repository", "write:repository"
DOCS = "https://git.example/api/swagger"


@dataclass
class Gitea(Host):
    """`tokens`: a token to its scope, and the repositories that its user sees."""

    tokens: dict[str, tuple[str, frozenset[str]]] = field(default_factory=dict)

    def user(self, token: str, *repositories: str, scope: str = WRITE) -> None:
        self.tokens[token] = (scope, frozenset(repositories))


@asynccontextmanager
async def gitea(host: Gitea) -> AsyncIterator[str]:
    """Serve it; the base URL of its API."""
    api = _Api(host)
    pulls = "/api/v1/repos/{owner}/{name}/pulls"
    routes = [
        web.get(pulls, api.pulls),
        web.post(pulls, api.create),
        web.patch(pulls + "/{index}", api.update),
    ]
    async with serving(host, routes) as base:
        yield f"{base}/api/v1"


@dataclass
class _Api:
    host: Gitea

    async def pulls(self, request: web.Request) -> web.Response:
        repo = self._repo(request)
        state = request.query.get("state", "open")
        rows = [
            _json(_name(request), pull)
            for pull in reversed(repo.pulls)
            if state in {"all", pull.state}
        ]
        page, headers = page_of(request, rows, "limit", 50)
        return web.json_response(page, headers=headers)

    async def create(self, request: web.Request) -> web.Response:
        repo = self._repo(request)
        body = await request.json()
        head, base = body["head"], body["base"]
        if head not in repo.branches or base not in repo.branches:
            raise refused(404, errors=[], message="The target couldn't be found.", url=DOCS)
        if head == base:
            message = "invalid PullRequest: There are no changes between the head and the base"
            raise refused(422, message=message, url=DOCS)
        if there := repo.open_for(head, base):
            message = (
                f"pull request already exists for these targets [id: {there.number}, issue_id: 1,"
                f" head_repo_id: 1, base_repo_id: 1, head_branch: {head}, base_branch: {base}]"
            )
            raise refused(409, message=message, url=DOCS)
        pull = repo.add(head, base, body["title"], body.get("body", ""))
        return web.json_response(_json(_name(request), pull), status=201)

    async def update(self, request: web.Request) -> web.Response:
        repo = self._repo(request)
        number, body = int(request.match_info["index"]), await request.json()
        pull = next((one for one in repo.pulls if one.number == number), None)
        if pull is None:
            raise refused(404, errors=[], message="pull request does not exist", url=DOCS)
        pull.body = body.get("body", pull.body)
        return web.json_response(_json(_name(request), pull), status=201)

    def _repo(self, request: web.Request) -> Repo:
        kind, _, value = request.headers.get("Authorization", "").partition(" ")
        token = self.host.tokens.get(value) if kind in {"token", "Bearer"} else None
        if token is None:
            raise refused(401, message="invalid username, password or token", url=DOCS)
        scope, sees = token
        if request.method != "GET" and scope != WRITE:
            needed = f"token does not have at least one of required scope(s): [{WRITE}]"
            raise refused(403, message=needed, url=DOCS)
        repo = self.host.repos.get(_name(request))
        if repo is None or _name(request) not in sees:
            raise refused(404, errors=[], message="The target couldn't be found.", url=DOCS)
        return repo


def _json(name: str, pull: Pull) -> dict[str, Any]:
    return {
        "id": 900 + pull.number,
        "number": pull.number,
        "html_url": f"https://git.example/{name}/pulls/{pull.number}",
        "state": pull.state,
        "title": pull.title,
        "body": pull.body,
        "head": {"label": pull.head, "ref": pull.head, "repo": {"full_name": name}},
        "base": {"label": pull.base, "ref": pull.base, "repo": {"full_name": name}},
    }


def _name(request: web.Request) -> str:
    return "{owner}/{name}".format_map(request.match_info)
