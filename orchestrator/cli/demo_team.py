"""The demo's team: the secrets sealed, an agent hired, its task assigned."""

from orchestrator.cli.client import Runner
from orchestrator.cli.demo_cast import PROVIDERS, Cast
from orchestrator.stack import local_git
from orchestrator.stack.demo.stage import Stage
from orchestrator.stack.demo.task import DemoTask

PROJECT, SUPERVISOR = "DEMO", "lead"
INSTRUCTIONS = (
    "Fix what the task says, with a test that fails without the fix. Change nothing else."
)
BUDGET_USD = "25"


def assign(runner: Runner, stage: Stage, task: DemoTask, cast: Cast) -> str:
    """Whatever is there already is brought up to date; the task is new. Returns the task's id."""
    _seal(runner, stage)
    _hire(runner, stage, cast)
    made = runner.post(
        "/api/tasks",
        {
            "project": PROJECT,
            "title": task.title,
            "description": task.description,
            "repository": stage.repository_url,
            "base_branch": task.base,
            "assign": cast.agent,
        },
    )
    return str(made["id"])


def _seal(runner: Runner, stage: Stage) -> None:
    secrets = (
        *((name, stage.model_key, stage.model_url, name) for name in PROVIDERS),
        (local_git.SECRET, stage.git_password, stage.git_host, f"git:{local_git.USER}"),
    )
    for name, file, host, kind in secrets:
        body = {"value": file.read_text(), "hosts": [host], "kind": kind}
        runner.put(f"/api/secrets/{name}", body)


def _hire(runner: Runner, stage: Stage, cast: Cast) -> None:
    runner.post(
        "/api/agents",
        {
            "name": cast.agent,
            "title": cast.title,
            "model": cast.model,
            "harness": cast.harness,
            "instructions": INSTRUCTIONS,
        },
    )
    repository = {"url": stage.repository_url, "push": True, "credential": local_git.SECRET}
    runner.post(
        "/api/engagements",
        {
            "agent": cast.agent,
            "project": PROJECT,
            "supervisor": SUPERVISOR,
            "budget_usd": BUDGET_USD,
            "repositories": [repository],
        },
    )
