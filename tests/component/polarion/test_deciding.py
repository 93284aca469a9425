"""People decide through Sandgate, and Polarion shows it as theirs."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from entrance.errors import Conflict, Forbidden, NotFound
from entrance.session import TaskId
from orchestrator.adapters.polarion.supervising import PolarionTasks
from orchestrator.app.polarion import BotTokens, PolarionPeople, host_of, secret_of
from orchestrator.board import Board, Decided, Wish
from orchestrator.domain.supervision import Decision
from orchestrator.domain.task import TaskStatus
from orchestrator.ports import NewTask
from tests.component.polarion.office import Office, an_office
from tests.servers.polarion import PolarionServer


@dataclass(frozen=True, slots=True)
class Review:
    """An office whose task was handed in, and the board over it."""

    office: Office
    board: Board
    people: PolarionPeople

    async def decide(self, decision: Decision, words: str = "", user: str = "") -> Decided:
        return await self.board.decide(self.office.task, Wish(decision, words, user))

    async def now(self) -> tuple[str, tuple[str, ...]]:
        item = await self.office.item(self.office.task)
        return item.status, item.assignees

    async def said(self) -> tuple[str, str, str]:
        return (await self.office.said())[-1]

    def without_tokens(self) -> "Review":
        """As at a Polarion that makes no tokens for us."""
        people = replace(self.people, tokens=None)
        return replace(self, people=people, board=replace(self.board, people=people))


@pytest.fixture
async def review(server: PolarionServer, tmp_path: Path) -> AsyncIterator[Review]:
    async with an_office(server, tmp_path) as office:
        tokens = BotTokens(office.polarion.vault, host_of(server.base))
        people = PolarionPeople(office.polarion, office.polarion.vault, tokens)
        woken: list[str] = []
        tasks = PolarionTasks(office.polarion.as_service())
        board = Board(
            office.tracker, tasks, office.world.runs, people, {}, lambda _: "", woken.append
        )
        await office.call("submit_for_approval", summary="Done.")
        yield Review(office, board, people)


async def test_an_approval_is_the_supervisors(review: Review) -> None:
    decided = await review.decide(Decision.APPROVE, "Well done.")
    assert decided == Decided("lead", in_person=True)
    assert (await review.now())[0] == "done"
    assert await review.said() == ("lead", "Approved", "Well done.")


async def test_what_is_sent_back_is_its_agents_again(review: Review) -> None:
    await review.decide(Decision.SEND_BACK, "With <b>tests</b>, & soon.")
    assert await review.now() == ("sent_back", (review.office.rex,))
    thread = await review.office.tracker.thread(review.office.task)
    assert (thread[-1].author, thread[-1].text) == ("lead", "With <b>tests</b>, & soon.")


async def test_the_same_words_after_a_lost_answer_are_said_once(review: Review) -> None:
    person = await review.people.person("lead")
    for _ in range(2):
        await person.say(review.office.task, "Sent back", "Again.\n\nWith tests.")
    assert [text for _, _, text in await review.office.said()].count("Again.\n\nWith tests.") == 1


async def test_without_a_token_of_theirs_the_service_user_says_for_whom(review: Review) -> None:
    decided = await review.without_tokens().decide(Decision.APPROVE, "Well done.")
    assert decided == Decided("lead", in_person=False)
    author, title, text = await review.said()
    assert author not in {"lead", review.office.rex}
    assert (title, text) == ("Approved by lead, through Sandgate", "Well done.")


async def test_with_a_token_that_was_sealed_for_them_it_is_theirs(review: Review) -> None:
    token = await review.office.admin.users.make_token("lead", "my own")
    assert review.people.tokens
    await review.people.tokens.keep("lead", token)
    assert (await review.without_tokens().decide(Decision.APPROVE)).in_person


async def test_who_has_no_role_in_the_project_may_not(review: Review) -> None:
    await review.office.admin.users.create("guest", "Guest")
    with pytest.raises(Forbidden):
        await review.decide(Decision.APPROVE, user="guest")
    with pytest.raises(NotFound):
        await review.decide(Decision.APPROVE, user="nobody-at-all")
    assert (await review.now())[0] == "in_review"


async def test_no_agent_approves_not_even_through_us(review: Review) -> None:
    with pytest.raises(Forbidden, match="is an agent's user"):
        await review.decide(Decision.APPROVE, user=review.office.max)
    person = await review.people.person(review.office.max)
    with pytest.raises((Forbidden, Conflict)):
        await person.act(review.office.task, "approve")
    assert (await review.now())[0] == "in_review"


async def test_no_agent_wakes_itself_while_it_waits_for_a_part(review: Review) -> None:
    office = review.office
    await review.decide(Decision.SEND_BACK, "Share it out.")
    for action in ("start", "wait"):
        await office.tracker.act(office.task, action)
    bot = await review.people.person(office.rex)
    for action in ("resume", "answer"):
        with pytest.raises((Forbidden, Conflict)):
            await bot.act(office.task, action)
    await office.tracker.act(office.task, "resume")
    assert (await review.now())[0] == "in_progress"


async def test_a_name_that_no_secret_can_have_gets_no_token(review: Review) -> None:
    await review.office.admin.users.create("a@b", "At")
    assert not (await review.people.person("a@b")).in_person
    assert secret_of("a@b") not in await review.people.vault.names()


async def test_tasks_are_found_by_who_has_them_and_by_their_ids(review: Review) -> None:
    office, tasks = review.office, review.board.tasks
    mine = office.task
    other = await office.hiring.create_task(
        NewTask(office.project, "More", "", "", "main", office.max)
    )
    unassigned = await office.hiring.create_task(NewTask(office.project, "x", "", "", "main", None))
    both = {task.id for task in await tasks.assigned([office.rex, office.max], done=False)}
    assert both == {mine, other}
    await review.decide(Decision.APPROVE)
    assert [one.id for one in await tasks.assigned([office.rex, office.max], done=False)] == [other]
    done = await tasks.assigned([office.rex], done=True)
    assert [(one.id, one.status) for one in done] == [(mine, TaskStatus.DONE)]
    gone = TaskId(f"{office.project}/{office.project}-99")
    found = await tasks.named({mine, unassigned, gone})
    assert {one.id for one in found} == {mine, unassigned}
    assert await tasks.named(set()) == []
    assert await tasks.assigned([], done=True) == []
