"""A request's body that waits until it may leave."""

from collections.abc import Awaitable, Callable

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

Gate = Callable[[], Awaitable[object]]
"""Returns when what waits for it may leave. What it raises, it raises instead of letting it."""
_PIECE_BYTES = 1 << 20
"""So much of a body is handed to the connection at a time."""


async def open_gate() -> None:
    """There is nothing to wait for."""


class GatedBody(Payload):
    """The client keeps a request's head back until it has the first of its body: this is the gate.

    While the decision gets to the disk, the connection is made and the request put together.
    """

    def __init__(self, body: bytes, gate: Gate) -> None:
        super().__init__(body)
        self._size = len(body)
        self._body = body
        self._gate = gate

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self._body.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Raises: what the gate raises."""
        await self._gate()
        for at in range(0, len(self._body), _PIECE_BYTES):
            await writer.write(self._body[at : at + _PIECE_BYTES])
