"""The wait for the disk: it ends by itself, and never well when it did not go well."""

import asyncio
import os
from pathlib import Path

import pytest

from entrance.disk import DiskThread


async def synced(handle: int) -> None:
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def done(error: OSError | None) -> None:
        tell = over.set_result if error is None else over.set_exception
        loop.call_soon_threadsafe(tell, error)  # type: ignore[arg-type]

    DiskThread().sync(handle, done)
    async with asyncio.timeout(5):
        await over


async def test_what_was_written_gets_there(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.write(b"x" * 100_000)
        file.flush()
        await synced(file.fileno())


async def test_what_has_no_disk_is_an_error() -> None:
    reader, writer = os.pipe()
    try:
        with pytest.raises(OSError, match="Invalid argument"):
            await synced(writer)
    finally:
        os.close(reader)
        os.close(writer)


async def test_a_file_that_is_closed_is_an_error() -> None:
    with pytest.raises(OSError, match="Bad file descriptor"):
        await synced(999_999)
