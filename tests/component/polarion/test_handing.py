"""The three tools that end a run, and what settling makes up for, against the strict embedded server."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from entrance.session import RunId
from orchestrator.adapters.polarion import NewItem, PolarionClient, Text
from orchestrator.domain.run import Cause, Ending, Outcome, Tried, Work
from orchestrator.runner.desk import Desk
from orchestrator.runner.show import show
from tests.component.polarion.office import Office, an_office
from tests.servers.pocketbase import free_port
from tests.servers.polarion import PolarionServer, client_of

CALLS: dict[str, dict[str, object]] = {
    "submit_for_approval": {"summary": "I fixed it."},
    "ask_questions": {"questions": ["Which one?"]},
    "delegate": {"agent": "max", "title": "The part", "description": "Do it."},
}
OUTCOMES = {
    "submit_for_approval": Outcome.SUBMITTED,
    "ask_questions": Outcome.ASKED,
    "delegate": Outcome.DELEGATED,
}
STATUSES = {
    "submit_for_approval": "in_review",
    "ask_questions": "waiting_input",
    "delegate": "waiting_input",
}


@pytest.fixture
async def office(strict_server: PolarionServer, tmp_path: Path) -> AsyncIterator[Office]:
    async with an_office(strict_server, tmp_path) as office:
        yield office


@pytest.fixture
async def dead() -> AsyncIterator[PolarionClient]:
    """A client of a Polarion that isn't there."""
    async with client_of(f"http://127.0.0.1:{free_port()}/polarion/rest/v1") as client:
        yield client


def arguments(office: Office, tool: str) -> dict[str, object]:
    colleague = {"agent": office.max.removeprefix("bot-")} if tool == "delegate" else {}
    return {**CALLS[tool], **colleague}


async def shows(office: Office, tool: str) -> None:
    """Polarion shows the handover, once."""
    task = await office.item(office.task)
    assert task.status == STATUSES[tool]
    assert task.assignees == (("lead",) if tool == "ask_questions" else (office.rex,))
    title = f"Run {office.run} {OUTCOMES[tool]}"
    assert [one[1] for one in await office.said()] == [title]
    parts = await office.tasks()
    assert [one.assignees for one in parts] == ([(office.max,)] if tool == "delegate" else [])


async def test_submitting_hands_the_work_to_the_supervisor(office: Office) -> None:
    result = await office.call(
        "submit_for_approval", summary="I fixed <it>.", branch="agent/T-1/fix"
    )
    assert result.text == "submitted. This run is over now; stop."
    assert result.touched == (office.task,)
    await shows(office, "submit_for_approval")
    [(author, _, text)] = await office.said()
    assert (author, text) == (office.rex, "I fixed <it>.\n\nBranch: agent/T-1/fix")
    ending = (await office.now()).ending
    assert ending
    assert (ending.outcome, ending.summary) == (Outcome.SUBMITTED, text)


async def test_what_was_tested_and_what_was_not_is_noted_and_said(office: Office) -> None:
    tests = [
        {"command": "make test", "result": "passed", "detail": "12 of 12"},
        {"command": "make e2e", "result": "not_run"},
    ]
    await office.call("submit_for_approval", summary="Done.", tests=tests, not_verified="Windows.")
    [(_, _, text)] = await office.said()
    assert text == (
        "Done.\n\nTests:\n- make test: passed (12 of 12)\n- make e2e: not_run\n\n"
        "Not verified: Windows."
    )
    ending = (await office.now()).ending
    assert ending
    assert ending.work == Work(
        "Done.",
        tests=(Tried("make test", "passed", "12 of 12"), Tried("make e2e", "not_run")),
        not_verified="Windows.",
    )


async def test_questions_go_to_the_supervisor(office: Office) -> None:
    result = await office.call("ask_questions", questions=["Which one?", "By when?"])
    assert not result.is_error
    await shows(office, "ask_questions")
    [(author, _, text)] = await office.said()
    assert (author, text) == (office.rex, "1. Which one?\n2. By when?")


async def test_a_part_is_given_to_a_colleague(office: Office) -> None:
    result = await office.call("delegate", **arguments(office, "delegate"))
    assert not result.is_error, result.text
    await shows(office, "delegate")
    [part] = await office.tasks()
    assert result.touched == (office.task, part.id)
    assert (part.title, part.status, part.author) == ("The part", "open", office.rex)
    assert part.description == Text("Do it.")
    assert part.custom["repository"] == "https://git.example/a/b"
    assert (part.custom["baseBranch"], part.custom["aiGenerated"]) == ("next", True)
    assert part.custom["runKey"] == office.run
    record = (await office.now()).record
    assert await office.links(part.id) == {("delegated_from", office.task), ("produced_by", record)}
    [(author, _, text)] = await office.said()
    assert (author, text) == (office.rex, f"Delegated to {office.max} as {part.id}: The part")


async def test_a_part_may_be_about_another_repository(office: Office) -> None:
    await office.call(
        "delegate", **arguments(office, "delegate"), repository="https://git.example/c"
    )
    [part] = await office.tasks()
    assert part.custom["repository"] == "https://git.example/c"


@pytest.mark.parametrize("name", ["rex", "nobody", "lead", "", "bot-", "elsewhere"])
async def test_a_part_is_given_to_hired_colleagues_only(office: Office, name: str) -> None:
    """Not to oneself, not to people, not to agents of other projects; nothing is made."""
    wanted = f"{name}-{office.project.lower()}" if name == "rex" else name
    result = await office.call("delegate", agent=wanted, title="T", description="D")
    assert result.is_error
    assert f"others hired are: {office.max.removeprefix('bot-')}" in result.text
    assert await office.tasks() == []
    assert (await office.now()).ending is None


@pytest.mark.parametrize("first", CALLS)
@pytest.mark.parametrize("second", CALLS)
async def test_a_run_is_handed_over_once(office: Office, first: str, second: str) -> None:
    assert not (await office.call(first, **arguments(office, first))).is_error
    result = await office.call(second, **arguments(office, second))
    assert result.is_error
    assert f"this run was {OUTCOMES[first]} already" in result.text
    await shows(office, first)


@pytest.mark.parametrize("tool", CALLS)
async def test_what_polarion_refuses_is_taken_back_and_leaves_nothing(
    office: Office, tool: str
) -> None:
    """A person closed the task meanwhile; the agent is told, and can hand over later."""
    await office.admin.items.update(office.task, status="done")
    result = await office.call(tool, **arguments(office, tool))
    assert result.is_error
    assert "not available in status 'done'" in result.text
    assert (await office.now()).ending is None
    assert await office.said() == []
    assert [one.assignees for one in await office.tasks()] == ([()] if tool == "delegate" else [])
    await office.admin.items.update(office.task, status="in_progress")
    assert not (await office.call(tool, **arguments(office, tool))).is_error
    await shows(office, tool)


async def test_submitting_without_an_assignee_is_explained(office: Office) -> None:
    await office.admin.items.update(office.task, assignees=[])
    result = await office.call("submit_for_approval", summary="done")
    assert "required field 'assignee'" in result.text
    assert (await office.now()).ending is None


async def test_nobody_can_be_asked_once_the_engagement_has_ended(office: Office) -> None:
    engagement = (await office.now()).engagement
    await office.admin.items.update(engagement, workflow_action="end")
    result = await office.call("ask_questions", questions=["Why?"])
    assert result.is_error
    assert "your engagement has ended" in result.text


@pytest.mark.parametrize("tool", ["submit_for_approval", "ask_questions"])
async def test_a_handover_stands_while_polarion_is_down(
    office: Office, dead: PolarionClient, tool: str
) -> None:
    """Whether the action came through isn't known; settling looks, and makes up for it."""
    down = replace(office.tools, client_for=lambda _bot: dead)
    result = await down.call(office.session, tool, arguments(office, tool))
    assert not result.is_error
    assert "This run is over now; stop." in result.text
    await settled(office, OUTCOMES[tool])
    await shows(office, tool)


@dataclass
class Dying:
    """A desk in a process that dies just before, or just after, the handover is noted."""

    desk: Desk
    meanwhile: Callable[[], Awaitable[None]] | None = None

    async def record_of(self, run: RunId) -> str:
        return await self.desk.record_of(run)

    async def may_hand_over(self, run: RunId) -> None:
        await self.desk.may_hand_over(run)

    async def hand_over(self, run: RunId, ending: Ending) -> None:
        await self.desk.hand_over(run, ending)
        if self.meanwhile is None:
            raise Death
        await self.meanwhile()

    async def take_back(self, run: RunId) -> None:
        await self.desk.take_back(run)


class Death(Exception):
    """The process is gone."""


async def settled(office: Office, outcome: Outcome) -> None:
    """What settling does at its end; twice, as after another crash."""
    run = replace(await office.now(), outcome=outcome, cause=Cause.HANDED_OVER)
    for _ in range(2):
        await show(office.world, run)


@pytest.mark.parametrize("tool", CALLS)
async def test_a_crash_right_after_a_handover_loses_nothing_of_it(
    office: Office, tool: str
) -> None:
    dying = replace(office.tools, desk=Dying(Desk(office.world)))
    with pytest.raises(Death):
        await dying.call(office.session, tool, arguments(office, tool))
    assert (await office.item(office.task)).status == "in_progress"
    await settled(office, OUTCOMES[tool])
    await shows(office, tool)
    [(author, _, text)] = await office.said()
    assert author == "admin", "the runner's own user"
    assert text.startswith(f"{office.rex} ended its run with these words:\n\n")


@pytest.mark.parametrize("tool", CALLS)
async def test_settling_changes_nothing_that_the_call_has_done(office: Office, tool: str) -> None:
    await office.call(tool, **arguments(office, tool))
    before = await office.item(office.task)
    await settled(office, OUTCOMES[tool])
    await shows(office, tool)
    assert (await office.item(office.task)).revision == before.revision


@pytest.mark.parametrize("tool", CALLS)
async def test_settling_leaves_what_people_did_after_the_handover(
    office: Office, tool: str
) -> None:
    await office.call(tool, **arguments(office, tool))
    await office.admin.items.update(office.task, status="answered", assignees=[office.max])
    await settled(office, OUTCOMES[tool])
    task = await office.item(office.task)
    assert (task.status, task.assignees) == ("answered", (office.max,))


async def test_a_part_that_vanishes_in_the_middle_does_not_undo_the_handover(
    office: Office,
) -> None:
    """The action is what counts; what can't be told or given any more is logged."""

    async def delete_the_part() -> None:
        [part] = await office.tasks()
        await office.admin.items.delete(part.id)

    desk = Dying(Desk(office.world), delete_the_part)
    tools = replace(office.tools, desk=desk)
    result = await tools.call(office.session, "delegate", arguments(office, "delegate"))
    assert not result.is_error
    assert (await office.item(office.task)).status == "waiting_input"
    await settled(office, Outcome.DELEGATED)
    assert len(await office.said()) == 1


async def test_a_part_of_an_earlier_try_is_brought_up_to_date_and_used(office: Office) -> None:
    dying = replace(office.tools, desk=Dying(Desk(office.world)))
    with pytest.raises(Death):
        await dying.call(office.session, "delegate", arguments(office, "delegate"))
    await Desk(office.world).take_back(office.run)
    again = {**arguments(office, "delegate"), "description": "Do it well."}
    assert not (await office.call("delegate", **again)).is_error
    [part] = await office.tasks()
    assert (part.description, part.assignees) == (Text("Do it well."), (office.max,))
    assert len(await office.links(part.id)) == 2


async def test_a_run_that_is_over_delegates_nothing(office: Office) -> None:
    await office.call("submit_for_approval", summary="done")
    await office.admin.items.create(office.project, NewItem("task", "Other"))
    result = await office.call("delegate", **arguments(office, "delegate"))
    assert result.is_error
    assert [one.title for one in await office.tasks()] == ["Other"]


async def test_a_question_with_an_escape_sequence_in_it_is_read_all_the_same(
    office: Office,
) -> None:
    """Polarion refuses a text for one control character; the task would wait with no question."""
    await office.call("ask_questions", questions=["\x1b[2JWhich one?"])
    await shows(office, "ask_questions")
    assert (await office.said())[0][2] == "1. \N{REPLACEMENT CHARACTER}[2JWhich one?"


class Held:
    """What is held of the task's pushes."""

    async def told(self, _task: str) -> list[str]:
        return ["agent/x is not at the host as it was pushed: abc waits for a decision."]


async def test_who_hands_in_work_that_is_held_is_told_so_and_its_reviewer_too(
    office: Office,
) -> None:
    tools = replace(office.tools, held=Held())
    arguments = {"summary": "I fixed it.", "branch": "agent/x"}
    result = await tools.call(office.session, "submit_for_approval", arguments)
    assert not result.is_error
    assert "abc waits for a decision" in result.text
    ((_, _, text),) = await office.said()
    for words in ("I fixed it.", "Branch: agent/x", "abc waits for a decision"):
        assert words in text
