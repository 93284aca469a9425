"""The last part of Settle: the task shows how its run ended.

The agent's own call has shown a handover already, unless a crash or an outage came in between.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from entrance.errors import Conflict, Malformed, NotFound
from orchestrator.domain.handover import (
    action_after,
    assignee_after,
    failure_in_words,
    part_of,
    proposed_in_words,
    title_of,
)
from orchestrator.domain.run import Cause, Outcome, Run
from orchestrator.domain.task import Task
from orchestrator.runner.world import World

log = structlog.get_logger()


async def show(world: World, run: Run) -> None:
    """Bring the task to where the run's outcome leaves it; what people changed meanwhile stays.

    What can never be shown (a deleted task, words that Polarion doesn't take, an action that the
    task doesn't have) is logged and passed over: the record says all of it, and the task's status
    mustn't hang on the words. Raises: Unavailable, Forbidden; then it is done again.
    """
    with _passed_over(run):
        task = await world.tracker.task(run.task)
        if task and run.outcome:
            with _passed_over(run):
                await _say(world, run, run.outcome)
            with _passed_over(run):
                await say_proposed(world, run)
            await _move(world, run, task, run.outcome)


@contextmanager
def _passed_over(run: Run) -> Iterator[None]:
    try:
        yield
    except (Conflict, NotFound, Malformed) as error:
        log.warning("outcome_not_shown", run=run.id, outcome=run.outcome, error=str(error))


async def _say(world: World, run: Run, outcome: Outcome) -> None:
    """Said once: by the agent itself, or by us."""
    title = title_of(run.id, outcome)
    if run.ending is None or run.cause is Cause.HONEYTOKEN:
        text = failure_in_words(run)
    else:
        thread = await world.tracker.thread(run.task)
        if any((one.title, one.author) == (title, run.agent) for one in thread):
            return
        text = f"{run.agent} ended its run with these words:\n\n{run.ending.summary}"
    await world.tracker.comment(run.task, title, text)


async def say_proposed(world: World, run: Run) -> None:
    """Where the work is proposed, or that it could not be; once. Raises: Unavailable, NotFound, ..."""
    if run.pull_request and (words := proposed_in_words(run.id, run.pull_request)):
        await world.tracker.comment(run.task, *words)


async def _move(world: World, run: Run, task: Task, outcome: Outcome) -> None:
    to = assignee_after(run.ending, run.task)
    if action := action_after(outcome, task.status, run.trigger):
        await world.tracker.act(run.task, action, assign=to)
    if part := part_of(run.ending, run.task):
        await world.tracker.assign(part, run.ending.to if run.ending else "")
