"""What comes from a sandbox: bounded, whole, and never a success that nobody reported."""

import json

import aiohttp
import pytest

from entrance.errors import Forbidden, Malformed, NotFound, Unavailable
from orchestrator.adapters.opensandbox import execd as module
from orchestrator.adapters.opensandbox.execd import Execd, Status
from orchestrator.adapters.opensandbox.http import Server, TooLong, Unanswered
from orchestrator.adapters.opensandbox.sandboxes import progress_of
from tests.component.opensandbox.conftest import Sandbox

INIT = b'{"type":"init","text":"c1","timestamp":1}\n\n'
DONE = b'{"type":"execution_complete","timestamp":1}\n\n'


async def run(execd: Execd) -> tuple[int | None, str]:
    done = await execd.run(["true"], env={"A": "b"}, cwd="/workspace", timeout_s=5)
    return done.exit_code, done.output


async def test_an_order_says_what_where_with_what_and_for_how_long(
    far: Sandbox, execd: Execd
) -> None:
    far.stream = INIT + DONE
    assert await run(execd) == (0, "")
    assert far.orders == [
        {"argv": ["true"], "envs": {"A": "b"}, "cwd": "/workspace", "timeout": 5000}
    ]


async def test_a_stream_that_ends_without_a_word_has_no_exit_code(
    far: Sandbox, execd: Execd
) -> None:
    """CASE-85: as when a command killed its execd."""
    far.stream = INIT
    assert await run(execd) == (None, "")


async def test_a_stream_that_breaks_off_is_unanswered(far: Sandbox, execd: Execd) -> None:
    far.stream, far.cut_off = INIT, True
    with pytest.raises(Unanswered):
        await run(execd)


async def test_a_wrong_token_is_forbidden(server: Server) -> None:
    with pytest.raises(Forbidden, match="401 UNAUTHORIZED"):
        await run(Execd(server, "s1", "another"))


async def test_a_background_command_that_does_not_start_says_why(
    far: Sandbox, execd: Execd
) -> None:
    problem = {"type": "error", "error": {"evalue": "no such file"}, "timestamp": 1}
    far.stream = INIT + json.dumps(problem).encode() + b"\n\n"
    with pytest.raises(Malformed, match="no such file"):
        await execd.start(["/none"], env={}, cwd="/")


async def test_lines_come_once_and_whole(far: Sandbox, execd: Execd) -> None:
    far.lines = ["one", "", "three"]
    page = await execd.logs("c1", -1)
    assert (page.lines, page.cursor) == (["one", "", "three"], 2)
    page = await execd.logs("c1", page.cursor)
    assert (page.lines, page.cursor) == ([], 2)


@pytest.mark.parametrize("said", [None, "false", "rubbish"])
async def test_a_command_is_over_after_its_last_line_never_before(
    far: Sandbox, execd: Execd, said: str | None
) -> None:
    """CASE-91: a short command's log may need several pages."""
    far.says_running = said
    far.lines, far.page_lines = [f"l{n}" for n in range(5)], 2
    far.status = {"running": False, "exit_code": 3}
    cursor, seen, ends = -1, list[str](), list[tuple[bool, int | None]]()
    while not ends or ends[-1][0]:
        progress = await progress_of(execd, "c1", cursor)
        seen += progress.lines
        cursor = progress.cursor
        ends.append((progress.running, progress.exit_code))
    assert seen == far.lines
    assert ends == [*[(True, None)] * 3, (False, 3)]


async def test_a_line_that_comes_with_the_end_is_told_before_it(
    far: Sandbox, execd: Execd, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the page without it and the status that says it is over."""

    async def status(*_: object) -> Status:
        far.lines = ["last"]
        return Status(running=False, exit_code=0, error="")

    monkeypatch.setattr(Execd, "status", status)
    progress = await progress_of(execd, "c1", -1)
    assert (list(progress.lines), progress.running) == (["last"], True)
    progress = await progress_of(execd, "c1", progress.cursor)
    assert (list(progress.lines), progress.running, progress.exit_code) == ([], False, 0)


async def test_who_says_that_it_runs_is_not_asked_for_its_status(
    far: Sandbox, execd: Execd
) -> None:
    far.says_running = "true"
    assert (await progress_of(execd, "c1", -1)).running
    assert far.asked_status == 0
    far.says_running = None
    assert (await progress_of(execd, "c1", -1)).running
    assert far.asked_status == 1


async def test_a_log_beyond_all_bounds_is_taken_in_pieces(far: Sandbox, execd: Execd) -> None:
    line = "x" * 1023
    far.lines = [line] * (module.BOUND_BYTES // 1024 + 100)
    far.page_lines = len(far.lines)
    first = await execd.logs("c1", -1)
    second = await execd.logs("c1", first.cursor)
    assert [*first.lines, *second.lines] == far.lines
    assert second.cursor == len(far.lines) - 1


@pytest.mark.parametrize("status", [{}, {"running": "yes"}, {"running": False, "exit_code": "0"}])
async def test_a_status_that_can_not_be_read_is_malformed(
    far: Sandbox, execd: Execd, status: dict[str, object]
) -> None:
    far.status = status
    with pytest.raises(Malformed):
        await execd.status("c1")


async def test_a_file_longer_than_allowed_is_refused(far: Sandbox, execd: Execd) -> None:
    far.file = b"x" * 11
    with pytest.raises(TooLong):
        await execd.read("/workspace/f", 10)
    assert await execd.read("/workspace/f", 11) == far.file


async def test_a_written_file_has_the_mode_in_digits(far: Sandbox, execd: Execd) -> None:
    await execd.write("/workspace/f", b"\x00\xff", 0o640)
    assert json.loads(far.uploaded["metadata"]) == {"path": "/workspace/f", "mode": 640}
    assert far.uploaded["file"] == b"\x00\xff"


async def test_a_sandbox_that_is_gone_is_not_found(server: Server) -> None:
    with pytest.raises(NotFound):
        await Execd(server, "s2", "token").ping()


async def test_a_server_that_is_down_is_unavailable_and_nothing_was_asked_of_it() -> None:
    async with aiohttp.ClientSession() as session:
        down = Server(session, "http://127.0.0.1:1", "key")
        with pytest.raises(Unavailable) as refused:
            await down.create({})
        assert not isinstance(refused.value, Unanswered)
        assert not await down.answers()


async def test_a_call_without_an_answer_may_have_been_done(server: Server) -> None:
    """CASE-84: the caller has to look for what came of it."""
    with pytest.raises(Unanswered):
        async with server.call("POST", "/v1/sandboxes", json_body={}, timeout_s=0.05):
            pytest.fail("it answered")


async def test_the_key_is_in_no_error(server: Server) -> None:
    with pytest.raises(NotFound) as refused:
        await server.delete("s9")
    assert "key" not in str(refused.value).replace("proxy", "")
