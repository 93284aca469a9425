"""What a task's runs delegated: how it stands, and what is said of it on the task when it is over."""

from collections.abc import Sequence

from entrance.session import TaskId
from orchestrator.domain.delegation import Part, parts_in
from orchestrator.domain.handover import told
from orchestrator.ports import Runs, Tracker

RUNS = 100
"""So many of a task's newest runs are looked through."""


async def parts_of(runs: Runs, tracker: Tracker, task: TaskId) -> tuple[Part, ...]:
    """Everything that was delegated from the task. Raises: Unavailable."""
    given = parts_in(await runs.recent(RUNS, task))
    return tuple([Part(one, await tracker.task(one), await runs.latest(one)) for one in given])


async def tell_parts(tracker: Tracker, task: TaskId, parts: Sequence[Part]) -> None:
    """Say on the task how each part ended, once; its agent gets to read it. Raises: NotFound."""
    for part in parts:
        await tracker.comment(task, *told(part))
