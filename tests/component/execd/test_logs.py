"""Background logs: complete for a follower, bounded for execd."""

import asyncio
from pathlib import Path

import pytest

from tests.component.execd.daemon import Daemon, running, until

CURSOR, RUNNING = "EXECD-COMMANDS-TAIL-CURSOR", "EXECD-COMMAND-RUNNING"


async def test_a_log_is_followed_by_cursor_with_the_sdk(execd: Daemon) -> None:
    """CASE-86: hours-long output is followed in pieces; nothing is lost."""
    command = await execd.background("seq 100000; echo err >&2; printf end")
    got, cursor, running_ = "", -1, True
    while running_:
        running_ = (await execd.status(command))["running"]
        page = await execd.commands.get_background_command_logs(command, cursor=cursor)
        got, cursor = got + page.content, page.cursor if page.cursor is not None else cursor
    expected = "".join(f"{n}\n" for n in range(1, 100001)) + "err\nend"
    assert got == expected
    assert cursor == 100001
    whole = await execd.commands.get_background_command_logs(command)
    assert whole.content == expected


async def test_half_a_line_waits_for_its_end(execd: Daemon) -> None:
    command = await execd.background("printf 'a\\nhal'; while [ ! -e ~/go ]; do sleep 0.02; done")

    async def first() -> bool:
        return (await execd.commands.get_background_command_logs(command)).content == "a\n"

    await until(first)
    (execd.home / "go").touch()
    await execd.ended(command)
    page = await execd.commands.get_background_command_logs(command, cursor=0)
    assert (page.content, page.cursor) == ("hal", 1)


async def test_a_page_can_be_asked_for_in_portions(execd: Daemon) -> None:
    command = await execd.background("seq 1000")
    await execd.ended(command)
    async with execd.http.get(f"/command/{command}/logs?cursor=9&limit=10") as answer:
        assert (await answer.text(), answer.headers[CURSOR]) == ("11\n12\n13\n", "12")


async def test_a_page_says_whether_its_command_runs(execd: Daemon) -> None:
    command = await execd.background("while [ ! -e ~/go ]; do sleep 0.02; done; echo over")

    async def said() -> tuple[str, str]:
        async with execd.http.get(f"/command/{command}/logs") as answer:
            return answer.headers[RUNNING], await answer.text()

    assert await said() == ("true", "")
    (execd.home / "go").touch()
    await execd.ended(command)
    assert await said() == ("false", "over\n")


async def test_odd_cursors_are_refused_or_harmless(execd: Daemon) -> None:
    command = await execd.background("seq 3")
    await execd.ended(command)
    for cursor, status, text in [("x", 400, None), ("-5", 200, "1\n2\n3\n"), ("99", 200, "")]:
        async with execd.http.get(f"/command/{command}/logs?cursor={cursor}") as answer:
            assert answer.status == status
            assert text is None or await answer.text() == text


async def test_a_foreground_command_has_no_log(execd: Daemon) -> None:
    done = await execd.commands.run("echo x")
    async with execd.http.get(f"/command/{done.id}/logs") as answer:
        assert (answer.status, (await answer.json())["code"]) == (400, "NOT_IN_BACKGROUND")


async def test_endless_output_bounds_memory_and_disk_and_execd_goes_on_answering(
    execd: Daemon,
) -> None:
    loop = asyncio.get_running_loop()
    command = await execd.background("yes 'a line of forty characters, more or less'")
    slowest, end = 0.0, loop.time() + 2.5
    while loop.time() < end:
        began = loop.time()
        async with execd.http.get("/ping") as answer:
            assert answer.status == 200
        slowest = max(slowest, loop.time() - began)
        await asyncio.sleep(0.02)
    await execd.commands.interrupt(command)
    await execd.ended(command)
    assert slowest < 2.0  # on a machine that others use too
    assert execd.rss_mib() < 60
    kept = sum(
        path.stat().st_size for path in Path(f"/proc/{execd.pid}/fd").iterdir() if is_log(path)
    )
    async with execd.http.get(f"/command/{command}/logs?cursor=-1") as answer:
        size = len(await answer.read())
        lines = int(answer.headers[CURSOR]) + 1
    assert 0 < size <= kept + 200 <= 70 << 20
    assert lines * 43 > size or size < 64 << 20  # what is missing was dropped, and counted


def is_log(path: Path) -> bool:
    """Whether a descriptor is a log: a file, or memory, without a name."""
    try:
        return "(deleted)" in str(path.readlink())
    except OSError:
        return False


async def test_a_line_without_end_is_bounded_too(execd: Daemon) -> None:
    command = await execd.background("head -c 40000000 /dev/zero | tr '\\0' x")
    await execd.ended(command)
    async with execd.http.get(f"/command/{command}/logs") as answer:
        lines = (await answer.read()).split(b"\n")
    assert sum(map(len, lines)) == 40_000_000
    assert max(map(len, lines)) <= 9 << 20


async def test_logs_leave_no_trace_in_the_agents_folders(execd: Daemon) -> None:
    command = await execd.background("echo secret; sleep 600")

    async def written() -> bool:
        return bool((await execd.commands.get_background_command_logs(command)).content)

    await until(written)
    assert list(execd.home.iterdir()) == []
    held = [
        str(path.readlink()) for path in Path(f"/proc/{execd.pid}/fd").iterdir() if is_log(path)
    ]
    assert len([name for name in held if name.startswith(str(execd.home))]) == 1


@pytest.mark.parametrize("folder", ["/nowhere", "/proc"])
async def test_without_a_place_on_disk_logs_are_in_memory(
    pyz: Path, tmp_path: Path, folder: str
) -> None:
    """And so that this is tried, HOME too is no folder."""
    async with running(pyz, tmp_path, env={"EXECD_LOG_DIR": folder, "HOME": "/nowhere"}) as execd:
        command = await execd.background("seq 5")
        await execd.ended(command)
        page = await execd.commands.get_background_command_logs(command)
        assert page.content == "1\n2\n3\n4\n5\n"
