"""Session ids that can be read again after a restart, and not be made up [pure].

An id says which version was agreed on and what the client can be asked, and is signed with its run's
own token hash: another run's id is unknown, and so is one that was guessed. Nothing has to be kept
for a client to go on after the door was restarted under it.
"""

import hashlib
import hmac
import re
from collections.abc import Iterable
from dataclasses import dataclass

from entrance.mcp.envelope import HANDSHAKE_VERSIONS

ASKABLE = ("sampling", "elicitation", "roots")
"""What a client can be asked, as it declares it."""
_FORM = re.compile(r"([0-9])([0-7])-([A-Za-z0-9_-]{22})-([0-9a-f]{32})")


@dataclass(frozen=True, slots=True)
class Agreed:
    """What was agreed on by `initialize`."""

    version: str
    can: frozenset[str]


def issue(agreed: Agreed, nonce: str, token_sha256: str) -> str:
    """The id of a new session. `nonce`: 22 random characters of base64url."""
    bits = sum(1 << place for place, name in enumerate(ASKABLE) if name in agreed.can)
    head = f"{HANDSHAKE_VERSIONS.index(agreed.version)}{bits}-{nonce}"
    return f"{head}-{_mac(head, token_sha256)}"


def agreed_in(session_id: str, token_sha256: str) -> Agreed | None:
    """What an id says; None when it was not issued to the holder of this token."""
    form = _FORM.fullmatch(session_id)
    if form is None or int(form[1]) >= len(HANDSHAKE_VERSIONS):
        return None
    head = session_id.rpartition("-")[0]
    if not hmac.compare_digest(form[4], _mac(head, token_sha256)):
        return None
    return Agreed(HANDSHAKE_VERSIONS[int(form[1])], _names(int(form[2])))


def _names(bits: int) -> frozenset[str]:
    return frozenset(name for place, name in enumerate(ASKABLE) if bits & 1 << place)


def can_be_asked(capabilities: object) -> frozenset[str]:
    """What a client declares of that."""
    declared: Iterable[object] = capabilities if isinstance(capabilities, dict) else ()
    return frozenset(name for name in ASKABLE if name in declared)


def _mac(head: str, token_sha256: str) -> str:
    key = f"mcp-session {token_sha256}".encode()
    return hmac.new(key, head.encode(), hashlib.sha256).hexdigest()[:32]
