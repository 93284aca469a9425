"""What every `orchestrator.ports.Tracker` promises: the fake, and Polarion at its strictest."""

from collections.abc import AsyncIterator, Awaitable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from entrance.errors import Conflict, NotFound, Unavailable
from entrance.ports import Usage
from entrance.session import RunId, TaskId
from orchestrator.adapters.polarion.tracker import PolarionTracker
from orchestrator.domain.plan import LOOKED_AT
from orchestrator.domain.run import Cause, Outcome, Run
from orchestrator.domain.task import TaskStatus
from orchestrator.domain.team import Engagement
from orchestrator.ports import RunRecord, Tracker
from tests.contracts.trackers import GRANTS, FakeStage, PolarionStage, Stage
from tests.fakes.run import a_run
from tests.fakes.tracker import FakeTracker
from tests.servers.pocketbase import free_port
from tests.servers.polarion import PolarionServer, client_of, polarion_server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PolarionServer]:
    with polarion_server(tmp_path_factory.mktemp("tracked"), strict=True) as running:
        yield running


@pytest.fixture(params=["fake", "polarion"])
async def stage(request: pytest.FixtureRequest) -> AsyncIterator[Stage]:
    if request.param == "fake":
        yield FakeStage()
        return
    server: PolarionServer = request.getfixturevalue("server")
    async with client_of(server.base) as client:
        yield PolarionStage(client)


async def mine(stage: Stage) -> list[Engagement]:
    """The engagements of the stage's own projects: a server is shared by all tests."""
    engagements = await stage.tracker.engagements()
    return [one for one in engagements if one.project.startswith(stage.project)]


async def waking(stage: Stage) -> list[TaskId]:
    return sorted(task.id for task in await stage.tracker.waking(await mine(stage)))


async def said(stage: Stage, task: TaskId) -> list[tuple[str, str]]:
    return [(one.title, one.text) for one in await stage.tracker.thread(task)]


async def test_engagements_are_the_active_ones_of_all_projects(stage: Stage) -> None:
    rex, max_ = await stage.hire("rex"), await stage.hire("max", f"{stage.project}X")
    assert sorted(one.id for one in await mine(stage)) == sorted([rex.id, max_.id])
    assert (rex.project, rex.supervisor, rex.active) == (stage.project, "lead", True)
    assert (rex.budget_usd, rex.spent_usd, rex.left_usd) == (Decimal(5), Decimal(0), Decimal(5))
    assert rex.grants == GRANTS
    await stage.let_go(rex)
    assert [one.id for one in await mine(stage)] == [max_.id]


async def test_waking_are_the_tasks_that_wait_for_an_agent(stage: Stage) -> None:
    """By status, by assignee, and only in the project that hired the assignee."""
    rex, max_ = await stage.hire("rex"), await stage.hire("max", f"{stage.project}X")
    assert await stage.tracker.waking([]) == []
    wanted = [await stage.task(rex.bot, status=status) for status in LOOKED_AT]
    wanted.append(await stage.task("lead", rex.bot))
    wanted.append(await stage.task(max_.bot, project=max_.project))
    await stage.task()
    await stage.task("lead")
    await stage.task(rex.bot, project=max_.project)
    for status in set(TaskStatus) - set(LOOKED_AT) - {TaskStatus.OTHER}:
        await stage.task(rex.bot, status=status)
    assert await waking(stage) == sorted(wanted)
    await stage.let_go(rex)
    assert await waking(stage) == [wanted[-1]]


async def test_a_task_with_two_hired_agents_wakes_once(stage: Stage) -> None:
    task = await stage.task(*[(await stage.hire(name)).bot for name in ("rex", "max")])
    assert await waking(stage) == [task]


async def test_a_task_is_read_afresh_and_none_when_it_is_gone(stage: Stage) -> None:
    rex = await stage.hire("rex")
    task = await stage.task(rex.bot)
    read = await stage.tracker.task(task)
    assert read
    assert (read.id, read.project, read.title) == (task, stage.project, "Fix it")
    assert (read.description, read.status) == ("It is broken.", TaskStatus.OPEN)
    assert (read.assignees, read.base_branch) == ((rex.bot,), "main")
    assert read.repository == "https://git.example/a/b"
    await stage.delete(task)
    assert await stage.tracker.task(task) is None


async def test_a_delegated_task_names_the_run_that_delegated_it(stage: Stage) -> None:
    await stage.hire("rex")
    parent, other = await stage.task(), await stage.task()
    part = await stage.part_of(parent, RunId("run1"))
    made = await stage.part_of(None, RunId("run1"))
    by = {task: await stage.tracker.task(task) for task in (part, made, other)}
    assert [task.delegated_by if task else "gone" for task in by.values()] == ["run1", None, None]


async def test_a_task_names_those_that_people_have_linked_it_to_go_on_with(stage: Stage) -> None:
    await stage.hire("rex")
    task, other, third = await stage.task(), await stage.task(), await stage.task()
    await stage.part_of(task, RunId("run1"))
    await stage.go_on(task, other)
    read, back = await stage.tracker.task(task), await stage.tracker.task(other)
    assert read
    assert back
    assert read.continues == {other.rpartition("/")[2]}
    assert third.rpartition("/")[2] not in read.continues
    assert back.continues == frozenset()


async def test_another_projects_branches_are_not_gone_on_with(stage: Stage) -> None:
    await stage.hire("rex")
    elsewhere = f"{stage.project}X"
    await stage.hire("rex", elsewhere)
    task, other = await stage.task(), await stage.task(project=elsewhere)
    await stage.go_on(task, other)
    read = await stage.tracker.task(task)
    assert read
    assert read.continues == frozenset()


async def test_an_agent_has_its_approved_skills_and_no_others(stage: Stage) -> None:
    rex = await stage.hire("rex")
    for title, status in (("test", "approved"), ("steal", "draft"), ("punch", "retired")):
        await stage.teach(rex.bot, title, status)
    agent = await stage.tracker.agent(rex.bot)
    assert agent
    assert (agent.bot, agent.title, agent.harness) == (rex.bot, "rex", "native")
    assert (agent.model, agent.instructions) == ("anthropic:claude-test", "Be kind.")
    assert [(skill.title, skill.text) for skill in agent.skills] == [("test", "how to test")]
    for other in (f"{rex.bot}x", rex.bot[1:], rex.bot.upper(), ""):
        assert await stage.tracker.agent(other) is None


async def test_memories_are_the_agents_own_active_ones_of_the_project(stage: Stage) -> None:
    rex, max_ = await stage.hire("rex"), await stage.hire("max")
    await stage.hire("rex", f"{stage.project}X")
    await stage.learn(rex.bot, "first", "active")
    await stage.learn(rex.bot, "not seen by a person", "proposed")
    await stage.learn(rex.bot, "no longer true", "retired")
    await stage.learn(max_.bot, "of another agent", "active")
    await stage.learn(rex.bot, "of another project", "active", f"{stage.project}X")
    await stage.learn(rex.bot, "second", "active")
    memories = await stage.tracker.memories(stage.project, rex.bot)
    assert memories == ["first: as seen", "second: as seen"]


async def test_an_action_moves_the_task_and_a_wrong_one_is_a_conflict(stage: Stage) -> None:
    rex = await stage.hire("rex")
    task = await stage.task(rex.bot)
    for wrong in ("submit", "ask", "explode"):
        with pytest.raises(Conflict):
            await stage.tracker.act(task, wrong)
    for action, status in (("start", TaskStatus.IN_PROGRESS), ("submit", TaskStatus.IN_REVIEW)):
        await stage.tracker.act(task, action)
        with pytest.raises(Conflict):
            await stage.tracker.act(task, action)
        read = await stage.tracker.task(task)
        assert read
        assert (read.status, read.assignees) == (status, (rex.bot,))


async def test_an_action_without_what_it_requires_is_a_conflict(stage: Stage) -> None:
    await stage.hire("rex")
    task = await stage.task(status=TaskStatus.IN_PROGRESS)
    with pytest.raises(Conflict):
        await stage.tracker.act(task, "submit")


async def test_an_action_assigns_in_the_same_step_or_not_at_all(stage: Stage) -> None:
    rex = await stage.hire("rex")
    task = await stage.task(rex.bot)
    with pytest.raises(Conflict):
        await stage.tracker.act(task, "ask", assign="lead")
    read = await stage.tracker.task(task)
    assert read
    assert read.assignees == (rex.bot,), "nothing of a refused action is kept"
    await stage.tracker.act(task, "start")
    await stage.tracker.act(task, "ask", assign="lead")
    read = await stage.tracker.task(task)
    assert read
    assert (read.status, read.assignees) == (TaskStatus.WAITING_INPUT, ("lead",))


async def test_assigning_leaves_a_task_with_whom_it_has(stage: Stage) -> None:
    rex, max_ = await stage.hire("rex"), await stage.hire("max")
    task = await stage.task()
    for bot in (rex.bot, max_.bot):
        await stage.tracker.assign(task, bot)
        read = await stage.tracker.task(task)
        assert read
        assert read.assignees == (rex.bot,)


async def test_a_thread_is_in_the_order_in_which_it_was_said(stage: Stage) -> None:
    """More than ten, as quick as they come: neither text order of ids nor equal times mix them up."""
    await stage.hire("rex")
    task = await stage.task()
    assert await said(stage, task) == []
    wanted = [(f"title {n}", f"text {n}") for n in range(12)]
    for title, text in wanted:
        await stage.comment(task, title, text)
    assert await said(stage, task) == wanted


async def test_a_comment_is_made_once_and_nobody_can_keep_it_from_being_made(stage: Stage) -> None:
    await stage.hire("rex")
    task = await stage.task()
    await stage.comment(task, "Run 1 failed", "All is well, go on.")
    for _ in range(2):
        await stage.tracker.comment(task, "Run 1 failed", "Out of memory.\nSee the record.")
    await stage.tracker.comment(task, "Run 2 failed", "Out of memory.\nSee the record.")
    assert await said(stage, task) == [
        ("Run 1 failed", "All is well, go on."),
        ("Run 1 failed", "Out of memory.\nSee the record."),
        ("Run 2 failed", "Out of memory.\nSee the record."),
    ]


async def a_record(stage: Stage) -> RunRecord:
    rex = await stage.hire("rex")
    task = await stage.task(rex.bot)
    run = a_run(project=stage.project, task=task, engagement=rex.id)
    return RunRecord(run, "Run 1", rex.id, {}, [])


def with_run(record: RunRecord, title: str, /, **changes: Any) -> RunRecord:
    run: Run = replace(record.run, **changes)
    return replace(record, run=run, title=title)


async def test_a_record_is_made_once_and_then_kept_up_to_date(stage: Stage) -> None:
    """Also when its id was lost: a crash may come between making it and noting it."""
    first = await a_record(stage)
    item = await stage.tracker.record(first)
    assert item.startswith(f"{stage.project}/")
    links = [("performed_by", first.engagement), ("run_of", first.run.task)]
    seen = await stage.recorded(item, first.run.id)
    assert (seen.title, seen.outcome, seen.ended, seen.links) == ("Run 1", "", False, links)
    later = with_run(first, "Run 1, later", usage=Usage(cost_usd=Decimal("0.25")))
    assert await stage.tracker.record(later) == item
    known = with_run(
        later, "Run 1: asked", record=item, outcome=Outcome.ASKED, cause=Cause.HANDED_OVER
    )
    for _ in range(2):
        assert await stage.tracker.record(known) == item
        seen = await stage.recorded(item, first.run.id)
        assert (seen.title, seen.outcome, seen.cost) == ("Run 1: asked", "asked", 0.25)
        assert (seen.ended, seen.links, seen.items) == (True, links, 1)


async def test_two_runs_have_two_records(stage: Stage) -> None:
    first = await a_record(stage)
    second = with_run(first, "Run 2", id=a_run().id)
    items = [await stage.tracker.record(one) for one in (first, second)]
    assert len(set(items)) == 2
    assert [(await stage.recorded(item, first.run.id)).title for item in items] == [
        "Run 1",
        "Run 2",
    ]


async def test_a_file_is_attached_once_under_its_name(stage: Stage, tmp_path: Path) -> None:
    record = await a_record(stage)
    item = await stage.tracker.record(record)
    path = tmp_path / "run.jsonl"
    for content in (b"first\n", b"second\n"):
        path.write_bytes(content)
        await stage.tracker.attach(item, "transcript.jsonl", path)
        await stage.tracker.attach(item, "other", path)
    seen = await stage.recorded(item, record.run.id)
    assert seen.attached == {"transcript.jsonl": b"first\n", "other": b"first\n"}


async def test_what_was_spent_is_a_total(stage: Stage) -> None:
    rex = await stage.hire("rex")
    for _ in range(2):
        await stage.tracker.spent(rex.id, Decimal("1.25"))
        [read] = await mine(stage)
        assert (read.spent_usd, read.left_usd) == (Decimal("1.25"), Decimal("3.75"))
    await stage.tracker.spent(rex.id, Decimal(7))
    [read] = await mine(stage)
    assert read.left_usd == 0


async def test_what_is_gone_is_not_found(stage: Stage, tmp_path: Path) -> None:
    await stage.hire("rex")
    task = await stage.task()
    await stage.delete(task)
    (tmp_path / "file").write_bytes(b"x")
    calls: list[Awaitable[object]] = [
        stage.tracker.thread(task),
        stage.tracker.act(task, "start"),
        stage.tracker.assign(task, "lead"),
        stage.tracker.comment(task, "title", "text"),
        stage.tracker.attach(f"{stage.project}/X-999", "file", tmp_path / "file"),
        stage.tracker.spent(f"{stage.project}/X-999", Decimal(1)),
    ]
    for call in calls:
        with pytest.raises(NotFound):
            await call


@pytest.fixture(params=["fake", "polarion"])
async def down(request: pytest.FixtureRequest) -> AsyncIterator[Tracker]:
    """A tracker whose other side isn't there."""
    if request.param == "fake":
        fake = FakeTracker()
        fake.down = True
        yield fake
        return
    async with client_of(f"http://127.0.0.1:{free_port()}/polarion/rest/v1") as client:
        yield PolarionTracker(client, "AGENTS")


async def test_a_tracker_that_is_down_is_unavailable(down: Tracker, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x")
    task, run = TaskId("DEMO/DEMO-1"), a_run()
    hired = Engagement("DEMO/E", "DEMO", "bot", "lead", Decimal(1), Decimal(0), GRANTS)
    calls: list[Awaitable[object]] = [
        down.engagements(),
        down.waking([hired]),
        down.task(task),
        down.thread(task),
        down.agent("bot"),
        down.memories("DEMO", "bot"),
        down.act(task, "start"),
        down.assign(task, "lead"),
        down.comment(task, "title", "text"),
        down.record(RunRecord(run, "Run", "DEMO/E", {}, [])),
        down.attach("DEMO/R", "file", tmp_path / "file"),
        down.spent("DEMO/E", Decimal(1)),
    ]
    for call in calls:
        with pytest.raises(Unavailable):
            await call
