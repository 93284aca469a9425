"""What a sandbox may reach [pure]. Deny beats hold beats allow; what no rule covers is denied."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlsplit

from proxy.decision import Allow, Cause, Decision, Deny, Hold, Refusal
from proxy.hosts import canonical_host
from proxy.paths import readings
from proxy.rules import DEFAULT_PORTS, NEVER, Limits, Mode, Rule, SandboxPolicy

__all__ = [
    "MAX_URL",
    "Allow",
    "Cause",
    "Decision",
    "Deny",
    "Hold",
    "Limits",
    "Mode",
    "Refusal",
    "Request",
    "Rule",
    "SandboxPolicy",
    "Used",
    "canonical_host",
    "decide",
    "decide_tunnel",
]

MAX_URL = 2048
ASK = "ask for it with the tool request_access"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request, as far as rules are about it. `host` may be in any form: deciding canonicalises it."""

    method: str
    scheme: str
    host: str
    port: int
    target: str = "/"
    """Path and query as they stand in the request line."""
    upgrade: bool = False

    @classmethod
    def to(cls, url: str, method: str = "GET") -> Self:
        """A plain request for `url`, as the log keeps it. Raises: ValueError."""
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        port = parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
        host = parts.netloc.rpartition(":")[0] if parts.port else parts.netloc
        return cls(method=method, scheme=parts.scheme, host=host, port=port, target=target)

    @property
    def url(self) -> str:
        """The whole URL; the port where it isn't the scheme's own."""
        port = "" if DEFAULT_PORTS.get(self.scheme) == self.port else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}{self.target}"


@dataclass(frozen=True, slots=True)
class Used:
    """What a run has used so far."""

    requests: int = 0
    bytes: int = 0
    uses: Mapping[str, int] = field(default_factory=dict)
    """Requests by rule, of the rules that are counted."""


UNUSED = Used()


def decide(request: Request, policy: SandboxPolicy, used: Used = UNUSED) -> Decision:
    """Say whether the request may go out now, must wait for a person, or may not."""
    if len(request.url) > MAX_URL:  # first of all: what is read of a path is kept for a while
        return Deny(f"the URL is longer than {MAX_URL} characters", Cause.URL_LENGTH)
    try:
        host = canonical_host(request.host)
        path, _, query = request.target.partition("?")
        paths = readings(path)
    except ValueError as error:
        return Deny(f"{error}", Cause.MALFORMED)
    if request.scheme not in DEFAULT_PORTS:
        return Deny(f"{request.scheme} is no scheme of the web", Cause.SCHEME)
    if request.method in NEVER:
        return Deny(f"{request.method} is never let through", Cause.METHOD)
    about = [
        rule
        for rule in policy.rules
        if rule.names(host)
        and rule.opens(request.scheme, request.port)
        and request.method in rule.methods
        and rule.covers(paths, query)
    ]
    if not about:
        return _nothing_covers(request, host, policy)
    return _by_mode(about, host, used) or _allow(about, request, host, policy.limits, used)


def decide_tunnel(host: str, port: int, policy: SandboxPolicy, used: Used = UNUSED) -> Decision:
    """Say whether a tunnel (CONNECT) may be opened at all.

    Nothing is dialled for it, and what is asked in it is decided by itself. Only an opaque tunnel
    (`splice`) is a decision about all that follows.
    """
    try:
        name = canonical_host(host)
    except ValueError as error:
        return Deny(f"{error}", Cause.MALFORMED)
    named = [rule for rule in policy.rules if rule.names(name)]
    about = [r for r in named if any(r.opens(scheme, port) for scheme in DEFAULT_PORTS)]
    open_ones = [rule for rule in about if rule.mode is not Mode.DENY]
    denied = [rule for rule in about if rule.mode is Mode.DENY and rule.whole]
    if not open_ones:
        return _denied(denied[0], name) if denied else _no_host_or_port(name, port, named)
    if any(rule.splice for rule in open_ones):
        # What would have to be looked at to be held or denied can't be seen.
        opaque = [rule for rule in about if rule.splice or rule.mode is not Mode.ALLOW]
        request = Request(method="CONNECT", scheme="https", host=name, port=port)
        return _by_mode(opaque, name, used) or _allow(opaque, request, name, policy.limits, used)
    return Allow(name, rule="")


def _by_mode(about: list[Rule], host: str, used: Used) -> Refusal | None:
    denying = next((rule for rule in about if rule.mode is Mode.DENY), None)
    if denying is not None:
        return _denied(denying, host)
    if any(rule.mode is Mode.ALLOW and rule.approval and _left(rule, used) for rule in about):
        return None
    holding = next((rule for rule in about if rule.mode is Mode.HOLD), None)
    if holding is not None:
        return Hold(f"{host} waits for a person under rule {holding.name}; {ASK}", holding.name)
    return None


def _allow(
    about: list[Rule], request: Request, host: str, limits: Limits, used: Used
) -> Allow | Deny:
    # Those of an approval first: they are the ones that beat a rule that holds.
    allowing = sorted((r for r in about if r.mode is Mode.ALLOW), key=lambda r: not r.approval)
    left = [rule for rule in allowing if _left(rule, used)]
    if not left:
        spent = allowing[0].name
        return Deny(f"rule {spent} has been used as often as it allows; {ASK}", Cause.BUDGET, spent)
    if request.upgrade:
        left = [rule for rule in left if rule.upgrade]
        if not left:
            return Deny(f"no upgrade of the connection to {host} is allowed", Cause.UPGRADE)
    for what, limit, spent_so_far in (
        ("requests", limits.requests, used.requests),
        ("bytes", limits.bytes, used.bytes),
    ):
        if limit is not None and spent_so_far >= limit:
            return Deny(f"this run has used up its {limit} {what}", Cause.BUDGET)
    rule = left[0]
    return Allow(
        host,
        rule.name,
        splice=rule.splice,
        upgrade=request.upgrade,
        max_bytes=rule.max_bytes,
        types=rule.types,
        networks=rule.dialable,
    )


def _left(rule: Rule, used: Used) -> bool:
    return rule.uses is None or used.uses.get(rule.name, 0) < rule.uses


def _denied(rule: Rule, host: str) -> Deny:
    return Deny(f"{host} is forbidden by rule {rule.name}", Cause.RULE, rule.name)


def _nothing_covers(request: Request, host: str, policy: SandboxPolicy) -> Deny:
    """The reason that is nearest to being allowed: host, then port, method, path."""
    named = [rule for rule in policy.rules if rule.names(host)]
    open_ones = [rule for rule in named if rule.opens(request.scheme, request.port)]
    if not open_ones:
        return _no_host_or_port(host, request.port, named, request.scheme)
    methods = {method for rule in open_ones for method in rule.methods}
    if request.method not in methods:
        listed = ", ".join(sorted(methods))
        return Deny(f"{request.method} is not allowed to {host}, only {listed}", Cause.METHOD)
    path = request.target.partition("?")[0]
    return Deny(f"{request.method} of {path} is not allowed at {host}; {ASK}", Cause.PATH)


def _no_host_or_port(host: str, port: int, named: list[Rule], scheme: str = "") -> Deny:
    open_ones = [rule for rule in named if rule.mode is not Mode.DENY]
    if not open_ones:
        return Deny(f"{host} is not among the hosts that this run may reach; {ASK}", Cause.HOST)
    ways = sorted(
        f"{way} on port {number}"
        for rule in open_ones
        for way in rule.schemes
        for number in rule.ports or {DEFAULT_PORTS[way]}
    )
    cause = (
        Cause.PORT if not scheme or any(scheme in r.schemes for r in open_ones) else Cause.SCHEME
    )
    asked = f"{scheme} on port {port}" if scheme else f"port {port}"
    return Deny(f"{asked} is not allowed to {host}, only {', '.join(dict.fromkeys(ways))}", cause)
