"""`sandgate demo`: the whole story on this machine, shown as a table and written as JSON."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp
from rich.console import Console
from rich.text import Text

from orchestrator.adapters.polarion import PolarionClient
from orchestrator.cli.client import Runner
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.demo_summary import show_summary, write_summary
from orchestrator.cli.run import follow
from orchestrator.cli.screen import one_line, print_json
from orchestrator.settings import Environment, service_environment
from orchestrator.stack import local_git
from orchestrator.stack.demo.evidence import Pushed, pushed, test_result
from orchestrator.stack.demo.stage import Stage, set_stage
from orchestrator.stack.demo.task import DemoTask, load_demo
from orchestrator.stack.installation import Installation
from orchestrator.stack.services import LOOPBACK, polarion_token
from orchestrator.stack.steps import Steps
from orchestrator.stack.up import bring_up
from orchestrator.stack.wiring import Wishes, kept_providers

AGENT, PROJECT, SUPERVISOR = "rex", "DEMO", "lead"
MODEL = "anthropic:claude-sonnet-5"
INSTRUCTIONS = (
    "Fix what the task says, with a test that fails without the fix. Change nothing else."
)
BUDGET_USD = "25"


@dataclass(frozen=True, slots=True)
class Told:
    """What was seen of the run while it was followed."""

    run: Mapping[str, Any]
    events: Sequence[Mapping[str, Any]] = field(default_factory=list)


def show_demo(console: Console, *, json: bool) -> Mapping[str, Any]:
    """Do it, show it, write `<home>/demo/summary.json`; returns the run as it ended."""
    began = time.monotonic()
    screen = Console(stderr=True) if json else console
    here, stage, task = _set_up(screen)
    ready = time.monotonic()
    with Runner(f"http://{LOOPBACK}:{here.ports.runner}", here.keys / "api.token") as runner:
        told = _play(runner, stage, task, screen)
        summary = _summary(here, stage, task, runner, told)
    summary["seconds"] |= {
        "set_up": round(ready - began, 1),
        "total": round(time.monotonic() - began, 1),
    }
    write_summary(here.home / "demo" / "summary.json", summary)
    if json:
        print_json(summary)
    else:
        show_summary(console, summary, audit=here.data("audit") / "audit.jsonl")
    return told.run


def _play(runner: Runner, stage: Stage, task: DemoTask, screen: Console) -> Told:
    task_id = _assign(runner, stage, task)
    screen.rule(Text(one_line(f"{task_id}: {task.title}")), style="dim")
    run = runner.wait_for_run(task_id)
    events: list[Mapping[str, Any]] = []
    return Told(follow(runner, run["id"], console=screen, keep=events), events)


def _set_up(screen: Console) -> tuple[Installation, Stage, DemoTask]:
    environment, steps, task = Environment(), Steps(screen), load_demo()
    here = Installation.open(environment.home, create=True)
    stage = set_stage(here, task, steps, service_environment())
    kept = kept_providers(here).get("anthropic", stage.model_url)
    if kept != stage.model_url:
        raise CommandFailed(
            f"this installation's models are at {kept}: run the demo in a home of its own, "
            "such as SANDGATE_HOME=.sandgate-demo",
            Code.REFUSED,
        )
    wishes = Wishes(
        home=environment.home,
        docker_host=environment.docker_host,
        execd_image=environment.execd_image,
        providers={"anthropic": stage.model_url},
    )
    return bring_up(wishes, steps), stage, task


def _assign(runner: Runner, stage: Stage, task: DemoTask) -> str:
    """Seal the secrets, hire the agent, assign the task; returns the task's id."""
    secrets = (
        ("anthropic", stage.model_key, stage.model_url, "anthropic"),
        (local_git.SECRET, stage.git_password, stage.git_host, f"git:{local_git.USER}"),
    )
    for name, file, host, kind in secrets:
        body = {"value": file.read_text(), "hosts": [host], "kind": kind}
        runner.put(f"/api/secrets/{name}", body)
    runner.post(
        "/api/agents",
        {"name": AGENT, "title": "Rex", "model": MODEL, "instructions": INSTRUCTIONS},
    )
    repository = {"url": stage.repository_url, "push": True, "credential": local_git.SECRET}
    runner.post(
        "/api/engagements",
        {
            "agent": AGENT,
            "project": PROJECT,
            "supervisor": SUPERVISOR,
            "budget_usd": BUDGET_USD,
            "repositories": [repository],
        },
    )
    made = runner.post(
        "/api/tasks",
        {
            "project": PROJECT,
            "title": task.title,
            "description": task.description,
            "repository": stage.repository_url,
            "base_branch": task.base,
            "assign": AGENT,
        },
    )
    return str(made["id"])


def _summary(
    here: Installation, stage: Stage, task: DemoTask, runner: Runner, told: Told
) -> dict[str, Any]:
    run = told.run
    item = str(run["task"]).rpartition("/")[2]
    found = pushed(stage.repository.path, item=item, base=stage.repository.base_commit)
    used = run["usage"]
    return {
        "task": run["task"],
        "run": run["id"],
        "outcome": run["outcome"],
        "cause": run["cause"],
        "summary": run["summary"],
        "repository": stage.repository_url,
        "repository_path": str(stage.repository.path),
        "base_commit": stage.repository.base_commit,
        **_branch(found, stage),
        "tests": _tests(task, told.events),
        "tokens": used["input_tokens"] + used["output_tokens"],
        "usage": used,
        "cost_usd": used["cost_usd"],
        "seconds": dict(run["seconds"]),
        "refused": runner.get(f"/api/runs/{run['id']}/refusals"),
        "agent_run": run["record"],
        "transcript": asyncio.run(_transcript(here, run["record"])),
    }


def _branch(found: Pushed | None, stage: Stage) -> dict[str, Any]:
    if found is None:
        return {"branch": None, "main_unchanged": None, "diff": None}
    return {
        "branch": found.branch,
        "commit": found.commit,
        "main_unchanged": found.main == stage.repository.base_commit,
        "diff": {"files": list(found.files), "stat": found.stat},
    }


def _tests(task: DemoTask, events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The last test run in the sandbox, as the harness's own events tell it."""
    results = [
        result
        for event in events
        if event["kind"] == "tool_result"
        and (result := test_result(str(event["data"].get("text", ""))))
    ]
    last = results[-1] if results else ""
    return {
        "command": task.tests,
        "result": last,
        "passed": "passed" in last and "failed" not in last,
    }


async def _transcript(here: Installation, record: str) -> dict[str, Any]:
    """The attachment of the run's record, as it can be downloaded from Polarion."""
    token = polarion_token(here).read_text()
    url = f"http://{LOOPBACK}:{here.ports.polarion}/polarion/rest/v1"
    async with aiohttp.ClientSession(trust_env=False) as http:
        client = PolarionClient(
            http, url, lambda _method, _url: {"Authorization": f"Bearer {token}"}
        )
        files = await client.attachments.of(record)
        if not files:
            return {"attachment": None, "bytes": 0, "lines": 0}
        content = b"".join([piece async for piece in client.attachments.content(files[0].id)])
    return {"attachment": files[0].id, "bytes": len(content), "lines": content.count(b"\n")}
