"""GET /files/download: a whole file, one range of bytes, or some of its lines."""

import os
from collections.abc import AsyncGenerator
from contextlib import ExitStack

from execd.answer import Answer, Request
from execd.errors import Refused, invalid
from execd.files import opened
from execd.patterns import Span, byte_range

BLOCK = 128 * 1024


def download(request: Request) -> Answer:
    """Return the file that the query's `path` names.

    Raises: Refused 400 for what is no regular file or lines of a range, 416; OSError.
    """
    path = request.one("path")
    wanted = request.head.headers.get("range", "")
    offset, limit = request.number("offset", None), request.number("limit", None)
    by_line = offset is not None or limit is not None
    if by_line and wanted:
        raise invalid("offset and limit can't be combined with Range")
    with ExitStack() as stack:
        fd = stack.enter_context(opened(path))
        size = os.fstat(fd).st_size
        if by_line:
            first, count = offset if offset is not None else 1, limit
            if first < 1 or (count is not None and count < 0):
                raise invalid("offset counts from 1, limit from 0")
            return Answer(body=_lines(fd, first, count, stack.pop_all()), content_type="text/plain")
        span = byte_range(wanted, size) if wanted else None
        part = span or Span(0, size)
        return Answer(
            status=206 if span else 200,
            body=_bytes(fd, part, stack.pop_all()),
            content_type="application/octet-stream",
            headers=(
                ("Accept-Ranges", "bytes"),
                *([("Content-Range", f"bytes {part.start}-{part.end - 1}/{size}")] if span else []),
            ),
            length=part.end - part.start,
        )


async def _bytes(fd: int, part: Span, stack: ExitStack) -> AsyncGenerator[bytes, None]:
    with stack:
        at = part.start
        while at < part.end:
            block = os.pread(fd, min(BLOCK, part.end - at), at)
            if not block:
                raise Refused(500, "FILE_CHANGED", "the file became shorter")
            yield block
            at += len(block)


async def _lines(
    fd: int, first: int, count: int | None, stack: ExitStack
) -> AsyncGenerator[bytes, None]:
    with stack:
        skip, left = first - 1, count
        while (left is None or left > 0) and (block := os.read(fd, BLOCK)):
            start = 0
            while skip and (end := block.find(b"\n", start) + 1):
                start, skip = end, skip - 1
            if skip:
                continue
            stop = start
            while left and (end := block.find(b"\n", stop) + 1):
                stop, left = end, left - 1
            yield block[start:stop] if left == 0 else block[start:]
