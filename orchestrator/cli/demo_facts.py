"""What the demo came to, read from where it can be seen: the run, the repository, the record, the model."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from entrance.model.prices import PriceList
from orchestrator.adapters.polarion import PolarionClient
from orchestrator.api.shapes import usage_json
from orchestrator.cli.client import Runner
from orchestrator.cli.demo_bill import bill_of, served_answers
from orchestrator.cli.demo_cast import Cast
from orchestrator.stack.demo.evidence import Pushed, pushed, test_result
from orchestrator.stack.demo.stage import Stage
from orchestrator.stack.demo.task import DemoTask
from orchestrator.stack.installation import Installation
from orchestrator.stack.services import LOOPBACK, polarion_token


@dataclass(frozen=True, slots=True)
class Told:
    """What was seen of the run while it was followed."""

    run: Mapping[str, Any]
    events: Sequence[Mapping[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Show:
    """Everything that the demo plays with."""

    here: Installation
    stage: Stage
    task: DemoTask
    cast: Cast
    prices: PriceList


def summary_of(show: Show, runner: Runner, told: Told) -> dict[str, Any]:
    """All that `summary.json` says but how long it took. Raises: CommandFailed."""
    run, stage, cast = told.run, show.stage, show.cast
    item = str(run["task"]).rpartition("/")[2]
    found = pushed(stage.repository.path, item=item, base=stage.repository.base_commit)
    used = run["usage"]
    answers = served_answers(stage.model_url, stage.model_key, item)
    bill = bill_of(used, answers, show.prices, cast.model.partition(":")[0])
    return {
        "harness": cast.harness,
        "model": cast.model,
        "agent": cast.agent,
        "task": run["task"],
        "run": run["id"],
        "outcome": run["outcome"],
        "cause": run["cause"],
        "summary": run["summary"],
        "repository": stage.repository_url,
        "repository_path": str(stage.repository.path),
        "base_commit": stage.repository.base_commit,
        **_branch(found, stage),
        "tests": _tests(show.task, told.events),
        "tokens": used["input_tokens"] + used["output_tokens"],
        "usage": used,
        "cost_usd": used["cost_usd"],
        "spent": usage_json(bill.spent),
        "served": usage_json(bill.served),
        "equal": bill.equal,
        "seconds": dict(run["seconds"]),
        "refused": runner.get(f"/api/runs/{run['id']}/refusals"),
        "agent_run": run["record"],
        "transcript": asyncio.run(_transcript(show.here, run["record"])),
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
