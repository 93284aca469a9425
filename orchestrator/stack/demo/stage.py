"""The demo's stage: a git host with the project, and a scripted model, each behind a secret of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.stack import local_git
from orchestrator.stack.content import digest
from orchestrator.stack.demo.project import DemoRepository, make_repository
from orchestrator.stack.demo.task import SCENARIO, DemoTask
from orchestrator.stack.installation import Installation
from orchestrator.stack.keys import make_key
from orchestrator.stack.process import answers_tcp
from orchestrator.stack.services import LOOPBACK, Service, of_the_stack, python_program
from orchestrator.stack.steps import Steps


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the demo's world is, and the files that hold its secrets."""

    repository: DemoRepository
    repository_url: str
    git_host: str
    git_password: Path
    model_url: str
    model_key: Path


def set_stage(here: Installation, task: DemoTask, steps: Steps, env: Mapping[str, str]) -> Stage:
    """Have the demo's project served, and its scenario played. Raises: StepFailed."""
    with steps.step("Demo: a real project from its source archive") as step:
        root = here.data("githost")
        repository = make_repository(task, cache=here.cache, root=root)
        step.note(f"{task.project.name} {task.project.version}")
    return serve_stage(here, Play(repository, task.repository, SCENARIO), steps, env)


@dataclass(frozen=True, slots=True)
class Play:
    """What is served: a repository, its path on the git host, and what the model plays."""

    repository: DemoRepository
    path: str
    script: Path


def serve_stage(here: Installation, play: Play, steps: Steps, env: Mapping[str, str]) -> Stage:
    """Have the git host and the scripted model running. Raises: StepFailed."""
    key = make_key(here.keys / "model.key")
    with steps.step("Demo: git host") as step:
        local_git.service(here, env).ensure(step)
    with steps.step("Demo: scripted model") as step:
        _model(here, play.script, key, env).ensure(step)
    return Stage(
        repository=play.repository,
        repository_url=f"{local_git.base_url(here)}/{play.path}",
        git_host=local_git.base_url(here),
        git_password=local_git.password(here),
        model_url=f"http://{LOOPBACK}:{here.ports.model}",
        model_key=key,
    )


def _model(here: Installation, script: Path, key: Path, env: Mapping[str, str]) -> Service:
    port = here.ports.model
    arguments = (f"--script={script}", f"--port={port}", f"--api-key-file={key}")
    program = python_program(here, "model", ("-m", "orchestrator.stack.scripted", *arguments), env)
    made_of = digest(of_the_stack(), script.read_text(encoding="utf-8"))
    return Service(program, port, lambda: answers_tcp(LOOPBACK, port), made_of)
