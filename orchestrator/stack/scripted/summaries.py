"""Conversations that a harness has shortened: it asks the model for a summary and goes on with that.

Nothing is kept here, so the summary itself says where the conversation was. What was captured is
in it, too, as the results it came from are gone.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

_HEAD = "scripted model: so far "
_FOUND = re.compile(rf"{re.escape(_HEAD)}(\{{.*\}})")

_ASKED: Mapping[str, re.Pattern[str]] = {
    "Claude Code": re.compile(r"Your task is to create a detailed summary of the "),
    "Codex": re.compile(r"\AYou are performing a CONTEXT CHECKPOINT COMPACTION"),
}
"""By which words each harness's request for a summary is known."""


@dataclass(frozen=True, slots=True)
class SoFar:
    """Where a conversation was when it was shortened: so many of its turns were done."""

    conversation: str
    done: int
    names: Mapping[str, str]


def is_asked_for(prompt: str) -> bool:
    """Is this a harness's request for a summary, rather than anybody's words?"""
    return any(words.search(prompt) for words in _ASKED.values())


def written(so_far: SoFar) -> str:
    """A summary, in one line, which harnesses hand on as it is."""
    told = {
        "conversation": so_far.conversation,
        "done": so_far.done,
        "names": dict(so_far.names),
    }
    return f"{_HEAD}{json.dumps(told)}"


def found(text: str) -> SoFar | None:
    """What the last summary in a text says; None if there is none."""
    summaries = _FOUND.findall(text)
    if not summaries:
        return None
    try:
        told = json.loads(summaries[-1])
        return SoFar(str(told["conversation"]), int(told["done"]), dict(told["names"]))
    except (ValueError, KeyError, TypeError):
        return None
