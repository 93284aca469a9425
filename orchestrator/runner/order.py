"""What a run is prepared from, and that it can't be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from entrance.errors import SandgateError
from orchestrator.domain.run import Run
from orchestrator.domain.task import Task
from orchestrator.domain.team import Agent, Engagement

EARLIER_RUNS = 50
"""So many of the task's runs before it may have left something that counts."""


class PreparationFailed(SandgateError):
    """The run can't be prepared, and another try would not help. The message is its evidence."""


@dataclass(frozen=True, slots=True)
class Order:
    """What a run is prepared from."""

    run: Run
    task: Task
    agent: Agent
    engagement: Engagement
    walls: Mapping[str, Any] = field(default_factory=dict)
    """What is known of the walls that it runs behind: the posture's report."""
