"""Work that is done to its end."""

import asyncio

import pytest

from entrance.errors import Unavailable
from entrance.model.ending import to_the_end


async def test_what_the_work_gives_is_given() -> None:
    assert await to_the_end(asyncio.sleep(0, "done")) == "done"


async def test_what_the_work_raises_is_raised() -> None:
    async def fails() -> None:
        await asyncio.sleep(0)
        raise Unavailable("down")

    with pytest.raises(Unavailable, match="down"):
        await to_the_end(fails())


@pytest.mark.parametrize("fails", [True, False])
async def test_work_is_done_although_nobody_waits_any_more(*, fails: bool) -> None:
    go, done = asyncio.Event(), list[str]()

    async def work() -> None:
        await go.wait()
        done.append("done")
        if fails:
            raise Unavailable("down")

    waiting = asyncio.ensure_future(to_the_end(work()))
    await asyncio.sleep(0)
    for _ in range(2):
        waiting.cancel()
        await asyncio.sleep(0)
    assert not waiting.done()
    go.set()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert done == ["done"]
