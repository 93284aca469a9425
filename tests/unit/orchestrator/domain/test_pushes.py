"""Pushes as people see them."""

from dataclasses import replace

import pytest

from orchestrator.domain.approval import ApprovalState
from orchestrator.domain.kinds import KINDS, PUSH
from orchestrator.domain.pushes import STATES, PushState, RecordedPush, pushes
from tests.fakes.approvals import ITEM
from tests.fakes.clock import START

HELD = RecordedPush(7, START, "run1", "DEMO/DEMO-7", "bot-rex", "git.example/a", "hold")
ASKED = replace(ITEM, kind=PUSH, wanted={"decision": 7, "kept": "f" * 32})


def ended(decision: str, result: str = "") -> RecordedPush:
    detail = {"approval": ITEM.id, "held": 7}
    return replace(HELD, seq=9, decision=decision, result=result, detail=detail)


def test_every_state_is_told() -> None:
    assert STATES.keys() == set(PushState)


@pytest.mark.parametrize(
    ("decision", "result", "state"),
    [
        ("allow", "ok", PushState.TAKEN),
        ("allow", "refused", PushState.REFUSED),
        ("allow", "", PushState.SENDING),
        ("allow", "unknown", PushState.UNKNOWN),
        ("deny", "", PushState.DENIED),
    ],
)
def test_a_push_that_was_never_held_is_what_the_log_says(
    decision: str, result: str, state: PushState
) -> None:
    (push,) = pushes([replace(HELD, decision=decision, result=result)], [])
    assert (push.state, push.item) == (state, None)


@pytest.mark.parametrize("state", {*KINDS[PUSH].after.values(), ApprovalState.WAITING})
def test_a_held_push_is_what_its_item_says(state: ApprovalState) -> None:
    item = replace(ASKED, state=state)
    (push,) = pushes([HELD], [item, ITEM])
    assert push.item == item
    assert (push.state is PushState.HELD) == (state is ApprovalState.WAITING)


@pytest.mark.parametrize(
    ("end", "state"),
    [
        (ended("allow", "ok"), PushState.TAKEN),
        (ended("allow", "conflict"), PushState.REFUSED),
        (ended("deny"), PushState.DENIED),
        (None, PushState.HELD),
    ],
)
def test_without_the_item_the_log_says_how_it_ended_and_tells_it_as_one_push(
    end: RecordedPush | None, state: PushState
) -> None:
    (push,) = pushes([one for one in (end, HELD) if one], [])
    assert (push.recorded, push.state, push.end) == (HELD, state, end)


def test_what_is_pushed_again_while_it_is_held_is_told_as_that() -> None:
    updates = [{"ref": "refs/heads/a", "old": "0" * 40, "new": "a" * 40, "refused": "why"}]
    moved = [{name: updates[0][name] for name in ("ref", "old", "new")}]
    first = replace(HELD, task=ASKED.task, detail={"updates": updates})
    item = replace(
        ASKED,
        state=ApprovalState.DENIED,
        wanted={**ASKED.wanted, "repository": HELD.repository, "moved": moved},
    )
    again, other = replace(first, seq=8), replace(first, seq=9, task="DEMO/DEMO-9")
    found = pushes([other, again, first], [item])
    assert [(one.recorded.seq, one.state, one.again) for one in found] == [
        (9, PushState.HELD, False),
        (8, PushState.DENIED, True),
        (7, PushState.DENIED, False),
    ]
