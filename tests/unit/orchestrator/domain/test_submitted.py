"""What a run pushed, out of its lines of the log."""

from collections.abc import Mapping
from typing import Any

import pytest

from orchestrator.domain.submitted import PushedRef, own_branch, pushes_of, submitted_branch

REPOSITORY = "git.example/team/thing.git"
FIX = "refs/heads/agent/DEMO-7/fix"
OLD, NEW = "0" * 40, "a" * 40


def decided(seq: int, decision: str = "allow", ref: str = FIX, **detail: Any) -> dict[str, Any]:
    return {
        "seq": seq,
        "at": "2026-01-05T09:00:00+00:00",
        "type": "decided",
        "kind": "git_push",
        "subject": REPOSITORY,
        "decision": decision,
        "detail": {"updates": [{"ref": ref, "old": OLD, "new": NEW}], **detail},
    }


def outcome(of: int, said: str = "ok", unpack: str = "ok", ref: str = FIX) -> dict[str, Any]:
    return {"type": "outcome", "of": of, "detail": {"unpack": unpack, "refs": {ref: said}}}


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        pytest.param([decided(1), outcome(1)], "arrived", id="the host took it"),
        pytest.param([decided(1), outcome(1, "ng hook declined")], "refused", id="it did not"),
        pytest.param([decided(1), outcome(1, unpack="error")], "refused", id="a bad pack"),
        pytest.param([decided(1)], "unknown", id="no answer was heard"),
        pytest.param(
            [decided(1), {"type": "outcome", "of": 1, "detail": {"unpack": "", "refs": {}}}],
            "unknown",
            id="an answer that could not be read",
        ),
        pytest.param([decided(1, "hold")], "held", id="it waits for a person"),
        pytest.param([decided(1, "deny")], "refused", id="the door refused it"),
    ],
)
def test_a_branch_of_a_push_is_where_the_log_says(lines: list[Any], state: str) -> None:
    (ref,) = pushes_of(lines).refs
    assert ref == PushedRef(REPOSITORY, FIX, OLD, NEW, state)
    assert bool(pushes_of(lines).arrived(REPOSITORY)) == (state in {"arrived", "unknown"})


def test_findings_and_files_are_of_what_may_be_reviewed_and_each_once() -> None:
    note: Mapping[str, str] = {"rule": "r", "mode": "note", "said": "a file is large"}
    lines = [
        decided(1, findings=[note], files=["b.py", "a.py"]),
        outcome(1),
        decided(2, "hold", findings=[note, {"mode": "hold", "said": "a gate"}], files=["c.py"]),
        decided(3, "deny", findings=[{"mode": "deny", "said": "a secret"}], files=["d.py"]),
        {"seq": 4, "type": "decided", "kind": "git_fetch", "decision": "allow", "detail": {}},
    ]
    read = pushes_of(lines)
    assert read.findings == (("note", "a file is large"), ("hold", "a gate"))
    assert read.files == ("a.py", "b.py", "c.py")


@pytest.mark.parametrize(
    ("name", "branch"),
    [
        ("agent/DEMO-7/fix", "agent/DEMO-7/fix"),
        ("refs/heads/agent/DEMO-7/fix", "agent/DEMO-7/fix"),
        (" origin/agent/DEMO-7/fix\n", "agent/DEMO-7/fix"),
        ("agent/DEMO-8/fix", ""),
        ("main", ""),
        ("agent/DEMO-7/../main", ""),
        ("agent/DEMO-7/x y", ""),
        ("agent/DEMO-7/--upload-pack=evil", ""),
        ("agent/DEMO-7/", ""),
        ("", ""),
    ],
)
def test_only_a_branch_that_the_task_may_have_is_taken_at_its_word(name: str, branch: str) -> None:
    assert own_branch(name, ["DEMO-7"]) == branch


def test_the_named_branch_is_proposed_or_else_the_last_that_was_pushed() -> None:
    two = pushes_of([decided(1), outcome(1), decided(2, ref=f"{FIX}2"), outcome(2, ref=f"{FIX}2")])
    nothing, items = pushes_of([]), ["DEMO-7"]
    pick = submitted_branch
    assert pick("agent/DEMO-7/fix", two, REPOSITORY, items) == "agent/DEMO-7/fix"
    assert pick("", two, REPOSITORY, items) == "agent/DEMO-7/fix2"
    assert pick("agent/DEMO-7/never-pushed", two, REPOSITORY, items) == "agent/DEMO-7/fix2"
    assert pick("main", two, REPOSITORY, items) == "agent/DEMO-7/fix2"
    assert pick("", two, "other", items) == ""
    assert pick("", nothing, REPOSITORY, items, before="agent/DEMO-7/fix") == "agent/DEMO-7/fix"
    refused = pushes_of([decided(1, "deny")])
    assert pick("", refused, REPOSITORY, items) == ""
