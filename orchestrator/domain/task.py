"""A task as people assign it in Polarion [pure]."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from entrance.session import RunId, TaskId


class TaskStatus(StrEnum):
    """A task's workflow statuses (polarion_app/config); `OTHER` is any status we don't know."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    WAITING_INPUT = "waiting_input"
    IN_REVIEW = "in_review"
    SENT_BACK = "sent_back"
    ANSWERED = "answered"
    FAILED = "failed"
    DONE = "done"
    OTHER = ""

    @classmethod
    def _missing_(cls, _value: object) -> "TaskStatus":
        return cls.OTHER


@dataclass(frozen=True, slots=True)
class Task:
    """One task. `repository` is the URL that it is about, empty when it is about none."""

    id: TaskId
    project: str
    title: str
    description: str
    status: TaskStatus
    assignees: tuple[str, ...]
    repository: str = ""
    base_branch: str = "main"
    delegated_by: RunId | None = None
    """The run that delegated it; what is spent on it is that run's money too."""
    continues: frozenset[str] = frozenset()
    """Items of the same project whose branches it goes on with, as a person has linked them."""

    @property
    def item(self) -> str:
        """The id inside its project, as branches carry it."""
        return self.id.rsplit("/", 1)[-1]


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment of a task's thread, plain text."""

    id: str
    author: str
    title: str
    text: str
    created: datetime
