"""A whole installation of its own for tests: brought up by the product's own set-up, purged at the end."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import docker
from rich.console import Console

from entrance.log.shelf import Shelf
from entrance.log.signing import trust_from
from entrance.log.trail import trail
from entrance.log.verify import Report, verify
from entrance.model.provider import dialect_of
from entrance.session import RunId
from orchestrator.cli.client import Runner
from orchestrator.settings import inherited_environment, service_environment
from orchestrator.stack import down, local_git
from orchestrator.stack.bare_repository import create_bare_repository
from orchestrator.stack.demo.project import DemoRepository
from orchestrator.stack.demo.stage import Play, Stage, serve_stage
from orchestrator.stack.installation import Installation
from orchestrator.stack.pids import recorded_pid
from orchestrator.stack.services import LOOPBACK
from orchestrator.stack.steps import Steps
from orchestrator.stack.up import bring_up
from orchestrator.stack.wiring import Wishes, address_of

SANDGATE = Path(sys.executable).with_name("sandgate")
PATIENCE_S = 150.0
SCRIPTED = "{scripted model}"


@dataclass(frozen=True, slots=True)
class Inside:
    """A command that ran inside a sandbox, as its agent's user."""

    code: int
    output: str


@dataclass(frozen=True, slots=True)
class House:
    """One installation with a git host, a scripted model, and the agent `rex` hired into DEMO."""

    here: Installation
    stage: Stage
    runner: Runner

    def task(
        self,
        title: str,
        description: str = "",
        *,
        repository: str | None = None,
        agent: str = "rex",
    ) -> str:
        """Create a task for an agent; the scenario is chosen by what its text contains."""
        made = self.runner.post(
            "/api/tasks",
            {
                "project": "DEMO",
                "title": title,
                "description": description,
                "repository": self.stage.repository_url if repository is None else repository,
                "assign": agent,
            },
        )
        return str(made["id"])

    def hire(
        self,
        agent: str,
        model: str = "anthropic:claude-sonnet-5",
        harness: str = "native",
        **terms: Any,
    ) -> None:
        """Make an agent and hire it into DEMO, with the repository and money enough."""
        self.runner.post("/api/agents", {"name": agent, "model": model, "harness": harness})
        mine = {"url": self.stage.repository_url, "credential": local_git.SECRET}
        given = {"supervisor": "lead", "budget_usd": "50", "repositories": [mine]}
        self.runner.post("/api/engagements", {"agent": agent, "project": "DEMO", **given, **terms})

    def run_of(self, task: str) -> dict[str, Any]:
        """The task's newest run."""
        return self.runner.wait_for_run(task)

    def wait(
        self,
        task: str,
        true: Callable[[Mapping[str, Any]], bool],
        patience_s: float = PATIENCE_S,
    ) -> dict[str, Any]:
        """The task's newest run, once `true` says yes of it."""
        until, pause_s = time.monotonic() + patience_s, 0.1
        while not true(run := self.runner.wait_for_run(task, patience_s)):
            assert time.monotonic() < until, f"still not so after {patience_s} s: {run}"
            time.sleep(pause_s)
            pause_s = min(pause_s * 1.2, 0.5)
        return run

    def ended(self, task: str, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        """The task's newest run, once it has ended."""
        return self.wait(task, lambda run: run["state"] == "ended", patience_s)

    def inside(self, run: Mapping[str, Any], script: str, *, timeout_s: float = 30) -> Inside:
        """Run a shell script in the run's sandbox as the agent could: same user, same walls."""
        client = docker.from_env(timeout=int(timeout_s) + 10)
        try:
            container = client.containers.get(f"sandbox-{run['sandbox']}")
            code, output = container.exec_run(
                ["timeout", "-k", "1", str(timeout_s), "bash", "-c", script],
                user="10001:10001",
                environment={"HOME": "/home/agent"},
            )
        finally:
            client.close()
        assert code is not None
        assert isinstance(output, bytes)
        return Inside(code, output.decode("utf-8", "replace"))

    def trail(self, run: str) -> list[dict[str, Any]]:
        """The run's lines of the egress log."""
        return trail(self.log, RunId(run))

    @property
    def log(self) -> Shelf:
        """The egress log."""
        return Shelf(self.here.data("egress"))

    def lines(self) -> list[dict[str, Any]]:
        """All lines of the egress log, oldest first."""
        files = [self.log.segment(number) for number in self.log.segments()]
        return [json.loads(line) for file in files for line in file.read_text().splitlines()]

    def verified(self) -> Report:
        """What `verify` says of the egress log."""
        return verify(self.log, trust_from(self.here.keys / "log.pub"))

    def refusals(self) -> list[dict[str, Any]]:
        """Everything that was ever refused at a door (the fence is none), oldest first."""
        return [
            line
            for line in self.lines()
            if line.get("decision") == "deny" and line["door"] != "fence"
        ]

    def sandgate(
        self, *arguments: str, check: bool = True, stdin: str = ""
    ) -> subprocess.CompletedProcess[str]:
        """The `sandgate` command of this installation."""
        env = {**inherited_environment(), "SANDGATE_HOME": str(self.here.home), "NO_COLOR": "1"}
        done = subprocess.run(
            [str(SANDGATE), *arguments], env=env, input=stdin, capture_output=True, text=True,
            check=False, timeout=300,
        )  # fmt: skip
        assert not check or done.returncode == 0, f"{arguments}: {done.stdout}\n{done.stderr}"
        return done

    def pid(self, program: str) -> int:
        """The pid of one of the installation's programs."""
        pid = recorded_pid(self.here.run / f"{program}.pid")
        assert pid is not None, f"{program} doesn't run"
        return pid

    def containers(self) -> Sequence[str]:
        """The names of all containers of this installation, dead ones too."""
        client = docker.from_env()
        try:
            label = f"sandgate.installation={self.here.name}"
            found = client.containers.list(all=True, filters={"label": label})
            return [str(container.name) for container in found]
        finally:
            client.close()


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a house has besides the native loop and Anthropic's API."""

    harnesses: tuple[str, ...] = ()
    providers: Mapping[str, str] = field(default_factory=lambda: {"anthropic": SCRIPTED})
    """Addresses by name, as `sandgate up --model` takes them; `SCRIPTED` stands for the model's."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What `settings.env` says."""


def eventually(true: Callable[[], bool]) -> None:
    """Return once it is true. Raises: AssertionError when that takes too long."""
    until = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < until, f"still not so after {PATIENCE_S} s"
        time.sleep(0.02)


def open_house(
    home: Path, files: Mapping[str, str], scenario: Path, wanted: Wanted | None = None
) -> Iterator[House]:
    """Bring one up with a repository of these files and this scenario; purge it at the end."""
    wanted = wanted or Wanted()
    here = Installation.open(home, create=True)
    steps = Steps(Console(stderr=True))
    lines = [f"{name}={value}\n" for name, value in wanted.settings.items()]
    (home / "settings.env").write_text("".join(lines))
    try:
        stage = _stage(here, files, scenario, steps)
        providers = {
            name: address.replace(SCRIPTED, stage.model_url)
            for name, address in wanted.providers.items()
        }
        bring_up(Wishes(home=home, harnesses=wanted.harnesses, providers=providers), steps)
        runner = Runner(f"http://{LOOPBACK}:{here.ports.runner}", here.keys / "api.token")
        house = House(here, stage, runner)
        _seal(house, providers)
        house.hire("rex")
        yield house
        runner.close()
    finally:
        removed = list(down.purge(here))
        assert removed


def _stage(here: Installation, files: Mapping[str, str], scenario: Path, steps: Steps) -> Stage:
    source = here.home / "source"
    for name, content in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(content)
    bare = here.data("githost") / "team" / "thing.git"
    base = create_bare_repository(source, bare, message="the thing")
    play = Play(DemoRepository(bare, base), "team/thing.git", scenario)
    return serve_stage(here, play, steps, service_environment())


def _seal(house: House, providers: Mapping[str, str]) -> None:
    stage = house.stage
    key = stage.model_key.read_text()
    kinds = {name: address_of(address) for name, address in providers.items()}
    sealed = [
        (name, key, found["base_url"], found.get("dialect") or dialect_of(name))
        for name, found in kinds.items()
    ]
    password = stage.git_password.read_text()
    sealed.append((local_git.SECRET, password, stage.git_host, f"git:{local_git.USER}"))
    for name, value, host, kind in sealed:
        house.runner.put(f"/api/secrets/{name}", {"value": value, "hosts": [host], "kind": kind})
