"""An agent in its sandbox that does what a test tells it, with exactly what its own shell tool has.

The scripted model's conversation `obey` runs what it finds in /tmp/orders, one script at a time:
same process tree, same environment, same walls as any command that a model thinks of.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from http.client import HTTPConnection
from typing import Any

import docker
from docker.models.containers import Container

from tests.e2e.house import House, Inside

GIVE_ORDER = """
until [ -d /tmp/orders ]; do sleep 0.02; done
printf %s "$ORDER" > /tmp/order.part && mv /tmp/order.part /tmp/orders/$NUMBER.sh
until [ -e /tmp/orders/$NUMBER.code ]; do sleep 0.02; done
cat /tmp/orders/$NUMBER.out
code=$(cat /tmp/orders/$NUMBER.code)
rm /tmp/orders/$NUMBER.*
exit $code
"""
BOMB = """
import os, signal, time
try:
    while True:
        if os.fork() == 0:
            signal.pause()
except OSError:
    time.sleep(4)
os.killpg(0, signal.SIGKILL)
"""
"""Python that makes processes until there is room for no more, and ends them a little later."""
WITHIN_S = 65
EXECD = 44772


@dataclass(frozen=True, slots=True)
class Attempt[T]:
    """What the agent got for its try, and what the door recorded meanwhile."""

    got: T
    lines: Sequence[Mapping[str, Any]]

    def refused_once(self, kind: str) -> Mapping[str, Any]:
        """The one refusal that was recorded. Fails when there is none, another, or one more.

        git's first request of a push carries no token, and is asked for it: that is no refusal.
        """
        denied = [line for line in self.lines if line.get("decision") == "deny"]
        if kind.startswith("git"):
            denied = [line for line in denied if line["detail"] != {"trouble": "missing"}]
        assert [line["kind"] for line in denied] == [kind], (self.got, self.lines)
        return denied[0]


@dataclass
class Agent:
    """One run that obeys."""

    house: House
    run: Mapping[str, Any]
    engine: docker.DockerClient
    orders: int = field(default=0)

    @property
    def item(self) -> str:
        """The task's id, as branches carry it."""
        return str(self.run["task"]).rsplit("/", 1)[1]

    @cached_property
    def container(self) -> Container:
        return self.engine.containers.get(f"sandbox-{self.run['sandbox']}")

    @property
    def address(self) -> str:
        networks = self.container.attrs["NetworkSettings"]["Networks"]
        return str(networks[self.house.here.network]["IPAddress"])

    @property
    def execd_token(self) -> str:
        """What opens its execd: known to the host only."""
        name = "EXECD_ACCESS_TOKEN="
        variables: list[str] = self.container.attrs["Config"]["Env"]
        return next(one.removeprefix(name) for one in variables if one.startswith(name))

    @property
    def run_token(self) -> str:
        return self.do('printf %s "$SANDGATE_RUN_TOKEN"').output

    def do(self, script: str) -> Inside:
        """Have a script run by the agent's shell."""
        self.orders += 1
        # The engine gives an exec the container's environment; what the agent's processes don't
        # have must not come in this way either.
        environment: dict[str, str] = {
            "ORDER": script,
            "NUMBER": str(self.orders),
            "EXECD_ACCESS_TOKEN": "",
        }
        code, output = self.container.exec_run(
            ["timeout", str(WITHIN_S), "bash", "-c", GIVE_ORDER],
            user="10001:10001",
            environment=environment,
        )
        assert code is not None
        assert isinstance(output, bytes)
        return Inside(code, output.decode("utf-8", "replace"))

    def attempt[T](self, act: Callable[[], T]) -> Attempt[T]:
        """Try it, and read what the door recorded meanwhile about this run or its address."""
        before = len(self.house.lines())
        got = act()
        lines = self.house.lines()[before:]
        seqs = {line["seq"] for line in lines if self._caused(line)}
        return Attempt(
            got, [line for line in lines if line["seq"] in seqs or line.get("of") in seqs]
        )

    def _caused(self, line: Mapping[str, Any]) -> bool:
        if line.get("door") == "fence":
            return False  # it is told of some time later
        return line.get("run") == self.run["id"] or line.get("address") == self.address

    def python(self, program: str) -> Any:
        """Have a Python program run, and read the JSON that it prints."""
        inside = self.do(f"python3 - <<'END'\n{program}\nEND\n")
        assert inside.code == 0, inside.output
        return json.loads(inside.output)

    def execd_answers(self, token: str | None) -> int:
        """The status that its execd answers the host with, which may call it."""
        connection = HTTPConnection(self.address, EXECD, timeout=5)
        try:
            shown = {"X-EXECD-ACCESS-TOKEN": token} if token else {}
            connection.request("GET", "/metrics", headers=shown)
            return connection.getresponse().status
        finally:
            connection.close()

    def let_go(self) -> None:
        """Let it go on to its end."""
        self.house.inside(self.run, "touch /tmp/go")

    def end(self) -> dict[str, Any]:
        """Let it go on; the run once it has ended."""
        self.let_go()
        return self.house.ended(str(self.run["task"]))


def order(house: House, name: str) -> str:
    """A task for the agent `name`, in which it is to obey."""
    return house.task(f"OBEY, {name}", agent=name)


def obeying(house: House, engine: docker.DockerClient, task: str) -> Agent:
    """The task's agent, once it obeys."""
    run = house.wait(task, lambda run: run["state"] in {"running", "ended"})
    agent = Agent(house, run, engine)
    ready = agent.do("echo ready")
    assert ready.output == "ready\n", (ready, run)
    return agent
