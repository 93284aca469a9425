"""What a tool call's arguments are made of."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.stack.scripted.entries import ActionEntry

type Arguments = Mapping[str, Any] | str
"""Named values; for a tool that takes free text, the text."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where the harness works, and what the model knows of a file: its text (or the part that it
    has read), None if it knows nothing for sure."""

    workdir: str
    seen: Callable[[str], str | None]


type Shape = Callable[[ActionEntry, Setting], Arguments | None]
"""An action as arguments of one tool; None if that tool can't do it."""
