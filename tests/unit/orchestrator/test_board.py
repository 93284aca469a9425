"""The board: what it lists, and what becomes of a person's decision."""

from dataclasses import replace
from pathlib import Path

import pytest

from entrance.errors import Conflict, Forbidden, NotFound
from entrance.session import TaskId
from orchestrator.board import Board, Decided, Wish
from orchestrator.domain.run import Cause, Ending, Outcome, RunState
from orchestrator.domain.supervision import RULES, Decision, waits_for
from orchestrator.domain.task import TaskStatus
from tests.fakes.board import FakePeople, board_of
from tests.fakes.clock import START
from tests.fakes.run import a_run
from tests.fakes.world import AGENT, TASK, FakeWorld

ENDED = {"state": RunState.ENDED, "outcome": Outcome.SUBMITTED, "cause": Cause.HANDED_OVER}


class House:
    """A board with all that is behind it."""

    def __init__(self, folder: Path) -> None:
        self.world = FakeWorld(folder)
        self.people = FakePeople(self.world.tracker)
        self.waits: dict[TaskId, str] = {}
        self.woken: list[str] = []
        self.board: Board = board_of(self.world, self.people, self.waits, self.woken)

    def put(self, status: TaskStatus, *assignees: str, task: str = TASK.id) -> TaskId:
        made = replace(TASK, id=TaskId(task), status=status, assignees=assignees or TASK.assignees)
        self.world.tracker.tasks[made.id] = made
        return made.id

    @property
    def now(self) -> tuple[TaskStatus, tuple[str, ...]]:
        task = self.world.tracker.tasks[TASK.id]
        return task.status, task.assignees

    @property
    def said(self) -> list[tuple[str, str, str]]:
        return [(one.author, one.title, one.text) for one in self.world.tracker.comments[TASK.id]]

    async def listed(self, *, done: bool = False) -> list[str]:
        return [one.task.id for one in await self.board.listed(done=done)]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def test_tasks_of_agents_are_listed_and_done_ones_only_when_asked_for(house: House) -> None:
    house.put(TaskStatus.DONE, task="DEMO/DEMO-8")
    house.put(TaskStatus.OPEN, "a-person", task="DEMO/DEMO-9")
    assert await house.listed() == [TASK.id]
    assert await house.listed(done=True) == [TASK.id, "DEMO/DEMO-8"]


async def test_a_task_that_its_agent_gave_to_a_person_stays_on_the_board(house: House) -> None:
    asked = house.put(TaskStatus.WAITING_INPUT, "lead")
    approved = house.put(TaskStatus.DONE, "lead", task="DEMO/DEMO-8")
    for task in (asked, approved):
        await house.world.runs.create(a_run(task=task, agent="bot-rex", **ENDED))
    house.put(TaskStatus.OPEN, task="DEMO/DEMO-9")
    assert await house.listed() == ["DEMO/DEMO-9", asked], "new ones first, then by newest run"
    assert await house.listed(done=True) == ["DEMO/DEMO-9", approved, asked]
    standing = await house.board.standing(asked)
    assert standing.run
    assert standing.engagement is None, "its run's engagement is another one here"
    assert standing.agent == "bot-rex"


async def test_what_the_runner_waits_for_is_what_the_board_says(house: House) -> None:
    house.waits[TASK.id] = "bot-rex is busy with another task"
    (listed,) = await house.board.listed(done=False)
    assert waits_for(listed) == "bot-rex is busy with another task"


async def test_a_delegated_part_is_looked_at_as_long_as_it_is_waited_for(house: House) -> None:
    part = house.put(TaskStatus.IN_PROGRESS, "bot-max", task="DEMO/DEMO-9")
    ending = Ending(Outcome.DELEGATED, "x", START, given=part, to="bot-max")
    how = {**ENDED, "ending": ending, "outcome": Outcome.DELEGATED}
    await house.world.runs.create(a_run(task=TASK.id, **how))
    for status, seen in ((TaskStatus.WAITING_INPUT, [part]), (TaskStatus.IN_REVIEW, [])):
        house.put(status)
        standing = await house.board.standing(TASK.id)
        assert [one.id for one in standing.parts] == seen


async def test_a_task_that_is_not_there_is_not_found(house: House) -> None:
    with pytest.raises(NotFound, match="there is no task DEMO/DEMO-99"):
        await house.board.standing(TaskId("DEMO/DEMO-99"))


@pytest.mark.parametrize(
    ("decision", "source", "target"),
    [
        (Decision.APPROVE, TaskStatus.IN_REVIEW, TaskStatus.DONE),
        (Decision.SEND_BACK, TaskStatus.IN_REVIEW, TaskStatus.SENT_BACK),
        (Decision.ANSWER, TaskStatus.WAITING_INPUT, TaskStatus.ANSWERED),
        (Decision.RETRY, TaskStatus.FAILED, TaskStatus.OPEN),
    ],
)
async def test_a_decision_is_said_and_done_as_the_supervisor_and_wakes_the_agent(
    house: House, decision: Decision, source: TaskStatus, target: TaskStatus
) -> None:
    house.put(source, "lead")
    engagement = next(iter(house.world.tracker.hired))
    run = a_run(task=TASK.id, agent="bot-rex", engagement=engagement, **ENDED)
    await house.world.runs.create(run)
    decided = await house.board.decide(TASK.id, Wish(decision, "Do it so."))
    assert decided == Decided("lead", in_person=True)
    assert house.now == (target, ("lead" if target is TaskStatus.DONE else "bot-rex",))
    assert house.said == [("lead", RULES[decision].title, "Do it so.")]
    assert house.woken == [TASK.id]


async def test_without_words_nothing_is_said(house: House) -> None:
    house.put(TaskStatus.IN_REVIEW)
    await house.board.decide(TASK.id, Wish(Decision.APPROVE))
    assert house.now == (TaskStatus.DONE, ("bot-rex",))
    assert house.said == []


async def test_where_only_the_service_user_can_act_it_says_for_whom(house: House) -> None:
    house.people.known.clear()
    house.people.strange.add("lead")
    house.put(TaskStatus.IN_REVIEW)
    decided = await house.board.decide(TASK.id, Wish(Decision.APPROVE))
    assert decided == Decided("lead", in_person=False)
    assert house.said == [("runner", "Approved by lead, through Sandgate", "lead said no more.")]


async def test_another_person_may_decide(house: House) -> None:
    house.put(TaskStatus.IN_REVIEW)
    decided = await house.board.decide(TASK.id, Wish(Decision.APPROVE, user="other"))
    assert decided.user == "other"


@pytest.mark.parametrize("user", ["bot-rex", "bot-nobody", "agent-by-another-name"])
async def test_no_agent_decides_about_a_task(house: House, user: str) -> None:
    house.people.known.add(user)
    house.world.tracker.agents["agent-by-another-name"] = AGENT
    house.put(TaskStatus.IN_REVIEW)
    with pytest.raises(Forbidden, match="is an agent's user"):
        await house.board.decide(TASK.id, Wish(Decision.APPROVE, user=user))
    assert house.now[0] is TaskStatus.IN_REVIEW


async def test_a_decision_in_the_wrong_moment_changes_nothing(house: House) -> None:
    house.put(TaskStatus.IN_PROGRESS)
    with pytest.raises(Conflict, match="is in progress: approve is for a task that is in review"):
        await house.board.decide(TASK.id, Wish(Decision.APPROVE, "Good."))
    assert house.said == []
    assert house.woken == []


async def test_who_may_not_is_refused(house: House) -> None:
    house.people.powerless.add("guest")
    house.put(TaskStatus.IN_REVIEW)
    with pytest.raises(Forbidden):
        await house.board.decide(TASK.id, Wish(Decision.APPROVE, user="guest"))
    with pytest.raises(NotFound, match="no user nobody"):
        await house.board.decide(TASK.id, Wish(Decision.APPROVE, user="nobody"))
    assert house.now[0] is TaskStatus.IN_REVIEW


async def test_a_task_of_no_agent_needs_a_name(house: House) -> None:
    house.put(TaskStatus.IN_REVIEW, "lead")
    with pytest.raises(Conflict, match="say as whom you decide"):
        await house.board.decide(TASK.id, Wish(Decision.APPROVE))
    await house.board.decide(TASK.id, Wish(Decision.SEND_BACK, "x", "lead"))
    assert house.now == (TaskStatus.SENT_BACK, ("lead",)), "there is no agent to give it to"


@pytest.mark.parametrize("status", [TaskStatus.IN_REVIEW, TaskStatus.WAITING_INPUT])
async def test_what_is_held_of_a_task_is_what_it_waits_for_and_it_is_not_approved_before(
    house: House, status: TaskStatus
) -> None:
    async def unsettled(_task: TaskId) -> str:
        return "a push of it is held still: abc"

    house.put(status)
    board = replace(house.board, unsettled=unsettled)
    assert waits_for(await board.standing(TASK.id)) == "lead: a push of it is held still: abc"
    if status is TaskStatus.IN_REVIEW:
        with pytest.raises(Conflict, match="held still: abc"):
            await board.decide(TASK.id, Wish(Decision.APPROVE))
        await board.decide(TASK.id, Wish(Decision.SEND_BACK, "x"))
        assert house.now[0] is TaskStatus.SENT_BACK
