"""What a run read, changed, and was refused: made from its lines of the egress log [pure].

A line is a mapping as `entrance.log.fields` makes it: what doesn't apply is left out.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from orchestrator.domain.verdict import Trouble

Line = Mapping[str, Any]

TARGETS_KEPT = 100
"""Of what was refused on the network a record names so many targets."""
CALLS_KEPT = 500
"""A record in Polarion lists at most so many calls; the egress log has all of them."""


NETWORK = frozenset({"egress", "fence"})
"""Doors at which a run may have thousands of attempts; a record has sums of them."""


def ledger(lines: Iterable[Line]) -> dict[str, Any]:
    """`{read: [...], changed: [...], fetched: [...], pushed: [...], reached: {...}, refused: [...]}`.

    `reached`: the hosts of the internet, and how many requests to each were let through.
    """
    lines = list(lines)
    decided = {line["seq"]: line for line in lines if line["type"] == "decided"}
    outcomes = {line["of"]: line for line in lines if line["type"] == "outcome"}
    read: set[str] = set()
    changed: set[str] = set()
    calls = {seq: line for seq, line in decided.items() if line["kind"] == "tool_call"}
    for seq, line in calls.items():
        touched = outcomes.get(seq, {}).get("detail", {}).get("touched", [])
        (read if line["detail"].get("read_only") else changed).update(touched)
    return {
        "read": sorted(read - changed),
        "changed": sorted(changed),
        "fetched": _subjects(decided.values(), "git_fetch"),
        "pushed": _pushed(decided, outcomes),
        "reached": _reached(decided.values()),
        "refused": refused(decided.values()),
    }


def gateway_calls(lines: Sequence[Line]) -> list[dict[str, Any]]:
    """One row a decision of the entrance, with its outcome; the newest `CALLS_KEPT` of them."""
    outcomes = {line["of"]: line for line in lines if line["type"] == "outcome"}
    rows = [
        {
            "seq": line["seq"],
            "at": line["at"],
            "kind": line["kind"],
            "subject": line.get("subject", ""),
            "decision": line["decision"],
            "reason": line.get("reason", ""),
            "result": outcomes.get(line["seq"], {}).get("result", ""),
        }
        for line in lines
        if line["type"] == "decided" and line.get("door") not in NETWORK
    ]
    return rows[-CALLS_KEPT:]


def out_of_money(lines: Sequence[Line]) -> bool:
    """Whether the door refused a model call, or cut one, because a budget could not pay it."""
    calls = {line["seq"]: line for line in lines if line.get("kind") == "model_call"}
    return any(call["detail"].get("refused") == "budget" for call in calls.values()) or any(
        line.get("result") == "cut_at_budget" and line.get("of") in calls for line in lines
    )


def trouble(lines: Sequence[Line]) -> Trouble | None:
    """What was wrong with the run's last model call; None when it went well, or there was none."""
    calls = {line["seq"] for line in lines if line.get("kind") == "model_call"}
    last = next(
        (line for line in reversed(lines) if line["type"] == "outcome" and line["of"] in calls),
        None,
    )
    kind = last["detail"].get("trouble") if last else None
    if last is None or not kind:
        return None
    detail = last["detail"]
    return Trouble(
        kind=str(kind),
        status=int(detail.get("status") or 0),
        message=str(detail.get("message") or ""),
        lifts_at=_lifts_at(str(last["at"]), str(detail.get("retry_after") or "")),
    )


def _lifts_at(at: str, retry_after: str) -> str:
    """When the provider wants to be asked again, as ISO 8601 in UTC; empty when it didn't say.

    Retry-After is seconds or an HTTP date (RFC 9110, 10.2.3).
    """
    try:
        if retry_after.replace(".", "", 1).isdigit():
            lifts = datetime.fromisoformat(at) + timedelta(seconds=float(retry_after))
        else:
            lifts = parsedate_to_datetime(retry_after)
        return lifts.astimezone(UTC).isoformat(timespec="seconds")
    except (ValueError, OverflowError):
        return ""


def refused(lines: Iterable[Line]) -> list[dict[str, str]]:
    """What was denied or held, in order, as `{kind, subject, reason}`.

    What a program tries again and again at the same host of the internet is told once, and of so many
    hosts at most.
    """
    rows: list[dict[str, str]] = []
    told: set[tuple[str, str, str]] = set()
    for line in lines:
        if line["type"] != "decided" or line["decision"] == "allow":
            continue
        row = {key: str(line.get(key, "")) for key in ("kind", "subject", "reason")}
        if line.get("door") in NETWORK:
            what = (row["kind"], str(line.get("host", row["subject"])), row["reason"])
            if what in told or len(told) == TARGETS_KEPT:
                continue
            told.add(what)
        rows.append(row)
    return rows


def _reached(lines: Iterable[Line]) -> dict[str, int]:
    allowed = (line for line in lines if (line["kind"], line["decision"]) == ("http", "allow"))
    return dict(sorted(Counter(str(line.get("host", "")) for line in allowed).items()))


def _subjects(lines: Iterable[Line], kind: str) -> list[str]:
    return sorted(
        {line["subject"] for line in lines if line["kind"] == kind and line["decision"] == "allow"}
    )


def _pushed(decided: Mapping[int, Line], outcomes: Mapping[int, Line]) -> list[dict[str, Any]]:
    """Each push that was let through, with the refs that the host didn't refuse."""
    rows = []
    for seq, line in decided.items():
        if line["kind"] == "git_push" and line["decision"] == "allow":
            came = outcomes.get(seq, {}).get("detail", {})
            refs = [one["ref"] for one in line["detail"].get("updates", [])]
            if taken := [ref for ref in refs if _taken(came, ref)]:
                rows.append({"repository": line["subject"], "refs": taken})
    return rows


def _taken(came: Mapping[str, Any], ref: str) -> bool:
    """Whether the host took the ref, as far as it was heard: an answer that was lost says nothing."""
    said = came.get("refs", {}).get(ref, "")
    return came.get("unpack", "") in {"", "ok"} and not said.startswith("ng")
