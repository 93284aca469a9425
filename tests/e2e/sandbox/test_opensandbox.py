"""The adapter against the real server, the real images and the real engine."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from docker.types import LogConfig

from entrance.errors import Forbidden, NotFound, Unavailable
from entrance.session import RunId
from orchestrator.adapters.firewall.admission import Firewall
from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.opensandbox.sandboxes import OpenSandboxes
from orchestrator.ports import Mounts, Progress, Sandbox, SandboxSpec
from orchestrator.stack import network
from orchestrator.stack.process import answers_http
from tests.e2e import damage
from tests.e2e.sandbox.lab import TOKEN, Lab, other

pytestmark = pytest.mark.docker


async def until(true: Callable[[], bool], timeout_s: float = 15) -> None:
    async with asyncio.timeout(timeout_s):
        while not true():  # noqa: ASYNC110 - the world outside has no event to wait for
            await asyncio.sleep(0.02)


async def follow(
    sandboxes: OpenSandboxes, sandbox: Sandbox, command: str
) -> tuple[list[str], Progress]:
    """All lines of a background command, and its end."""
    lines: list[str] = []
    cursor = -1
    async with asyncio.timeout(30):
        while True:
            progress = await sandboxes.progress(sandbox, command, cursor)
            lines += progress.lines
            cursor = progress.cursor
            if not progress.running:
                return lines, progress
            await asyncio.sleep(0.02)


async def test_a_sandbox_is_made_used_and_leaves_nothing(
    lab: Lab, sandboxes: OpenSandboxes, spec: SandboxSpec
) -> None:
    sandbox = await sandboxes.create(replace(spec, env={"GREETING": "hello"}))
    assert await Firewall(lab.bridge).registered() == {sandbox.address}
    done = await sandboxes.execute(sandbox, ["sh", "-c", 'echo "$GREETING $(id -u)"; exit 3'])
    assert (done.exit_code, done.output) == (3, "hello 10001\n")
    await sandboxes.kill(spec.run)
    await sandboxes.kill(spec.run)
    assert (lab.containers(), lab.volumes()) == ([], [])
    assert await Firewall(lab.bridge).registered() == set()


async def test_the_execd_token_is_nowhere_in_the_sandbox(
    sandboxes: OpenSandboxes, sandbox: Sandbox
) -> None:
    look = "env; cat /proc/1/environ /proc/self/environ; ls -l /proc/1/fd"
    done = await sandboxes.execute(sandbox, ["sh", "-c", look])
    assert TOKEN not in done.output
    assert "ermission denied" in done.output


async def test_a_background_command_is_followed_to_its_last_line(
    sandboxes: OpenSandboxes, sandbox: Sandbox
) -> None:
    """CASE-86, CASE-91: nothing is lost, of a long command as of a very short one."""
    script = "for i in $(seq 500); do echo line $i; done; printf end; exit 7"
    command = await sandboxes.start(sandbox, ["bash", "-c", script], env={}, cwd="/workspace")
    lines, end = await follow(sandboxes, sandbox, command)
    assert lines == [*(f"line {n}" for n in range(1, 501)), "end"]
    assert end.exit_code == 7


async def test_an_interrupted_command_ends(sandboxes: OpenSandboxes, sandbox: Sandbox) -> None:
    command = await sandboxes.start(sandbox, ["sleep", "600"], env={}, cwd="/workspace")
    await sandboxes.interrupt(sandbox, command)
    _, end = await follow(sandboxes, sandbox, command)
    assert end.exit_code == 130


async def test_a_sweep_ends_what_a_run_left_behind(
    sandboxes: OpenSandboxes, sandbox: Sandbox
) -> None:
    """CASE-78."""
    left = "setsid sleep 600 & setsid sleep 600 & wait -n 0; true"
    await sandboxes.execute(sandbox, ["bash", "-c", left])
    await sandboxes.sweep(sandbox)
    done = await sandboxes.execute(sandbox, ["sh", "-c", "ps -eo comm | grep -c sleep; true"])
    assert done.output == "0\n"


async def test_files_go_in_and_come_out(sandboxes: OpenSandboxes, sandbox: Sandbox) -> None:
    await sandboxes.write(sandbox, "/workspace/a/b.txt", b"\x00bytes\xff")
    assert await sandboxes.read(sandbox, "/workspace/a/b.txt", limit=100) == b"\x00bytes\xff"
    shown = await sandboxes.execute(sandbox, ["stat", "-c", "%u %a", "/workspace/a/b.txt"])
    assert shown.output == "10001 600\n"
    with pytest.raises(NotFound):
        await sandboxes.read(sandbox, "/workspace/none", limit=100)


async def test_a_program_that_is_not_there_can_not_be_started(
    sandboxes: OpenSandboxes, sandbox: Sandbox
) -> None:
    done = await sandboxes.execute(sandbox, ["/no/such/program"])
    assert done.exit_code not in (0, None)
    assert "such" in done.output


async def test_a_restarted_runner_finds_its_sandbox(
    lab: Lab, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    async with lab.sandboxes() as fresh:
        found = await fresh.find(spec.run, TOKEN)
        assert found is not None
        assert (found.id, found.address) == (sandbox.id, sandbox.address)
        assert await fresh.find(RunId("another"), TOKEN) is None


async def test_what_is_not_exactly_as_asked_is_killed(lab: Lab, spec: SandboxSpec) -> None:
    """The server's settings allow 128 processes; here 64 were asked for."""
    async with lab.sandboxes(replace(lab.blueprint(), pids=64)) as strict:
        with pytest.raises(Forbidden, match="pids is 128, not 64"):
            await strict.create(spec)
    assert (lab.containers(), lab.volumes()) == ([], [])


async def test_without_its_firewall_no_sandbox_is_made(
    lab: Lab, sandboxes: OpenSandboxes, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    """CASE-20: the reason names the check; set-up admits who still runs."""
    nft("delete", "table", "inet", lab.bridge.name)
    try:
        with pytest.raises(Unavailable, match=r"firewall check failed.*it is missing"):
            await sandboxes.create(other(spec, "r2"))
    finally:
        assert network.ensure(lab.client, lab.bridge)
    assert await Firewall(lab.bridge).registered() == {sandbox.address}
    await sandboxes.renew(sandbox)


@pytest.mark.parametrize("how", ["flushed", "deleted"])
async def test_a_heartbeat_puts_a_fallen_firewall_up_again(
    lab: Lab, sandboxes: OpenSandboxes, sandbox: Sandbox, how: str
) -> None:
    """CASE-20: any restart of the host's own firewall may flush our table."""
    damage.DAMAGES[how](lab.bridge)
    await sandboxes.renew(sandbox)
    assert await Firewall(lab.bridge).registered() == {sandbox.address}


async def test_a_sandbox_whose_firewall_can_not_be_put_up_is_ended_at_the_next_heartbeat(
    lab: Lab, sandboxes: OpenSandboxes, sandbox: Sandbox
) -> None:
    """CASE-20: the reason says what is wrong with the table, and why it stays so."""
    try:
        with damage.taken_over(lab.bridge):
            with pytest.raises(NotFound, match=r"was ended: nft table .*can't be made again"):
                await sandboxes.renew(sandbox)
            assert lab.containers() == []
    finally:
        network.ensure(lab.client, lab.bridge)


async def test_a_disk_that_is_not_mounted_is_refused(
    lab: Lab, sandboxes: OpenSandboxes, spec: SandboxSpec
) -> None:
    """The server would make the missing folder, and the host's own disk would be the agent's."""
    folder = lab.tasks / "elsewhere"
    bare = replace(spec, mounts=Mounts(folder, folder))
    with pytest.raises(Unavailable, match="not on a mounted disk"):
        await sandboxes.create(bare)
    assert not folder.exists()


async def test_a_sandbox_that_ended_is_lost_in_every_call(
    lab: Lab, sandboxes: OpenSandboxes, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    """CASE-76, CASE-89: exit 137 without an OOM is not called one."""
    lab.client.api.kill(f"sandbox-{sandbox.id}")
    await until(
        lambda: not lab.client.containers.get(f"sandbox-{sandbox.id}").attrs["State"]["Running"]
    )
    with pytest.raises(NotFound, match=r"it ended with exit code 137$"):
        await sandboxes.execute(sandbox, ["true"])
    with pytest.raises(NotFound):
        await sandboxes.progress(sandbox, "x", -1)
    assert await sandboxes.find(spec.run, TOKEN) is None
    assert (await sandboxes.evidence(spec.run, spec.task)).oom_kills == 0


async def test_an_execd_that_is_dead_while_its_container_runs_is_lost(
    lab: Lab, sandboxes: OpenSandboxes, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    """CASE-85: the server goes on saying Running."""
    lab.client.api.pause(f"sandbox-{sandbox.id}")
    try:
        with pytest.raises(NotFound, match="execd does not answer"):
            await sandboxes.execute(sandbox, ["true"], timeout_s=0.1)
        assert await sandboxes.find(spec.run, TOKEN) is None
    finally:
        lab.client.api.unpause(f"sandbox-{sandbox.id}")


async def test_an_execd_that_does_not_know_our_token_is_lost(
    sandboxes: OpenSandboxes, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    """Another key file, and the run would have stayed `running` until the sandbox's own end."""
    found = await sandboxes.find(spec.run, TOKEN)
    assert found is not None
    assert found.id == sandbox.id
    assert await sandboxes.find(spec.run, "another token") is None


async def test_the_end_of_a_dead_sandbox_closes_its_address(
    lab: Lab, sandboxes: OpenSandboxes, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    """A dead container has no address any more: the next one may get it."""
    lab.client.api.kill(f"sandbox-{sandbox.id}")
    await sandboxes.kill(spec.run)
    assert await Firewall(lab.bridge).registered() == set()


async def test_a_new_sandbox_finds_no_address_of_an_older_one_open(
    lab: Lab, sandboxes: OpenSandboxes, spec: SandboxSpec
) -> None:
    firewall = Firewall(lab.bridge)
    await firewall.register(str(lab.bridge.subnet[77]))
    made = await sandboxes.create(spec)
    assert await firewall.registered() == {made.address}


async def test_an_address_that_somebody_closed_is_let_in_at_the_next_heartbeat(
    lab: Lab, sandboxes: OpenSandboxes, sandbox: Sandbox
) -> None:
    firewall = Firewall(lab.bridge)
    await firewall.unregister(sandbox.address)
    await sandboxes.renew(sandbox)
    assert await firewall.registered() == {sandbox.address}


async def test_a_command_can_not_kill_its_execd(sandboxes: OpenSandboxes, sandbox: Sandbox) -> None:
    """CASE-85."""
    await sandboxes.execute(sandbox, ["bash", "-c", "kill -9 1; kill -9 -1"])
    assert (await sandboxes.execute(sandbox, ["echo", "still here"])).output == "still here\n"


async def test_a_kill_for_memory_is_seen_in_the_hosts_counters(
    sandboxes: OpenSandboxes, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    hog = "x = bytearray(400 << 20)"
    done = await sandboxes.execute(sandbox, ["sh", "-c", f"python3 -c '{hog}'; true"])
    assert done.exit_code == 0
    evidence = await sandboxes.evidence(spec.run, spec.task)
    assert evidence.oom_kills == 1
    assert evidence.pids_refused == 0


async def test_a_fork_bomb_stays_in_its_limit_and_is_seen(
    sandboxes: OpenSandboxes, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    bomb = "for i in $(seq 300); do sleep 30 & done 2>/dev/null"
    await sandboxes.start(sandbox, ["bash", "-c", bomb], env={}, cwd="/workspace")
    async with asyncio.timeout(20):
        evidence = await sandboxes.evidence(spec.run, spec.task)
        while not evidence.pids_refused:
            await asyncio.sleep(0.05)
            evidence = await sandboxes.evidence(spec.run, spec.task)
    await sandboxes.sweep(sandbox)
    assert (await sandboxes.execute(sandbox, ["true"])).exit_code == 0


@pytest.mark.parametrize("folder", ["/workspace", "/home/agent", "/tmp", "/dev/shm"])  # noqa: S108 - inside
async def test_what_fills_up_ends_in_enospc_inside(
    sandboxes: OpenSandboxes, sandbox: Sandbox, spec: SandboxSpec, folder: str
) -> None:
    """CASE-77."""
    fill = f"dd if=/dev/zero of={folder}/fill bs=1M count=200 2>&1"
    done = await sandboxes.execute(sandbox, ["sh", "-c", fill])
    assert "No space left on device" in done.output
    evidence = await sandboxes.evidence(spec.run, spec.task)
    assert (evidence.disk_free_bytes < 1 << 20) == (folder in {"/workspace", "/home/agent"})
    await sandboxes.execute(sandbox, ["rm", f"{folder}/fill"])
    assert (await sandboxes.execute(sandbox, ["touch", f"{folder}/again"])).exit_code == 0


async def test_nothing_else_is_writable(sandboxes: OpenSandboxes, sandbox: Sandbox) -> None:
    find = "find / -xdev -writable -not -type l 2>/dev/null | grep -v ^/proc; true"
    done = await sandboxes.execute(sandbox, ["sh", "-c", find])
    mounts = {"/workspace", "/home/agent", "/tmp", "/dev/shm", "/dev/mqueue"}  # noqa: S108 - inside
    assert {line for line in done.output.splitlines() if not line.startswith("/dev/")} <= mounts


async def test_a_create_that_is_cancelled_leaves_nothing(
    lab: Lab, sandboxes: OpenSandboxes, spec: SandboxSpec
) -> None:
    """CASE-84."""
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await sandboxes.create(spec)
    assert (lab.containers(), lab.volumes()) == ([], [])


async def test_orphans_are_found_and_their_addresses_forgotten(
    lab: Lab, sandboxes: OpenSandboxes, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    """CASE-74: also what a runner left that was killed between two steps."""
    firewall = Firewall(lab.bridge)
    await firewall.register(str(lab.bridge.subnet[77]))
    assert await sandboxes.orphans([spec.run]) == []
    assert await firewall.registered() == {sandbox.address}
    assert await sandboxes.orphans([]) == [spec.run]


async def test_another_installations_sandboxes_are_not_ours_to_end(
    lab: Lab, sandboxes: OpenSandboxes
) -> None:
    other_one = lab.client.api.create_container(
        lab.images.sandbox,
        ["true"],
        labels={"sandgate.installation": "another", "opensandbox.io/id": "x", "run": "r1"},
        host_config=lab.client.api.create_host_config(log_config=LogConfig(type="none")),
    )
    try:
        assert await sandboxes.orphans([]) == []
        await sandboxes.kill(RunId("r1"))
        lab.client.api.inspect_container(other_one["Id"])
    finally:
        lab.client.api.remove_container(other_one["Id"], force=True)


async def test_a_sandbox_without_a_heartbeat_ends_by_itself(lab: Lab, spec: SandboxSpec) -> None:
    """CASE-87; what the server can't remove is an orphan then."""
    async with lab.sandboxes(replace(lab.blueprint(), ttl_s=2)) as short:
        await short.create(spec)
        await until(lambda: not lab.containers())
        assert await short.orphans([]) == [spec.run]
        await short.kill(spec.run)
    assert lab.volumes() == []


async def test_a_server_that_is_down_keeps_no_sandbox_alive(
    lab: Lab, sandboxes: OpenSandboxes, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    lab.program.stop(grace_s=5)
    try:
        with pytest.raises(Unavailable):
            await sandboxes.execute(sandbox, ["true"])
        await sandboxes.kill(spec.run)
        assert (lab.containers(), lab.volumes()) == ([], [])
    finally:
        lab.program.start()
        await until(lambda: _answers(lab))


async def test_a_restarted_server_keeps_the_short_life_of_a_sandbox(
    lab: Lab, spec: SandboxSpec
) -> None:
    """CASE-73."""
    async with lab.sandboxes(replace(lab.blueprint(), ttl_s=6)) as short:
        began = time.monotonic()
        await short.create(spec)
        lab.program.stop(grace_s=5)
        lab.program.start()
        await until(lambda: _answers(lab))
        await until(lambda: not lab.containers(), timeout_s=20)
        assert time.monotonic() - began < 20


async def test_the_expiry_on_a_container_is_far_off(lab: Lab, sandbox: Sandbox) -> None:
    """Another OpenSandbox server on this engine acts on the label: it doesn't know of renewals."""
    container = lab.client.api.inspect_container(f"sandbox-{sandbox.id}")
    expiry = datetime.fromisoformat(container["Config"]["Labels"]["opensandbox.io/expires-at"])
    created = datetime.fromisoformat(container["Created"][:19] + "+00:00")
    assert expiry - created > timedelta(hours=23)


def _answers(lab: Lab) -> bool:
    return answers_http("127.0.0.1", lab.server.port, "/health")
