"""Each kind's page has who, why, out of what, exactly what, and what then; agents' words do nothing."""

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.api.items import approval_json
from orchestrator.cli.item_page import EXACT, told_of
from orchestrator.domain.approval import Approval, ApprovalState, Scope
from orchestrator.domain.kinds import CALL, CALL_RULE, EGRESS, KINDS, PUSH, TOOL, TOOL_CHANGE
from tests.fakes.approvals import ITEM

CAUSE = {"asked_by": "the rule x", "step": 7, "tool": "shell", "call": "c1"}
TURN = {"step": 6, "at": "", "said": "I will \x1b]0;owned\x07 write it.", "call": "shell"}
WANTED: dict[str, dict[str, Any]] = {
    EGRESS: {"method": "GET", "url": "https://a.example/x"},
    PUSH: {
        "url": "https://git.example/a/b", "size_bytes": 9, "sha256": "ab" * 32, "reasons": ["CI"],
        "moved": [{"ref": "refs/heads/x", "old": "0" * 40, "new": "c" * 40}],
    },
    CALL: {
        "connection": "wiki", "tool": "write", "arguments": {"page": "Home"}, "sha256": "cd" * 32,
        "reasons": ["every call waits"], "rule": "needs_approval", "two_people": True,
    },
    CALL_RULE: {"connection": "wiki", "tool": "write", "made_from": "b" * 15},
    TOOL: {"connection": "wiki", "tool": "write", "description": "Writes."},
    TOOL_CHANGE: {"connection": "wiki", "tools": [{"tool": "re\x1bad"}], "reasons": ["other words"]},
}  # fmt: skip
EXACTLY = {
    EGRESS: ("GET https://a.example/x",),
    PUSH: ("ab" * 32, "new, at " + "c" * 40, "CI"),
    CALL: ('{"page":"Home"}', "cd" * 32, "every call waits", "have to allow it"),
    CALL_RULE: ("write of wiki", "b" * 15),
    TOOL: ("write of wiki", "Writes."),
    TOOL_CHANGE: ("has changed: re", " of wiki", "other words"),
}


def page(item: Approval) -> str:
    shown = {**approval_json(item), "turn": TURN}
    return "\n".join(f"{name}: {value}" for name, value in told_of(shown))


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_has_all_that_a_person_decides_by(kind: str) -> None:
    item = replace(ITEM, kind=kind, wanted=WANTED[kind], cause=CAUSE)
    told = page(item)
    chain = f"out of: task {item.task} > run {item.run} > step 7 > shell > call c1"
    for words in (item.id, item.agent, chain, "the rule x", "the docs", *EXACTLY[kind]):
        assert words in told, words
    assert (f"if it is allowed: {item.happens}" in told) == (kind != CALL_RULE)
    assert "I will" in told
    assert not set(told) & set("\x1b\x07")


def test_what_was_decided_is_on_it() -> None:
    item = replace(
        ITEM, kind=TOOL, wanted=WANTED[TOOL], state=ApprovalState.STANDING, decided_by="lead",
        granted={"mode": "approval"}, scope=Scope("agent", "bot-rex"), note="well",
    )  # fmt: skip
    told = page(item)
    for words in ("granted as: approval", "by lead", "for: agent bot-rex", "note: well"):
        assert words in told


def test_every_kind_has_its_own_words() -> None:
    assert EXACT.keys() == KINDS.keys()
