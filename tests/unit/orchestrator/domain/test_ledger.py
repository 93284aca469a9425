"""The ledger: what a run read, changed, pushed and was refused."""

from typing import Any

import pytest

from orchestrator.domain.ledger import (
    TARGETS_KEPT,
    gateway_calls,
    ledger,
    out_of_money,
    refused,
    trouble,
)
from orchestrator.domain.verdict import Trouble


def line(
    seq: int, kind: str, subject: str, decision: str = "allow", **detail: Any
) -> dict[str, Any]:
    return {
        "seq": seq, "at": "2026-01-05T09:00:00+00:00", "type": "decided", "kind": kind, "subject": subject,
        "decision": decision, "detail": detail,
        **({} if decision == "allow" else {"reason": "no"}),
    }  # fmt: skip


def outcome(of: int, result: str, **detail: Any) -> dict[str, Any]:
    return {"seq": of + 100, "type": "outcome", "of": of, "result": result, "detail": detail}


LINES = [
    line(1, "tool_call", "polarion/get_task", read_only=True),
    outcome(1, "ok", touched=["D/D-1"]),
    line(2, "tool_call", "polarion/add_comment"),
    outcome(2, "ok", touched=["D/D-2"]),
    line(3, "tool_call", "polarion/get_work_item", read_only=True),
    outcome(3, "ok", touched=["D/D-2"]),
    line(4, "git_fetch", "git.example/x.git"),
    line(5, "git_push", "git.example/x.git", "deny", updates=[{"ref": "refs/heads/main"}]),
    line(6, "git_push", "git.example/x.git", updates=[{"ref": "refs/heads/agent/D-1/x"}]),
    line(7, "auth", "", "deny"),
]


def test_the_ledger_says_what_was_read_changed_fetched_pushed_and_refused() -> None:
    assert ledger(LINES) == {
        "read": ["D/D-1"],
        "changed": ["D/D-2"],
        "fetched": ["git.example/x.git"],
        "pushed": [{"repository": "git.example/x.git", "refs": ["refs/heads/agent/D-1/x"]}],
        "reached": {},
        "refused": [
            {"kind": "git_push", "subject": "git.example/x.git", "reason": "no"},
            {"kind": "auth", "subject": "", "reason": "no"},
        ],
    }


@pytest.mark.parametrize(
    ("came", "refs"),
    [
        pytest.param({}, ["a", "b"], id="not yet, or never heard of"),
        pytest.param({"unpack": "ok", "refs": {"a": "ok", "b": "ok"}}, ["a", "b"], id="taken"),
        pytest.param({"unpack": "ok", "refs": {"a": "ok", "b": "ng no"}}, ["a"], id="one refused"),
        pytest.param({"unpack": "index-pack failed", "refs": {}}, [], id="nothing unpacked"),
        pytest.param({"unpack": "", "refs": {}, "trouble": "gone"}, ["a", "b"], id="cut off"),
    ],
)
def test_what_the_host_refused_was_not_pushed(came: dict[str, Any], refs: list[str]) -> None:
    push = line(1, "git_push", "r", updates=[{"ref": "a"}, {"ref": "b"}])
    asking = line(2, "git_push", "r")
    outcome = {"seq": 3, "type": "outcome", "of": 1, "result": "", "detail": came}
    pushed = ledger([push, asking, outcome])["pushed"]
    assert pushed == ([{"repository": "r", "refs": refs}] if refs else [])


def test_each_gateway_call_has_one_row_with_its_result() -> None:
    rows = gateway_calls(LINES)
    assert [row["seq"] for row in rows] == [1, 2, 3, 4, 5, 6, 7]
    assert rows[0]["result"] == "ok"
    assert rows[4]["result"] == ""


def packet(subject: str) -> dict[str, Any]:
    return line(1, "packet", subject, "deny", packets=1) | {"door": "fence"}


def test_dropped_packets_are_a_row_for_each_target_and_no_gateway_calls() -> None:
    lines = [packet("udp 10.0.0.1:53"), packet("tcp 10.0.0.1:22"), packet("udp 10.0.0.1:53")]
    assert [row["subject"] for row in refused(lines)] == ["udp 10.0.0.1:53", "tcp 10.0.0.1:22"]
    assert gateway_calls(lines) == []
    assert len(refused([packet(f"tcp 10.0.0.1:{n}") for n in range(1000)])) == TARGETS_KEPT


def test_only_refusals_are_refusals() -> None:
    assert [row["kind"] for row in refused(LINES)] == ["git_push", "auth"]


@pytest.mark.parametrize(
    ("lines", "out"),
    [
        pytest.param([*LINES, line(8, "model_call", "p:m")], False, id="nothing of the kind"),
        pytest.param(
            [line(8, "model_call", "p:m", "deny")], False, id="refused for another reason"
        ),
        pytest.param(
            [line(8, "model_call", "p:m", "deny", refused="busy")], False, id="asked to wait"
        ),
        pytest.param([line(8, "model_call", "p:m", "deny", refused="budget")], True, id="refused"),
        pytest.param([line(8, "model_call", "p:m"), outcome(8, "ok")], False, id="paid"),
        pytest.param([line(8, "model_call", "p:m"), outcome(8, "cut_at_budget")], True, id="cut"),
    ],
)
def test_a_call_that_no_budget_could_pay_is_found(
    lines: list[dict[str, Any]], *, out: bool
) -> None:
    assert out_of_money(lines) is out


AT = "2026-01-05T09:00:00+00:00"


def call(seq: int, **detail: Any) -> list[dict[str, Any]]:
    return [line(seq, "model_call", "anthropic:m"), {**outcome(seq, "failed", **detail), "at": AT}]


@pytest.mark.parametrize(
    ("retry_after", "lifts_at"),
    [
        ("90", "2026-01-05T09:01:30+00:00"),
        ("0.5", "2026-01-05T09:00:00+00:00"),
        ("Mon, 05 Jan 2026 10:00:00 GMT", "2026-01-05T10:00:00+00:00"),
        ("", ""),
        ("soon", ""),
        ("9" * 400, ""),
    ],
)
def test_a_rate_limit_says_when_it_lifts(retry_after: str, lifts_at: str) -> None:
    lines = call(1, trouble="rate_limit", status=429, message="slow", retry_after=retry_after)
    assert trouble(lines) == Trouble("rate_limit", 429, "slow", lifts_at)


def test_only_the_last_call_counts_whatever_was_done_after_it() -> None:
    failed, well = call(1, trouble="cut", status=200), call(2, status=200)
    tool = [line(3, "tool_call", "polarion/get_task"), outcome(3, "ok")]
    assert trouble([*failed, *well, *tool]) is None
    assert trouble([*well, *failed, *tool]) == Trouble("cut", 200)
    assert trouble(tool) is None


def at_the_proxy(seq: int, host: str, decision: str = "allow", **detail: Any) -> dict[str, Any]:
    return {**line(seq, "http", f"GET {host}", decision, **detail), "door": "egress", "host": host}


def test_the_internet_is_summed_up_and_does_not_crowd_out_the_entrances_calls() -> None:
    tries = [at_the_proxy(seq, "no.example", "deny") for seq in range(100, 900)]
    lines = [*LINES, at_the_proxy(20, "b.example"), at_the_proxy(21, "a.example")]
    lines += [at_the_proxy(22, "b.example"), *tries]
    assert ledger(lines)["reached"] == {"a.example": 1, "b.example": 2}
    told = {"kind": "http", "subject": "GET no.example", "reason": "no"}
    assert ledger(lines)["refused"] == [*ledger(LINES)["refused"], told]
    assert gateway_calls(lines) == gateway_calls(LINES)


def test_words_of_the_proxy_do_not_pass_for_those_of_the_entrance() -> None:
    lines = [
        at_the_proxy(1, "a.example", refused="budget"),
        outcome(1, "cut_at_budget", touched=["D/D-1"], trouble="credential"),
    ]
    assert (ledger(lines)["read"], ledger(lines)["changed"]) == ([], [])
    assert not out_of_money(lines)
    assert trouble(lines) is None
