"""Sandboxes of one installation that make their attempts, real runs of agents of their own."""

import json
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import docker
from docker.errors import NotFound

from orchestrator.settings import service_environment
from orchestrator.stack import egress_proxy
from orchestrator.stack.installation import ENTRANCE_PORT
from orchestrator.stack.process import Program
from tests.e2e.completeness import load
from tests.e2e.completeness.book import Told, told_in
from tests.e2e.completeness.canary import NETWORK, Canary
from tests.e2e.escape.agent import Agent, obeying
from tests.e2e.house import House, eventually

THREADS = 4
POLICY = f"""
rules:
  - host: {load.HOST}
    schemes: [http, https]
    paths: ["/attempts/**"]
    networks: ["{NETWORK}"]
"""
PROGRAM, ORDERS, REPORT = "/tmp/load.py", "/tmp/load.json", "/tmp/report"  # noqa: S108 - inside
HIDDEN = 'mount --bind "$0" /etc/hosts && exec "$@"'
"""For `unshare --mount sh -c`: names of this file's, for one program only."""
POLL_S = 0.2


@dataclass(frozen=True, slots=True)
class Member:
    """One sandbox and its run."""

    agent: Agent
    number: int

    def begin(self, attempts: int, house: House) -> None:
        """Begin to make attempts."""
        here = house.here
        repository = urlsplit(house.stage.repository_url)
        orders = {
            "number": self.number,
            "attempts": attempts,
            "threads": THREADS,
            "entrance": f"http://{here.gateway}:{ENTRANCE_PORT}",
            "repository": f"{repository.netloc}{repository.path}",
        }
        program = Path(load.__file__).read_text()
        for file, text in ((PROGRAM, program), (ORDERS, json.dumps(orders))):
            done = self.agent.do(f"printf %s {shlex.quote(text)} > {file}")
            assert done.code == 0, done
        done = self.agent.do(f"setsid python3 {PROGRAM} {ORDERS} {REPORT} > {REPORT}.err 2>&1 &")
        assert done.code == 0, done

    def report(self) -> str:
        """What it has told so far. Fails when the sandbox is gone: nothing in the trial may end it."""
        try:
            code, output = self.agent.container.exec_run(["cat", REPORT])
        except NotFound as error:
            run = self.agent.house.ended(str(self.agent.run["task"]))
            raise AssertionError(f"sandbox {self.number} is gone: {run}") from error
        assert isinstance(output, bytes)
        return output.decode() if code == 0 else ""

    def told(self) -> Told | None:
        """All that became of its attempts; None while it goes on."""
        return told_in(self.report(), str(self.agent.run["id"]), self.agent.address)

    def trouble(self) -> str:
        """What its program said besides."""
        return self.agent.house.inside(self.agent.run, f"cat {REPORT}.err").output


@contextmanager
def crowd(house: House, number: int) -> Iterator[Sequence[Member]]:
    """So many sandboxes, each in the middle of a run of its own; at the end the runs go on and end."""
    names = [f"load{n}" for n in range(number)]
    for name in names:
        house.hire(name)
    with closing(docker.from_env(timeout=90)) as engine:
        tasks = [house.task(f"CARRY a load, {name}", agent=name) for name in names]
        members = [Member(obeying(house, engine, task), n) for n, task in enumerate(tasks)]
        try:
            yield members
        finally:
            for member in members:
                with suppress(NotFound):
                    member.agent.let_go()
            for task in tasks:
                house.ended(task)


@contextmanager
def known_to_the_proxy(house: House, canary: Canary) -> Iterator[None]:
    """Every run may reach the canary by its name, which only the egress proxy knows."""
    here, hosts = house.here, house.here.home / "hosts"
    hosts.write_text(f"127.0.0.1 localhost\n{canary.address} {load.HOST}\n")
    policy = here.home / "egress" / "policy.yaml"
    policy.parent.mkdir(exist_ok=True)
    own = egress_proxy.service(here, service_environment()).program
    named = Program(
        own.name,
        ("unshare", "--mount", "--propagation=slave", "sh", "-c", HIDDEN, str(hosts), *own.argv),
        own.log,
        own.pid_file,
        own.env,
        own.cwd,
    )
    own.stop()
    named.start()
    policy.write_text(POLICY)
    eventually(lambda: egress_proxy.state(here) is not None)
    try:
        yield
    finally:
        policy.unlink()
        own.stop()
        own.start()


def wait_for(members: Sequence[Member], patience_s: float) -> list[Told]:
    """What all of them tell, once they are done."""
    until, found = time.monotonic() + patience_s, list[Told]()
    for member in members:
        while (told := member.told()) is None:
            assert time.monotonic() < until, f"{member.number} goes on: {member.trouble()}"
            time.sleep(POLL_S)
        found.append(told)
    return found
