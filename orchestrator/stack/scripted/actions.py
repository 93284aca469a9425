"""Every action of a scenario file, and which keys may and must stand beside it."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Beside:
    """An action's own key and what may and must stand beside it."""

    may: frozenset[str] = frozenset()
    must: frozenset[str] = frozenset()


ACTIONS: Mapping[str, Beside] = {
    "shell": Beside(may=frozenset({"timeout_s"})),
    "read": Beside(may=frozenset({"from_line", "lines"})),
    "write": Beside(must=frozenset({"content"})),
    "edit": Beside(must=frozenset({"old", "new"})),
    "mcp": Beside(may=frozenset({"arguments", "server", "undeclared"})),
    "parallel": Beside(),
    "fail": Beside(may=frozenset({"retry_after_s", "times", "message", "stall_s"})),
}
"""Every action, by the key that names it."""

_TALK = frozenset({"say", "expect", "capture"})
_PACE = frozenset({"usage", "delay_s", "stream_s", "padding"})
_NO_RESULT = {"fail": _TALK | _PACE, "parallel": _TALK - {"say"}}


def action_of(keys: AbstractSet[str]) -> str | None:
    """The key that names the action, if there is one."""
    return next((key for key in ACTIONS if key in keys), None)


def check(keys: AbstractSet[str]) -> None:
    """Do the keys of a step fit together?

    Raises:
        ValueError: they don't; the message goes on from the step's place.
    """
    found = [key for key in ACTIONS if key in keys]
    if len(found) > 1:
        raise ValueError(f"has {' and '.join(found)}: one action a step; use parallel for several")
    if found:
        _check_beside(found[0], keys)
    else:
        _check_words_alone(keys)


def _check_words_alone(keys: AbstractSet[str]) -> None:
    if stray := keys - _TALK - _PACE:
        raise ValueError(f"has {', '.join(sorted(stray))} but no action ({', '.join(ACTIONS)})")
    if not keys & _TALK:
        raise ValueError(f"does nothing: give it say or an action ({', '.join(ACTIONS)})")
    if "say" in keys and keys & {"expect", "capture"}:
        raise ValueError("says something and expects an answer: only an action brings one")


def _check_beside(action: str, keys: AbstractSet[str]) -> None:
    rule = ACTIONS[action]
    allowed = rule.may | rule.must | {action} | _TALK | _PACE
    forbidden = _NO_RESULT.get(action, frozenset()) & keys
    if stray := (keys - allowed) | forbidden:
        raise ValueError(f"has {', '.join(sorted(stray))}, which can't stand beside {action}")
    if missing := rule.must - keys:
        raise ValueError(f"lacks {', '.join(sorted(missing))}, which {action} needs")
