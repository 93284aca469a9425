"""Records as the log's lines have them: plain fields, without those that don't apply [pure].

decided: {seq, at, type, door, kind, run, task, agent, sandbox, address, subject, method, url, host,
          port, sni, target, decision, rule, reason, cause, detail, key, hash}
outcome: {seq, at, type, of, run, result, status, bytes_out, bytes_in, request_sha256,
          response_sha256, hashed_bytes, target, ms, cause, detail, hash}
"""

from collections.abc import Mapping
from typing import Any

from entrance.log.records import Decided, Outcome, Request, Traffic
from entrance.ports import Cause

_NO_REQUEST, _NO_TRAFFIC = Request(), Traffic()


def of_decision(record: Decided, cause: Cause | None) -> dict[str, Any]:
    """A decision's fields, with what caused it."""
    who, asked = record.session, record.request or _NO_REQUEST
    return _that_apply(
        {
            "type": "decided",
            "door": record.decided_at,
            "kind": record.kind,
            "run": record.of_run,
            "task": who.task if who else "",
            "agent": who.agent if who else "",
            "sandbox": who.sandbox if who else "",
            "address": record.address or (who.address if who else ""),
            "subject": _readable(record.subject),
            "method": _readable(asked.method),
            "url": _readable(asked.url),
            "host": _readable(asked.host),
            "port": asked.port or None,
            "sni": _readable(asked.sni),
            "target": _readable(asked.target),
            "decision": record.decision.word,
            "rule": record.rule,
            "reason": _readable(record.decision.reason),
            "cause": _of_cause(cause),
            "detail": dict(record.detail),
            "key": record.key,
        }
    )


def of_outcome(
    record: Outcome, run: str = "", cause: Cause | None = None, ms: int | None = None
) -> dict[str, Any]:
    """An outcome's fields. `cause` if it was not known when it was decided; `ms` if nobody else says it."""
    moved = record.traffic or _NO_TRAFFIC
    return _that_apply(
        {
            "type": "outcome",
            "of": record.of,
            "run": run,
            "result": record.result,
            "status": moved.status or None,
            "bytes_out": moved.bytes_out,
            "bytes_in": moved.bytes_in,
            "request_sha256": moved.request_sha256,
            "response_sha256": moved.response_sha256,
            "hashed_bytes": moved.hashed_bytes or None,
            "target": _readable(moved.target),
            "ms": ms if moved.ms is None else moved.ms,
            "cause": _of_cause(cause),
            "detail": dict(record.detail),
        }
    )


def _of_cause(cause: Cause | None) -> Mapping[str, Any] | None:
    if cause is None:
        return None
    fields = {
        "step": cause.step,
        "tool": _readable(cause.tool),
        "call": _readable(cause.call),
        "since": cause.since,
        "others": cause.others or None,
    }
    return _that_apply(fields) or None


def _that_apply(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None and value != ""}


def _readable(text: str) -> str:
    """Without the lone surrogates that JSON can't hold: a strange path must not go unrecorded."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()
