"""A sandbox's entry in the policy [pure]."""

from entrance.honeytokens.canaries import canaries_of
from entrance.honeytokens.traps import parts_of
from entrance.session import Session
from orchestrator.domain.egress_compile import Compiled
from proxy.canaries import Canary
from proxy.rules import SandboxPolicy


def entry_of(session: Session, compiled: Compiled, canaries: tuple[Canary, ...]) -> SandboxPolicy:
    """The entry of a session's sandbox. Raises: ValueError when a value means nothing."""
    return SandboxPolicy(
        run=session.run,
        address=session.address,
        token_sha256=session.token_sha256,
        rules=compiled.rules,
        limits=compiled.limits,
        canaries=canaries,
    )


def canaries_for(key: bytes, session: Session) -> tuple[Canary, ...]:
    """The honeytokens of a session's sandbox, in the parts that the proxy looks for."""
    return tuple(
        Canary(name=canary.name, parts=tuple(parts_of(canary.secret)))
        for run in session.honeytokens
        for canary in canaries_of(key, run)
    )
