"""What all connections share: the policy in force, what runs have used, the log, the certificates."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from proxy.applied import Applied
from proxy.canaries import Stream, traps_of
from proxy.decision import Allow, Cause, Decision, Deny, Refusal
from proxy.dial import Resolver
from proxy.exchange import Exchange
from proxy.identity import identify
from proxy.policy import Request, SandboxPolicy, decide, decide_tunnel
from proxy.recorder import Recorder, Unrecorded
from proxy.records import Attempt
from proxy.rules import HONEYTOKEN
from proxy.tls import Leaves, Upstream
from proxy.usage import Usage
from proxy.wire import Headers, Wire, flaw, wants_upgrade


@dataclass(frozen=True, slots=True)
class Caught:
    """A canary that was about to leave: its name, and where it was."""

    name: str
    where: str

    @property
    def refusal(self) -> Deny:
        """What the client gets to read says nothing of it."""
        return Deny("this is not let through", Cause.HONEYTOKEN, HONEYTOKEN)

    def of(self, attempt: Attempt) -> Attempt:
        """The attempt without the places where the value may be."""
        detail = {HONEYTOKEN: self.name, "where": self.where}
        return replace(attempt, url="", host="", sni=None, detail=detail)


def head_of(place: str, headers: Headers) -> Mapping[str, str]:
    """The parts of a request's head, by their names."""
    lines = "\n".join(f"{name}={value}" for name, value in headers)
    return {"the address of a request": place, "the headers of a request": lines}


@dataclass(frozen=True, slots=True, kw_only=True)
class Door:
    """Decides attempts and has them recorded."""

    applied: Applied
    usage: Usage
    recorder: Recorder
    leaves: Leaves
    upstream: Upstream
    resolver: Resolver
    connections: set[Any] = field(default_factory=set)
    """The client connections that are open."""

    def status(self) -> dict[str, Any]:
        """What the proxy says of itself."""
        return self.applied.status(
            connections=len(self.connections),
            recorder=self.recorder.connected,
            outcomes_waiting=self.recorder.outcomes_waiting,
        )

    def who(self, address: str, credentials: str | None) -> SandboxPolicy | Deny:
        """Whose request it is."""
        if self.applied.trouble:
            return Deny("the egress policy can't be read", Cause.POLICY_UNREADABLE)
        return identify(address, credentials, self.applied.sandboxes)

    def still(self, sandbox: SandboxPolicy) -> SandboxPolicy | Deny:
        """The sandbox as it is in the policy now."""
        if self.applied.trouble:
            return Deny("the egress policy can't be read", Cause.POLICY_UNREADABLE)
        now = self.applied.sandboxes.get(sandbox.address)
        if now is None or now.token_sha256 != sandbox.token_sha256:
            return Deny("this run has ended", Cause.FOREIGN_IDENTITY)
        return now

    def caught(self, address: str, parts: Mapping[str, str]) -> Caught | None:
        """A canary in a part of what comes from an address, whether or not it may go out.

        Whose it is, is known by the address: also of what shows no token, or can't be read.
        """
        sandbox = self.applied.sandboxes.get(address)
        traps = traps_of(sandbox.canaries if sandbox is not None else ())
        for where, text in parts.items():
            if name := traps.within(text.encode("latin-1", "replace")):
                return Caught(name, where)
        return None

    def tunnel(self, sandbox: SandboxPolicy, host: str, port: int) -> Decision:
        """Whether a tunnel may be opened."""
        return decide_tunnel(host, port, sandbox, self.usage.of(sandbox.run))

    def request(self, sandbox: SandboxPolicy, wire: Wire) -> Decision:
        """Whether a request may go out."""
        found = flaw(wire)
        if found is not None:
            return found
        request = Request(
            method=wire.method,
            scheme=wire.scheme,
            host=wire.host,
            port=wire.port,
            target=wire.target,
            upgrade=wants_upgrade(wire),
        )
        return decide(request, sandbox, self.usage.of(sandbox.run))

    async def admit(
        self, attempt: Attempt, allow: Allow, sandbox: SandboxPolicy
    ) -> Exchange | Deny:
        """Have an allowed attempt counted and recorded; what isn't recorded is refused."""
        counted = any(rule.name == allow.rule and rule.uses is not None for rule in sandbox.rules)
        try:
            # Before anybody else can decide: two requests don't share one use.
            self.usage.request(sandbox.run, allow.rule, counted=counted)
            seq = await self.recorder.decided(attempt.decided(allow))
        except OSError as error:
            why = f"what was used can't be kept: {error.strerror}"
        except Unrecorded as error:
            why = f"nothing goes out unrecorded: {error}"
        else:
            return Exchange(
                *(seq, sandbox.run, allow),
                limit=sandbox.limits.bytes,
                attempt=attempt,
                watched=Stream(traps_of(sandbox.canaries)),
            )
        with suppress(OSError):  # it is kept with what is used next
            self.usage.give_back(sandbox.run, allow.rule, counted=counted)
        return Deny(why, Cause.NOT_RECORDED)

    async def refuse(self, attempt: Attempt, refusal: Refusal) -> Refusal:
        """Have a refusal recorded; it is refused in any case."""
        try:
            await self.recorder.decided(attempt.decided(refusal))
        except Unrecorded as error:
            return Deny(f"nothing is answered unrecorded: {error}", Cause.NOT_RECORDED)
        return refusal
