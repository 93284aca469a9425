"""How long what a task has on this machine is kept [pure]."""

from datetime import datetime, timedelta
from enum import StrEnum

from orchestrator.domain.run import Run
from orchestrator.domain.task import Task, TaskStatus


class Fate(StrEnum):
    """What is to become of a task's disk."""

    NEEDED = "needed"
    """Its task isn't over."""
    KEPT = "kept"
    """Its task is over, and may still be sent back."""
    DUE = "due"
    """It was kept for long enough."""


def fate_of(
    task: Task | None,
    run: Run | None,
    *,
    over_since: datetime | None,
    now: datetime,
    keep: timedelta,
) -> Fate:
    """What is to become of a task's disk; `task` None: it is gone. `run` is its newest.

    Only done or gone is over: what failed is there to be tried again. `over_since` None: that it
    is over is seen just now.
    """
    goes_on = run is not None and run.active
    if goes_on or (task is not None and task.status is not TaskStatus.DONE):
        return Fate.NEEDED
    return Fate.DUE if now - (over_since or now) >= keep else Fate.KEPT
