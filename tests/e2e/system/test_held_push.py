"""An agent in a real sandbox pushes what a person should see first: it is held, and sent when allowed."""

import contextlib
import json
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import docker
import pytest

from tests.e2e.escape.agent import Agent, obeying, order
from tests.e2e.escape.test_push import Host
from tests.e2e.house import House, eventually

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]

WORKFLOW = ".github/workflows/ci.yml"
COMMIT = f"""
mkdir -p .github/workflows && echo 'on: push' > {WORKFLOW} &&
git add --all && git commit -q -m 'Run the tests' && git rev-parse HEAD
"""


@pytest.fixture(scope="module")
def engine() -> Iterator[docker.DockerClient]:
    with contextlib.closing(docker.from_env(timeout=120)) as client:
        yield client


@dataclass(frozen=True, slots=True)
class Held:
    """A push that waits, and the agent that has pushed."""

    house: House
    agent: Agent
    item: str
    ref: str
    commit: str
    told: str

    @property
    def task(self) -> str:
        return str(self.agent.run["task"])

    def sandgate(self, *arguments: str) -> str:
        return self.house.sandgate(*arguments).stdout

    def state(self) -> str:
        return str(self.house.runner.get(f"/api/approvals/{self.item}")["state"])

    def pushes(self) -> list[dict[str, Any]]:
        """What `push ls` says of the agent's run."""
        run = str(self.agent.run["id"])
        found: list[dict[str, Any]] = json.loads(
            self.sandgate("push", "ls", "--run", run, "--json")
        )
        return found

    def at_host(self) -> str:
        """Where the branch is at the host; empty when it isn't there."""
        listed = Host(self.house).refs().splitlines()
        return next((line.split()[0] for line in listed if line.endswith(self.ref)), "")


def push_held(house: House, engine: docker.DockerClient, name: str) -> Held:
    """Have an agent push a workflow."""
    house.hire(name)
    agent = obeying(house, engine, order(house, name))
    ref = f"refs/heads/agent/{agent.item}/ci"
    commit = agent.do(COMMIT).output.split()[-1]
    pushed = agent.do(f"git push origin HEAD:{ref}")
    assert pushed.code != 0
    waiting = house.runner.get("/api/approvals?state=waiting")
    (item,) = [one for one in waiting if one["run"] == agent.run["id"]]
    assert item["kind"] == "push"
    return Held(house, agent, item["id"], ref, commit, pushed.output)


def test_a_push_is_held_allowed_and_sent_once_and_its_task_goes_on(
    house: House, engine: docker.DockerClient
) -> None:
    held = push_held(house, engine, "gardener")
    assert held.item in held.told
    assert "nothing needs to be pushed again" in " ".join(held.told.split())
    assert held.at_host() == ""

    shown = held.sandgate("approvals", "show", held.item)
    for words in (WORKFLOW, "+on: push", held.commit[:12], held.ref):
        assert words in shown
    (waits,) = held.pushes()
    assert (waits["state"], waits["approval"]) == ("held", held.item)

    first = held.agent.end()
    assert first["outcome"] == "asked"
    done = held.sandgate("approvals", "approve", held.item, "--note", "Fine.")
    assert "is released" in done
    assert f"{held.task} goes on" in done
    assert held.at_host() == held.commit
    (taken,) = held.pushes()
    assert (taken["state"], taken["decided_by"], taken["result"]) == ("taken", "lead", "ok")
    again = house.sandgate("approvals", "approve", held.item, check=False)
    assert again.returncode != 0

    repository = str(house.stage.repository.path)
    assert "lead" in held.sandgate("verify", repository, held.commit)
    second = house.wait(held.task, lambda run: run["id"] != first["id"] and run["state"] == "ended")
    assert second["trigger"] == "answered"
    assert house.verified().finding is None


def test_a_runner_that_is_killed_between_a_persons_word_and_the_host_sends_it_once(
    own: House, engine: docker.DockerClient
) -> None:
    held = push_held(own, engine, "gardener")
    held.agent.end()
    os.kill(own.pid("githost"), signal.SIGTERM)
    said = held.sandgate("approvals", "approve", held.item)
    assert "nothing was sent yet" in said
    assert held.state() == "allowed"
    os.kill(own.pid("runner"), signal.SIGKILL)

    held.sandgate("up")
    eventually(lambda: held.state() == "released")
    assert held.at_host() == held.commit
    (taken,) = held.pushes()
    assert (taken["state"], taken["result"]) == ("taken", "ok")
    lines = own.lines()
    sent = [line for line in lines if line.get("rule") == f"approval/{held.item}"]
    assert [line["decision"] for line in sent] == ["allow"]
    outcomes = [line["result"] for line in lines if line.get("of") == sent[0]["seq"]]
    assert outcomes == ["ok"]
    assert own.verified().finding is None
