"""One conversation, and how the dialects are asked about it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from native import dialects
from native.conversation import Call, Message, Prompt, Reply, Result, Results
from native.dialects import Answer, Dialect, Question

SCHEMA = {"type": "object", "properties": {"command": {"type": "string"}}}
TALK: tuple[Message, ...] = (
    Prompt("Fix it."),
    Reply("I look.", (Call("c1", "bash", {"command": "ls"}), Call("c2", "bash", "{brok"))),
    Results((Result("c1", "bash", "a.py"), Result("c2", "bash", "no", is_error=True))),
    Prompt("Sent back: again.", "person"),
)
"""From another model: nothing in it may go back as it came."""


@dataclass(frozen=True)
class Bash:
    name: str = "bash"
    description: str = "Runs."
    schema: Mapping[str, Any] = field(default_factory=lambda: SCHEMA)


def asked(author: str, *messages: Message) -> Question:
    """A question to `provider:model`."""
    model = author.partition(":")[2]
    return Question(author, model, "Be careful.", messages or TALK, [Bash()], 100)


def answered(dialect: Dialect, author: str, events: Iterable[Mapping[str, Any]]) -> Answer | None:
    """What the dialect makes of these events."""
    reader = dialect.reader(asked(author))
    for event in events:
        reader.feed(event)
    return reader.answer()


def dialect(name: str) -> Dialect:
    return dialects.load(name)
