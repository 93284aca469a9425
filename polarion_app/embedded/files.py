"""The bytes of attachments: files with random names of ours in one folder, written off the event loop."""

import asyncio
import os
import secrets
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from http import HTTPStatus
from pathlib import Path

from polarion_app.embedded.errors import ApiError

CHUNK = 256 * 1024


class Files:
    """One folder. A name that a caller sent never becomes a path."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    async def store(self, chunks: AsyncIterator[bytes], limit: int) -> tuple[str, int]:
        """Write to a new file, on the disk when this returns: its name and length.

        Raises: ApiError 413 above `limit` bytes; then nothing is left.
        """
        name, length = secrets.token_hex(16), 0
        path = self._folder / name
        file = await asyncio.to_thread(path.open, "xb")
        try:
            async for chunk in chunks:
                length += len(chunk)
                _require_below(limit, length)
                await asyncio.to_thread(file.write, chunk)
            await asyncio.to_thread(_sync, file.fileno(), file.flush)
        except BaseException:
            file.close()
            path.unlink()
            raise
        file.close()
        return name, length

    async def chunks(self, name: str) -> AsyncGenerator[bytes]:
        """The file's bytes."""
        file = await asyncio.to_thread((self._folder / name).open, "rb")
        try:
            while chunk := await asyncio.to_thread(file.read, CHUNK):
                yield chunk
        finally:
            file.close()

    async def remove(self, names: Iterable[str]) -> None:
        """Delete files that no attachment needs any more."""
        for name in names:
            await asyncio.to_thread((self._folder / name).unlink, missing_ok=True)

    def keep_only(self, names: set[str]) -> None:
        """Delete what a crash left between writing a file and recording it."""
        for path in self._folder.iterdir():
            if path.name not in names:
                path.unlink()


def _sync(descriptor: int, flush: Callable[[], None]) -> None:
    flush()
    os.fsync(descriptor)


def _require_below(limit: int, length: int) -> None:
    if length > limit:
        detail = f"An attachment has {limit} bytes at most."
        raise ApiError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail)
