"""The request's body, which waits for the record of the decision before anything leaves."""

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import Payload

from entrance.model.call import Call

_PIECE_BYTES = 1 << 20
"""So much of a body is handed to the connection at a time."""


class Body(Payload):
    """The client keeps a request's head back until it has the first of its body: this is the gate.

    While the decision gets to the disk, the connection is made and the request put together.
    """

    def __init__(self, call: Call) -> None:
        super().__init__(call.asked.body)
        self._size = len(call.asked.body)
        self._call = call

    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        return self._call.asked.body.decode(encoding, errors)

    async def write(self, writer: AbstractStreamWriter) -> None:
        """Raises: Unavailable when the decision could not be recorded."""
        await self._call.decided()
        self._call.sent = self._call.left = True
        body = self._call.asked.body
        for at in range(0, len(body), _PIECE_BYTES):
            await writer.write(body[at : at + _PIECE_BYTES])
