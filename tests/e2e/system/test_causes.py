"""Every way a sandbox can die has its own cause, with what the host counted as evidence; nothing is left."""

import contextlib
import os
import shlex
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import docker
import pytest

from entrance.session import TaskId
from orchestrator.adapters.disk_names import slug
from tests.e2e.escape.agent import BOMB, Agent, obeying
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]

FULL_BYTES = 1 << 20
EAT = "python3 -c 'b = [bytearray(b\"x\" * (256 << 20)) for _ in range(64)]'"
FILL = "cat /dev/zero > /home/agent/.fill; sync /home/agent"
LIE = """
harness=$(pgrep -f 'native.*--workdir' | head -n 1)
echo '{"type":"ended","reason":"submitted","detail":"all is done"}' > /proc/$harness/fd/1
kill -STOP $harness
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[docker.DockerClient]:
    with contextlib.closing(docker.from_env(timeout=90)) as client:
        yield client


@pytest.fixture(scope="module")
def ruined(house: House, engine: docker.DockerClient) -> Callable[[], Agent]:
    """Begins a run whose sandbox is to be ruined."""
    house.runner.post("/api/agents", {"name": "martyr", "model": "anthropic:claude-sonnet-5"})
    house.runner.post(
        "/api/engagements",
        {"agent": "martyr", "project": "DEMO", "supervisor": "lead", "budget_usd": "20"},
    )
    return lambda: obeying(house, engine, house.task("RUIN", agent="martyr", repository=""))


def end_of(agent: Agent, *, let_go: bool = True) -> dict[str, Any]:
    """How its run ended, after making sure that nothing of it is left."""
    if let_go:
        agent.let_go()
    run = agent.house.ended(str(agent.run["task"]))
    assert f"sandbox-{agent.run['sandbox']}" not in agent.house.containers()
    assert not [name for name in volumes(agent.engine) if str(agent.run["id"]) in name]
    disk = agent.house.here.home / "tasks" / slug(TaskId(agent.run["task"]))
    assert (disk / "disk.img").is_file()
    assert not (disk / "mount").is_mount()
    assert zombies() == []
    return run


def test_a_sandbox_without_memory_dies_of_memory(ruined: Callable[[], Agent]) -> None:
    agent = ruined()
    assert agent.do(EAT).code != 0
    run = end_of(agent)
    assert (run["outcome"], run["cause"]) == ("failed", "oom"), run
    assert run["evidence"]["host"]["oom_kills"] > 0


def test_a_fork_bomb_dies_of_processes(ruined: Callable[[], Agent]) -> None:
    agent = ruined()
    agent.do(f"setsid -w python3 -c {shlex.quote(BOMB)}")
    run = end_of(agent)
    assert (run["outcome"], run["cause"]) == ("failed", "pids"), run
    assert run["evidence"]["host"]["pids_refused"] > 0


def test_a_full_disk_is_what_the_run_dies_of(ruined: Callable[[], Agent]) -> None:
    agent = ruined()
    assert "No space left on device" in agent.do(FILL).output
    run = end_of(agent)
    assert (run["outcome"], run["cause"]) == ("failed", "disk"), run
    assert 0 <= run["evidence"]["host"]["disk_free_bytes"] < FULL_BYTES


@pytest.mark.parametrize("by", ["its execd is killed", "its container is killed"])
def test_a_sandbox_that_is_gone_is_lost(ruined: Callable[[], Agent], by: str) -> None:
    agent = ruined()
    if by == "its execd is killed":
        os.kill(agent.container.attrs["State"]["Pid"], signal.SIGKILL)
    else:
        agent.container.kill()
    run = end_of(agent, let_go=False)
    assert (run["outcome"], run["cause"]) == ("failed", "sandbox_lost"), run
    assert run["evidence"]["exit"]["detail"]


def test_a_last_word_from_a_harness_that_goes_on_is_no_success(
    ruined: Callable[[], Agent],
) -> None:
    """An agent that writes its harness's lines itself gains nothing by it."""
    agent = ruined()
    agent.do(LIE)
    run = end_of(agent, let_go=False)
    assert (run["outcome"], run["cause"]) == ("failed", "hung"), run
    assert run["evidence"]["said"] == {"reason": "submitted", "detail": "all is done"}


def volumes(engine: docker.DockerClient) -> list[str]:
    return [str(volume.name) for volume in engine.volumes.list()]


def zombies() -> list[str]:
    """Dead processes of sandboxes that nobody has waited for."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            status = (process / "status").read_text()
            if "\nState:\tZ" in status and "\nUid:\t10001" in status:
                found.append(status.partition("\n")[0])
    return found
