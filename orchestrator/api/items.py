"""An item of the inbox as people see it."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from orchestrator.domain.approval import Approval
from orchestrator.domain.kinds import OWED

_OURS = frozenset({OWED, "grant"})
"""What of `came` is only for whoever goes on with it."""


def approval_json(item: Approval) -> dict[str, Any]:
    """All of it; `version` counts its changes."""
    return {
        "id": item.id,
        "kind": item.kind,
        "state": item.state,
        "title": item.title,
        "wanted": dict(item.wanted),
        "happens": item.happens,
        "why": item.why,
        "cause": dict(item.cause),
        "run": item.run,
        "task": item.task,
        "project": item.project,
        "agent": item.agent,
        "engagement": item.engagement,
        "asked_at": item.asked_at.isoformat(),
        "decided_at": item.decided_at.isoformat() if item.decided_at else None,
        "decided_by": item.decided_by,
        "note": item.note,
        "granted": dict(item.granted),
        "granted_to": item.granted_to,
        "scope": asdict(item.scope) if item.scope else None,
        "until": item.until.isoformat() if item.until else None,
        "came": _came(item.came),
        "version": item.version,
    }


def _came(came: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in came.items() if name not in _OURS}
