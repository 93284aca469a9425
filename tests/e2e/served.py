"""What an installation's scripted model says it has served."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from orchestrator.stack.installation import Installation
from orchestrator.stack.services import LOOPBACK


def served_to(here: Installation, item: str) -> Sequence[Mapping[str, Any]]:
    """Its answers to the runs of a work item, oldest first."""
    answer = httpx.get(
        f"http://{LOOPBACK}:{here.ports.model}/served/answers",
        params={"item": item},
        headers={"x-api-key": (here.keys / "model.key").read_text()},
        timeout=30,
        trust_env=False,
    )
    answer.raise_for_status()
    found: Sequence[Mapping[str, Any]] = answer.json()["answers"]
    return found
