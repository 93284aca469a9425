"""Reading bodies, of requests and of what others answer, with limits that each route sets for itself."""

import aiohttp
from aiohttp import hdrs, web

from entrance.log.body_hash import BodyHash


class BodyRefused(Exception):
    """The body is not taken: `status` and the message say why."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def read_body(request: web.Request, limit: int) -> bytes:
    """The whole body, at most `limit` bytes of it.

    Raises: BodyRefused when it is longer, or packed (a packed body can't be judged by its size).
    """
    if request.headers.get(hdrs.CONTENT_ENCODING, "identity").lower() != "identity":
        raise BodyRefused(415, "A packed body is not taken here: send it plain.")
    parts: list[bytes] = []
    size = 0
    if (request.content_length or 0) > limit:
        raise BodyRefused(413, f"The body is too large: at most {limit} bytes are taken here.")
    while part := await request.content.readany():
        size += len(part)
        if size > limit:
            raise BodyRefused(413, f"The body is too large: at most {limit} bytes are taken here.")
        parts.append(part)
    return b"".join(parts)


async def read_whole(
    answer: aiohttp.ClientResponse, limit: int, came: BodyHash | None = None
) -> bytes | None:
    """The whole body, or None when it is longer than `limit` bytes. `came` is fed with it."""
    body = bytearray()
    while chunk := await answer.content.readany():
        if came is not None:
            came.feed(chunk)
        body += chunk
        if len(body) > limit:
            return None
    return bytes(body)
