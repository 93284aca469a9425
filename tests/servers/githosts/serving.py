"""What the stand-ins of git hosts have in common: repositories, pull requests, requests that came."""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Pull:
    """A pull or merge request."""

    number: int
    head: str
    base: str
    title: str
    body: str
    state: str = "open"


@dataclass
class Repo:
    """A repository of a host: its branches, and what is proposed in it."""

    branches: set[str] = field(default_factory=lambda: {"main"})
    pulls: list[Pull] = field(default_factory=list)

    def open_for(self, head: str, base: str) -> Pull | None:
        """The open one, if there is one: hosts take one a pair of branches."""
        return next(
            (p for p in self.pulls if (p.head, p.base, p.state) == (head, base, "open")), None
        )

    def add(self, head: str, base: str, title: str, body: str) -> Pull:
        pull = Pull(len(self.pulls) + 1, head, base, title, body)
        self.pulls.append(pull)
        return pull


@dataclass(frozen=True, slots=True)
class Came:
    """A request that came: the credential as it was sent."""

    method: str
    path: str
    authorization: str


@dataclass
class Trouble:
    """What the host answers in place of an answer, for so many requests that it is `about`."""

    about: Callable[[web.Request], bool]
    answer: Callable[[], web.Response]
    times: int = 1
    after: bool = False
    """The request is done first: only its answer is lost."""


@dataclass
class Host:
    """The state of a stand-in."""

    repos: dict[str, Repo] = field(default_factory=dict)
    came: list[Came] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    base: str = ""

    def methods(self, word: str) -> list[str]:
        """The methods of the requests whose path has this word in it."""
        return [one.method for one in self.came if word in one.path]


Handler = Callable[[web.Request], Any]


class Refused(Exception):
    """The request is answered with this, and nothing is done."""

    def __init__(self, answer: web.Response) -> None:
        super().__init__(answer.status)
        self.answer = answer


async def _answered(handler: Handler, request: web.Request) -> web.StreamResponse:
    try:
        answer: web.StreamResponse = await handler(request)
    except Refused as refused:
        return refused.answer
    return answer


@asynccontextmanager
async def serving(host: Host, routes: Sequence[web.RouteDef]) -> AsyncIterator[str]:
    """Serve a stand-in on loopback; its base address."""

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        came = Came(request.method, request.path, request.headers.get("Authorization", ""))
        host.came.append(came)
        for trouble in host.troubles:
            if trouble.times and trouble.about(request):
                trouble.times -= 1
                if trouble.after:
                    await _answered(handler, request)
                return trouble.answer()
        return await _answered(handler, request)

    app = web.Application(middlewares=[middleware])
    app.add_routes(routes)
    # git gzips bodies, and what serves it inflates them.
    runner = web.AppRunner(app, access_log=None, auto_decompress=False)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host.base = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield host.base
    finally:
        await runner.cleanup()


def page_of[One](
    request: web.Request, rows: Sequence[One], size_name: str, most: int
) -> tuple[list[One], dict[str, str]]:
    """A page of rows, and the Link header that names the next one."""
    size = min(int(request.query.get(size_name, 30)), most)
    page = max(int(request.query.get("page", 1)), 1)
    start = (page - 1) * size
    headers = {"X-Total-Count": str(len(rows))}
    if start + size < len(rows):
        following = request.url.update_query(page=str(page + 1))
        headers["Link"] = f'<{following}>; rel="next"'
    return list(rows[start : start + size]), headers


def refused(status: int, headers: Mapping[str, str] | None = None, /, **body: Any) -> Refused:
    """A JSON answer that is raised."""
    return Refused(said(status, headers, **body))


def said(status: int, headers: Mapping[str, str] | None = None, /, **body: Any) -> web.Response:
    """A JSON answer."""
    return web.json_response(body, status=status, headers=dict(headers or {}))
