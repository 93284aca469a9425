"""Nothing of an MCP server's sandbox outlives its run, nor the death of the runner."""

import contextlib
import os
import signal
from collections.abc import Iterator

import docker
import pytest

from orchestrator.adapters.firewall.standing import listed as table_of
from orchestrator.adapters.firewall.table import registered_in
from orchestrator.adapters.opensandbox.blueprint import INSTALLATION
from orchestrator.stack.egress_proxy import EgressFiles
from orchestrator.stack.wiring import bridge_of
from proxy.policy_file import PolicyFile
from tests.e2e.escape.agent import Agent, obeying, order
from tests.e2e.house import House, eventually
from tests.e2e.servers.boxes import box_of, boxes
from tests.e2e.servers.conftest import connect, server_item
from tests.e2e.servers.talking import called, listed
from tests.e2e.servers.tiny import tiny

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]

MARK = 'open("/workspace/mark", "w").close()\nreturn "marked"'
MARKED = 'return str(os.path.exists("/workspace/mark"))'


@pytest.fixture
def engine() -> Iterator[docker.DockerClient]:
    with contextlib.closing(docker.from_env(timeout=90)) as client:
        yield client


@pytest.fixture
def keeper(own: House, engine: docker.DockerClient) -> Agent:
    """An agent in the middle of its run, whose server has been started."""
    connect(own, server_item("keeping", tiny({"mark": MARK, "marked": MARKED}), ""))
    own.hire("keeper", tools={"polarion": ["ask_questions"], "keeping": ["mark", "marked"]})
    agent = obeying(own, engine, order(own, "keeper"))
    eventually(lambda: "marked" in listed(agent))
    return agent


def left(agent: Agent) -> dict[str, set[str]]:
    """What there is of the sandboxes of its run's servers, and what is registered of other addresses."""
    house, engine, run = agent.house, agent.engine, str(agent.run["id"])
    bridge, label = bridge_of(house.here), {"label": f"{INSTALLATION}={house.here.name}"}
    policy = PolicyFile.parse(EgressFiles(house.here).policy.read_bytes())
    volumes = {str(one.name): one.attrs["Labels"] for one in engine.volumes.list(filters=label)}
    table = table_of(bridge)
    assert table
    return {
        "containers": {str(box.name) for box in boxes(house, engine, run).values()},
        "volumes": {
            name for name, has in volumes.items() if f".{run}." in has.get("run", str(has))
        },
        "disks": {disk.name for disk in house.here.tasks.iterdir() if f"{run}" in disk.name},
        "let in": {str(ip) for ip in registered_in(table, bridge)} - {agent.address},
        "policies": {one.address for one in policy.sandboxes} - {agent.address},
    }


def test_nothing_of_servers_outlives_the_runner_or_their_run(keeper: Agent) -> None:
    """The runner is killed while a server runs; the next one ends that server and goes on with the run."""
    own = keeper.house
    assert called(keeper, "mark") == ("marked", False)
    before, address = left(keeper), keeper.address
    assert {what: len(found) for what, found in before.items()} == {
        "containers": 1, "volumes": 2, "disks": 1, "let in": 1, "policies": 1,
    }  # fmt: skip
    box = box_of(keeper, "keeping").id
    os.kill(own.pid("runner"), signal.SIGKILL)
    own.sandgate("up")
    eventually(lambda: not any(left(keeper).values()))
    assert keeper.address == address, "the run goes on"
    eventually(lambda: "marked" in listed(keeper))
    assert called(keeper, "marked") == ("False", False), "it is another one"
    assert box_of(keeper, "keeping").id != box
    ended = keeper.end()
    assert (ended["id"], ended["outcome"]) == (keeper.run["id"], "asked"), ended
    assert not any(left(keeper).values())
