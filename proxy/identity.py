"""Who is asking [pure]: the source address and the run token, which must be of one sandbox."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping

from proxy.decision import Cause, Deny
from proxy.rules import SandboxPolicy

USER = "run"
ASKED_FOR = 'Basic realm="sandbox"'
_MAX = 4096


def identify(
    address: str, credentials: str | None, sandboxes: Mapping[str, SandboxPolicy]
) -> SandboxPolicy | Deny:
    """The sandbox with that address whose token it is (`sandboxes` is by address).

    `credentials` is the value of Proxy-Authorization (RFC 9110 11.7.2), Basic with the user `run`. A
    token that belongs to another address opens nothing.
    """
    if credentials is None:
        return Deny("this proxy wants the run token (Proxy-Authorization)", Cause.NO_IDENTITY)
    token = _token(credentials)
    if token is None:
        return Deny("Proxy-Authorization is not of the form asked for", Cause.NO_IDENTITY)
    found = hashlib.sha256(token).hexdigest()
    sandbox = sandboxes.get(address)
    if sandbox is not None and hmac.compare_digest(found, sandbox.token_sha256):
        return sandbox
    return Deny(
        "the run token is not one of this sandbox, or its run has ended", Cause.FOREIGN_IDENTITY
    )


def _token(credentials: str) -> bytes | None:
    scheme, _, encoded = credentials[:_MAX].partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, colon, token = base64.b64decode(encoded.strip(), validate=True).partition(b":")
    except (binascii.Error, ValueError):
        return None
    return token if colon and token and user == USER.encode() else None
