"""Records as the log's lines have them: plain fields, without those that don't apply [pure].

decided: {seq, at, type, door, kind, run, task, agent, sandbox, server, address, subject, method, url,
          host, port, sni, target, decision, rule, reason, cause, detail, key, hash}
outcome: {seq, at, type, of, run, result, status, bytes_out, bytes_in, request_sha256,
          response_sha256, hashed_bytes, target, ms, cause, detail, hash}
"""

from collections.abc import Iterable
from typing import Any

from entrance.log.records import Decided, Outcome
from entrance.ports import Cause

type Fields = dict[str, Any]

_OF_WHOSE = ("task", "agent", "sandbox", "server")
_OF_REQUEST = ("method", "url", "host", "port", "sni", "target")
_OF_TRAFFIC = (
    *("status", "bytes_out", "bytes_in", "request_sha256", "response_sha256", "hashed_bytes"),
    *("target", "ms"),
)
_OF_CAUSE = ("step", "tool", "call", "since", "others")
_MAY_BE_0 = frozenset({"bytes_out", "bytes_in", "ms", "step"})
"""Of the other numbers, 0 says that they don't apply."""


def of_decision(record: Decided, cause: Cause | None) -> Fields:
    """A decision's fields, with what caused it."""
    fields: Fields = {"type": "decided", "door": record.decided_at, "kind": record.kind}
    _add_whose(fields, record)
    if record.subject:
        fields["subject"] = record.subject
    if record.request:
        _add(fields, record.request, _OF_REQUEST)
    fields["decision"] = record.decision.word
    if record.rule:
        fields["rule"] = record.rule
    if reason := record.decision.reason:
        fields["reason"] = reason
    _add_cause(fields, cause)
    fields["detail"] = dict(record.detail)
    if record.key:
        fields["key"] = record.key
    return fields


def of_outcome(
    record: Outcome, run: str = "", cause: Cause | None = None, ms: int | None = None
) -> Fields:
    """An outcome's fields. `cause` if it was not known when it was decided; `ms` if nobody else says it."""
    fields: Fields = {"type": "outcome", "of": record.of}
    if run:
        fields["run"] = run
    if record.result:
        fields["result"] = record.result
    if record.traffic:
        _add(fields, record.traffic, _OF_TRAFFIC)
    if ms is not None:
        fields.setdefault("ms", ms)
    _add_cause(fields, cause)
    fields["detail"] = dict(record.detail)
    return fields


def _add_whose(fields: Fields, record: Decided) -> None:
    who = record.session
    if run := record.of_run:
        fields["run"] = run
    if who:
        _add(fields, who, _OF_WHOSE)
    if address := record.address or (who.address if who else ""):
        fields["address"] = address


def _add_cause(fields: Fields, cause: Cause | None) -> None:
    known: Fields = {}
    if cause:
        _add(known, cause, _OF_CAUSE)
    if known:
        fields["cause"] = known


def _add(fields: Fields, said: object, names: Iterable[str]) -> None:
    """Those of `names` that apply, as it says them itself."""
    for name in names:
        value = getattr(said, name)
        if value or (value == 0 and name in _MAY_BE_0):
            fields[name] = value
