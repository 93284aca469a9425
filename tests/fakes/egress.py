"""One sandbox's policy and what it answers; what an installation says; a proxy that listens."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from orchestrator.domain.egress import Ground, Unreadable
from orchestrator.domain.egress_compile import Known
from orchestrator.domain.presets import Registry, Unavailable, shipped_presets
from proxy.policy import Limits, Request, Rule, SandboxPolicy, decide
from proxy.policy_file import PolicyFile


def sandbox(rules: Iterable[Rule], limits: Limits | None = None) -> SandboxPolicy:
    """A sandbox with these rules and no others."""
    return SandboxPolicy(
        run="run1",
        address="10.0.0.2",
        token_sha256="0" * 64,
        rules=tuple(rules),
        limits=limits or Limits(),
    )


def answer(rules: Iterable[Rule], url: str, method: str = "GET") -> str:
    """allow, hold or deny."""
    return decide(Request.to(url, method), sandbox(rules)).word


@dataclass
class FakeSources:
    """`orchestrator.egress_policy.Sources` for tests."""

    says: Ground | Unreadable = field(default_factory=Ground)
    registries: dict[str, Registry | Unavailable] = field(default_factory=dict)

    def ground(self) -> Ground | Unreadable:
        return self.says

    def known(self) -> Known:
        return Known(shipped_presets(), self.registries)

    def refused(self) -> tuple[str, ...]:
        return ("10.9.0.0/24",)

    def mark(self) -> object:
        return self.says


@dataclass
class FakeProxy:
    """`orchestrator.egress_policy.ProxyFiles`: a proxy that takes every policy up, unless it is `deaf`."""

    policy: PolicyFile | None = None
    deaf: bool = False
    writes: int = 0
    taken: int = 0

    def written(self) -> PolicyFile | None:
        return self.policy

    def write(self, policy: PolicyFile) -> None:
        self.policy, self.writes = policy, self.writes + 1
        self.taken = self.taken if self.deaf else policy.generation

    def applied(self) -> int:
        return self.taken

    def sandbox_of(self, run: str) -> SandboxPolicy | None:
        """A run's sandbox in the policy."""
        there = self.policy.sandboxes if self.policy else ()
        return next((one for one in there if one.run == run), None)
