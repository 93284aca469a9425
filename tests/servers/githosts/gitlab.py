"""A stand-in of GitLab's REST API: projects, and merge requests, with a token's scope and role."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.servers.githosts.serving import Host, Pull, Repo, page_of, refused, serving

DEVELOPER = 30
REPORTER = 20


@dataclass
class GitLab(Host):
    """`tokens`: a token to its scopes and its role in each project that it is a member of."""

    tokens: dict[str, tuple[frozenset[str], Mapping[str, int]]] = field(default_factory=dict)
    others: int = 0
    """So many further projects that match whatever is searched for, listed first."""

    def member(self, token: str, *projects: str, scope: str = "api", role: int = DEVELOPER) -> None:
        self.tokens[token] = (frozenset({scope}), dict.fromkeys(projects, role))

    def number(self, project: str) -> int:
        return 100 + sorted(self.repos).index(project)


@asynccontextmanager
async def gitlab(host: GitLab) -> AsyncIterator[str]:
    """Serve it; the base URL of its API."""
    api = _Api(host)
    merges = "/api/v4/projects/{id}/merge_requests"
    routes = [
        web.get("/api/v4/projects", api.projects),
        web.get(merges, api.merges),
        web.post(merges, api.create),
        web.put(merges + "/{iid}", api.update),
    ]
    async with serving(host, routes) as base:
        yield f"{base}/api/v4"


@dataclass
class _Api:
    host: GitLab

    async def projects(self, request: web.Request) -> web.Response:
        seen = self._token(request)
        query = request.query
        wanted = query.get("search", "")
        whole = query.get("search_namespaces") == "true"
        rows = [
            {"id": number, "path_with_namespace": f"{wanted}-{number}"}
            for number in range(1000, 1000 + self.host.others)
        ]
        for name in sorted(self.host.repos):
            hit = wanted in (name if whole else name.rpartition("/")[2])
            if hit and (name in seen[1] or query.get("membership") != "true"):
                rows.append({"id": self.host.number(name), "path_with_namespace": name})
        page, headers = page_of(request, rows, "per_page", 100)
        return web.json_response(page, headers=headers)

    async def merges(self, request: web.Request) -> web.Response:
        found = self._project(request, REPORTER)
        name, repo = found
        query = request.query
        states = {"opened": "open"}
        rows = [
            _json(name, pull)
            for pull in reversed(repo.pulls)
            if query.get("state", "all") == "all" or pull.state == states[query["state"]]
            if query.get("source_branch", pull.head) == pull.head
            if query.get("target_branch", pull.base) == pull.base
        ]
        page, headers = page_of(request, rows, "per_page", 100)
        return web.json_response(page, headers=headers)

    async def create(self, request: web.Request) -> web.Response:
        found = self._project(request, DEVELOPER)
        name, repo = found
        body = await request.json()
        for needed in ("source_branch", "target_branch", "title"):
            if not body.get(needed):
                raise refused(400, error=f"{needed} is missing")
        head, base = body["source_branch"], body["target_branch"]
        if there := repo.open_for(head, base):
            again = (
                f"Another open merge request already exists for this source branch: !{there.number}"
            )
            raise refused(409, message=[again])
        if head not in repo.branches:
            raise refused(400, message={"source_branch": ["does not exist"]})
        if len(body.get("description") or "") > 1_048_576:
            raise refused(
                400, message={"description": ["is too long (maximum is 1048576 characters)"]}
            )
        pull = repo.add(head, base, body["title"], body.get("description", ""))
        return web.json_response(_json(name, pull), status=201)

    async def update(self, request: web.Request) -> web.Response:
        found = self._project(request, DEVELOPER)
        name, repo = found
        number, body = int(request.match_info["iid"]), await request.json()
        pull = next((one for one in repo.pulls if one.number == number), None)
        if pull is None:
            raise refused(404, message="404 Not found")
        pull.body = body.get("description", pull.body)
        return web.json_response(_json(name, pull))

    def _token(self, request: web.Request) -> tuple[frozenset[str], Mapping[str, int]]:
        kind, _, value = request.headers.get("Authorization", "").partition(" ")
        shown = value if kind == "Bearer" else request.headers.get("PRIVATE-TOKEN", "")
        token = self.host.tokens.get(shown)
        if token is None:
            raise refused(401, message="401 Unauthorized")
        if not token[0] & {"api"} and request.method != "GET":
            raise refused(
                403,
                error="insufficient_scope",
                error_description="The request requires higher privileges than provided by the access token.",
                scope="api",
            )
        return token

    def _project(self, request: web.Request, role: int) -> tuple[str, Repo]:
        token = self._token(request)
        which = request.match_info["id"]
        for name, repo in self.host.repos.items():
            if which in {str(self.host.number(name)), name} and name in token[1]:
                if token[1][name] < role:
                    raise refused(403, message="403 Forbidden")
                return name, repo
        raise refused(404, message="404 Project Not Found")


def _json(name: str, pull: Pull) -> dict[str, Any]:
    return {
        "id": 5000 + pull.number,
        "iid": pull.number,
        "project_id": 1,
        "title": pull.title,
        "description": pull.body,
        "state": "opened" if pull.state == "open" else pull.state,
        "source_branch": pull.head,
        "target_branch": pull.base,
        "web_url": f"https://gitlab.com/{name}/-/merge_requests/{pull.number}",
    }
