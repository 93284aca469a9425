"""One sandbox under gVisor, from end to end: the same walls, and another kernel behind them."""

import json
import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from dataclasses import replace

import aiohttp
import docker
import pytest

from entrance.errors import Forbidden, NotFound
from orchestrator.adapters.firewall.admission import Firewall
from orchestrator.adapters.opensandbox.blueprint import GVISOR_PIDS, RUNSC
from orchestrator.adapters.opensandbox.engine import Engine
from orchestrator.adapters.opensandbox.http import Server
from orchestrator.adapters.opensandbox.lifecycle import Parts
from orchestrator.adapters.opensandbox.sandboxes import OpenSandboxes
from orchestrator.clock import WallClock
from orchestrator.ports import Sandbox, SandboxSpec
from orchestrator.stack import gvisor
from orchestrator.stack.opensandbox import OpenSandboxServer
from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.process import answers_http
from orchestrator.stack.steps import Step, StepFailed
from tests.e2e.sandbox.lab import API_KEY, Lab

pytestmark = [pytest.mark.docker, pytest.mark.timeout(240)]

INSIDE = """
import json, os, pathlib, socket, subprocess
def tcp(host, port):
    try:
        with socket.socket() as s:
            s.settimeout(1)
            s.connect((host, port))
            return "reached"
    except OSError as error:
        return type(error).__name__
def made(family, kind, protocol):
    try:
        socket.socket(family, kind, protocol).close()
        return "allowed"
    except OSError:
        return "refused"
def git():
    script = "git init -q r && cd r && git config user.name x && git config user.email x@x.invalid &&"
    script += " echo a > a && git add a && git commit -qm a && git log --oneline | wc -l"
    return subprocess.run(script, shell=True, capture_output=True, text=True, cwd="/workspace").stdout
def full(folder):
    try:
        with open(folder + "/fill", "wb", buffering=0) as file:
            for _ in range(200):
                file.write(bytes(1 << 20))
        return "no end"
    except OSError as error:
        return error.strerror
    finally:
        os.unlink(folder + "/fill")
gateway, other = GATEWAY, PORT
said = {
    "kernel": os.uname().release,
    "uid": os.getuid(),
    "door": tcp(gateway, 8080),
    "elsewhere on the host": tcp(gateway, other),
    "outside": tcp("192.0.2.1", 443),
    "vsock": made(40, 1, 0),
    "packet": made(17, 3, 0),
    "git": git().strip(),
    "disk": full("/workspace"),
    "tmp": full("/tmp"),
    "caps": [l.split()[1] for l in open("/proc/self/status") if l.startswith("CapEff")][0],
    "token": "EXECD" in pathlib.Path("/proc/self/environ").read_text(),
}
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def server(lab: Lab) -> Iterator[OpenSandboxServer]:
    """A second server, whose sandboxes are gVisor's: the runtime is a whole server's."""
    try:
        gvisor.ensure(Step("gVisor", print), lab.engine, DebianPackages())
    except StepFailed as error:
        if error.what_to_do != gvisor.BY_HAND:  # an engine of ours must take it: no skip hides that
            raise
        pytest.skip(f"this machine's engine isn't ours to give gVisor to: {error}")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = replace(
        lab.server,
        data=lab.home / "opensandbox-gvisor",
        log=lab.home / "log" / "opensandbox-gvisor.log",
        pid_file=lab.home / "run" / "opensandbox-gvisor.pid",
        port=port,
        pids=GVISOR_PIDS,
        runtime=RUNSC,
    )
    server.write_settings()
    program = server.program({"PATH": os.environ["PATH"]})  # noqa: TID251 - it finds its programs by it
    try:
        program.start()
        program.wait_ready(lambda: answers_http("127.0.0.1", port, "/health"), timeout_s=60)
        yield server
    finally:
        program.stop(grace_s=5)


@pytest.fixture
async def sandboxes(lab: Lab, server: OpenSandboxServer) -> AsyncIterator[OpenSandboxes]:
    blueprint = replace(
        lab.blueprint(memory="512Mi"),
        pids=GVISOR_PIDS,
        runtime=RUNSC,
        resolv_conf=server.resolv_conf,
    )
    with ExitStack() as stack:
        api = docker.APIClient(timeout=60)
        stack.callback(api.close)
        async with aiohttp.ClientSession() as session:
            yield OpenSandboxes(
                Parts(
                    blueprint=blueprint,
                    server=Server(session, f"http://127.0.0.1:{server.port}", API_KEY),
                    engine=Engine(api, lab.bridge.name, lab.bridge.name),
                    admission=Firewall(lab.bridge),
                    now=WallClock().now,
                )
            )


async def test_a_sandbox_under_gvisor_has_the_same_walls(
    lab: Lab, sandboxes: OpenSandboxes, spec: SandboxSpec
) -> None:
    """Door reached and nothing else, disk capped, git at work; the record says which runtime it was."""
    gateway = str(lab.bridge.gateway)
    with socket.create_server((gateway, 8080)), socket.create_server((gateway, 0)) as other:
        sandbox = await sandboxes.create(spec)
        assert sandbox.facts["runtime"] == RUNSC
        script = INSIDE.replace("GATEWAY", repr(gateway)).replace(
            "PORT", str(other.getsockname()[1])
        )
        done = await sandboxes.execute(sandbox, ["python3", "-c", script])
    assert done.exit_code == 0, done.output
    said = json.loads(done.output)
    assert said.pop("kernel") != os.uname().release, "it is the host's"
    full = "No space left on device"
    assert said == {
        "uid": 10001,
        "door": "reached",
        "elsewhere on the host": "TimeoutError",
        "outside": "TimeoutError",
        "vsock": "refused",
        "packet": "refused",
        "git": "1",
        "disk": full,
        "tmp": full,
        "caps": "0" * 16,
        "token": False,
    }
    await _is_lost_when_its_first_process_is_killed(sandboxes, sandbox, spec)


async def _is_lost_when_its_first_process_is_killed(
    sandboxes: OpenSandboxes, sandbox: Sandbox, spec: SandboxSpec
) -> None:
    """PID 1 is not protected there: the sandbox ends, and is never taken for a success."""
    with pytest.raises(NotFound, match="is lost"):
        await sandboxes.execute(sandbox, ["sh", "-c", "kill -9 1; sleep 5"], timeout_s=1)
    await sandboxes.kill(spec.run)


async def test_a_sandbox_that_is_not_gvisors_is_killed(lab: Lab, spec: SandboxSpec) -> None:
    async with lab.sandboxes(replace(lab.blueprint(), runtime=RUNSC)) as strict:
        with pytest.raises(Forbidden, match="runtime is 'runc', not 'runsc'"):
            await strict.create(spec)
    assert lab.containers() == []
