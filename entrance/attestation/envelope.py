"""Statements in a DSSE envelope (v1.0.2), signed with the installation's Ed25519 key [pure].

What is signed is not JSON but the pre-authentication encoding of the statement's bytes, so that no
signature of an envelope passes for one of the log's, or the reverse.
"""

import base64
from binascii import Error
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature

from entrance.log.signing import Signer, Trust, UntrustedError

TYPE = "application/vnd.in-toto+json"


def encoded(kind: str, body: bytes) -> bytes:
    """What is signed: DSSE's pre-authentication encoding."""
    return b"DSSEv1 %d %b %d %b" % (len(kind.encode()), kind.encode(), len(body), body)


def sealed(statement: bytes, signer: Signer) -> bytes:
    """The statement in an envelope."""
    signature = signer.key.sign(encoded(TYPE, statement))
    return _written(statement, signer.trust.key_id, signature)


def opened(envelope: bytes, trust: Trust) -> bytes:
    """The statement in an envelope that `trust` has signed. One line feed may follow it.

    Raises: UntrustedError: `unreadable`, `foreign_key`, or `forged`.
    """
    whole = envelope.removesuffix(b"\n")
    try:
        told: dict[str, Any] = orjson.loads(whole)
        statement = base64.b64decode(told["payload"], validate=True)
        (only,) = told["signatures"]
        key_id, signature = str(only["keyid"]), base64.b64decode(only["sig"], validate=True)
        # Another writing of the same would be one that was touched, too.
        if _written(statement, key_id, signature) != whole:
            raise UntrustedError("forged", "it was written by somebody else, or changed")
    except (ValueError, KeyError, TypeError, AttributeError, Error) as error:
        raise UntrustedError("unreadable", "it is no signed attestation") from error
    try:
        trust.key.verify(signature, encoded(TYPE, statement))
    except InvalidSignature as error:
        if key_id != trust.key_id:
            sentence = f"it is signed with another key, {key_id[:16]}"
            raise UntrustedError("foreign_key", sentence) from error
        raise UntrustedError("forged", "its signature doesn't fit what it says") from error
    if key_id != trust.key_id:
        raise UntrustedError("forged", "it names another key than the one that signed it")
    return statement


def _written(statement: bytes, key_id: str, signature: bytes) -> bytes:
    return orjson.dumps(
        {
            "payloadType": TYPE,
            "payload": base64.b64encode(statement).decode(),
            "signatures": [{"keyid": key_id, "sig": base64.b64encode(signature).decode()}],
        }
    )
