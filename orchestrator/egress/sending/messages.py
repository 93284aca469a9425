"""What is sent of a record: the record as it is, or an OCSF event of it [pure]."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from orchestrator.egress.ocsf import Origin, event
from orchestrator.egress.reader import Line

Format = Literal["ocsf", "jsonl"]
SEVERITIES: Mapping[str, int] = {"allow": 6, "hold": 5, "deny": 4}
"""Syslog's severities (RFC 5424, 6.2.1): informational, notice, warning."""
TORN = 3
"""An error."""
INFORMATIONAL = 6


@dataclass(frozen=True, slots=True)
class Message:
    """One record on its way: `body` is one line of JSON, without its line feed."""

    seq: int
    at: str
    severity: int
    """As syslog counts."""
    body: bytes


def message(line: Line, decided: Mapping[str, Any] | None, origin: Origin, form: Format) -> Message:
    """The message of a record; `decided` is the decision that an outcome belongs to, if it is known."""
    fields = line.fields
    body = line.raw if form == "jsonl" else orjson.dumps(event(fields, origin, decided))
    return Message(line.seq, str(fields.get("at", "")), _severity(fields), body)


def _severity(fields: Mapping[str, Any]) -> int:
    if fields.get("type") == "torn":
        return TORN
    return SEVERITIES.get(str(fields.get("decision", "")), INFORMATIONAL)
