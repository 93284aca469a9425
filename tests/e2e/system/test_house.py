"""The whole system, as its users see it."""

import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from orchestrator.stack.demo.evidence import pushed
from orchestrator.stack.services import LOOPBACK
from tests.e2e.house import House, eventually

pytestmark = [pytest.mark.docker, pytest.mark.timeout(300)]


def test_an_assigned_task_comes_back_submitted_with_its_branch(house: House) -> None:
    run = house.ended(house.task("make it better"))
    assert (run["outcome"], run["cause"]) == ("submitted", "handed_over"), run
    item = run["task"].split("/")[1]
    repository = house.stage.repository
    found = pushed(repository.path, item=item, base=repository.base_commit)
    assert found
    assert found.branch == f"agent/{item}/work"
    assert found.files == ("thing.py",)
    assert found.main == repository.base_commit
    assert run["usage"]["input_tokens"] > 0
    assert float(run["usage"]["cost_usd"]) > 0
    shown = json.loads(house.sandgate("run", "show", run["task"], "--json").stdout)
    assert shown["pushed"][0]["refs"] == [f"refs/heads/agent/{item}/work"]
    house.sandgate("task", "approve", run["task"])
    (row,) = [
        one
        for one in json.loads(house.sandgate("task", "ls", "--all", "--json").stdout)
        if one["id"] == run["task"]
    ]
    assert (row["status"], row["waits_for"]) == ("done", "")


def test_what_a_run_sent_can_be_seen_verified_and_measured(house: House) -> None:
    runs = house.runner.get("/api/runs?limit=100")
    earlier = [one for one in runs if one["outcome"] == "submitted"]
    run = earlier[0] if earlier else house.ended(house.task("make it better"))
    found = json.loads(house.sandgate("egress", "ls", "--run", run["id"], "--json").stdout)
    kinds = {one["kind"] for one in found["attempts"]}
    assert {"model_call", "tool_call", "git_fetch", "git_push"} <= kinds
    assert {one["agent"] for one in found["attempts"]} == {run["agent"]}
    pushes = [one for one in found["attempts"] if one["kind"] == "git_push"]
    assert max(one["bytes_out"] or 0 for one in pushes) > 0, pushes
    told = json.loads(house.sandgate("egress", "verify", "--json").stdout)
    assert told["ok"], told
    token = (house.here.keys / "metrics.token").read_text()
    answer = httpx.get(
        f"http://{LOOPBACK}:{house.here.ports.runner}/metrics",
        headers={"Authorization": f"Bearer {token}"},
    )
    assert 'sandgate_attempts_total{decision="allow",door="model"}' in answer.text
    assert "sandgate_store_up 1.0" in answer.text


def test_a_supervisor_sees_what_waits_and_answers(house: House) -> None:
    task = house.task("STAY until answered")
    house.inside(house.wait(task, lambda run: run["state"] == "running"), "touch /tmp/go")
    asked = house.ended(task)
    listed = json.loads(house.sandgate("task", "ls", "--json").stdout)
    (row,) = [one for one in listed if one["id"] == task]
    assert (row["status"], row["waits_for"]) == ("waiting_input", "lead: answer it")
    assert row["assignees"] == ["lead"]
    house.sandgate("task", "answer", task, "--comment", "Make it better.")
    again = house.wait(task, lambda run: run["id"] != asked["id"] and run["state"] == "running")
    assert again["trigger"] == "answered"
    house.inside(again, "touch /tmp/go")
    house.wait(task, lambda run: run["id"] == again["id"] and run["state"] == "ended")
    shown = json.loads(house.sandgate("task", "show", task, "--json").stdout)
    said = [(one["by"], one["title"], one["text"]) for one in shown["comments"]]
    assert ("lead", "Answered", "Make it better.") in said
    assert [one["trigger"] for one in shown["runs"]] == ["answered", "assigned"]


def test_a_runner_killed_in_the_middle_goes_on_where_it_was(house: House) -> None:
    """kill -9, then `sandgate up`: nothing is lost or doubled, no container is left over.

    Nor is a packet that the fence dropped, before, meanwhile or since.
    """
    task = house.task("STAY while the runner dies")
    run = house.wait(task, lambda run: run["state"] == "running")
    house.inside(run, knocks(house, 40))
    eventually(lambda: counted(house, run) == 40)
    house.inside(run, knocks(house, 3))
    os.kill(house.pid("runner"), signal.SIGKILL)
    house.inside(run, knocks(house, 5) + "; touch /tmp/go")
    house.sandgate("up")
    run = house.ended(task)
    assert (run["outcome"], run["cause"]) == ("asked", "handed_over"), run
    runs = house.runner.get(f"/api/runs?task={task}")
    assert [one["id"] for one in runs] == [run["id"]]
    assert house.containers() == []
    assert counted(house, run) == 48
    assert house.verified().finding is None


PORT = 4242
"""Nobody's: the fence drops what comes for it."""


def knocks(house: House, times: int) -> str:
    """A shell script that sends so many packets to a closed port of the host."""
    return f"for n in $(seq {times}); do echo x >/dev/udp/{house.here.gateway}/{PORT}; done"


def counted(house: House, run: Mapping[str, Any]) -> int:
    """How many packets of the run to that port are in the log."""
    fence = [line for line in house.trail(run["id"]) if line.get("door") == "fence"]
    return sum(line["detail"]["packets"] for line in fence if line.get("port") == PORT)


def test_a_cancelled_run_is_stopped_and_its_sandbox_is_gone(house: House) -> None:
    run = house.wait(house.task("STAY until cancelled"), lambda run: run["state"] == "running")
    refused = house.sandgate("task", "purge", run["task"], check=False)
    assert "cancel it, or let it end" in refused.stderr
    house.sandgate("run", "cancel", run["id"])
    run = house.ended(run["task"])
    assert (run["outcome"], run["cause"]) == ("stopped", "cancelled")
    assert house.containers() == []
    disk = house.here.tasks / run["task"].replace("/", "+")
    assert disk.is_dir()
    house.sandgate("task", "purge", run["task"])
    assert not disk.exists()


def test_the_transcript_can_be_had_and_holds_no_token(house: House, tmp_path: Path) -> None:
    """CASE-26, CASE-28: no token in remotes, configuration or transcript."""
    run = house.wait(house.task("STAY and look at git"), lambda run: run["state"] == "running")
    seen = house.inside(run, "cd /workspace/thing && git remote -v && cat .git/config")
    house.inside(run, "touch /tmp/go")
    run = house.ended(run["task"])
    out = tmp_path / "transcript.jsonl"
    house.sandgate("run", "transcript", run["id"], "--out", str(out))
    assert seen.code == 0
    assert "sgr_" not in seen.output
    assert "sgr_" not in out.read_text()
    assert house.stage.model_key.read_text() not in out.read_text()
