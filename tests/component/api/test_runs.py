"""Runs over HTTP: list, show, cancel, refusals, transcript, and what is said to bad input."""

import asyncio
from dataclasses import replace
from decimal import Decimal

import orjson
import pytest

from entrance.errors import Unavailable
from entrance.ports import Usage
from entrance.session import RunId, TaskId
from orchestrator.domain.run import Cause, Outcome, PullRequest, Run, RunState, changed
from tests.fakes.run import a_run
from tests.servers.api import Api

DENIED = {
    "type": "decided",
    "kind": "git_push",
    "seq": 1,
    "subject": "host/x.git",
    "decision": "deny",
    "reason": "main is not yours",
}
ALLOWED = {"type": "decided", "kind": "model", "seq": 2, "subject": "m", "decision": "allow"}
OUTCOME = {"type": "outcome", "of": 2, "result": "ok"}


async def made(api: Api, number: int = 1) -> list[Run]:
    runs = [a_run() for _ in range(number)]
    for run in runs:
        await api.fakes.runs.create(run)
    return runs


async def test_runs_are_listed_newest_first_with_what_they_used(api: Api) -> None:
    older, newer = await made(api, 2)
    api.fakes.runs.spend(older.id, Usage(10, 5, calls=2, cost_usd=Decimal("0.10")))
    listed = (await api.ask("GET", "/api/runs")).json
    assert [one["id"] for one in listed] == [newer.id, older.id]
    assert listed[1]["usage"] == {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_tokens": 0,
        "cache_write_tokens": 0,
        "calls": 2,
        "cost_usd": "0.10",
    }


async def test_the_list_is_as_long_as_it_is_wanted(api: Api) -> None:
    runs = await made(api, 4)
    listed = (await api.ask("GET", "/api/runs?limit=2")).json
    assert [one["id"] for one in listed] == [runs[3].id, runs[2].id]


async def test_a_tasks_runs_are_found_however_many_others_are_newer(api: Api) -> None:
    first, *_ = await made(api, 5)
    listed = (await api.ask("GET", f"/api/runs?limit=1&task={first.task}")).json
    assert [one["id"] for one in listed] == [first.id]
    assert (await api.ask("GET", "/api/runs?task=DEMO/DEMO-none")).json == []


@pytest.mark.parametrize("query", ["limit=", "limit=x", "limit=0", "limit=501", "limit=1e2"])
async def test_a_limit_that_is_none_is_named(api: Api, query: str) -> None:
    answer = await api.ask("GET", f"/api/runs?{query}")
    assert (answer.status, answer.error["code"]) == (400, "bad_input")
    assert answer.error["message"] == "limit: it is a whole number from 1 to 500"


@pytest.mark.parametrize("number", ["x", "-2", "1.5", "9" * 40, "٣", "1_0", ""])
async def test_a_sequence_number_that_is_none_is_named(api: Api, number: str) -> None:
    (run,) = await made(api)
    answer = await api.ask("GET", f"/api/runs/{run.id}/events?after={number}")
    assert answer.status == 400
    assert answer.error["message"].startswith("after: ")
    headers = {"Last-Event-ID": number if number.isascii() else "x"}
    answer = await api.ask("GET", f"/api/runs/{run.id}/events", headers=headers)
    assert answer.status == 400
    assert answer.error["message"].startswith("Last-Event-ID: ")


async def test_one_run_is_shown(api: Api) -> None:
    run = a_run(state=RunState.ENDED, outcome=Outcome.FAILED, cause=Cause.OOM, record="DEMO/R-1")
    await api.fakes.runs.create(run)
    shown = (await api.ask("GET", f"/api/runs/{run.id}")).json
    assert (shown["state"], shown["outcome"], shown["cause"]) == ("ended", "failed", "oom")
    assert shown["record"] == "DEMO/R-1"
    assert shown["budget_usd"] == "1.50"


@pytest.mark.parametrize("rest", ["", "/events", "/refusals", "/transcript"])
@pytest.mark.parametrize(
    "name", ["run999999999999", "..%2F..%2Fsecrets", "x%20y", "a" * 65, "%00", "x%27"]
)
async def test_a_run_that_is_not_there_is_not_found(api: Api, name: str, rest: str) -> None:
    answer = await api.ask("GET", f"/api/runs/{name}{rest}")
    assert (answer.status, answer.error["code"]) == (404, "notfound")
    assert answer.error["message"].startswith("there is no run ")


async def test_cancelling_is_asking_once(api: Api) -> None:
    (run,) = await made(api)
    for _ in range(2):
        answer = await api.ask("POST", f"/api/runs/{run.id}/cancel")
        assert (answer.status, answer.json) == (202, {"id": run.id, "state": "queued"})
    stored = await api.fakes.runs.get(run.id)
    assert stored.cancelled_by == "the API"
    assert stored.version == run.version + 1


async def test_what_has_ended_can_not_be_cancelled(api: Api) -> None:
    run = a_run(state=RunState.ENDED, outcome=Outcome.SUBMITTED)
    await api.fakes.runs.create(run)
    answer = await api.ask("POST", f"/api/runs/{run.id}/cancel")
    assert answer.status == 409
    assert answer.error["message"] == f"run {run.id} has ended already: submitted"


async def test_a_run_that_is_not_there_can_not_be_cancelled(api: Api) -> None:
    assert (await api.ask("POST", "/api/runs/nope/cancel")).status == 404


async def test_refusals_are_what_was_not_allowed(api: Api) -> None:
    (run,) = await made(api)
    api.fakes.trail.extend([DENIED, ALLOWED, OUTCOME])
    answer = await api.ask("GET", f"/api/runs/{run.id}/refusals")
    assert answer.json == [
        {"kind": "git_push", "subject": "host/x.git", "reason": "main is not yours"}
    ]


async def test_a_transcript_is_events_and_then_the_doors_lines(api: Api) -> None:
    (run,) = await made(api)
    api.fakes.trail.append(DENIED)
    await api.world.tell(run.id, [("text", {"text": "línea\u2028 1"}), ("raw", {"text": "\x1b"})])
    answer = await api.ask("GET", f"/api/runs/{run.id}/transcript")
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    lines = [orjson.loads(line) for line in answer.body.split(b"\n")[:-1]]
    assert [line["kind"] for line in lines] == ["text", "raw", "audit"]
    assert lines[0]["data"] == {"text": "línea\u2028 1"}
    assert lines[2]["data"] == DENIED


async def test_a_transcript_may_be_asked_for_by_many_at_once(api: Api) -> None:
    (run,) = await made(api)
    await api.world.tell(run.id, [("text", {"text": "x" * 1000})] * 50)
    path = f"/api/runs/{run.id}/transcript"
    answers = await asyncio.gather(*(api.ask("GET", path) for _ in range(8)))
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1
    assert answers[0].body.count(b"\n") == 50
    assert [path.name for path in api.world.transcripts.iterdir()] == [f"{run.id}.jsonl"]


async def test_a_store_that_is_down_is_said_to_be_down(api: Api) -> None:
    api.fakes.runs.down = True
    for path in ("/api/runs", "/api/runs/run1"):
        answer = await api.ask("GET", path)
        assert (answer.status, answer.error["code"]) == (503, "unavailable")


async def test_the_doctor_looks_at_everything_whatever_fails(api: Api) -> None:
    async def well() -> str:
        return "it answers"

    async def ill() -> str:
        raise Unavailable("it doesn't answer")

    api.checks.update(PocketBase=ill, Polarion=well)
    assert (await api.ask("GET", "/api/doctor")).json == [
        {"check": "PocketBase", "ok": False, "says": "it doesn't answer"},
        {"check": "Polarion", "ok": True, "says": "it answers"},
    ]


async def test_a_run_of_another_task_is_not_among_a_tasks_runs(api: Api) -> None:
    (run,) = await made(api)
    other = replace(run, id=RunId("other"), task=TaskId(f"{run.task}0"), agent="bot-x")
    await api.fakes.runs.create(other)
    listed = (await api.ask("GET", f"/api/runs?task={run.task}")).json
    assert [one["id"] for one in listed] == [run.id]


async def test_a_pull_request_is_opened_for_what_was_submitted_and_for_nothing_else(
    api: Api,
) -> None:
    (running,) = await made(api)
    answer = await api.ask("POST", f"/api/runs/{running.id}/pull-request")
    assert answer.status == 409
    ended = a_run(state=RunState.ENDED, outcome=Outcome.SUBMITTED)
    await api.fakes.runs.create(ended)
    told = PullRequest("agent/T/fix", none="a plain git host has none")
    await api.fakes.runs.replace(changed(ended, pull_request=told))
    shown = (await api.ask("GET", f"/api/runs/{ended.id}")).json["pull_request"]
    assert shown == {
        "branch": "agent/T/fix",
        "number": 0,
        "url": "",
        "none": "a plain git host has none",
    }
    again = await api.ask("POST", f"/api/runs/{ended.id}/pull-request")
    assert again.json == {"id": ended.id, "pull_request": shown}
