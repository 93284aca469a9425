"""A whole world of fakes for the steps of a run, with one hired agent and one task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

from entrance.push_policy import PushPolicy
from entrance.registry import SessionRegistry
from entrance.session import RunId, TaskId
from orchestrator.domain.run import Run
from orchestrator.domain.task import Task, TaskStatus
from orchestrator.domain.team import Agent, Engagement, Grants, Repository
from orchestrator.harnesses import HARNESSES
from orchestrator.reconciler import Reconciler
from orchestrator.runner.freezes import Freezes
from orchestrator.runner.live import Live
from orchestrator.runner.outputs import Outputs
from orchestrator.runner.ports import Egress, NoEgress
from orchestrator.runner.world import Limits, World
from tests.fakes.clock import FakeClock
from tests.fakes.frozen import FakeFrozenStore
from tests.fakes.githosts import FakeGitHosts
from tests.fakes.runs import FakeRuns
from tests.fakes.sandboxes import FakeDisks, FakeSandboxes
from tests.fakes.tracker import FakeTracker

REPOSITORY = "http://git.example:9000/team/thing.git"
TASK = Task(
    id=TaskId("DEMO/DEMO-7"),
    project="DEMO",
    title="Fix it",
    description="It is broken.",
    status=TaskStatus.OPEN,
    assignees=("bot-rex",),
    repository=REPOSITORY,
)
AGENT = Agent("AGENTS/AGENTS-1", "Rex", "bot-rex", "native", "anthropic:claude-test", "Be kind.")
ENGAGEMENT = Engagement(
    id="DEMO/DEMO-1",
    project="DEMO",
    bot="bot-rex",
    supervisor="lead",
    budget_usd=Decimal(5),
    spent_usd=Decimal(0),
    grants=Grants(
        tools={"polarion": frozenset({"get_task", "submit_for_approval"})},
        repositories=(Repository(REPOSITORY),),
        models=frozenset({AGENT.model}),
    ),
)
LIMITS = Limits(
    deadline_s=600,
    silence_s=120,
    limit_usd=Decimal(2),
    heartbeat_s=60,
    poll_s=0.001,
    quiet_poll_s=0.001,
    attention_s=1,
)


@dataclass
class FakeWorld:
    """The fakes, and what is built on them."""

    folder: Path
    clock: FakeClock = field(default_factory=FakeClock)
    runs: FakeRuns = field(default_factory=FakeRuns)
    sandboxes: FakeSandboxes = field(default_factory=FakeSandboxes)
    disks: FakeDisks = field(default_factory=FakeDisks)
    door: SessionRegistry = field(default_factory=SessionRegistry)
    trail: list[Mapping[str, Any]] = field(default_factory=list)
    closed: str = ""
    offered: frozenset[str] = frozenset({"native"})
    dialects: Mapping[str, str] = field(default_factory=dict)
    attested: list[Path] = field(default_factory=list)
    """Attestations, of whichever run."""
    egress: Egress = field(default_factory=NoEgress)
    pushes: PushPolicy = field(default_factory=PushPolicy)
    frozen: FakeFrozenStore = field(default_factory=FakeFrozenStore)
    githosts: FakeGitHosts = field(default_factory=lambda: FakeGitHosts(none="there are none"))
    tracker: FakeTracker = field(
        default_factory=lambda: FakeTracker(tasks=[TASK], agents=[AGENT], engagements=[ENGAGEMENT])
    )

    def world(self) -> World:
        return World(
            clock=self.clock,
            tracker=self.tracker,
            runs=self.runs,
            disks=self.disks,
            sandboxes=self.sandboxes,
            door=self.door,
            harnesses=HARNESSES,
            offered=self.offered,
            live=Live(),
            freezes=Freezes(self.frozen),
            trail=self._trail,
            limits=LIMITS,
            entrance="http://10.0.0.1:8080",
            transcripts=self.folder / "transcripts",
            outputs=Outputs(self.folder / "transcripts"),
            execd_key=b"k" * 32,
            honey_key=b"h" * 32,
            attested=lambda _: self.attested,
            dialects=self.dialects,
            egress=self.egress,
            pushes=self.pushes,
            githosts=self.githosts,
        )

    def reconciler(self) -> Reconciler:
        """A reconciler as after a fresh start of the process; its runs' ids are never those of `a_run`."""
        numbers = count(self.sandboxes.made + 1)
        return Reconciler(
            self.world(), lambda: RunId(f"new{next(numbers):012d}"), lambda: self.closed
        )

    async def _trail(self, _run: Run) -> Sequence[Mapping[str, Any]]:
        return self.trail
