"""The request's body, which waits for the record of the decision before anything leaves."""

from io import BytesIO

from aiohttp.abc import AbstractStreamWriter
from aiohttp.payload import BytesIOPayload

from entrance.model.call import Call


class Body(BytesIOPayload):
    """The client keeps a request's head back until it has the first of its body: this is the gate.

    While the decision gets to the disk, the connection is made and the request put together.
    """

    def __init__(self, call: Call) -> None:
        super().__init__(BytesIO(call.asked.body))
        self._call = call

    async def write_with_length(
        self, writer: AbstractStreamWriter, content_length: int | None
    ) -> None:
        """Raises: Unavailable when the decision could not be recorded."""
        await self._call.decided()
        self._call.sent = self._call.left = True
        await super().write_with_length(writer, content_length)
