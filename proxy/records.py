"""The two records of an attempt, as the log takes them [pure]. What doesn't apply is left out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from proxy.decision import Allow, Cause, Decision

Kind = Literal["http", "connect", "tls", "auth", "request"]
"""A request; a tunnel that was refused, is opaque or held nothing; one whose TLS failed; whoever isn't a
sandbox of ours; and what is no request that can be read.
"""
Result = Literal["done", "failed", "cut", "refused", "unused"]
_MAX_TEXT = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What is known of an attempt when it is decided."""

    kind: Kind
    address: str
    """The client's, as the kernel says it: whose it is, the log looks up by it."""
    method: str = ""
    url: str = ""
    host: str = ""
    port: int | None = None
    sni: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)

    def decided(self, decision: Decision) -> dict[str, Any]:
        """The first record."""
        detail, of_nobody = dict(self.detail), False
        if not isinstance(decision, Allow):
            detail["cause"] = str(decision.cause)
            of_nobody = decision.cause in {Cause.NO_IDENTITY, Cause.FOREIGN_IDENTITY}
        return _without_empty(
            {
                "kind": "auth" if of_nobody else self.kind,
                "address": self.address,
                "method": self.method[:32],
                "url": self.url[:_MAX_TEXT],
                "host": self.host[:256],
                "port": self.port,
                "sni": self.sni,
                "decision": decision.word,
                "rule": decision.rule,
                "reason": decision.reason,
                "detail": detail,
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of an attempt. Bytes are those of HTTP, heads included; out is to the world."""

    of: int
    result: Result
    status: int | None = None
    bytes_out: int = 0
    bytes_in: int = 0
    request_sha256: str = ""
    response_sha256: str = ""
    hashed_bytes: int = 0
    """Of the response's body, so many were hashed."""
    target: str = ""
    """The address that was dialled, with its port."""
    ms: float = 0
    detail: Mapping[str, Any] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """The second record."""
        counts = {"bytes_out": self.bytes_out, "bytes_in": self.bytes_in}
        return counts | _without_empty(
            {
                "of": self.of,
                "result": self.result,
                "status": self.status,
                "request_sha256": self.request_sha256,
                "response_sha256": self.response_sha256,
                "hashed_bytes": self.hashed_bytes,
                "target": self.target,
                "ms": round(self.ms),
                "detail": dict(self.detail),
            }
        )


def _without_empty(record: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in record.items() if value not in ("", None, {}, 0)}
    return {name: _bounded(value) for name, value in kept.items()}


def _bounded(value: Any) -> Any:
    """Texts that are texts, and not of a length that others choose: no record is one that the log
    can't take, for it would be told again and again.
    """
    if isinstance(value, str):
        return value[:_MAX_TEXT].encode(errors="replace").decode()
    if isinstance(value, dict):
        return {name: _bounded(one) for name, one in value.items()}
    return value
