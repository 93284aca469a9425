"""What a client may ask of the gateway, in which era, and who answers it [pure]."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from entrance.mcp.messages import Era

Group = Literal["gateway", "tools", "prompts", "resources", "completions", "logging", "listening"]


@dataclass(frozen=True, slots=True)
class Method:
    """`group` is the capability that it belongs to; the gateway's own need none."""

    group: Group
    eras: frozenset[Era]


_BOTH: frozenset[Era] = frozenset({"handshake", "modern"})
_HANDSHAKE: frozenset[Era] = frozenset({"handshake"})
_MODERN: frozenset[Era] = frozenset({"modern"})

METHODS: Mapping[str, Method] = {
    "initialize": Method("gateway", _HANDSHAKE),
    "ping": Method("gateway", _HANDSHAKE),
    "server/discover": Method("gateway", _MODERN),
    "tools/list": Method("tools", _BOTH),
    "tools/call": Method("tools", _BOTH),
    "prompts/list": Method("prompts", _BOTH),
    "prompts/get": Method("prompts", _BOTH),
    "resources/list": Method("resources", _BOTH),
    "resources/templates/list": Method("resources", _BOTH),
    "resources/read": Method("resources", _BOTH),
    "resources/subscribe": Method("resources", _HANDSHAKE),
    "resources/unsubscribe": Method("resources", _HANDSHAKE),
    "completion/complete": Method("completions", _BOTH),
    "logging/setLevel": Method("logging", _HANDSHAKE),
    "subscriptions/listen": Method("listening", _MODERN),
}


def known(method: str, era: Era) -> bool:
    """Whether there is such a method in the era."""
    found = METHODS.get(method)
    return found is not None and era in found.eras
