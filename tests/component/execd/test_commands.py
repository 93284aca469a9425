"""Commands, run by the unmodified SDK."""

import asyncio
import json
import os
from datetime import timedelta
from pathlib import Path

import pytest
from opensandbox.exceptions import SandboxApiException
from opensandbox.models.execd import Execution, ExecutionHandlers, OutputMessage, RunCommandOpts

from tests.component.execd.daemon import Daemon, gone, until


def stdout(execution: Execution) -> str:
    return "".join(message.text for message in execution.logs.stdout)


def stderr(execution: Execution) -> str:
    return "".join(message.text for message in execution.logs.stderr)


async def test_output_streams_and_exit_code_come_through(any_execd: Daemon) -> None:
    done = await any_execd.commands.run("echo out; echo err >&2; printf last; exit 3")
    assert (done.exit_code, stdout(done), stderr(done)) == (3, "out\nlast", "err\n")
    assert done.id
    status = await any_execd.commands.get_command_status(done.id)
    assert (status.running, status.exit_code, status.content) == (
        False,
        3,
        "echo out; echo err >&2; printf last; exit 3",
    )


async def test_success_is_told_as_complete(any_execd: Daemon) -> None:
    done = await any_execd.commands.run("true")
    assert (done.exit_code, done.error) == (0, None)
    assert done.complete


@pytest.mark.parametrize(
    ("command", "code"), [("kill -9 $$", 137), ("kill -TERM $$", 143), ("no-such-thing", 127)]
)
async def test_a_signal_is_an_exit_code_over_128(
    any_execd: Daemon, command: str, code: int
) -> None:
    assert (await any_execd.commands.run(command)).exit_code == code


async def test_no_answer_waits_for_the_clients_acknowledgement(any_execd: Daemon) -> None:
    loop = asyncio.get_running_loop()
    fastest = 1.0
    for _ in range(30):
        began = loop.time()
        await any_execd.commands.run(["true"])
        fastest = min(fastest, loop.time() - began)
    assert fastest < 0.035  # the delayed acknowledgement alone is 40 ms


async def test_argv_is_not_read_by_a_shell(any_execd: Daemon) -> None:
    done = await any_execd.commands.run(["printf", "%s|", "$HOME", "a b", "*"])
    assert stdout(done) == "$HOME|a b|*|"


async def test_folder_and_variables_are_the_ones_asked_for(execd: Daemon) -> None:
    (execd.home / "sub").mkdir()
    opts = RunCommandOpts(working_directory="~/$NAME", envs={"NAME": "sub", "ODD": "a\nb='\"c"})
    done = await execd.commands.run('pwd; printf %s "$ODD"', opts=opts)
    assert stdout(done) == f"{execd.home}/sub\na\nb='\"c"


async def test_a_folder_that_is_not_there_is_refused(any_execd: Daemon) -> None:
    with pytest.raises(SandboxApiException, match="is not a folder") as refused:
        await any_execd.commands.run("true", opts=RunCommandOpts(working_directory="/nowhere"))
    assert refused.value.status_code == 400


async def test_what_set_env_stores_is_there_in_the_next_command(pyz: Path, tmp_path: Path) -> None:
    from tests.component.execd.daemon import running  # noqa: PLC0415  # only here

    async with running(pyz, tmp_path, env={"EXECD_ENVS": str(tmp_path / "x" / ".env")}) as execd:
        await execd.commands.set_env("GREETING", "it's $5")
        await execd.commands.set_env("OTHER", "plain")
        done = await execd.commands.run('printf "%s|%s" "$GREETING" "$OTHER"')
        assert stdout(done) == "it's $5|plain"


async def test_bytes_that_are_no_text_survive_as_replacement(any_execd: Daemon) -> None:
    done = await any_execd.commands.run(r"printf 'a\377b\0c\n\303'; printf '\251 end\n'")
    assert stdout(done) == "a\ufffdb\0c\né end\n"


async def test_a_long_line_arrives_whole_and_in_order(any_execd: Daemon) -> None:
    done = await any_execd.commands.run("head -c 3000000 /dev/zero | tr '\\0' x; echo; seq 20000")
    assert stdout(done) == "x" * 3_000_000 + "\n" + "".join(f"{n}\n" for n in range(1, 20001))


async def test_output_comes_while_the_command_runs(execd: Daemon) -> None:
    first = asyncio.Event()

    async def heard(_: OutputMessage) -> None:
        first.set()

    async with asyncio.TaskGroup() as tasks:
        run = tasks.create_task(
            execd.commands.run(
                "echo first; while [ ! -e ~/go ]; do sleep 0.02; done",
                handlers=ExecutionHandlers(on_stdout=heard),
            )
        )
        async with asyncio.timeout(10):
            await first.wait()
        assert not run.done()
        (execd.home / "go").touch()
    assert run.result().exit_code == 0


async def test_a_command_reads_nothing_from_stdin(any_execd: Daemon) -> None:
    """CASE-96."""
    done = await any_execd.commands.run("readlink /proc/self/fd/0; cat")
    assert (done.exit_code, stdout(done)) == (0, "/dev/null\n")


async def test_no_command_inherits_the_token_or_an_open_file(execd: Daemon) -> None:
    """CASE-96, for whatever starts us."""
    done = await execd.commands.run("env; tr '\\0' '\\n' </proc/self/environ; ls /proc/self/fd")
    assert "EXECD_ACCESS_TOKEN" not in stdout(done)
    assert "a-token-of-the-tests" not in stdout(done)
    assert stdout(done).split("\n")[-5:] == ["0", "1", "2", "3", ""]  # 3 is that of ls


async def test_a_timeout_kills_the_whole_group(execd: Daemon) -> None:
    opts = RunCommandOpts(timeout=timedelta(milliseconds=300))
    done = await execd.commands.run("sleep 600 & echo $!; sleep 600", opts=opts)
    assert done.exit_code == 137
    assert done.error
    assert "timed out" in done.error.traceback[0]
    await gone(int(stdout(done)))


async def test_an_interrupt_is_a_sigint_to_the_group(execd: Daemon) -> None:
    command = await execd.background("exec sleep 600")
    await execd.commands.interrupt(command)
    assert (await execd.ended(command))["exit_code"] == 130


@pytest.mark.parametrize(
    ("traps", "code"),
    [
        pytest.param("trap '' INT; trap 'exit 7' TERM", 7, id="it ends in its own way"),
        pytest.param("trap '' INT", 143, id="it is terminated"),
        pytest.param("trap '' INT TERM", 137, id="it is killed"),
    ],
)
async def test_who_ignores_an_interrupt_is_asked_to_end_and_killed_then(
    execd: Daemon, traps: str, code: int
) -> None:
    command = await execd.background(f"{traps}; echo ready; while :; do sleep 0.1; done")

    async def ready() -> bool:
        return (await execd.commands.get_background_command_logs(command)).content == "ready\n"

    await until(ready)
    await execd.commands.interrupt(command)
    assert (await execd.ended(command))["exit_code"] == code


async def test_interrupting_what_has_ended_does_nothing(execd: Daemon) -> None:
    command = await execd.background("exit 4")
    await execd.ended(command)
    await execd.commands.interrupt(command)
    assert (await execd.status(command))["exit_code"] == 4


async def test_a_client_that_hangs_up_takes_its_command_with_it(execd: Daemon) -> None:
    async with execd.http.post(
        "/command", json={"command": "sleep 600 & echo $!; sleep 600"}
    ) as answer:
        pid = 0
        async for line in answer.content:
            event = json.loads(line or b"{}") if line.strip() else {}
            if event.get("type") == "stdout":
                pid = int(event["text"])
                break
        answer.close()
    assert pid
    await gone(pid)


async def test_a_command_ends_with_its_own_process_and_spares_what_it_left(execd: Daemon) -> None:
    left = "(while :; do echo tick; sleep 0.05; done) & echo $!"
    async with asyncio.timeout(10):
        done = await execd.commands.run(left)
    pid = int(stdout(done).splitlines()[0 if stdout(done)[0] != "t" else 1])
    await asyncio.sleep(0.3)  # several writes into the pipe that its command has left
    assert Path(f"/proc/{pid}").exists()
    os.kill(pid, 9)


async def test_what_was_written_before_the_end_is_never_lost(execd: Daemon) -> None:
    """CASE-95: also what a program kept back until then."""
    for _ in range(20):
        done = await execd.commands.run("seq 3000; echo end >&2")
        assert stdout(done).endswith("\n3000\n")
        assert stderr(done) == "end\n"


async def test_what_cannot_be_started_says_why_and_has_no_exit_code(execd: Daemon) -> None:
    for background in (False, True):
        done = await execd.commands.run(
            ["/no/such/program"], opts=RunCommandOpts(background=background)
        )
        assert done.exit_code is None
        assert done.error
        assert "[Errno 2]" in done.error.value
        assert done.id
        status = await execd.status(done.id)
        assert (status["running"], status["exit_code"]) == (False, None)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"command": "a", "argv": ["a"]}, id="both"),
        pytest.param({"command": "  "}, id="blank"),
        pytest.param({"argv": []}, id="empty argv"),
        pytest.param({"argv": ["a\0b"]}, id="NUL in argv"),
        pytest.param({"command": 5}, id="number"),
        pytest.param({"command": "a", "envs": {"A": 1}}, id="variable that is no text"),
        pytest.param({"command": "a", "envs": {"A=B": "1"}}, id="variable with ="),
        pytest.param({"command": "a", "timeout": -1}, id="negative timeout"),
        pytest.param({"command": "a", "gid": 5}, id="gid alone"),
        pytest.param({"command": "a", "uid": -1}, id="negative uid"),
        pytest.param({"command": "a", "uid": True}, id="uid that is no number"),
        pytest.param(["a"], id="a list"),
    ],
)
async def test_what_cannot_be_meant_is_refused(any_execd: Daemon, body: object) -> None:
    async with any_execd.http.post("/command", json=body) as answer:
        assert answer.status == 400
        assert (await answer.json())["code"] == "INVALID_REQUEST"


async def test_unknown_commands_are_not_found(any_execd: Daemon) -> None:
    for method, path in [
        ("GET", "/command/status/nope"),
        ("GET", "/command/nope/logs"),
        ("DELETE", "/command?id=nope"),
    ]:
        async with any_execd.http.request(method, path) as answer:
            assert answer.status == 404


async def test_many_commands_run_at_once(execd: Daemon) -> None:
    async with asyncio.TaskGroup() as tasks:
        runs = [tasks.create_task(execd.commands.run(f"sleep 0.2; echo {n}")) for n in range(30)]
    assert [stdout(run.result()) for run in runs] == [f"{n}\n" for n in range(30)]
    assert execd.children() == set()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become somebody else")
async def test_as_root_a_command_can_run_as_somebody_else(execd: Daemon) -> None:
    opts = RunCommandOpts(uid=12345, gid=23456)
    done = await execd.commands.run("id -u; id -g; id -G", opts=opts)
    assert stdout(done).split() == ["12345", "23456", "23456"]
