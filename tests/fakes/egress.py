"""One sandbox's policy, and what it answers."""

from collections.abc import Iterable

from proxy.policy import Limits, Request, Rule, SandboxPolicy, decide


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
