"""What people write about the internet that runs may reach, before it is put together for one [pure].

A rule is the egress proxy's own: what is judged there is what is written here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proxy.policy import Limits, Mode, Rule

READING = frozenset({"GET", "HEAD"})
METHODS = READING | {"OPTIONS", "POST", "PUT", "PATCH", "DELETE"}
"""Those that a policy may name; whatever forbids or holds is about all of them, unless it says less."""
WEB_PORTS = frozenset({80, 443})
ANY = "*"


@dataclass(frozen=True, slots=True)
class Policy:
    """What one text says: an installation's, an agent's or an engagement's."""

    presets: tuple[str, ...] = ()
    rules: tuple[Rule, ...] = ()
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A policy that can't be read: it allows nothing, and no run starts under it."""

    reason: str
    """A phrase that names the item and the line."""


@dataclass(frozen=True, slots=True)
class Ceiling:
    """What agents, engagements and approvals can open at most; an empty set bounds nothing."""

    hosts: tuple[str, ...] = ()
    methods: frozenset[str] = frozenset()
    ports: frozenset[int] = WEB_PORTS
    splice: bool = False
    upgrade: bool = False


@dataclass(frozen=True, slots=True)
class Ground:
    """What an installation says for all its runs."""

    policy: Policy = field(default_factory=Policy)
    ceiling: Ceiling = field(default_factory=Ceiling)


def covers(pattern: str, host: str) -> bool:
    """Whether every name that `host` (a name or a pattern) stands for is one of `pattern`'s."""
    if pattern in {ANY, host}:
        return True
    return pattern.startswith("*.") and host.removeprefix("*.").endswith(pattern[1:])


def overlap(one: str, other: str) -> bool:
    """Whether there is a name that both patterns stand for."""
    return covers(one, other) or covers(other, one)


def rule_json(rule: Rule) -> dict[str, Any]:
    """A rule as the proxy's policy file and our own records have it."""
    return {
        "name": rule.name,
        "host": rule.host,
        "mode": str(rule.mode),
        "methods": sorted(rule.methods),
        "paths": list(rule.paths),
        "query": rule.query,
        "ports": sorted(rule.ports),
        "schemes": sorted(rule.schemes),
        "splice": rule.splice,
        "upgrade": rule.upgrade,
        "approval": rule.approval,
        "uses": rule.uses,
        "max_bytes": rule.max_bytes,
        "types": sorted(rule.types),
        "networks": list(rule.networks),
    }


def rule_from(data: Mapping[str, Any]) -> Rule:
    """The reverse of `rule_json`. Raises: ValueError, TypeError, KeyError."""
    return Rule(
        **{
            **data,
            "mode": Mode(data["mode"]),
            **{name: frozenset(data[name]) for name in ("methods", "ports", "schemes", "types")},
            **{name: tuple(data[name]) for name in ("paths", "networks")},
        }
    )


def limits_json(limits: Limits) -> dict[str, int | None]:
    """Limits as the policy file has them."""
    return {"requests": limits.requests, "bytes": limits.bytes}


def tighter(one: Limits, other: Limits) -> Limits:
    """The lesser of each limit."""
    return Limits(
        requests=_lesser(one.requests, other.requests), bytes=_lesser(one.bytes, other.bytes)
    )


def _lesser(one: int | None, other: int | None) -> int | None:
    given = [limit for limit in (one, other) if limit is not None]
    return min(given) if given else None
