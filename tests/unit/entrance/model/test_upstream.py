"""How a stream goes back to the client."""

import asyncio
from typing import Any, cast

from aiohttp.http_writer import StreamWriter
from aiohttp.test_utils import make_mocked_request

from entrance.model.upstream import Relayed


class Line:
    """A connection that keeps what is sent, packet by packet."""

    def __init__(self) -> None:
        self.transport = self
        self.sent: list[bytes] = []

    def is_closing(self) -> bool:
        return False

    def write(self, packet: bytes) -> None:
        self.sent.append(packet)


async def test_the_head_of_a_stream_goes_out_with_the_first_of_its_body() -> None:
    line = Line()
    writer = StreamWriter(cast("Any", line), asyncio.get_running_loop())
    response = Relayed(headers={"content-type": "text/event-stream"})
    await response.prepare(make_mocked_request("POST", "/", writer=writer))
    assert line.sent == []
    await writer.write(b"data: 1\n\n")
    (packet,) = line.sent
    assert packet.startswith(b"HTTP/1.1 200 OK\r\n")
    assert packet.endswith(b"\r\n\r\n9\r\ndata: 1\n\n\r\n")
