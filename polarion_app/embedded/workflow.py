"""Workflow actions by the pages of the data model [pure]."""

from collections.abc import Callable, Sequence
from typing import Any

from polarion_app.config.model import Action, WorkItemType
from polarion_app.embedded.errors import ApiError, bad_request

type Holds = Callable[[Sequence[str]], bool]
"""Whether the caller holds one of these project roles."""


def chosen(
    known: WorkItemType | None, action_id: str, status: str, item: str, holds: Holds
) -> Action:
    """The action that may be done now. Raises: ApiError 400 that says why not."""
    action = known.action(action_id) if known else None
    if action is None:
        raise _refused(f"The workflow action '{action_id}' was not found.")
    if reason := _reason_against(action, status, holds):
        raise _refused(f"'{action.name}' failed for Work Item '{item}': {reason}")
    return action


def require_filled(action: Action, item: str, is_empty: Callable[[str], bool]) -> None:
    """Raises: ApiError 400 naming the first required field that is empty."""
    for field in action.required:
        if is_empty(field):
            raise _refused(
                f"'{action.name}' failed for Work Item '{item}':"
                f" The required field '{field}' of Work Item '{item}' is empty."
            )


def listed(known: WorkItemType | None, status: str, holds: Holds) -> list[dict[str, Any]]:
    """The actions that start from `status`, as getWorkflowActions answers them."""
    numbered = enumerate(known.actions if known else (), start=1)
    return [
        _described(number, action, _reason_against(action, status, holds))
        for number, action in numbered
        if status in action.sources
    ]


def _described(number: int, action: Action, reason: str | None) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": str(number),
        "available": reason is None,
        "nativeActionId": action.id,
        "name": action.name,
        "targetStatus": action.target,
        "requiredFields": list(action.required),
        "clearedFields": list(action.cleared),
        "isSignatureRequired": False,
        "requiredRoles": list(action.roles),
    }
    return row if reason is None else {**row, "unavailableReason": reason}


def _reason_against(action: Action, status: str, holds: Holds) -> str | None:
    if status not in action.sources:
        return f"it is not available in status '{status}'."
    if action.roles and not holds(action.roles):
        return f"it needs one of the roles {', '.join(action.roles)}."
    return None


def _refused(detail: str) -> ApiError:
    return bad_request(detail, parameter="workflowAction")
