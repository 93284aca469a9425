"""The unmodified SDK against our execd as PID 1 of a real sandbox, with the agent trying to break it."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta

import aiohttp
import pytest
from opensandbox import Sandbox
from opensandbox.exceptions import SandboxApiException
from opensandbox.models.execd import Execution, RunCommandOpts
from opensandbox.models.filesystem import DirectoryListEntry, SearchEntry, WriteEntry

from tests.e2e.execd.conftest import TOKEN
from tests.e2e.sandbox.lab import Lab

pytestmark = [
    pytest.mark.docker,
    pytest.mark.asyncio(loop_scope="package"),
    pytest.mark.timeout(180),
]

ORPHANS = "cat /proc/[0-9]*/stat 2>/dev/null | grep -c '(orphan)'"


def out(done: Execution) -> str:
    return "".join(message.text for message in done.logs.stdout)


async def run(sandbox: Sandbox, command: str, **opts: object) -> Execution:
    return await sandbox.commands.run(command, opts=RunCommandOpts.model_validate(opts))


async def start(sandbox: Sandbox, command: str) -> str:
    started = await run(sandbox, command, background=True)
    assert started.error is None
    assert started.id
    return started.id


async def until(condition: Callable[[], Awaitable[bool]], patience_s: float = 30) -> None:
    async with asyncio.timeout(patience_s):
        while not await condition():  # noqa: ASYNC110  # a sandbox's state can only be asked for
            await asyncio.sleep(0.05)


async def ended(sandbox: Sandbox, command: str) -> int | None:
    """The exit code of a background command, once it has one."""

    async def over() -> bool:
        return not (await sandbox.commands.get_command_status(command)).running

    await until(over)
    return (await sandbox.commands.get_command_status(command)).exit_code


async def swept(sandbox: Sandbox) -> dict[str, object]:
    """What POST /sweep, which is ours, returned."""
    endpoint = await sandbox.get_endpoint(44772)
    async with (
        aiohttp.ClientSession() as http,
        http.post(
            f"http://{endpoint.endpoint}/sweep", headers={"X-EXECD-ACCESS-TOKEN": TOKEN}
        ) as answer,
    ):
        assert answer.status == 200
        return dict(await answer.json())


async def test_execd_is_pid_1_and_commands_run_as_the_agent(sandbox: Sandbox) -> None:
    done = await run(sandbox, "id -u; tr '\\0' ' ' </proc/1/cmdline; exit 3")
    assert done.exit_code == 3
    uid, first = out(done).split("\n")
    assert uid == "10001"
    assert "/opt/opensandbox/execd --init tail -f /dev/null" in first


async def test_files_are_written_read_listed_and_found(sandbox: Sandbox) -> None:
    await sandbox.files.write_files(
        [
            WriteEntry(path="/home/agent/w/a.txt", data="grüße", mode=640),
            WriteEntry(path="/home/agent/w/deep/b.bin", data=bytes(range(256)) * 8192),
        ]
    )
    assert await sandbox.files.read_file("/home/agent/w/a.txt") == "grüße"
    assert len(await sandbox.files.read_bytes("/home/agent/w/deep/b.bin")) == 256 * 8192
    listed = await sandbox.files.list_directory(DirectoryListEntry(path="/home/agent/w", depth=2))
    assert [entry.path.rpartition("/")[2] for entry in listed] == ["a.txt", "deep", "b.bin"]
    found = await sandbox.files.search(SearchEntry(path="/home/agent", pattern="*.bin"))
    assert [(entry.owner, entry.mode) for entry in found] == [("agent", 755)]


async def test_set_env_lasts(sandbox: Sandbox) -> None:
    await sandbox.commands.set_env("GREETING", "it's $here")
    assert out(await run(sandbox, 'printf %s "$GREETING"')) == "it's $here"


async def test_a_background_command_is_followed(sandbox: Sandbox) -> None:
    """CASE-86, CASE-91."""
    command = await start(sandbox, "seq 20000; echo err >&2; printf end; exit 4")
    assert await ended(sandbox, command) == 4
    logs = await sandbox.commands.get_background_command_logs(command)
    assert logs.content == "".join(f"{n}\n" for n in range(1, 20001)) + "err\nend"
    assert logs.cursor == 20001


async def test_an_interrupt_is_130_and_a_timeout_137(sandbox: Sandbox) -> None:
    command = await start(sandbox, "sleep 600")
    await sandbox.commands.interrupt(command)
    assert await ended(sandbox, command) == 130
    assert (await run(sandbox, "sleep 600", timeout=timedelta(milliseconds=200))).exit_code == 137


async def test_the_sandbox_is_renewed_and_measured(sandbox: Sandbox) -> None:
    await sandbox.renew(timedelta(minutes=30))
    left = (await sandbox.get_info()).expires_at
    assert left
    assert left > datetime.now(UTC) + timedelta(minutes=25)  # noqa: TID251  # the server's clock
    metrics = await sandbox.get_metrics()
    assert (metrics.cpu_count, metrics.memory_total_in_mib) == (1.0, 256.0)


async def test_another_user_is_refused_clearly(sandbox: Sandbox) -> None:
    with pytest.raises(SandboxApiException, match="can't become 0:0") as refused:
        await run(sandbox, "id", uid=0, gid=0)
    assert refused.value.status_code == 403


async def test_no_signal_of_the_agent_reaches_execd(sandbox: Sandbox) -> None:
    """CASE-85: not even in the moments in which execd blocks signals, to start a command."""
    signals = [
        number for number in range(1, 65) if number not in {32, 33}
    ]  # no program sends those
    for _ in range(3):
        async with asyncio.TaskGroup() as tasks:
            for number in signals:
                tasks.create_task(sandbox.commands.run(["/bin/kill", f"-{number}", "1"]))
    done = await run(sandbox, "kill -STOP 1; grep State /proc/1/status")
    assert "T (stopped)" not in out(done)
    assert "State" in out(done)


@pytest.mark.parametrize(
    "probe",
    [
        "cat /proc/1/environ",
        "cat /proc/1/mem",
        "cat /proc/1/maps",
        "echo x >/proc/1/mem",
        "ls /proc/1/fd",
        "cat /proc/1/fd/0",
        "echo x >/proc/1/fd/1",
        "echo -1000 >/proc/1/oom_score_adj",
        "readlink /proc/1/exe",
        "readlink /proc/1/root",
        "cat /proc/1/stack",
        "cat /proc/1/syscall",
        "grep -q execd /opt/opensandbox/execd && echo x >>/opt/opensandbox/execd",
    ],
)
async def test_execd_is_closed_to_the_agent(sandbox: Sandbox, probe: str) -> None:
    done = await run(sandbox, probe)
    assert done.exit_code != 0, out(done)


async def test_the_token_is_in_no_environment_and_no_file(sandbox: Sandbox) -> None:
    done = await run(
        sandbox,
        "env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n';"
        " grep -rs execd-token-of / --include='*' --exclude-dir=proc --exclude-dir=sys | head",
    )
    assert TOKEN not in out(done)
    assert "PATH=" in out(done)


async def test_kill_all_leaves_execd_answering(sandbox: Sandbox) -> None:
    command = await start(sandbox, "trap '' TERM; sleep 600")
    await run(sandbox, "kill -9 -1; true")
    assert await ended(sandbox, command) == 137
    assert out(await run(sandbox, "echo alive")) == "alive\n"


async def test_orphans_are_reaped(sandbox: Sandbox) -> None:
    """CASE-78."""
    born = await run(
        sandbox,
        "ln -sf $(command -v sleep) /tmp/orphan;"
        " for i in $(seq 30); do (setsid /tmp/orphan 3 >/dev/null 2>&1 &); done;"
        f" sleep 0.5; rm /tmp/orphan; {ORPHANS}",
    )
    assert out(born) == "30\n"

    async def none_left() -> bool:
        """Neither alive nor dead and waited for by nobody."""
        return out(await run(sandbox, ORPHANS)) == "0\n"

    await until(none_left)


async def test_a_fork_bomb_is_survived_and_swept(sandbox: Sandbox) -> None:
    await start(sandbox, "b() { b | b & }; b; while :; do b; done")
    refused = ""

    async def at_the_limit() -> bool:
        nonlocal refused
        done = await run(sandbox, "true")
        refused = done.error.value if done.error else ""
        return "[Errno 11]" in refused

    await until(at_the_limit)
    for _ in range(10):
        async with asyncio.timeout(5):
            assert await sandbox.is_healthy()
            assert await sandbox.files.read_file("/etc/hostname")

    async def calm() -> bool:
        return (await swept(sandbox))["remaining"] == 0

    await until(calm)
    assert out(await run(sandbox, "echo calm")) == "calm\n"
    assert (await swept(sandbox))["count"] == 0


async def test_the_sweep_reaches_every_session(sandbox: Sandbox) -> None:
    await run(sandbox, "setsid sh -c 'trap \"\" HUP TERM; sleep 601' >/dev/null 2>&1 &")
    result = await swept(sandbox)
    assert "sleep" in json.dumps(result["killed"])
    assert out(await run(sandbox, "pgrep -x sleep")) == ""


async def test_memory_pressure_takes_the_command_and_not_execd(sandbox: Sandbox) -> None:
    """CASE-76."""
    eater = "python3 -c 'x = []\nwhile True: x.append(bytearray(1 << 20))'"
    done = await run(sandbox, eater, timeout=timedelta(seconds=60))
    assert done.exit_code == 137
    assert out(await run(sandbox, "echo alive")) == "alive\n"


async def test_the_log_of_an_endless_command_is_capped(sandbox: Sandbox) -> None:
    command = await start(sandbox, "yes 0123456789 | head -n 27000000; echo last")
    await ended(sandbox, command)
    logs = await sandbox.commands.get_background_command_logs(command)
    assert len(logs.content) < 80 << 20
    assert logs.content.startswith("0123456789\n")
    assert logs.content.endswith("\nlast\n")
    assert "lines dropped" in logs.content
    assert logs.cursor == 27_000_000
    assert out(await run(sandbox, "ls -A /tmp")) == ""


async def test_a_server_inside_is_reached_through_execd(sandbox: Sandbox) -> None:
    await start(sandbox, "cd /usr/share && exec python3 -m http.server 8000")
    endpoint = await sandbox.get_endpoint(44772)
    url = f"http://{endpoint.endpoint}/proxy/8000/"

    async with aiohttp.ClientSession(headers={"X-EXECD-ACCESS-TOKEN": TOKEN}) as http:

        async def served() -> bool:
            async with http.get(url) as answer:
                return answer.status == 200 and b"Directory listing" in await answer.read()

        await until(served)
        assert await served()
    await swept(sandbox)


async def test_nothing_of_the_agents_output_reaches_the_engines_log(
    sandbox: Sandbox, contract_lab: Lab
) -> None:
    await run(sandbox, "echo leaked; echo leaked >/proc/1/fd/1; echo leaked >/proc/1/fd/2")
    container = contract_lab.client.containers.get(f"sandbox-{sandbox.id}")
    assert container.logs() == b""
