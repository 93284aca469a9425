"""`sandgate task`: what a supervisor does all day, against a real API."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.cli.codes import Code
from orchestrator.domain.run import Cause, Outcome, PullRequest, RunState
from orchestrator.domain.task import TaskStatus
from tests.fakes.run import a_run
from tests.fakes.world import ENGAGEMENT, TASK
from tests.servers.api import Api
from tests.servers.command import sandgate_beside

EVIL = "x\x1b]0;owned\x07\u202e[red]y[/red]\u2028z"


def becomes(api: Api, status: TaskStatus) -> None:
    api.fakes.tracker.tasks[TASK.id] = replace(TASK, status=status)


async def test_tasks_are_listed_one_a_line(api: Api) -> None:
    becomes(api, TaskStatus.IN_REVIEW)
    run = a_run(
        task=TASK.id, agent="bot-rex", engagement=ENGAGEMENT.id, state=RunState.ENDED,
        outcome=Outcome.SUBMITTED, cause=Cause.HANDED_OVER,
    )  # fmt: skip
    await api.fakes.runs.create(run)
    api.disks.add(TASK.id, 3 << 30)
    done = await sandgate_beside("task", "ls")
    head, row = done.out.splitlines()
    assert head.split("  ")[0] == "task"
    for cell in (TASK.id, "in_review", "bot-rex", "submitted (handed_over)", "3.0 GiB"):
        assert cell in row
    assert "lead: approve it, or send it back" in row


async def test_done_tasks_are_listed_with_all(api: Api) -> None:
    becomes(api, TaskStatus.DONE)
    assert (await sandgate_beside("task", "ls", "--json")).json == []
    done = await sandgate_beside("task", "ls", "--all", "--json")
    assert isinstance(done.json, list)
    assert done.json[0]["id"] == TASK.id


async def test_a_task_is_shown_and_what_others_wrote_is_set_off(api: Api) -> None:
    api.fakes.tracker.tasks[TASK.id] = replace(TASK, description=f"{EVIL}\nstatus  done")
    api.fakes.tracker.say(TASK.id, "lead", EVIL, "Look\nhere")
    api.waits[TASK.id] = "bot-rex is busy with another task"
    done = await sandgate_beside("task", "show", TASK.id)
    assert done.code == 0
    assert not set(done.out) & set("\x1b\x07\u202e\u2028")
    assert "bot-rex is busy with another task" in done.out
    lines = done.out.splitlines()
    assert "  status  done" in lines, "it can't pass for a fact of ours"
    assert "  here" in lines
    shown = await sandgate_beside("task", "show", TASK.id, "--json")
    assert isinstance(shown.json, dict)
    assert shown.json["comments"][0]["text"] == "Look\nhere"


@pytest.mark.parametrize(
    ("command", "source", "target"),
    [
        ("approve", TaskStatus.IN_REVIEW, TaskStatus.DONE),
        ("send-back", TaskStatus.IN_REVIEW, TaskStatus.SENT_BACK),
        ("answer", TaskStatus.WAITING_INPUT, TaskStatus.ANSWERED),
        ("retry", TaskStatus.FAILED, TaskStatus.OPEN),
    ],
)
async def test_a_supervisor_decides(
    api: Api, tmp_path: Path, command: str, source: TaskStatus, target: TaskStatus
) -> None:
    becomes(api, source)
    words = tmp_path / "words"
    words.write_text("With tests.\n")
    done = await sandgate_beside("task", command, TASK.id, "--comment", f"@{words}")
    assert (done.code, done.err) == (0, "")
    assert done.out.endswith(f"{TASK.id}: {command.replace('-', ' ')}, as lead\n")
    assert api.fakes.tracker.tasks[TASK.id].status is target
    (said,) = api.fakes.tracker.comments[TASK.id]
    assert (said.author, said.text) == ("lead", "With tests.")


async def test_another_one_may_decide_and_where_it_does_not_show_it_is_said(api: Api) -> None:
    becomes(api, TaskStatus.IN_REVIEW)
    api.people.strange.add("sam")
    done = await sandgate_beside("task", "approve", TASK.id, "--as", "sam")
    assert done.code == 0
    assert "approve, as sam\n" in done.out
    assert "`sandgate secret set polarion.sam --kind polarion --host ...`" in done.out


@pytest.mark.usefixtures("api")
async def test_a_decision_that_can_not_be_made_is_a_sentence() -> None:
    done = await sandgate_beside("task", "approve", TASK.id)
    assert done.code == Code.REFUSED
    assert done.err == f"{TASK.id} is open: approve is for a task that is in review\n"
    done = await sandgate_beside("task", "approve", "DEMO/DEMO-99")
    assert done.code == Code.NOT_FOUND
    done = await sandgate_beside("task", "answer", TASK.id)
    assert done.code == Code.USAGE, "an answer needs words"
    done = await sandgate_beside("task", "answer", TASK.id, "--comment", " ")
    assert done.code == Code.REFUSED


async def test_a_tasks_disk_is_removed_at_once(api: Api) -> None:
    api.disks.add("DEMO/DEMO-7", 3 << 20)
    done = await sandgate_beside("task", "purge", "DEMO/DEMO-7")
    assert done.code == 0
    assert done.out.endswith("the disk of DEMO/DEMO-7 is removed: 3.0 MiB freed\n")
    done = await sandgate_beside("task", "purge", "DEMO/DEMO-7")
    assert (done.code, done.err) == (Code.NOT_FOUND, "task DEMO/DEMO-7 has no disk here\n")


@pytest.mark.usefixtures("api")
@pytest.mark.parametrize("name", ["DEMO-7", "/DEMO-7", "DEMO/", "", "../secrets", "a/..", "a/b/c"])
async def test_what_is_no_tasks_id_is_said(name: str) -> None:
    done = await sandgate_beside("task", "purge", name)
    assert done.code == Code.USAGE
    assert done.err == f"{name} is no task's id: it is PROJECT/ITEM\n"


async def test_where_the_work_is_proposed_is_shown_with_the_task_and_its_run(api: Api) -> None:
    at_host = PullRequest("agent/DEMO-7/fix", 5, "https://git.example/team/thing/pull/5")
    none = PullRequest("agent/DEMO-7/fix", none=f"the host said {EVIL}", failed=True)
    for made, words in ((at_host, at_host.url), (none, "none: the host said")):
        run = a_run(
            task=TASK.id, state=RunState.ENDED, outcome=Outcome.SUBMITTED, pull_request=made
        )
        await api.fakes.runs.create(run)
        for command in (("task", "show", TASK.id), ("run", "show", run.id)):
            done = await sandgate_beside(*command)
            assert done.code == 0
            assert words in done.out
            assert not set(done.out) & set("\x1b\x07\u202e\u2028")


async def test_a_pull_request_that_could_not_be_opened_is_tried_again(api: Api) -> None:
    run = a_run(
        task=TASK.id, engagement=ENGAGEMENT.id, state=RunState.ENDED, outcome=Outcome.SUBMITTED
    )
    await api.fakes.runs.create(run)
    done = await sandgate_beside("run", "propose", run.id)
    assert done.code == Code.REFUSED
    assert done.out.endswith("it has no repository to propose anything in\n")
