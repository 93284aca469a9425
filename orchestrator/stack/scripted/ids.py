"""The ids of tool calls: which answer each is of, and which turn of which conversation that was."""

import hashlib
import re

_OURS = re.compile(
    r"(?:\A|_)(?P<answer>[0-9a-f]{16}(?P<conversation>[0-9a-f]{8})(?P<turn>\d{3,}))\d\d\Z"
)


def point(*parts: object) -> str:
    """A name for a place: the same for the same parts."""
    return _hash(repr(parts))[:16]


def answer_at(place: str, conversation: str, turn: int) -> str:
    """A name for the answer that is given at a place as a conversation's turn, counted from 0."""
    return f"{place}{_hash(conversation)[:8]}{turn:03d}"


def call_of(answer: str, number: int) -> str:
    """The id of an answer's call, without the prefix that a protocol puts before it."""
    return f"{answer}{number:02d}"


def answer_of(id_: str) -> str | None:
    """The answer that a call is of; None if the id is not one of ours."""
    found = _OURS.search(id_)
    return found["answer"] if found else None


def turn_of(id_: str, conversation: str) -> int | None:
    """Which turn of the conversation a call is of; None if it is of another, or not one of ours."""
    found = _OURS.search(id_)
    if found is None or found["conversation"] != _hash(conversation)[:8]:
        return None
    return int(found["turn"])


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
