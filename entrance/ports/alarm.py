"""What happens when a honeytoken is touched."""

from dataclasses import dataclass
from typing import Protocol

from entrance.session import RunId, TaskId


@dataclass(frozen=True, slots=True)
class Touched:
    """A honeytoken that was about to leave its sandbox. Names, never the value.

    `place` is the file that it stands in, `where` the part of the request that it was in, `subject`
    what the request wanted.
    """

    run: RunId
    task: TaskId
    canary: str
    place: str
    where: str
    door: str
    subject: str = ""


class Alarm(Protocol):
    """Is told when a honeytoken was touched."""

    def raised(self, touched: Touched) -> None:
        """The run's token opens nothing any more when this returns; its sandbox is frozen next."""
        ...
