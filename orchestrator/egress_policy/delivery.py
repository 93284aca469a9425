"""Brings a policy to the proxy: into its file, and from there into force."""

import asyncio
from dataclasses import dataclass

import structlog

from orchestrator.egress_policy.ports import ProxyFiles
from proxy.policy_file import PolicyFile
from proxy.rules import SandboxPolicy

log = structlog.get_logger()

LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class Delivery:
    """Policies have numbers, their generations, which only grow. Everything may raise Unavailable."""

    files: ProxyFiles
    patience_s: float
    """So long the proxy has to take a policy up."""

    def put(self, refused: tuple[str, ...], sandboxes: tuple[SandboxPolicy, ...]) -> int:
        """Write the policy unless it is there already; its generation."""
        there = self.files.written()
        generation = there.generation if there else 0
        policy = PolicyFile(generation=generation, refused=refused, sandboxes=sandboxes)
        if policy == there:
            return generation
        # A file that was lost must not begin again below what the proxy has in force.
        newer = max(generation, self.files.applied()) + 1
        self.files.write(PolicyFile(generation=newer, refused=refused, sandboxes=sandboxes))
        log.info("egress_policy_written", generation=newer, sandboxes=len(sandboxes))
        return newer

    async def in_force(self, generation: int) -> bool:
        """Whether the proxy has this policy, or a newer one, in force in time."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self.patience_s
        while (applied := self.files.applied()) < generation and loop.time() < until:  # noqa: ASYNC110 - it is another process
            await asyncio.sleep(LOOK_S)
        return applied >= generation

    def generations(self) -> tuple[int, int]:
        """Which policy is wanted, and which the proxy has in force (0: none)."""
        there = self.files.written()
        return (there.generation if there else 0), self.files.applied()
