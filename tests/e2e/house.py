"""A whole installation of its own for tests: brought up by the product's own set-up, purged at the end."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
from rich.console import Console

from entrance.trail import trail
from orchestrator.cli.client import Runner
from orchestrator.settings import inherited_environment, service_environment
from orchestrator.stack import down, local_git
from orchestrator.stack.bare_repository import create_bare_repository
from orchestrator.stack.demo.project import DemoRepository
from orchestrator.stack.demo.stage import Play, Stage, serve_stage
from orchestrator.stack.installation import Installation
from orchestrator.stack.process import recorded_pid
from orchestrator.stack.services import LOOPBACK
from orchestrator.stack.steps import Steps
from orchestrator.stack.up import bring_up
from orchestrator.stack.wiring import Wishes

SANDGATE = Path(sys.executable).with_name("sandgate")
PATIENCE_S = 60.0


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

    def run_of(self, task: str) -> dict[str, Any]:
        """The task's newest run."""
        return self.runner.wait_for_run(task)

    def wait(self, task: str, true: Callable[[Mapping[str, Any]], bool]) -> dict[str, Any]:
        """The task's newest run, once `true` says yes of it."""
        until = time.monotonic() + PATIENCE_S
        while not true(run := self.run_of(task)):
            assert time.monotonic() < until, f"still not so after {PATIENCE_S} s: {run}"
            time.sleep(0.1)
        return run

    def ended(self, task: str) -> dict[str, Any]:
        """The task's newest run, once it has ended."""
        return self.wait(task, lambda run: run["state"] == "ended")

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
        """The run's audit lines."""
        return trail(self.audit, run)  # type: ignore[arg-type]  # plain text is what tests have

    @property
    def audit(self) -> Path:
        """The audit log."""
        return self.here.data("audit") / "audit.jsonl"

    def refusals(self) -> list[dict[str, Any]]:
        """Everything that was ever refused at this door, oldest first."""
        lines = [json.loads(line) for line in self.audit.read_text().splitlines()]
        return [line for line in lines if line.get("decision") == "deny"]

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


def open_house(home: Path, files: Mapping[str, str], scenario: Path) -> Iterator[House]:
    """Bring one up with a repository of these files and this scenario; purge it at the end."""
    here = Installation.open(home, create=True)
    steps = Steps(Console(stderr=True))
    try:
        stage = _stage(here, files, scenario, steps)
        bring_up(Wishes(home=home, providers={"anthropic": stage.model_url}), steps)
        runner = Runner(f"http://{LOOPBACK}:{here.ports.runner}", here.keys / "api.token")
        house = House(here, stage, runner)
        _hire(house)
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


def _hire(house: House) -> None:
    stage, runner = house.stage, house.runner
    for name, file, host, kind in (
        ("anthropic", stage.model_key, stage.model_url, "anthropic"),
        (local_git.SECRET, stage.git_password, stage.git_host, f"git:{local_git.USER}"),
    ):
        body = {"value": file.read_text(), "hosts": [host], "kind": kind}
        runner.put(f"/api/secrets/{name}", body)
    runner.post("/api/agents", {"name": "rex", "model": "anthropic:claude-sonnet-5"})
    runner.post(
        "/api/engagements",
        {
            "agent": "rex",
            "project": "DEMO",
            "supervisor": "lead",
            "budget_usd": "50",
            "repositories": [{"url": stage.repository_url, "credential": local_git.SECRET}],
        },
    )
