"""A host whose answer to a push is lost: nobody is told that it went well, and what became of it is asked."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import web

from entrance.git.pktline import FLUSH, encode
from entrance.log.records import Outcome
from tests.component.git.matrix import acts
from tests.component.git.matrix.acts import OWN, to
from tests.component.git.matrix.middleman import Meddle, hang_up, hang_up_at_once, meddling, result
from tests.servers.git import Door
from tests.waiting import until


async def says_err(_: web.Request, __: bytes) -> web.Response:
    kind = "application/x-git-receive-pack-result"
    return web.Response(body=encode(b"ERR the server has no more room\n"), content_type=kind)


async def says_nothing(_: web.Request, __: bytes) -> web.Response:
    return web.Response(body=b"", content_type="application/x-git-receive-pack-result")


async def says_half_a_report(_: web.Request, __: bytes) -> web.Response:
    """It says that it has unpacked, and not what became of the branch."""
    kind = "application/x-git-receive-pack-result"
    said = encode(b"\1" + encode(b"unpack ok\n") + FLUSH) + FLUSH
    return web.Response(body=said, content_type=kind)


async def fails(_: web.Request, __: bytes) -> web.Response:
    return web.Response(status=500, text="it broke")


LOST: dict[str, Meddle] = {
    "hangs up before its answer": hang_up_at_once,
    "dies in its answer": result(b"", then=hang_up),
    "answers with an error of git's": says_err,
    "answers with nothing": says_nothing,
    "answers with half a report": says_half_a_report,
    "fails after it has done it": fails,
}


def outcome(at_door: Door) -> Outcome | None:
    """What came of the newest push."""
    return at_door.audit.outcome_of(at_door.audit.decisions("git_push")[-1])


@asynccontextmanager
async def leaving(at_door: Door, url: str, clone: Path) -> AsyncIterator[None]:
    """A push, whose client is killed at the end of the block."""
    process = await asyncio.create_subprocess_exec(
        *("git", "push", "-q", url, to("fix")),
        cwd=clone,
        env={"PATH": os.defpath, "HOME": str(at_door.git.home)},
        start_new_session=True,
    )
    try:
        yield
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


@pytest.mark.parametrize("how", LOST)
async def test_a_push_that_arrived_is_found_out_and_recorded_as_such(
    at_door: Door, clone: Path, how: str
) -> None:
    await acts.commit(at_door, clone)
    new = await at_door.git.ok("rev-parse", "HEAD", cwd=clone)
    async with meddling(at_door, LOST[how]) as url:
        said = await at_door.git("push", url, to("fix"), cwd=clone)
        await until(lambda: outcome(at_door) is not None, 20)

    assert said.code != 0, said.text
    assert (await at_door.refs())[f"{OWN}/fix"] == new
    found = outcome(at_door)
    assert found is not None
    assert (found.result, found.detail["refs"]) == ("ok", {f"{OWN}/fix": "ok"})


async def test_a_host_that_falls_silent_in_its_answer_is_asked_once_the_sandbox_has_left(
    at_door: Door, clone: Path
) -> None:
    await acts.commit(at_door, clone)
    silent = asyncio.Event()

    async def be_silent(_: web.Request) -> None:
        silent.set()
        await asyncio.Event().wait()

    async with meddling(at_door, result(b"", then=be_silent)) as url:
        async with leaving(at_door, url, clone):
            await silent.wait()
        await until(lambda: outcome(at_door) is not None, 20)

    found = outcome(at_door)
    assert found is not None
    assert found.result == "ok"


async def test_a_push_that_the_host_never_had_is_not_told_as_taken(
    at_door: Door, clone: Path
) -> None:
    await acts.commit(at_door, clone)
    async with meddling(at_door, hang_up_at_once, passes_on=False) as url:
        said = await at_door.git("push", url, to("fix"), cwd=clone)

    assert said.code != 0
    assert "fetch to see whether the push arrived" in said.text
    assert f"{OWN}/fix" not in await at_door.refs()
    found = outcome(at_door)
    assert found is None or found.result != "ok"
