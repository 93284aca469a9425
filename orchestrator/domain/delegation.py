"""What an agent gave to others, and when it has it back [pure]."""

from collections.abc import Sequence
from dataclasses import dataclass

from entrance.session import TaskId
from orchestrator.domain.run import Outcome, Run
from orchestrator.domain.task import Task, TaskStatus

OVER = frozenset({TaskStatus.DONE, TaskStatus.FAILED})


@dataclass(frozen=True, slots=True)
class Part:
    """A delegated task as it stands now; `task` None: it is gone. `run` is its newest."""

    id: TaskId
    task: Task | None = None
    run: Run | None = None

    @property
    def over(self) -> bool:
        """Whether nobody works on it any more."""
        return self.task is None or self.task.status in OVER


def parts_in(runs: Sequence[Run]) -> list[TaskId]:
    """The tasks that these runs of one task delegated, oldest first. `runs` is newest first."""
    delegated = (
        r.ending.given for r in reversed(runs) if r.ending and r.outcome is Outcome.DELEGATED
    )
    return [TaskId(part) for part in dict.fromkeys(delegated)]


def all_over(parts: Sequence[Part]) -> bool:
    """Whether everything that was delegated is over; nothing delegated is never over."""
    return bool(parts) and all(part.over for part in parts)
