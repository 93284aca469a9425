"""What two people have to allow: the first one's word is kept until another says the same [pure]."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from entrance.errors import Conflict
from orchestrator.domain.approval import Approval

FIRST = "first"


def first_of_two(
    item: Approval, granted: Mapping[str, Any], by: str, at: datetime
) -> Approval | None:
    """The item with the first one's word, when another's is needed still; None when it is allowed now.

    Who allows something else than the first one did is a first one.
    Raises: Conflict when the same person says it twice.
    """
    if not item.wanted.get("two_people"):
        return None
    first = item.came.get(FIRST)
    if first and first["granted"] == dict(granted):
        if first["by"] == by:
            raise Conflict(f"two people have to allow {item.id}, and {by} has: another must, too")
        return None
    said = {"by": by, "at": at.isoformat(), "granted": dict(granted)}
    return replace(item, came={**item.came, FIRST: said}, version=item.version + 1)
