"""What a run read, changed, and was refused: made from its audit lines [pure].

A line is a mapping as `entrance.audit` writes it.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Line = Mapping[str, Any]

CALLS_KEPT = 500
"""A record in Polarion lists at most so many calls; the audit log has all of them."""


def ledger(lines: Iterable[Line]) -> dict[str, Any]:
    """`{read: [...], changed: [...], fetched: [...], pushed: [...], refused: [...]}`."""
    decided = {line["seq"]: line for line in lines if line["kind"] != "outcome"}
    outcomes = {line["of"]: line for line in lines if line["kind"] == "outcome"}
    read: set[str] = set()
    changed: set[str] = set()
    for seq, line in decided.items():
        touched = outcomes.get(seq, {}).get("detail", {}).get("touched", [])
        (read if line["detail"].get("read_only") else changed).update(touched)
    return {
        "read": sorted(read - changed),
        "changed": sorted(changed),
        "fetched": _subjects(decided.values(), "git_fetch"),
        "pushed": _pushed(decided.values()),
        "refused": refused(decided.values()),
    }


def gateway_calls(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """One row a decision, with its outcome; the newest `CALLS_KEPT` of them."""
    outcomes = {line["of"]: line for line in lines if line["kind"] == "outcome"}
    rows = [
        {
            "seq": line["seq"],
            "at": line["at"],
            "kind": line["kind"],
            "subject": line["subject"],
            "decision": line["decision"],
            "reason": line["reason"],
            "result": outcomes.get(line["seq"], {}).get("result", ""),
        }
        for line in lines
        if line["kind"] != "outcome"
    ]
    return rows[-CALLS_KEPT:]


def out_of_money(lines: Iterable[Line]) -> bool:
    """Whether the door refused a model call, or cut one, because a budget could not pay it."""
    return any(
        line["detail"].get("refused") == "budget" or line.get("result") == "cut_at_budget"
        for line in lines
    )


def refused(lines: Iterable[Line]) -> list[dict[str, str]]:
    """What was denied or held, in order, as `{kind, subject, reason}`."""
    return [
        {"kind": line["kind"], "subject": line["subject"], "reason": line["reason"]}
        for line in lines
        if line["kind"] != "outcome" and line["decision"] != "allow"
    ]


def _subjects(lines: Iterable[Line], kind: str) -> list[str]:
    return sorted(
        {line["subject"] for line in lines if line["kind"] == kind and line["decision"] == "allow"}
    )


def _pushed(lines: Iterable[Line]) -> list[dict[str, Any]]:
    return [
        {
            "repository": line["subject"],
            "refs": [update["ref"] for update in line["detail"].get("updates", [])],
        }
        for line in lines
        if line["kind"] == "git_push" and line["decision"] == "allow"
    ]
