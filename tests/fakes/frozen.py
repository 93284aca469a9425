"""One frozen sandbox; what is known of such, and who is called, in memory."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from entrance.errors import SandgateError
from entrance.session import RunId, TaskId
from orchestrator.domain.frozen import Frozen
from tests.fakes.clock import START

FROZEN = Frozen(
    run=RunId("r1"),
    task=TaskId("DEMO/DEMO-7"),
    at=START,
    canary="aws-secret",
    place="/home/agent/.aws/credentials",
    where="a pushed pack",
    door="git",
    subject="host/team/thing.git",
)


@dataclass
class FakeFrozenStore:
    """`orchestrator.ports.FrozenStore` for tests; while `trouble`, nothing can be saved."""

    kept: dict[RunId, Frozen] = field(default_factory=dict)
    trouble: SandgateError | None = None

    def load(self) -> Sequence[Frozen]:
        return list(self.kept.values())

    def save(self, frozen: Frozen) -> None:
        if self.trouble:
            raise self.trouble
        self.kept[frozen.run] = frozen

    def delete(self, run: RunId) -> None:
        self.kept.pop(run, None)


@dataclass
class FakeAlerts:
    """`orchestrator.ports.Alerts` for tests; `trouble` is raised while there is any."""

    told: list[Frozen] = field(default_factory=list)
    trouble: list[SandgateError] = field(default_factory=list)

    async def frozen(self, frozen: Frozen) -> None:
        if self.trouble:
            raise self.trouble.pop(0)
        self.told.append(frozen)
