"""Standing rules on record: what is read of it, and what is to be done about it."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from orchestrator.domain.approval import Approval, ApprovalState, Scope
from orchestrator.domain.kinds import CALL, CALL_RULE, PUSH
from orchestrator.domain.rule_record import OnRecord, read, reconciled, text_of
from tests.fakes.approvals import ITEM
from tests.fakes.clock import START

RULE = replace(
    ITEM, kind=CALL_RULE, state=ApprovalState.STANDING, scope=Scope("agent", "bot-rex"), until=START,
    granted={"rule": {"const": {"page": "Home"}}}, decided_by="lead", decided_at=START,
)  # fmt: skip


def on_record(*rules: Approval, **changes: Any) -> OnRecord:
    return replace(OnRecord("WEB/WEB-1", "WEB", "bot-rex", text_of(rules)), **changes)


def test_what_was_recorded_is_read_as_it_was() -> None:
    other = replace(RULE, id="b" * 15, scope=Scope("engagement", "WEB/WEB-1"), until=None)
    found = read(on_record(RULE, other))
    assert (found.rules, found.troubles) == ((RULE, other), ())
    assert read(on_record()).rules == ()
    assert text_of([RULE, other]) == text_of([other, RULE])


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"kind": CALL}, id="a call"),
        pytest.param({"kind": PUSH}, id="a push"),
        pytest.param({"state": ApprovalState.ALLOWED_RUN}, id="what is of one run"),
        pytest.param({"granted_to": "run1"}, id="what is given to a run"),
        pytest.param({"id": "../../x"}, id="no id of ours"),
        pytest.param({"engagement": "WEB/WEB-2"}, id="another engagement's"),
        pytest.param({"project": "SHOP"}, id="another project's"),
        pytest.param({"agent": "bot-max"}, id="another agent's"),
        pytest.param({"scope": None}, id="of no scope"),
        pytest.param({"scope": Scope("project", "SHOP")}, id="for another project"),
        pytest.param({"scope": Scope("agent", "bot-max")}, id="for another agent"),
        pytest.param({"scope": Scope("engagement", "WEB/WEB-2")}, id="for another engagement"),
    ],
)
def test_what_does_not_belong_there_opens_nothing_and_keeps_no_other_from_it(
    changes: dict[str, Any],
) -> None:
    odd = replace(RULE, **{"id": "b" * 15, **changes})
    found = read(on_record(RULE, odd))
    assert found.rules == (RULE,)
    assert len(found.troubles) == 1


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '[{"id": "x"}]', "[[]]"])
def test_what_can_not_be_read_is_said(text: str) -> None:
    found = read(on_record(text=text))
    assert found.rules == ()
    assert found.troubles


def test_fields_of_a_newer_version_are_said() -> None:
    rows = orjson.loads(text_of([RULE]))
    rows[0]["state"] = "perhaps"
    assert "state" in read(on_record(text=orjson.dumps(rows).decode())).troubles[0]


REVOKED = replace(RULE, state=ApprovalState.REVOKED, version=9)


@pytest.mark.parametrize(
    ("recorded", "stored", "standing", "restored", "text"),
    [
        pytest.param([], {}, [RULE], (), [RULE], id="a new one is recorded"),
        pytest.param([RULE], {RULE.id: RULE}, [RULE], (), [RULE], id="what is as it was stays"),
        pytest.param([RULE], {RULE.id: REVOKED}, [], (), [], id="what was taken back is gone"),
        pytest.param([RULE], {RULE.id: None}, [], (RULE,), [RULE], id="what was lost is put back"),
        pytest.param(
            [RULE], {RULE.id: replace(RULE, note="x")}, [replace(RULE, note="x")], (),
            [replace(RULE, note="x")], id="the inbox's words count",
        ),
    ],
)  # fmt: skip
def test_the_record_follows_the_inbox_and_the_inbox_what_it_has_lost(
    recorded: list[Approval],
    stored: dict[str, Approval | None],
    standing: list[Approval],
    restored: tuple[Approval, ...],
    text: list[Approval],
) -> None:
    made = reconciled(recorded, stored, standing)
    assert (made.restored, made.text) == (restored, text_of(text))
