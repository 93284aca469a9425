"""The board: which tasks there are for agents, what each waits for, and what people decide about them."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import structlog

from entrance.errors import Conflict, Forbidden, NotFound
from entrance.session import TaskId
from orchestrator.domain.plan import waits_for_parts
from orchestrator.domain.run import Run
from orchestrator.domain.supervision import AGENTS, RULES, Decision, Rule, Standing, conflict_of
from orchestrator.domain.task import Task, TaskStatus
from orchestrator.domain.team import Engagement
from orchestrator.ports import Runs, Tracker
from orchestrator.runner.parts import parts_of

log = structlog.get_logger()

RECENT_RUNS = 500
"""Tasks of so many of the newest runs are on the board, whoever has them now."""


_OF_PEOPLE = frozenset({TaskStatus.IN_REVIEW, TaskStatus.WAITING_INPUT})
"""What these wait for may be about something that is held."""


class Tasks(Protocol):
    """Tasks in Polarion, by many. Everything may raise `entrance.errors`."""

    async def assigned(self, bots: Collection[str], *, done: bool) -> Sequence[Task]:
        """Tasks that one of these users has; those that are done only when `done`."""
        ...

    async def named(self, ids: Collection[TaskId]) -> Sequence[Task]:
        """The tasks of these ids; what is gone is left out."""
        ...


class Person(Protocol):
    """Polarion as one person."""

    @property
    def in_person(self) -> bool:
        """Whether what is done shows as theirs; else as Sandgate's, which has to say for whom."""
        ...

    async def say(self, task: TaskId, title: str, text: str) -> None:
        """Comment on the task; not twice in a row with the same words. Raises: Forbidden, NotFound."""
        ...

    async def act(self, task: TaskId, action: str, *, assign: str = "") -> None:
        """Do a workflow action, and with it give the task to somebody.

        Raises: Conflict when the task's status doesn't have it; Forbidden when they may not.
        """
        ...


class People(Protocol):
    """Those who decide."""

    async def person(self, user: str) -> Person:
        """Polarion as this user sees it. Raises: NotFound when there is no such user."""
        ...


@dataclass(frozen=True, slots=True)
class Wish:
    """What is decided about a task, in whose words, by whom; the task's supervisor, if not said."""

    decision: Decision
    words: str = ""
    user: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """Who decided, and whether Polarion shows it as theirs."""

    user: str
    in_person: bool


async def _nothing(_task: TaskId) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Board:
    """Reads tasks for people, and does to them what people decide."""

    tracker: Tracker
    tasks: Tasks
    runs: Runs
    people: People
    waits: Mapping[TaskId, str]
    """Why the runner goes no further with a task now."""
    frozen: Callable[[TaskId], str]
    """What froze a task's sandbox; empty when it isn't frozen."""
    wake: Callable[[str], None]
    unsettled: Callable[[TaskId], Awaitable[str]] = _nothing
    """Why work that was handed in isn't all there to be approved; empty when it is."""

    async def listed(self, *, done: bool) -> Sequence[Standing]:
        """The tasks that agents have or had, newest run first; those that are done only when `done`."""
        engagements = await self.tracker.engagements()
        runs: dict[TaskId, Run] = {}
        for run in await self.runs.recent(RECENT_RUNS):
            runs.setdefault(run.task, run)
        found = {t.id: t for t in await self.tasks.assigned(_bots(engagements), done=done)}
        found |= {t.id: t for t in await self.tasks.named(runs.keys() - found.keys())}
        places = {task: place for place, task in enumerate(runs)}
        return [
            await self._standing(task, runs.get(task.id), engagements)
            for task in sorted(found.values(), key=lambda t: (places.get(t.id, -1), t.id))
            if done or task.status is not TaskStatus.DONE
        ]

    async def standing(self, task: TaskId) -> Standing:
        """One task. Raises: NotFound."""
        found = await self.tracker.task(task)
        if found is None:
            raise NotFound(f"there is no task {task}")
        return await self._standing(found, None, await self.tracker.engagements())

    async def decide(self, task: TaskId, wish: Wish) -> Decided:
        """Do what a person decides: their words, and then the action.

        Raises: NotFound, Conflict (not in this status), Forbidden (an agent, or may not).
        """
        seen, rule = await self.standing(task), RULES[wish.decision]
        if why := conflict_of(wish.decision, seen.task):
            raise Conflict(why)
        if wish.decision is Decision.APPROVE and (why := await self.unsettled(task)):
            raise Conflict(f"{task} can't be approved: {why}; decide about that first")
        user = await self._decider(seen, wish.user)
        person = await self.people.person(user)
        if said := _said(rule, wish, user, in_person=person.in_person):
            await person.say(task, *said)
        await person.act(task, rule.action, assign=seen.agent if rule.wakes else "")
        log.info("task_decided", task=task, decision=wish.decision, by=user)
        self.wake(task)
        return Decided(user, person.in_person)

    async def _decider(self, seen: Standing, user: str) -> str:
        wanted = user or (seen.engagement.supervisor if seen.engagement else "")
        if not wanted:
            raise Conflict(f"no agent that is hired has {seen.task.id}: say as whom you decide")
        bots = _bots(await self.tracker.engagements())
        if wanted.startswith(AGENTS) or wanted in bots or await self.tracker.agent(wanted):
            raise Forbidden(f"{wanted} is an agent's user: about a task a person decides")
        return wanted

    async def _standing(
        self, task: Task, run: Run | None, engagements: Sequence[Engagement]
    ) -> Standing:
        run = run or await self.runs.latest(task.id)
        engagement = _engagement(task, run, engagements)
        delegated = waits_for_parts(task, run)
        parts = await parts_of(self.runs, self.tracker, task.id) if delegated else ()
        return Standing(
            task,
            run,
            engagement,
            parts,
            held=self.waits.get(task.id, ""),
            frozen=self.frozen(task.id),
            unsettled=await self.unsettled(task.id) if task.status in _OF_PEOPLE else "",
        )


def _bots(engagements: Sequence[Engagement]) -> frozenset[str]:
    return frozenset(one.bot for one in engagements)


def _engagement(
    task: Task, run: Run | None, engagements: Sequence[Engagement]
) -> Engagement | None:
    """The one that its assignee is hired by, or else that of its newest run, as long as it lasts."""
    of_project = [one for one in engagements if one.project == task.project]
    for one in of_project:
        if one.bot in task.assignees:
            return one
    return next((one for one in of_project if run and one.id == run.engagement), None)


def _said(rule: Rule, wish: Wish, user: str, *, in_person: bool) -> tuple[str, str] | None:
    """The comment's title and words; None when there is nothing to say."""
    if in_person:
        return (rule.title, wish.words) if wish.words else None
    return f"{rule.title} by {user}, through Sandgate", wish.words or f"{user} said no more."
