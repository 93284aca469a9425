"""A git host that misbehaves, and a sandbox that leaves: told truthfully, and on record."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from entrance.git.pktline import FLUSH, encode
from entrance.session import RepoGrant
from orchestrator.stack.git_cgi import answer
from tests.component.git.test_wire import EMPTY_PACK
from tests.servers.git import ITEM, RUN_TOKEN, Door, door

NAME = "odd/repo.git"
OWN = f"refs/heads/agent/{ITEM}"
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def odd_host(at_door: Door, handler: Handler, name: str = "repo.git") -> AsyncIterator[None]:
    """Let `odd/repo.git` of the run be served by `handler`, at which it is called `name`."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, handler_cancellation=True, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        grant = RepoGrant(NAME, f"http://127.0.0.1:{runner.addresses[0][1]}/{name}", push=True)
        at_door.registry.open(replace(at_door.session, repositories=(grant,)))
        yield
    finally:
        await runner.cleanup()


def answering(status: int, content_type: str, location: str = "") -> Handler:
    async def handler(_: web.Request) -> web.Response:
        headers = {"Content-Type": content_type} | ({"Location": location} if location else {})
        return web.Response(status=status, headers=headers, body=b"<html>")

    return handler


def breaking_off(kind: str, first: bytes) -> Handler:
    """Begins the answer with `first`, then drops the connection."""

    async def handler(request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": f"application/x-{kind}"})
        if first:
            await response.prepare(request)
            await response.write(first)
            await asyncio.sleep(0)
        assert request.transport is not None
        request.transport.close()
        return response

    return handler


async def last_outcome(at_door: Door, kind: str) -> tuple[str, str]:
    """Result and trouble of the newest decision, once it is there."""
    async with asyncio.timeout(10):
        decided = at_door.audit.decisions(kind)[-1]
        while (outcome := at_door.audit.outcome_of(decided)) is None:  # noqa: ASYNC110 - a list
            await asyncio.sleep(0.01)
    return outcome.result, outcome.detail["trouble"]


@pytest.mark.parametrize(
    ("handler", "status", "words"),
    [
        pytest.param(answering(429, "text/html"), 502, b"answered 429; try again", id="busy"),
        pytest.param(answering(500, "text/html"), 502, b"answered 500; try again", id="failing"),
        pytest.param(answering(200, "text/html"), 502, b"is not git's smart HTTP", id="a page"),
        pytest.param(answering(302, "text/html", "/x"), 502, b"answered 302", id="redirect"),
        pytest.param(answering(404, "text/html"), 404, b"no such repository", id="not found"),
    ],
)
async def test_an_answer_that_is_not_gits_is_told_in_a_sentence(
    at_door: Door, handler: Handler, status: int, words: bytes
) -> None:
    async with odd_host(at_door, handler):
        got, said = await at_door.get(f"{NAME}/info/refs?service=git-upload-pack")

    assert (got, words in said) == (status, True), said
    assert (await last_outcome(at_door, "git_fetch"))[0] == "failed"


async def test_a_fetch_that_breaks_off_is_not_taken_for_whole(at_door: Door) -> None:
    handler = breaking_off("git-upload-pack-advertisement", b"001e# service=git-upload-pack\n0000")
    async with odd_host(at_door, handler):
        said = await at_door.git("ls-remote", at_door.url(NAME))

    assert said.code != 0
    result, trouble = await last_outcome(at_door, "git_fetch")
    assert result == "failed"
    assert trouble.startswith(f"the git host of {NAME} can't be reached or broke off")


@asynccontextmanager
async def odd_pushes(
    at_door: Door, handler: Handler, ends: str = "/git-receive-pack"
) -> AsyncIterator[None]:
    """Let requests to this end of `odd/small.git` be served by `handler`, all others by the real host."""

    async def some(request: web.Request) -> web.StreamResponse:
        odd = request.method == "POST" and request.path.endswith(ends)
        return await (handler(request) if odd else answer(request, at_door.root))

    async with odd_host(at_door, some, name="small.git"):
        yield


def new_branch(main: str, old: str = "0" * 40) -> bytes:
    """A push of a branch at what `main` has."""
    return encode(f"{old} {main} {OWN}/x\0 report-status".encode()) + FLUSH + EMPTY_PACK


async def test_a_push_whose_answer_is_lost_is_settled_by_asking_the_host_and_has_not_arrived(
    at_door: Door,
) -> None:
    main = (await at_door.refs())["refs/heads/main"]
    async with odd_pushes(at_door, breaking_off("git-receive-pack-result", b"")):
        status, said = await at_door.post("git-receive-pack", new_branch(main), name=NAME)

        assert status == 200
        assert b"ng " + OWN.encode() in said
        assert b"fetch to see whether the push arrived" in said
        result, trouble = await last_outcome(at_door, "git_push")
    assert (result, "was asked afterwards" in trouble) == ("refused", True)


async def test_a_push_whose_answer_is_lost_is_settled_by_asking_the_host_and_has_arrived(
    at_door: Door,
) -> None:
    main = (await at_door.refs())["refs/heads/main"]

    async def taken_but_not_told(request: web.Request) -> web.StreamResponse:
        await at_door.git.ok("-C", at_door.root / "small.git", "branch", f"agent/{ITEM}/x", "main")
        return await breaking_off("git-receive-pack-result", b"")(request)

    async with odd_pushes(at_door, taken_but_not_told):
        await at_door.post("git-receive-pack", new_branch(main), name=NAME)
        result, trouble = await last_outcome(at_door, "git_push")

    assert (result, "was asked afterwards" in trouble) == ("ok", True)
    async with asyncio.timeout(10):
        while list((at_door.kept / "unsettled").iterdir()):  # noqa: ASYNC110 - a folder
            await asyncio.sleep(0.01)


async def test_a_push_whose_report_breaks_off_is_not_taken_for_whole(at_door: Door) -> None:
    main = (await at_door.refs())["refs/heads/main"]
    async with odd_pushes(at_door, breaking_off("git-receive-pack-result", b"000eunpack ok\n")):
        with pytest.raises(aiohttp.ClientError):
            await at_door.post("git-receive-pack", new_branch(main), name=NAME)
        result, _ = await last_outcome(at_door, "git_push")

    assert result == "refused"


async def test_a_push_to_a_branch_whose_aliases_can_not_be_asked_is_refused(
    at_door: Door,
) -> None:
    """CASE-46: fail closed. Asked by git itself, for the mirror, the host answers."""
    main = (await at_door.refs())["refs/heads/main"]
    junk = answering(200, "application/x-git-upload-pack-result")

    async def only_to_git(request: web.Request) -> web.StreamResponse:
        real = "sandgate" not in request.headers["User-Agent"]
        return await (answer(request, at_door.root) if real else junk(request))

    async with odd_pushes(at_door, only_to_git, "/git-upload-pack"):
        body = new_branch(main, old=main)
        status, said = await at_door.post("git-receive-pack", body, name=NAME)

    assert status == 200
    assert b"could not be checked whether this branch is an alias" in said


async def test_a_push_to_a_host_that_can_not_be_mirrored_is_refused(at_door: Door) -> None:
    async with odd_host(at_door, answering(500, "text/html")):
        body = new_branch("1" * 40)
        status, said = await at_door.post("git-receive-pack", body, name=NAME)

    assert status == 200
    assert b"the repository can't be mirrored" in said


async def test_when_the_sandbox_leaves_the_host_is_left_too_and_it_is_on_record(
    at_door: Door,
) -> None:
    left = asyncio.Event()

    async def endless(request: web.Request) -> web.StreamResponse:
        kind = "application/x-git-upload-pack-advertisement"
        response = web.StreamResponse(headers={"Content-Type": kind})
        await response.prepare(request)
        try:
            while True:
                await response.write(bytes(1 << 16))
        finally:
            left.set()

    async with odd_host(at_door, endless):
        url = f"{at_door.address}/git/{NAME}/info/refs?service=git-upload-pack"
        headers = {"Authorization": aiohttp.encode_basic_auth("run", RUN_TOKEN)}
        async with aiohttp.ClientSession() as http, http.get(url, headers=headers) as answer:
            await answer.content.readany()
        async with asyncio.timeout(10):
            await left.wait()

        result, trouble = await last_outcome(at_door, "git_fetch")

    assert (result, "the sandbox left" in trouble) == ("failed", True)


async def test_a_sandbox_that_sends_nothing_is_not_waited_for(tmp_path: Path) -> None:
    enough = asyncio.Event()

    async def silent() -> AsyncIterator[bytes]:
        yield b"00"
        await enough.wait()

    async with door(tmp_path, idle_s=0.3) as impatient, aiohttp.ClientSession() as http:
        url = f"{impatient.address}/git/host/small.git/git-receive-pack"
        headers = {
            "Authorization": aiohttp.encode_basic_auth("run", RUN_TOKEN),
            "Content-Type": "application/x-git-receive-pack-request",
        }
        async with http.post(url, headers=headers, data=silent()) as answer:
            assert answer.status == 408
            assert "nothing came for 0.3 seconds" in await answer.text()
        enough.set()
