"""How the schema says a decision, and what came of it [pure]."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from orchestrator.egress.ocsf.classes import OTHER, Line

FIRST_ERROR = 400
"""HTTP statuses from here on say that it was not done."""
DONE = frozenset({"ok", "done", "", None})
"""Results that say that it was done."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How the schema says a decision."""

    action_id: int
    action: str
    disposition_id: int
    disposition: str
    severity_id: int
    severity: str


_ALLOWED = Verdict(1, "Allowed", 1, "Allowed", 1, "Informational")
VERDICTS: Mapping[str, Verdict] = {
    "allow": _ALLOWED,
    "hold": Verdict(OTHER, "Held", 14, "Delayed", 2, "Low"),
    "deny": Verdict(2, "Denied", 2, "Blocked", 3, "Medium"),
}
_BY_WHAT: Mapping[tuple[str, str], Verdict] = {
    ("auth", "deny"): Verdict(2, "Denied", 26, "Unauthorized", 3, "Medium"),
    ("fence", "deny"): Verdict(2, "Denied", 6, "Dropped", 3, "Medium"),
}
_UNREADABLE = Verdict(0, "Unknown", 0, "Unknown", 3, "Medium")


def verdict_of(decided: Line) -> Verdict:
    """How the decision is said."""
    decision = str(decided.get("decision", ""))
    for what in (decided.get("kind"), decided.get("door")):
        if found := _BY_WHAT.get((str(what), decision)):
            return found
    return VERDICTS.get(decision, _UNREADABLE)


def status(decided: Line, came: Line) -> dict[str, Any]:
    """The attributes of the status."""
    if decided.get("decision") in {"hold", "deny"}:
        return {"status_id": 2, "status": "Failure", "status_detail": decided.get("reason")}
    if not came:
        return {"status_id": 0, "status": "Unknown"}
    code, result = came.get("status"), came.get("result")
    done = result in DONE and (code or 0) < FIRST_ERROR
    return {
        "status_id": 1 if done else 2,
        "status": "Success" if done else "Failure",
        "status_code": str(code) if code else "",
        "status_detail": result,
    }
