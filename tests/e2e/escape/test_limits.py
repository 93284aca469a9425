"""What an agent takes, it takes from itself: disk, processes, time after its end."""

import os
import secrets
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.adapters.opensandbox import counters
from tests.e2e.escape.agent import BOMB, Agent
from tests.waiting import until

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]

MIB = 1 << 20
FILL = """
cd {mount} || exit 9
n=0
for size in 1G 64M 1M 64K 4K; do
  while fallocate -l $size .fill$n 2>/dev/null; do n=$((n + 1)); [ $n -lt 200 ] || exit 9; done
  rm -f .fill$n
done
said=$(head -c 65536 /dev/zero 2>&1 > .last)
code=$?
rm -f .fill* .last
echo "$said"
exit $code
"""


@pytest.mark.parametrize("mount", ["/workspace", "/home/agent", "/tmp", "/dev/shm"])  # noqa: S108
def test_a_full_disk_is_the_agents_own(mole: Agent, mount: str) -> None:
    """Whatever can be written to has a cap: full inside, the host's disk and execd unharmed (CASE-77)."""
    before = free_bytes(mole.house.here.home)
    filled = mole.do(FILL.format(mount=mount))
    assert filled.code == 1, filled
    assert "No space left on device" in filled.output
    assert before - free_bytes(mole.house.here.home) < 512 * MIB
    assert mole.execd_answers(mole.execd_token) == 200
    assert mole.do(f"echo again > {mount}/.last && rm {mount}/.last").code == 0


async def test_a_fork_bomb_stays_in_its_sandbox(neighbour: Agent, mole: Agent) -> None:
    """Processes run out inside, and only there: execd goes on answering, and so does every other sandbox."""
    pid = neighbour.container.attrs["State"]["Pid"]
    before = counters.read(pid).pids_refused
    neighbour.do(f"setsid python3 -c {shlex.quote(BOMB)} >/dev/null 2>&1 &")
    await until(lambda: counters.read(pid).pids_refused > before)
    assert [neighbour.execd_answers(neighbour.execd_token) for _ in range(5)] == [200] * 5
    assert mole.do("true").code == 0
    assert count(b"import os, signal, time") > 100, "there was no bomb"
    await until(lambda: count(b"import os, signal, time") == 0, seconds=20)
    assert neighbour.do("echo again").output == "again\n"


def test_nothing_of_a_run_outlives_it(leaver: Callable[[], Agent]) -> None:
    """A process that an agent leaves behind, out of every session and group, ends with the run (CASE-78)."""
    agent = leaver()
    mark = f"{secrets.randbelow(10**9) + 10**9}"
    left = agent.do(f"(setsid nohup sleep {mark} >/dev/null 2>&1 &) ; ps -eo args | grep -c {mark}")
    assert left.code == 0
    assert count(mark.encode()) == 1, "the host doesn't see it"
    assert agent.end()["outcome"] == "asked"
    assert count(mark.encode()) == 0
    assert f"sandbox-{agent.run['sandbox']}" not in agent.house.containers()


def count(mark: bytes) -> int:
    """How many processes of this machine have the mark in their command line."""
    found = 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            found += mark in (process / "cmdline").read_bytes()
        except OSError:
            continue  # it has just ended
    return found


def free_bytes(folder: Path) -> int:
    """What the host's disk has left there."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize
