"""The wait for the disk: it ends by itself, and never well when it did not go well."""

import asyncio
import os
from pathlib import Path

from entrance.disk import DiskThread


async def synced(handle: int) -> OSError | None:
    """What is told at the end: why it is not on the disk, or nothing."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[OSError | None] = loop.create_future()

    def done(error: OSError | None) -> None:
        loop.call_soon_threadsafe(over.set_result, error)

    DiskThread().sync(handle, done)
    async with asyncio.timeout(5):
        return await over


async def test_what_was_written_gets_there(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.write(b"x" * 100_000)
        file.flush()
        assert await synced(file.fileno()) is None


async def test_what_has_no_disk_is_an_error() -> None:
    reader, writer = os.pipe()
    try:
        assert "Invalid argument" in str(await synced(writer))
    finally:
        os.close(reader)
        os.close(writer)


async def test_a_file_that_is_closed_is_an_error() -> None:
    assert "Bad file descriptor" in str(await synced(999_999))
