"""The demo's stage: a git host with the project, and a scripted model, each behind a secret of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.stack.demo.project import DemoRepository, make_repository
from orchestrator.stack.demo.task import SCENARIO, DemoTask
from orchestrator.stack.installation import Installation
from orchestrator.stack.keys import make_key
from orchestrator.stack.process import answers_http, answers_tcp
from orchestrator.stack.services import LOOPBACK, Service, python_program
from orchestrator.stack.steps import Steps

GIT_USER = "sandgate"


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the demo's world is, and the files that hold its secrets."""

    repository: DemoRepository
    repository_url: str
    git_host: str
    git_password: Path
    model_url: str
    model_key: Path


def set_stage(
    here: Installation,
    task: DemoTask,
    steps: Steps,
    env: Mapping[str, str],
    *,
    script: Path = SCENARIO,
) -> Stage:
    """Have it all running. Raises: StepFailed."""
    root = here.data("githost")
    with steps.step("Demo: a real project from its source archive") as step:
        repository = make_repository(task, cache=here.cache, root=root)
        step.note(f"{task.project.name} {task.project.version}")
    git_host = f"http://{LOOPBACK}:{here.ports.githost}"
    model_url = f"http://{LOOPBACK}:{here.ports.model}"
    password, key = make_key(here.keys / "githost.password"), make_key(here.keys / "model.key")
    with steps.step("Demo: git host") as step:
        _git_host(here, root, password, env).ensure(step)
    with steps.step("Demo: scripted model") as step:
        _model(here, script, key, env).ensure(step)
    return Stage(
        repository=repository,
        repository_url=f"{git_host}/{task.repository}",
        git_host=git_host,
        git_password=password,
        model_url=model_url,
        model_key=key,
    )


def _git_host(here: Installation, root: Path, password: Path, env: Mapping[str, str]) -> Service:
    credential = here.keys / "githost.credential"
    credential.touch(mode=0o600)
    credential.write_text(f"{GIT_USER}:{password.read_text()}")
    port = here.ports.githost
    arguments = (f"--root={root}", f"--port={port}", f"--credential-file={credential}")
    program = python_program(here, "githost", ("-m", "orchestrator.stack.githost", *arguments), env)
    return Service(program, port, lambda: answers_http(LOOPBACK, port, "/healthz"))


def _model(here: Installation, script: Path, key: Path, env: Mapping[str, str]) -> Service:
    port = here.ports.model
    arguments = (f"--script={script}", f"--port={port}", f"--api-key-file={key}")
    program = python_program(here, "model", ("-m", "orchestrator.stack.scripted", *arguments), env)
    return Service(program, port, lambda: answers_tcp(LOOPBACK, port))
