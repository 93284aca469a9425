"""Which record becomes which class of event, and which activity of it [pure]."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

VERSION = "1.5.0"
OTHER = 99

Line = Mapping[str, Any]
Activity = tuple[int, str]
"""`activity_id` and `activity_name`."""


@dataclass(frozen=True, slots=True)
class Class:
    """One class of events. `activity` is told from a `decided` line."""

    uid: int
    name: str
    category_uid: int
    category_name: str
    activity: Callable[[Line], Activity]


_METHODS: Mapping[str, Activity] = {
    "CONNECT": (1, "Connect"),
    "DELETE": (2, "Delete"),
    "GET": (3, "Get"),
    "HEAD": (4, "Head"),
    "OPTIONS": (5, "Options"),
    "POST": (6, "Post"),
    "PUT": (7, "Put"),
    "TRACE": (8, "Trace"),
}
_VERBS: Mapping[str, Activity] = {
    "git_fetch": (2, "Read"),
    "git_push": (3, "Update"),
    "attestation": (1, "Create"),
}


def method_of(line: Line) -> str:
    """The HTTP method, as far as it is known; refused requests have it in their subject."""
    method = str(line.get("method", ""))
    first = str(line.get("subject", "")).partition(" ")[0]
    return method or (first if first in _METHODS else "")


def _by_method(line: Line) -> Activity:
    method = method_of(line)
    return _METHODS.get(method, (OTHER, method) if method else (0, "Unknown"))


def _by_decision(line: Line) -> Activity:
    return (1, "Open") if line.get("decision") == "allow" else (5, "Refuse")


def _by_use(line: Line) -> Activity:
    detail = line.get("detail")
    if isinstance(detail, Mapping) and detail.get("read_only") is True:
        return 2, "Read"
    return _VERBS.get(str(line.get("kind", "")), (OTHER, "Call"))


NETWORK_ACTIVITY = Class(4001, "Network Activity", 4, "Network Activity", _by_decision)
HTTP_ACTIVITY = Class(4002, "HTTP Activity", 4, "Network Activity", _by_method)
API_ACTIVITY = Class(6003, "API Activity", 6, "Application Activity", _by_use)
AUTHENTICATION = Class(
    3002, "Authentication", 3, "Identity & Access Management", lambda _: (1, "Logon")
)
BASE_EVENT = Class(0, "Base Event", 0, "Uncategorized", lambda _: (OTHER, "Log"))

CLASSES: Mapping[str, Class] = {
    "entrance": HTTP_ACTIVITY,
    "egress": HTTP_ACTIVITY,
    "model": API_ACTIVITY,
    "mcp": API_ACTIVITY,
    "git": API_ACTIVITY,
    "fence": NETWORK_ACTIVITY,
}
"""By the door."""


def class_of(line: Line) -> Class:
    """The class of a `decided` line's events.

    A refused identity is one whatever the door. What tells of a method and a URL is HTTP, and what
    should be HTTP but was no request at all (a bare TLS handshake, bytes that can't be read) is not.
    """
    if line.get("kind") == "auth":
        return AUTHENTICATION
    found = CLASSES.get(str(line.get("door", "")), NETWORK_ACTIVITY)
    if line.get("method") and line.get("url"):
        return HTTP_ACTIVITY
    return NETWORK_ACTIVITY if found is HTTP_ACTIVITY and not method_of(line) else found
