"""A client that leaves before its push is whole: nothing is left of it, at the door or at the host."""

import asyncio
import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from entrance.git.pktline import FLUSH
from tests.component.git.matrix import acts, packs
from tests.component.git.matrix.acts import to
from tests.component.git.matrix.promises import left_behind, pushes_at_host
from tests.component.git.matrix.test_heads_by_hand import command
from tests.component.git.matrix.test_http_by_hand import head
from tests.component.git.matrix.test_taken import Row, assert_taken
from tests.servers.git import Door
from tests.waiting import until

SIZE = 2 << 20


async def body(at_door: Door) -> bytes:
    main = (await at_door.refs())["refs/heads/main"]
    file = packs.blob(os.urandom(SIZE))
    tree = packs.tree((b"100644", b"x.bin", file.oid))
    new = packs.commit(tree.oid, main)
    pack = packs.pack([packs.whole(each) for each in (new, tree, file)])
    return command(new=new.oid) + FLUSH + pack


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(0, id="before the commands"),
        pytest.param(60, id="in the commands"),
        pytest.param(300, id="in the first object"),
        pytest.param(SIZE // 2, id="in the middle"),
        pytest.param(SIZE, id="before the end"),
    ],
)
@pytest.mark.parametrize(
    "framing",
    [
        pytest.param("Content-Length: {0}\r\n\r\n", id="with a length"),
        pytest.param("Transfer-Encoding: chunked\r\n\r\n{0:x}\r\n", id="in chunks"),
    ],
)
async def test_nothing_is_left_when_it_leaves(
    at_door: Door, clone: Path, sent: int, framing: str
) -> None:
    whole = await body(at_door)
    place = urlsplit(at_door.address)
    _, writer = await asyncio.open_connection(place.hostname, place.port)
    writer.write(head() + framing.format(len(whole)).encode() + whole[:sent])
    await writer.drain()
    if sent >= 300:
        await until(lambda: bool(left_behind(at_door)), 20)

    writer.transport.abort()

    await until(lambda: not left_behind(at_door), 20)
    assert not pushes_at_host(at_door)
    await acts.commit(at_door, clone)
    await assert_taken(at_door, clone, Row("and the next is taken", acts.nothing, (to("fix"),)), ())
