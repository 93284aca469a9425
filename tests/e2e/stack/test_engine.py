"""An engine of the test's own, in a network namespace and with folders of its own."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.stack.images import IMAGES

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]

START_KILL_START = """
import os, signal, time
from io import StringIO
from rich.console import Console
from ipaddress import IPv4Network
from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.firewall.standing import listed, wrong_with
from orchestrator.adapters.firewall.table import Bridge
from orchestrator.stack import engine, network
from orchestrator.stack.packages import DebianPackages
from orchestrator.stack.pids import recorded_pid, stop_recorded
from orchestrator.stack.steps import Steps

SUBNET = IPv4Network("10.77.8.0/24")
BRIDGE = Bridge("sgengine", "sgengineb0", SUBNET, SUBNET[1], (8080, 8081))

def up():
    console = Console(file=StringIO(), width=200)
    with Steps(console).step("Docker engine") as step:
        engine.ensure(step, DebianPackages(), docker_host="")
    print(console.file.getvalue().splitlines()[-1].split()[0])
    return recorded_pid(engine.PID_FILE)

assert engine.find("") is None
try:
    first = up()
    assert up() == first
    client = engine.find("").client()
    network.ensure(client, BRIDGE)
    os.kill(first, signal.SIGKILL)
    assert up() != first
    assert not network.ensure(client, BRIDGE), "bridge and table outlive the engine"
    nft("flush", "ruleset")
    assert network.ensure(client, BRIDGE), "a restart of the firewall service leaves nothing"
    assert wrong_with(listed(BRIDGE), BRIDGE) == []
    client.close()
    print(open(f"/proc/{recorded_pid(engine.PID_FILE)}/cmdline").read().replace(chr(0), " "))
finally:
    stop_recorded(engine.PID_FILE, grace_s=20)
"""
ISOLATED = """
mount --make-rslave / && mount -t tmpfs tmpfs /run && ip link set lo up &&
mount --bind "$1/lib" /var/lib/docker && mount --bind "$1/log" /var/log && exec "$2" -c "$3"
"""
UNSHARED = ("unshare", "--net", "--mount", "sh", "-c", ISOLATED)


def test_an_engine_is_started_left_alone_while_it_answers_and_started_again_when_killed(
    tmp_path: Path,
) -> None:
    """CASE-17, CASE-20: the fence outlives the engine, and is made again after the firewall service."""
    if shutil.which("dockerd") is None or not Path("/var/lib/docker").is_dir():
        pytest.skip("this machine uses an engine that isn't its own")
    if Path("/run/systemd/system").is_dir():
        pytest.skip("here systemd starts the engine")
    for folder in ("lib", "log"):
        (tmp_path / folder).mkdir()
    done = subprocess.run(
        [*UNSHARED, "sh", str(tmp_path), sys.executable, START_KILL_START],
        cwd=IMAGES.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=150,
    )
    assert done.returncode == 0, done.stderr
    first, second, third, command = done.stdout.splitlines()
    assert (first, second, third) == ("done", "ok", "done")
    assert "--dns 127.0.0.1" in command
