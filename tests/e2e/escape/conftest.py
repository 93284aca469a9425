"""Two sandboxes that live as long as this folder's tests run: the mole, and its neighbour."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import docker
import pytest

from tests.e2e.escape.agent import Agent, obeying, order
from tests.e2e.house import House

MODEL = "anthropic:claude-sonnet-5"


@pytest.fixture(scope="session")
def engine() -> Iterator[docker.DockerClient]:
    with contextlib.closing(docker.from_env(timeout=90)) as client:
        yield client


@pytest.fixture(scope="session")
def hired(house: House) -> House:
    """The house, where the mole and the leaver have all that an agent can have, the neighbour less."""
    mine = {"url": house.stage.repository_url, "credential": "githost"}
    less = {"repositories": [{**mine, "push": False}], "tools": ["get_task", "ask_questions"]}
    grants: dict[str, dict[str, Any]] = {
        "mole": {"repositories": [mine]},
        "leaver": {"repositories": [mine]},
        "neighbour": less,
    }
    for name, given in grants.items():
        house.runner.post("/api/agents", {"name": name, "model": MODEL})
        terms = {"agent": name, "project": "DEMO", "supervisor": "lead", "budget_usd": "20"}
        house.runner.post("/api/engagements", terms | given)
    return house


@pytest.fixture(scope="package")
def pair(hired: House, engine: docker.DockerClient) -> Iterator[dict[str, Agent]]:
    """The mole and its neighbour, each in the middle of its run."""
    tasks = {name: order(hired, name) for name in ("mole", "neighbour")}
    agents = {name: obeying(hired, engine, task) for name, task in tasks.items()}
    yield agents
    for agent in agents.values():
        agent.let_go()
    for task in tasks.values():
        hired.ended(task)


@pytest.fixture(scope="package")
def mole(pair: dict[str, Agent]) -> Agent:
    """The attacker."""
    return pair["mole"]


@pytest.fixture(scope="package")
def neighbour(pair: dict[str, Agent]) -> Agent:
    """Another agent on the same bridge, with fewer grants."""
    return pair["neighbour"]


@pytest.fixture
def leaver(hired: House, engine: docker.DockerClient) -> Iterator[Callable[[], Agent]]:
    """Starts a run of its own for a test that ends or wrecks it; what still runs is cancelled."""
    begun: list[Agent] = []

    def begin() -> Agent:
        begun.append(obeying(hired, engine, order(hired, "leaver")))
        return begun[-1]

    yield begin
    for agent in begun:
        if hired.run_of(str(agent.run["task"]))["state"] != "ended":
            hired.sandgate("run", "cancel", str(agent.run["id"]))
            hired.ended(str(agent.run["task"]))
