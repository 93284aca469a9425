"""A record as an event [pure]."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from orchestrator.egress.ocsf import objects
from orchestrator.egress.ocsf.classes import (
    API_ACTIVITY,
    AUTHENTICATION,
    BASE_EVENT,
    HTTP_ACTIVITY,
    NETWORK_ACTIVITY,
    VERSION,
    Class,
    Line,
    class_of,
)
from orchestrator.egress.ocsf.objects import known
from orchestrator.egress.ocsf.verdict import status, verdict_of

_PROFILES = ("host", "security_control")
_MAPPED = frozenset(
    {
        "seq", "at", "type", "of", "hash", "address", "sandbox", "agent", "run", "method", "url",
        "host", "port", "target", "decision", "rule", "reason", "status", "bytes_out", "bytes_in", "ms",
    }
)  # fmt: skip
"""Fields of a line that the event says elsewhere; all others are in `unmapped`."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose log it is: the installation's name, and the version of Sandgate."""

    installation: str
    version: str


def event(line: Line, origin: Origin, decided: Line | None = None) -> dict[str, Any]:
    """The event of one line. `decided` is the decision that an outcome belongs to, if it is still known."""
    line, decided = objects.well_formed(line), decided and objects.well_formed(decided)
    if line.get("type") == "decided":
        return _attempt(line, line, {}, origin)
    if line.get("type") == "outcome":
        return _attempt(line, decided or {"seq": line.get("of"), **_whose(line)}, line, origin)
    return _of_the_log(line, origin)


def _whose(outcome: Line) -> dict[str, Any]:
    return {"run": outcome["run"]} if outcome.get("run") else {}


def _attempt(line: Line, decided: Line, came: Line, origin: Origin) -> dict[str, Any]:
    found = class_of(decided)
    verdict = verdict_of(decided)
    return known(
        **_classified(found, decided),
        **_when(line, decided, came),
        **status(decided, came),
        metadata=_metadata(line, decided, origin),
        severity_id=verdict.severity_id,
        severity=verdict.severity,
        action_id=verdict.action_id,
        action=verdict.action,
        disposition_id=verdict.disposition_id,
        disposition=verdict.disposition,
        message=decided.get("subject"),
        src_endpoint=objects.source(decided),
        dst_endpoint=objects.destination(decided, came),
        actor=objects.actor(decided),
        firewall_rule=known(name=decided.get("rule")),
        count=_count(decided),
        unmapped={**_rest(decided), **_rest(came, "outcome_"), **_uncounted(found, came)},
    ) | known(**_of_its_class(found, decided, came))


def _classified(found: Class, decided: Line) -> dict[str, Any]:
    number, name = found.activity(decided)
    return {
        "class_uid": found.uid,
        "class_name": found.name,
        "category_uid": found.category_uid,
        "category_name": found.category_name,
        "activity_id": number,
        "activity_name": name,
        "type_uid": found.uid * 100 + number,
        "type_name": f"{found.name}: {name}",
    }


def _when(line: Line, decided: Line, came: Line) -> dict[str, Any]:
    took = came.get("ms")
    return {
        "time": milliseconds(line.get("at")),
        "start_time": milliseconds(decided["at"]) if "at" in decided and came else None,
        "end_time": milliseconds(came["at"]) if "at" in came else None,
        "duration": None if took is None else round(took),
    }


def _metadata(line: Line, decided: Line, origin: Origin) -> dict[str, Any]:
    name = origin.installation
    return known(
        version=VERSION,
        product={"name": "Sandgate", "vendor_name": "Sandgate", "version": origin.version},
        profiles=list(_PROFILES),
        log_name="egress",
        log_provider="sandgate",
        tenant_uid=name,
        uid=f"{name}:{line.get('seq')}",
        correlation_uid=f"{name}:{decided.get('seq')}" if decided else "",
        sequence=line.get("seq"),
        event_code=f"{line.get('type')}:{decided.get('kind', '')}".rstrip(":"),
        original_time=line.get("at"),
    )


def _count(decided: Line) -> int | None:
    """So many packets a record of the fence stands for."""
    detail = decided.get("detail")
    packets = detail.get("packets") if isinstance(detail, Mapping) else None
    return packets if isinstance(packets, int) and packets <= objects.MOST else None


def _of_its_class(found: Class, decided: Line, came: Line) -> dict[str, Any]:
    if found is AUTHENTICATION:
        run = decided.get("run") or "unknown"
        return {
            "user": {"uid": run, "name": run},
            "service": {"name": "entrance"},
            "is_remote": True,
        }
    if found is API_ACTIVITY:
        whose = objects.actor(decided) or {"app_name": "sandbox"}
        return {"api": objects.api(decided, came), "actor": whose}
    return {
        "connection_info": {"direction_id": objects.OUTBOUND, "direction": "Outbound"},
        "traffic": objects.traffic(came),
    } | ({} if found is not HTTP_ACTIVITY else _http(decided, came))


def _http(decided: Line, came: Line) -> dict[str, Any]:
    return {
        "http_request": objects.request(decided, came),
        "http_response": objects.response(came),
    }


def _uncounted(found: Class, came: Line) -> dict[str, Any]:
    """Bytes for which the class has no attribute of its own."""
    return {} if found in (HTTP_ACTIVITY, NETWORK_ACTIVITY) else objects.traffic(came)


def _of_the_log(line: Line, origin: Origin) -> dict[str, Any]:
    """What the log says of itself: a segment began, or a crash tore its end off."""
    torn = line.get("type") == "torn"
    said = "a crash tore the log's last lines off" if torn else "a segment of the log"
    return known(
        **_classified(BASE_EVENT, line),
        time=milliseconds(line.get("at")),
        metadata=_metadata(line, {}, origin),
        severity_id=4 if torn else 1,
        severity="High" if torn else "Informational",
        message=f"{line.get('type', 'unreadable')}: {said}",
        unmapped=_rest(line),
    )


def _rest(line: Line, prefix: str = "") -> dict[str, Any]:
    return {f"{prefix}{name}": value for name, value in line.items() if name not in _MAPPED}


def milliseconds(at: object) -> int:
    """A time as the schema has it: milliseconds since 1970; 0 when it can't be read."""
    try:
        return round(datetime.fromisoformat(str(at)).astimezone(UTC).timestamp() * 1000)
    except ValueError:
        return 0
