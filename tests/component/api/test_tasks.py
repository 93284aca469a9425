"""Tasks over HTTP: listed, shown, decided about, and their disks."""

from dataclasses import replace

import pytest

from entrance.session import TaskId
from orchestrator.domain.run import Cause, Outcome, Run, RunState
from orchestrator.domain.task import TaskStatus
from tests.fakes import world
from tests.fakes.run import a_run
from tests.servers.api import Api

TASK = TaskId("DEMO/DEMO-7")
PATH = f"/api/tasks/{TASK}"
DISK = f"/api/tasks/{TASK}/disk"


def becomes(api: Api, status: TaskStatus) -> None:
    api.fakes.tracker.tasks[TASK] = replace(world.TASK, status=status)


async def an_ended_run(api: Api) -> Run:
    run = a_run(
        task=TASK,
        agent="bot-rex",
        engagement=world.ENGAGEMENT.id,
        state=RunState.ENDED,
        outcome=Outcome.SUBMITTED,
        cause=Cause.HANDED_OVER,
    )
    await api.fakes.runs.create(run)
    return run


async def test_tasks_are_listed_with_what_they_wait_for(api: Api) -> None:
    run = await an_ended_run(api)
    becomes(api, TaskStatus.IN_REVIEW)
    api.disks.add(TASK, 5 << 20)
    (listed,) = (await api.ask("GET", "/api/tasks")).json
    assert listed == {
        "id": TASK,
        "project": "DEMO",
        "title": "Fix it",
        "status": "in_review",
        "assignees": ["bot-rex"],
        "agent": "bot-rex",
        "supervisor": "lead",
        "run": {"id": run.id, "state": "ended", "outcome": "submitted", "cause": "handed_over"},
        "waits_for": "lead: approve it, or send it back",
        "disk_bytes": 5 << 20,
    }


async def test_a_task_that_the_runner_holds_up_says_why(api: Api) -> None:
    api.waits[TASK] = "the sandbox network is not closed: host 192.0.2.2: reached"
    (listed,) = (await api.ask("GET", "/api/tasks")).json
    assert listed["waits_for"] == api.waits[TASK]
    assert (listed["run"], listed["disk_bytes"]) == (None, None)


async def test_done_tasks_are_listed_when_asked_for(api: Api) -> None:
    becomes(api, TaskStatus.DONE)
    assert (await api.ask("GET", "/api/tasks")).json == []
    assert len((await api.ask("GET", "/api/tasks?done=1")).json) == 1


async def test_a_task_is_shown_with_its_thread_and_runs(api: Api) -> None:
    run = await an_ended_run(api)
    api.fakes.tracker.say(TASK, "lead", "Hm", "Why?")
    shown = (await api.ask("GET", PATH)).json
    assert (shown["description"], shown["base_branch"]) == ("It is broken.", "main")
    assert [(one["by"], one["title"], one["text"]) for one in shown["comments"]] == [
        ("lead", "Hm", "Why?")
    ]
    assert [(one["id"], one["outcome"]) for one in shown["runs"]] == [(run.id, "submitted")]
    assert (await api.ask("GET", "/api/tasks/DEMO/DEMO-99")).status == 404


async def test_a_task_is_sent_back_as_its_supervisor_and_looked_at_at_once(api: Api) -> None:
    becomes(api, TaskStatus.IN_REVIEW)
    answer = await api.ask("POST", f"{PATH}/send-back", {"comment": " With tests.\n"})
    assert (answer.status, answer.json) == (200, {"id": TASK, "by": "lead", "in_person": True})
    assert api.fakes.tracker.tasks[TASK].status is TaskStatus.SENT_BACK
    (said,) = api.fakes.tracker.comments[TASK]
    assert (said.author, said.title, said.text) == ("lead", "Sent back", "With tests.")
    assert api.woken == [TASK]


@pytest.mark.parametrize("decision", ["send-back", "answer"])
@pytest.mark.parametrize("comment", [{}, {"comment": " \n"}], ids=["none", "blank"])
async def test_what_an_agent_needs_words_for_is_refused_without(
    api: Api, decision: str, comment: dict[str, str]
) -> None:
    answer = await api.ask("POST", f"{PATH}/{decision}", comment)
    assert answer.status == 400
    assert answer.error["message"].startswith("comment: the agent can't go on without your words")


@pytest.mark.parametrize(
    ("body", "status"),
    [({"as": "bot-rex"}, 403), ({"as": "nobody"}, 404), ({"user": "lead"}, 400), ({}, 409)],
    ids=["an agent", "no such user", "a key that there isn't", "not in review"],
)
async def test_a_decision_that_can_not_be_made_changes_nothing(
    api: Api, body: dict[str, str], status: int
) -> None:
    becomes(api, TaskStatus.OPEN if status == 409 else TaskStatus.IN_REVIEW)
    before = api.fakes.tracker.tasks[TASK]
    assert (await api.ask("POST", f"{PATH}/approve", body)).status == status
    assert api.fakes.tracker.tasks[TASK] == before
    assert not api.woken


async def test_there_is_no_other_decision(api: Api) -> None:
    assert (await api.ask("POST", f"{PATH}/delete", {})).status == 404


async def test_a_tasks_disk_is_removed_once(api: Api) -> None:
    api.disks.add(TASK, 5 << 20)
    api.disks.add("DEMO/DEMO-8")
    answer = await api.ask("DELETE", DISK)
    assert (answer.status, answer.json) == (200, {"id": TASK, "freed_bytes": 5 << 20})
    assert list(api.disks.there) == ["DEMO/DEMO-8"]
    assert (await api.ask("DELETE", DISK)).status == 404


async def test_a_disk_stays_as_long_as_a_run_goes_on(api: Api) -> None:
    api.disks.add(TASK)
    run = a_run(task=TASK, state=RunState.RUNNING)
    await api.fakes.runs.create(run)
    answer = await api.ask("DELETE", DISK)
    assert answer.status == 409
    assert answer.error["message"].startswith(f"run {run.id} of DEMO/DEMO-7 is running")
    assert api.disks.there


async def test_a_disk_that_is_mounted_without_a_run_stays(api: Api) -> None:
    api.disks.mounted.add(api.disks.add(TASK))
    await api.fakes.runs.create(a_run(task=TASK, state=RunState.ENDED, outcome=Outcome.SUBMITTED))
    assert (await api.ask("DELETE", DISK)).status == 409
    assert api.disks.there
