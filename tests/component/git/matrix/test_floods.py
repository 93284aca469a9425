"""Pushes that are made to wear the door down: bounded, and told so."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from entrance.git.pktline import FLUSH
from tests.component.git.matrix import acts, packs
from tests.component.git.matrix.acts import OWN
from tests.component.git.matrix.packs import Object
from tests.component.git.matrix.promises import left_behind, pushes_at_host
from tests.component.git.matrix.test_heads_by_hand import command
from tests.component.git.matrix.test_http_by_hand import head
from tests.component.git.matrix.test_taken import Row, assert_taken
from tests.servers.git import Door
from tests.waiting import until

TOO_MUCH = b"it has too many commits, paths or objects; push in smaller steps"
X = packs.blob(b"x\n")


@pytest.fixture
def limits() -> dict[str, Any]:
    return {"pushes_at_once": 2}


def paths_of_one_file(main: str) -> list[Object]:
    """A hundred and fifty thousand paths in half a megabyte."""
    entry = b"100644 %06d\0" + bytes.fromhex(X.oid)
    tree = Object(packs.TREE, b"".join(entry % number for number in range(150_000)))
    return [packs.commit(tree.oid, main), tree, X]


def trees_of_trees(main: str) -> list[Object]:
    """A million paths in a kilobyte."""
    made = [packs.tree((b"100644", b"a", X.oid))]
    for _ in range(3):
        below = [(b"40000", b"%02d" % number, made[-1].oid) for number in range(100)]
        made.append(packs.tree(*below))
    return [packs.commit(made[-1].oid, main), X, *made]


@pytest.mark.parametrize(
    "make", [paths_of_one_file, trees_of_trees], ids=lambda make: make.__name__
)
async def test_what_unfolds_beyond_measure_is_refused(
    at_door: Door, clone: Path, make: Callable[[str], list[Object]]
) -> None:
    objects = make((await at_door.refs())["refs/heads/main"])
    pack = packs.pack([packs.whole(each) for each in objects])

    _, said = await at_door.post("git-receive-pack", command(new=objects[0].oid) + FLUSH + pack)

    assert b"ng " + OWN.encode() in said
    assert TOO_MUCH in said
    assert not pushes_at_host(at_door)
    await acts.commit(at_door, clone)
    await assert_taken(at_door, clone, Row("and the next is taken", acts.nothing), ())


async def test_a_run_with_many_pushes_that_do_not_end_waits_for_itself(
    at_door: Door, clone: Path
) -> None:
    """Two at once are taken in here; what is more makes no folder and no process."""
    place = urlsplit(at_door.address)
    begun = head() + b"Content-Length: 9999\r\n\r\n" + command() + FLUSH + b"PACK\0\0\0\2\0\0\0\1"
    writers = []
    for _ in range(5):
        _, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(begun)
        await writer.drain()
        writers.append(writer)
    await until(lambda: len(left_behind(at_door)) == 2, 20)
    await acts.commit(at_door, clone)
    async with asyncio.TaskGroup() as tasks:
        pushing = tasks.create_task(at_door.git("push", "origin", f"HEAD:{OWN}/fix", cwd=clone))
        await until(lambda: len(left_behind(at_door)) == 2, 20)
        assert not pushing.done()
        for writer in writers:
            writer.transport.abort()

    assert pushing.result().code == 0, pushing.result().text
