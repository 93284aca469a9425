"""What the sandboxes of MCP servers may reach: a policy of their own, below the installation's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from entrance.errors import Unavailable
from entrance.session import RunId, Session
from orchestrator.domain.egress import Policy, Unreadable
from orchestrator.domain.egress_compile import Compiled, Layer, compile_policy
from orchestrator.egress_policy.entries import entry_of
from orchestrator.egress_policy.policy import EgressPolicy
from proxy.policy import Mode
from proxy.rules import SandboxPolicy

log = structlog.get_logger()

LAYER = "connection"


@dataclass
class ServerPolicies:
    """`others` of the egress policy, made anew with it: what the installation says may change."""

    policy: EgressPolicy
    _open: dict[str, tuple[RunId, Session, Policy]] = field(
        init=False, repr=False, default_factory=dict
    )
    """By address: under which name its use is counted, whose it is, what it may."""

    def __post_init__(self) -> None:
        self.policy.others.append(self._entries)

    def environment(self, wanted: Policy) -> Mapping[str, str]:
        """Variables that lead to the authorities that are trusted, and to package registries."""
        return self.policy.variables([wanted])

    def way_out(self, token: str) -> Mapping[str, str]:
        """Variables that lead programs with this token to the proxy."""
        return self.policy.way_out(token)

    async def admit(self, account: RunId, session: Session, wanted: Policy) -> Sequence[str]:
        """Have a sandbox's policy in force; says what of the wishes isn't in it. Raises: Unavailable."""
        self._open[session.address] = (account, session, wanted)
        if not await self.policy.apply():
            raise Unavailable("the egress proxy did not take up its policy")
        if self.policy.closed:
            raise Unavailable(self.policy.closed)
        return self._compiled(wanted).left_out

    def forget(self, address: str) -> None:
        """The sandbox at the address has ended."""
        if self._open.pop(address, None):
            self.policy.changed()

    def _entries(self) -> Sequence[SandboxPolicy]:
        return [
            replace(
                entry_of(session, self._compiled(wanted), self.policy.canaries(session)),
                run=account,
            )
            for account, session, wanted in self._open.values()
        ]

    def _compiled(self, wanted: Policy) -> Compiled:
        """Nobody is there to be asked: what a rule of the installation holds is refused."""
        ground = self.policy.sources.ground()
        if isinstance(ground, Unreadable):
            return Compiled()
        made = compile_policy(ground, [Layer(LAYER, wanted)], (), self.policy.sources.known())
        rules = tuple(
            replace(rule, mode=Mode.DENY) if rule.mode is Mode.HOLD else rule for rule in made.rules
        )
        return replace(made, rules=rules)
