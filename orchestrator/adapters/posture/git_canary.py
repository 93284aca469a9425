"""A git host that keeps nothing: it counts what the door lets through, and answers as a host would.

Each probe has a repository named like it. A push counts; a question doesn't, as asking is how the
door finds out. Anything else that comes counts as well: the first part of its path is the probe.
"""

from aiohttp import web

from entrance.git.pktline import FLUSH, PktBuffer, encode
from orchestrator.adapters.posture.canaries import STRANGER, Canaries, mark_in
from orchestrator.posture.battery.git import ALIAS, REDIRECT
from orchestrator.posture.wire import OTHER

LOOPBACK = "127.0.0.1"
QUESTIONS = ("/info/refs", "/git-upload-pack")


class GitCanary:
    """Serves on loopback. `item`: the task among whose branches the alias is."""

    def __init__(self, canaries: Canaries, item: str) -> None:
        self._canaries = canaries
        self._item = item
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        self.port = 0

    async def open(self) -> None:
        """Listen on a free port, which is `port` from then on."""
        await self._runner.setup()
        await web.TCPSite(self._runner, LOOPBACK, 0).start()
        self.port = int(self._runner.addresses[0][1])

    async def close(self) -> None:
        """Listen no more."""
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        probe, _, _ = request.path.lstrip("/").partition(".git")
        if request.path.endswith("/git-receive-pack"):
            self._canaries.count(probe)
            return _told(report_on(body), "receive-pack-result")
        asks = request.path.endswith(QUESTIONS) and not (request.method == "GET" and body)
        if not asks or probe == REDIRECT:
            mark = mark_in(request.path.lstrip("/").encode())
            self._canaries.count(probe if asks else mark.decode() if mark else STRANGER)
        if probe == REDIRECT:
            raise web.HTTPFound(f"/{REDIRECT}/followed")
        if request.path.endswith("/info/refs"):
            return _told(advertisement(), "upload-pack-advertisement")
        return _told(self._refs(probe), "upload-pack-result")

    def _refs(self, probe: str) -> bytes:
        """Its repositories are empty, but for the one with an alias."""
        if probe != ALIAS:
            return FLUSH
        ref = f"{OTHER} refs/heads/agent/{self._item}/alias symref-target:refs/heads/main\n"
        return encode(ref.encode()) + FLUSH


def advertisement() -> bytes:
    """What a host says to who begins to fetch, in protocol v2."""
    service = encode(b"# service=git-upload-pack\n") + FLUSH
    words = (b"version 2\n", b"agent=canary\n", b"ls-refs\n", b"fetch\n", b"object-format=sha1\n")
    return service + b"".join(map(encode, words)) + FLUSH


def report_on(push: bytes) -> bytes:
    """Git's report that every ref of a push was taken."""
    lines, refs = PktBuffer(), []
    lines.feed(push)
    while isinstance(line := lines.pop(), bytes):
        refs.append(line.split(b"\0")[0].split(b" ")[2])
    told = b"".join(encode(b"ok " + ref + b"\n") for ref in refs)
    return encode(b"unpack ok\n") + told + FLUSH


def _told(body: bytes, kind: str) -> web.Response:
    return web.Response(body=body, content_type=f"application/x-git-{kind}")
