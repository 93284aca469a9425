"""What a harness's events tell of the run itself: its conversation, and its last word [pure].

Events come from a sandbox: they are hostile until checked.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from orchestrator.domain.run import Run, Said

CONVERSATION = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,63}")
"""What an id looks like that may become part of a command line or a path."""
LONGEST_DETAIL = 600
SILENT_KINDS = frozenset({"raw", "phase"})
"""Kinds that don't take a last word back."""

Events = Iterable[tuple[str, Mapping[str, Any]]]


def heard(run: Run, events: Events, at: datetime) -> Run:
    """The run, knowing what these events say; its version stays.

    A failed tool server is a last word that nothing takes back: without tools an agent can't end
    its run well.
    """
    for kind, data in events:
        if kind == "started":
            run = _started(run, data, at)
        elif kind == "ended":
            said = Said(_text(data.get("reason")), _text(data.get("detail")), at)
            run = replace(run, said=said) if not without_tools(run) else run
        elif kind not in SILENT_KINDS and not without_tools(run):
            run = replace(run, said=None)
    return run


def without_tools(run: Run) -> bool:
    """Whether the harness said that it can't reach its tools."""
    return run.said is not None and run.said.reason == "tools"


def _started(run: Run, data: Mapping[str, Any], at: datetime) -> Run:
    conversation = data.get("conversation")
    if isinstance(conversation, str) and CONVERSATION.fullmatch(conversation):
        run = replace(run, conversation=conversation)
    if unreachable := _text(data.get("unreachable")):
        return replace(run, said=Said("tools", unreachable, at))
    return replace(run, said=None)


def _text(value: object) -> str:
    return value[:LONGEST_DETAIL] if isinstance(value, str) else ""
