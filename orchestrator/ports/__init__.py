"""What running agents needs of the world. Everything may raise `entrance.errors`.

- `clock`: the time.
- `tracker`: Polarion, as the runner's service user.
- `runs`: runs, their events and what they spend.
- `disks`: one disk a task.
- `sandboxes`: sandboxes, and what is done in one.
- `frozen`: sandboxes that were stopped as they are, and who is told.
- `githosts`: pull requests, and credentials that are made for one run.
- `harness`: one kind of agent loop.
- `hiring`: makes agents, hires them and gives them work.
"""

from orchestrator.ports.clock import Clock
from orchestrator.ports.disks import Disks, Mounts, Volumes
from orchestrator.ports.frozen import Alerts, FrozenStore
from orchestrator.ports.githosts import GitHosts, NoGitHosts, Proposal, Proposed
from orchestrator.ports.harness import Assignment, Harness, Start
from orchestrator.ports.hiring import Hiring, NewAgent, NewTask
from orchestrator.ports.runs import Event, Runs
from orchestrator.ports.sandboxes import (
    Completed,
    Progress,
    Sandbox,
    Sandboxes,
    SandboxSpec,
    WallsFell,
    WayIn,
)
from orchestrator.ports.tracker import RunRecord, Tracker

__all__ = [
    "Alerts",
    "Assignment",
    "Clock",
    "Completed",
    "Disks",
    "Event",
    "FrozenStore",
    "GitHosts",
    "Harness",
    "Hiring",
    "Mounts",
    "NewAgent",
    "NewTask",
    "NoGitHosts",
    "Progress",
    "Proposal",
    "Proposed",
    "RunRecord",
    "Runs",
    "Sandbox",
    "SandboxSpec",
    "Sandboxes",
    "Start",
    "Tracker",
    "Volumes",
    "WallsFell",
    "WayIn",
]
