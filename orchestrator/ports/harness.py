"""How an agent's loop is started, and how what it says is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Start:
    """How a harness is started in a sandbox: files to write first, then a command."""

    argv: Sequence[str]
    env: Mapping[str, str]
    files: Mapping[str, bytes]
    cwd: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """What a harness is started for."""

    model: str
    system: str
    prompt: str
    entrance: str
    """The door's base URL as seen from the sandbox."""
    run_token: str = field(repr=False)
    workdir: str = "/workspace"
    dialect: str = ""
    """What the model's provider speaks, where its name doesn't say it; empty: its name does."""
    resume: str = ""
    """The conversation of an earlier run to go on with, by the harness's own id; empty: a new one."""
    env: Mapping[str, str] = field(default_factory=dict)
    """More of the environment, the same for every harness: who commits, for one."""


class Harness(Protocol):
    """One kind of agent loop: how to start it, and how to read what it says."""

    @property
    def name(self) -> str:
        """As an agent's `harness` field names it."""
        ...

    @property
    def speaks(self) -> frozenset[str]:
        """Whose APIs it can talk to, as a provider's `dialect` names them."""
        ...

    def start(self, assignment: Assignment) -> Start:
        """The files, command and environment for this assignment."""
        ...

    def read(self, line: str) -> tuple[str, Mapping[str, Any]]:
        """One line of its output as (kind, data) of our events; anything unreadable is kind `raw`.

        `started` says what an earlier run's conversation can be gone on with (`conversation`) and why
        there are no tools (`unreachable`); `ended` says how it was over (`domain.run.Said`).
        """
        ...

    def kept_at(self, conversation: str, workdir: str) -> str:
        """Where in a sandbox this conversation is kept: a shell pattern without blanks."""
        ...
