"""An agent in a real sandbox pushes what a person should see first: it is held, and sent when allowed."""

import contextlib
import json
from collections.abc import Iterator

import docker
import pytest

from tests.e2e.escape.agent import obeying, order
from tests.e2e.escape.test_push import Host
from tests.e2e.house import House

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


def test_a_push_is_held_allowed_and_sent_once_and_its_task_goes_on(
    house: House, engine: docker.DockerClient
) -> None:
    house.hire("gardener")
    task = order(house, "gardener")
    agent, host = obeying(house, engine, task), Host(house)
    branch = f"agent/{agent.item}/ci"
    commit = agent.do(COMMIT).output.split()[-1]
    pushed = agent.do(f"git push origin HEAD:refs/heads/{branch}")
    assert pushed.code != 0
    assert "held as" in pushed.output, pushed.output
    assert branch not in host.refs()
    (item,) = [
        one for one in house.runner.get("/api/approvals?state=waiting") if one["task"] == task
    ]
    assert item["kind"] == "push"
    assert item["id"] in pushed.output

    shown = house.sandgate("approvals", "show", item["id"]).stdout
    assert WORKFLOW in shown
    assert "+on: push" in shown
    assert commit[:12] in shown
    (held,) = json.loads(house.sandgate("push", "ls", "--task", task, "--json").stdout)
    assert (held["state"], held["approval"]) == ("held", item["id"])

    first = agent.end()
    assert first["outcome"] == "asked"
    done = house.sandgate("approvals", "approve", item["id"], "--note", "Fine.").stdout
    assert "is released" in done
    assert f"{task} goes on" in done
    assert host.git("rev-parse", f"refs/heads/{branch}").strip() == commit
    (taken,) = json.loads(house.sandgate("push", "ls", "--run", first["id"], "--json").stdout)
    assert (taken["state"], taken["decided_by"], taken["result"]) == ("taken", "lead", "ok")
    again = house.sandgate("approvals", "approve", item["id"], check=False)
    assert again.returncode != 0

    second = house.wait(task, lambda run: run["id"] != first["id"] and run["state"] == "ended")
    assert second["trigger"] == "answered"
    assert house.verified().finding is None
