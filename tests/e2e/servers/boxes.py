"""The sandboxes of MCP servers, as the engine and the disks know them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import docker
from docker.models.containers import Container

from orchestrator.adapters.opensandbox.blueprint import INSTALLATION
from tests.e2e.escape.agent import Agent
from tests.e2e.house import House, Inside


def boxes(house: House, engine: docker.DockerClient, run: str) -> Mapping[str, Container]:
    """The sandboxes of a run's servers, by connection."""
    label = f"{INSTALLATION}={house.here.name}"
    found = engine.containers.list(all=True, filters={"label": label})
    names = {str(each.labels["run"]): each for each in found if f".{run}." in each.labels["run"]}
    return {name.partition(".")[0]: each for name, each in names.items()}


def box_of(agent: Agent, connection: str) -> Container:
    """The sandbox of the agent's server."""
    return boxes(agent.house, agent.engine, str(agent.run["id"]))[connection]


def inside(box: Container, script: str, *, timeout_s: int = 60) -> Inside:
    """What a shell script says that runs in a server's sandbox as its user, as the server could."""
    environment: dict[str, str] = {"HOME": "/home/agent", "EXECD_ACCESS_TOKEN": ""}
    code, output = box.exec_run(
        ["timeout", "-k", "1", str(timeout_s), "bash", "-c", script],
        user="10001:10001",
        environment=environment,
    )
    assert code is not None
    assert isinstance(output, bytes)
    return Inside(code, output.decode("utf-8", "replace"))


@dataclass(frozen=True, slots=True)
class Server:
    """A server that does what a test tells it, with all that its programs have."""

    box: Container

    def do(self, script: str) -> Inside:
        """Have a script run in its sandbox."""
        return inside(self.box, script, timeout_s=200)

    def python(self, program: str) -> Any:
        """Have a Python program run, and read the JSON that it prints."""
        told = self.do(f"python3 - <<'END'\n{program}\nEND\n")
        assert told.code == 0, told.output
        return json.loads(told.output)


def environment_of(box: Container) -> dict[str, str]:
    """The variables of the server's programs."""
    script = "tr '\\0' '\\n' < /proc/$(pgrep -f /opt/stdio/run | head -1)/environ"
    lines = inside(box, script).output.splitlines()
    return dict(line.partition("=")[::2] for line in lines)


def passport(box: Container) -> str:
    """What the server's programs show to the egress proxy: it stands in their environment."""
    proxy = environment_of(box)["HTTPS_PROXY"]
    return proxy.partition("://")[2].rpartition("@")[0].partition(":")[2]
