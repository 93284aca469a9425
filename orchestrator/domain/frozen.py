"""A sandbox that is frozen because a honeytoken was about to leave it [pure]."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from entrance.session import RunId, TaskId

RULE = "honeytoken"
"""What the egress log names as the rule of a refusal that is to freeze the sandbox."""


@dataclass(frozen=True, slots=True)
class Frozen:
    """What was seen of which sandbox, and how far it is dealt with. Never a canary's value."""

    run: RunId
    task: TaskId
    at: datetime
    canary: str
    """The honeytoken's name."""
    place: str
    """The file of the sandbox that it stands in."""
    where: str
    """Where in the request it was."""
    door: str
    subject: str = ""
    """What the request wanted."""
    kept: bool = False
    """The sandbox is paused and its way out closed; before that, it is about to be."""
    alerted: bool = False
    """Whoever is to be called was called."""


def alarm_in(run: RunId, task: TaskId, lines: Iterable[Mapping[str, Any]]) -> Frozen | None:
    """What the egress log's lines of a run say of a honeytoken, if they do: the oldest counts."""
    for line in lines:
        if line.get("rule") == RULE and line.get("decision") == "deny":
            said = line.get("detail", {})
            return Frozen(
                run=run,
                task=task,
                at=datetime.fromisoformat(line["at"]),
                canary=str(said.get("honeytoken", "")),
                place=str(said.get("place", "")),
                where=str(said.get("where", "")),
                door=str(line.get("door", "")),
                subject=str(line.get("subject", "")),
            )
    return None


def told(frozen: Frozen) -> dict[str, str]:
    """What the record and the API say of it."""
    return {
        "canary": frozen.canary,
        "place": frozen.place,
        "where": frozen.where,
        "door": frozen.door,
        "subject": frozen.subject,
        "at": frozen.at.isoformat(),
    }


def in_words(frozen: Frozen) -> str:
    """What happened and what a person can do about it, as a sentence without its end."""
    to = f" for {frozen.subject}" if frozen.subject else ""
    return (
        f"the honeytoken {frozen.canary} ({frozen.place}) was in {frozen.where}{to}; the sandbox is"
        f" frozen: `sandgate frozen show {frozen.run}` says what to do"
    )
