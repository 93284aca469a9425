"""A person edits the arguments of a held call; what is sent is what was allowed."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from entrance.mcp.canonical import canonical, hash_of
from entrance.tool_policy import ConnectionRules, Mode, Scope, ToolRule
from orchestrator.approvals.handling import Decision
from orchestrator.domain.access import Edits
from orchestrator.domain.approval import ApprovalState, Verb
from orchestrator.domain.team import Grants
from tests.fakes.approvals import Inbox
from tests.fakes.calls import ARGUMENTS, CallHouse, a_call, engagement
from tests.fakes.world import FakeWorld
from tests.unit.orchestrator.approvals.looking import said


@pytest.fixture
def house(tmp_path: Path) -> CallHouse:
    return CallHouse(Inbox(FakeWorld(tmp_path)))


async def test_a_person_may_edit_the_arguments_which_is_recorded(house: CallHouse) -> None:
    item = await house.held(a_call(await house.running()))
    edited = {"page": "Draft", "text": "hello"}
    await house.decide(item, edits=Edits(arguments=edited))
    assert house.wiki.calls == [("write", edited)]
    granted = house.now(item).granted
    assert (granted["edited"], granted["sha256"]) == (True, hash_of(canonical(edited)))
    assert house.now(item).wanted["arguments"] == ARGUMENTS
    [decided] = house.audit.decisions("tool_call")
    assert decided.detail["edited"]
    assert decided.detail["arguments"] == canonical(edited), "what was sent is on record"
    assert decided.detail["arguments_sha256"] == hash_of(canonical(edited))


@pytest.mark.parametrize(
    ("rule", "arguments", "says"),
    [
        pytest.param(ToolRule(Mode.APPROVAL), {"text": "x"}, "page", id="the tool's own schema"),
        pytest.param(
            ToolRule(Mode.APPROVAL, '{"properties":{"page":{"const":"Home"}}}'),
            {"page": "Secret"},
            "beyond what was granted for write: page",
            id="the bounds of the grant",
        ),
    ],
)
async def test_an_edit_that_makes_it_forbidden_is_refused_and_decides_nothing(
    house: CallHouse, rule: ToolRule, arguments: dict[str, Any], says: str
) -> None:
    house.hire(engagement(rule))
    item = await house.held(a_call(await house.running()))
    edited = Decision(Verb.ONCE, edits=Edits(arguments=arguments))
    with pytest.raises(ValueError, match=says):
        await house.inbox.deciding.decide(item, edited)
    assert house.now(item).state is ApprovalState.WAITING
    await house.decide(item)
    assert house.wiki.calls == [("write", ARGUMENTS)], "as it was held it may still be allowed"


async def test_an_edit_that_leaves_the_scope_is_refused(house: CallHouse) -> None:
    wiki = ConnectionRules({"write": ToolRule(Mode.APPROVAL)}, scope=Scope(frozenset({"WEB"})))
    house.hire(replace(engagement(), grants=Grants(tool_rules={"wiki": wiki})))
    item = await house.held(a_call(await house.running(), {"page": "Home", "project": "WEB"}))
    edited = Edits(arguments={"page": "Home", "project": "OTHER"})
    with pytest.raises(ValueError, match="OTHER is not in what was granted"):
        await house.inbox.deciding.decide(item, Decision(Verb.ONCE, edits=edited))
    assert house.now(item).state is ApprovalState.WAITING


async def test_grants_are_looked_at_again_before_it_is_sent(house: CallHouse) -> None:
    item = await house.held(a_call(await house.running()))
    house.hire(engagement(ToolRule(Mode.FORBIDDEN)))
    done = await house.decide(item)
    assert done.item.state is ApprovalState.FAILED
    assert "write is forbidden to this run" in said(house.inbox)
    assert not house.wiki.calls


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(
            {"granted": {"arguments": {"page": "x"}, "sha256": "0", "edited": False}}, id="it"
        ),
    ],
)
async def test_arguments_that_are_not_those_that_were_allowed_are_not_sent(
    house: CallHouse, change: dict[str, Any]
) -> None:
    item = await house.held(a_call(await house.running()))
    await house.inbox.deciding.store.replace(
        replace(house.now(item), state=ApprovalState.ALLOWED, version=1, **change)
    )
    await house.releasing.look()
    assert house.now(item).state is ApprovalState.FAILED
    assert not house.wiki.calls
