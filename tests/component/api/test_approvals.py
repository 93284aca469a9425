"""The inbox over HTTP: what waits, what is decided about it, and what is said to who decides wrongly."""

from dataclasses import replace
from typing import Any

import pytest

from orchestrator.domain.access import Attempt
from orchestrator.domain.approval import ApprovalState
from orchestrator.domain.egress_compile import Compiled
from proxy.policy import Rule
from tests.fakes.clock import START
from tests.fakes.world import AGENT
from tests.servers.api import Api

URL = "https://docs.example/x"


async def test_what_waits_is_listed_with_all_that_a_person_needs(api: Api) -> None:
    item = await api.asked(URL)
    (listed,) = (await api.ask("GET", "/api/approvals?state=waiting")).json
    shown = (await api.ask("GET", f"/api/approvals/{item.id}")).json
    assert shown == {**listed, "turn": None}
    assert (listed["title"], listed["why"], listed["agent"]) == (
        f"GET {URL}",
        "for the docs",
        AGENT.bot,
    )
    assert listed["wanted"]["url"] == URL
    assert listed["cause"] == {"asked_by": "request_access"}
    assert (await api.ask("GET", "/api/approvals?state=denied")).json == []


async def test_an_item_has_the_turn_of_the_run_that_led_to_it(api: Api) -> None:
    item = await api.asked(URL)
    said = ("text", {"text": "I need the docs."})
    called = ("tool_call", {"id": "c1", "name": "request_access"})
    later = ("text", {"text": "Then I go on."})
    await api.world.tell(item.run, [("text", {"text": "Hello."}), said, called, later])
    cause = {**item.cause, "step": 2, "call": "c1"}
    await api.inbox.store.replace(replace(item, cause=cause, version=1))
    turn = (await api.ask("GET", f"/api/approvals/{item.id}")).json["turn"]
    assert (turn["step"], turn["said"], turn["call"]) == (1, "I need the docs.", "request_access")
    unknown = {**item.cause, "step": 900}
    await api.inbox.store.replace(replace(item, cause=unknown, version=2))
    assert (await api.ask("GET", f"/api/approvals/{item.id}")).json["turn"] is None


@pytest.mark.parametrize(
    ("verb", "state"),
    [("once", "allowed_once"), ("run", "allowed_run"), ("rule", "standing"), ("deny", "denied")],
)
async def test_it_is_decided_once(api: Api, verb: str, state: str) -> None:
    item = await api.asked(URL)
    answer = await api.ask(
        "POST", f"/api/approvals/{item.id}/{verb}", {"note": "well", "as": "boss"}
    )
    assert (answer.status, answer.json["in_force"], answer.json["woken"]) == (200, True, False)
    decided = answer.json["approval"]
    assert (decided["state"], decided["decided_by"], decided["note"]) == (state, "boss", "well")
    again = await api.ask("POST", f"/api/approvals/{item.id}/deny", {})
    assert again.status == 409
    assert "can't follow" in again.error["message"]


async def test_a_rule_has_a_scope_a_day_and_what_a_person_made_of_it(api: Api) -> None:
    item = await api.asked(URL)
    body = {
        "host": "*.docs.example", "paths": ["/en/**"], "scope": "agent", "until": "2030-01-01T00:00:00Z",
    }  # fmt: skip
    answer = await api.ask("POST", f"/api/approvals/{item.id}/rule", body)
    decided = answer.json["approval"]
    assert decided["scope"] == {"kind": "agent", "id": AGENT.bot}
    assert decided["until"] == "2030-01-01T00:00:00+00:00"
    assert (decided["granted"]["host"], decided["granted"]["paths"]) == (
        "*.docs.example",
        ["/en/**"],
    )
    revoked = await api.ask("POST", f"/api/approvals/{item.id}/revoke", {})
    assert revoked.json["approval"]["state"] == "revoked"


async def test_a_rule_is_tried_on_the_record_before_anything_is_decided(api: Api) -> None:
    item = await api.asked(URL)
    api.inbox.record.tried = [Attempt(START, "GET", "https://docs.example/y", "deny", "r1")]
    answer = await api.ask("POST", f"/api/approvals/{item.id}/try", {"paths": ["/**"]})
    assert answer.json == {
        "would_allow": 1, "denied_by_people": 0, "runs": 1, "hosts": {"docs.example": 1}, "untold": 0,
    }  # fmt: skip
    assert api.inbox.store.items[item.id].state is ApprovalState.WAITING


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("rule", {"host": "10.0.0.1"}, 400, "address"),
        ("rule", {"paths": ["x"]}, 400, "slash"),
        ("rule", {"until": "2020-01-01T00:00:00Z"}, 400, "until"),
        ("rule", {"until": "2030-01-01T00:00:00"}, 400, "until"),
        ("rule", {"scope": "everybody"}, 400, "scope"),
        ("run", {"as": AGENT.bot}, 403, "agent's user"),
        ("run", {"uses": 3}, 400, "uses"),
        ("try", {"host": "localhost"}, 400, "domain"),
        ("perhaps", {}, 404, "no such path"),
    ],
)
async def test_what_will_not_do_is_said_and_decides_nothing(
    api: Api, path: str, body: dict[str, Any], status: int, says: str
) -> None:
    item = await api.asked(URL)
    answer = await api.ask("POST", f"/api/approvals/{item.id}/{path}", body)
    assert answer.status == status
    assert says in answer.error["message"]
    assert api.inbox.store.items[item.id] == item


async def test_an_item_that_there_is_not_is_not_found(api: Api) -> None:
    for method, path in (("GET", ""), ("POST", "/deny"), ("POST", "/try")):
        answer = await api.ask(
            method, f"/api/approvals/nothing{path}", {} if method == "POST" else None
        )
        assert answer.status == 404
    assert (await api.ask("GET", "/api/approvals?state=open")).status == 400


async def test_what_a_run_may_reach_now_is_shown(api: Api) -> None:
    api.reaches.runs["run1"] = Compiled((Rule(name="a", host="a.example"),), left_out=("no pypi",))
    answer = await api.ask("GET", "/api/runs/run1/egress")
    assert [rule["host"] for rule in answer.json["rules"]] == ["a.example"]
    assert answer.json["left_out"] == ["no pypi"]
    assert (answer.json["wanted"], answer.json["applied"]) == (17, 17)
    assert (await api.ask("GET", "/api/runs/run2/egress")).status == 404
