"""A loaded scenario: conversations of turns. A turn is one answer of the model."""

from collections.abc import Mapping
from dataclasses import dataclass

from orchestrator.stack.scripted.entries import ActionEntry, Expect, Mishap, Usage, When

NO_USAGE = Usage()
"""Nothing given: tokens are counted from the sizes."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands in the file; `step` counts from 1."""

    conversation: str
    step: int
    what: str
    line: int

    def __str__(self) -> str:
        return f"conversation {self.conversation}, step {self.step} ({self.what}, line {self.line})"


@dataclass(frozen=True, slots=True)
class Call:
    """One action, what must come back of it, and the names that are taken from that."""

    kind: str
    entry: ActionEntry
    place: Place
    expects: tuple[Expect, ...] = ()
    captures: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Fail:
    """What goes wrong instead of the answer, the first `times` times or always.

    `how` is a status, or: `cut` breaks the connection in the middle; `stall` stops sending in the
    middle for `stall_s` (None: for ever); `garbage` is no JSON; `empty` is a 200 without a body;
    `overflow` is what the provider says to a prompt that is too long.
    """

    how: int | Mishap
    place: Place
    message: str
    retry_after_s: float | None = None
    times: int | None = None
    stall_s: float | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer; without calls it ends the conversation. `fails` come before it.

    `padding` is how many characters are put behind its words.
    """

    say: str = ""
    calls: tuple[Call, ...] = ()
    fails: tuple[Fail, ...] = ()
    usage: Usage = NO_USAGE
    delay_s: float = 0.0
    stream_s: float = 0.0
    padding: int = 0


@dataclass(frozen=True, slots=True)
class Conversation:
    """What is played when a prompt fits `when`; the last turn has no calls."""

    name: str
    when: When
    captures: Mapping[str, str]
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Scenario:
    conversations: tuple[Conversation, ...]
