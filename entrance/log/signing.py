"""The log's Ed25519 keys (RFC 8032): what they sign are JSON objects, in one canonical writing.

A signed statement is a JSON object with `key_id` and `signature`; what is signed are its bytes
without `signature`, keys sorted, no white space.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from entrance.errors import Malformed

_ID_DIGITS = 16


class UntrustedError(Exception):
    """A statement that can't be relied on: why, in a word and in a sentence."""

    def __init__(self, why: str, sentence: str) -> None:
        super().__init__(sentence)
        self.why = why


@dataclass(frozen=True, slots=True)
class Trust:
    """The public key, by which anybody can check what the log's writer has signed."""

    key: Ed25519PublicKey

    @property
    def key_id(self) -> str:
        """The first digits of the SHA-256 of the raw public key."""
        raw = self.key.public_bytes(Encoding.Raw, PublicFormat.Raw)
        return hashlib.sha256(raw).hexdigest()[:_ID_DIGITS]

    def read(self, text: bytes) -> dict[str, Any]:
        """The statement, if our key has signed it.

        Raises: UntrustedError: `unreadable`, `foreign_key`, or `forged` (it names our key, and
        the signature isn't ours).
        """
        try:
            statement: dict[str, Any] = orjson.loads(text)
            signature = bytes.fromhex(statement.pop("signature"))
            key_id = statement["key_id"]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise UntrustedError("unreadable", "it can't be read") from error
        if key_id != self.key_id:
            raise UntrustedError(
                "foreign_key", f"it is signed with another key, {str(key_id)[:_ID_DIGITS]}"
            )
        try:
            self.key.verify(signature, canonical(statement))
        except InvalidSignature as error:
            raise UntrustedError("forged", "its signature doesn't fit what it says") from error
        return statement


@dataclass(frozen=True, slots=True)
class Signer:
    """The private key. Its repr shows the public one's id only."""

    key: Ed25519PrivateKey

    def __repr__(self) -> str:
        return f"Signer({self.trust.key_id})"

    @property
    def trust(self) -> Trust:
        return Trust(self.key.public_key())

    def signed(self, statement: Mapping[str, Any]) -> bytes:
        """The statement with `key_id` and `signature`, as one line of JSON."""
        whole = {**statement, "key_id": self.trust.key_id}
        whole["signature"] = self.key.sign(canonical(whole)).hex()
        return orjson.dumps(whole) + b"\n"


def canonical(statement: Mapping[str, Any]) -> bytes:
    """The one writing of a statement that is signed."""
    return orjson.dumps(statement, option=orjson.OPT_SORT_KEYS)


def new_key() -> str:
    """A fresh private key, as PEM (PKCS 8)."""
    key = Ed25519PrivateKey.generate()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def public_of(pem: str) -> str:
    """The public key of a private one, both as PEM. Raises: Malformed."""
    key = _private(pem).public_key()
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def signer_from(path: Path) -> Signer:
    """The private key in a file. Raises: OSError, Malformed."""
    return Signer(_private(path.read_text()))


def trust_from(path: Path) -> Trust:
    """The public key in a file. Raises: OSError, Malformed."""
    try:
        key = load_pem_public_key(path.read_bytes())
    except (ValueError, UnsupportedAlgorithm) as error:
        raise Malformed(f"{path} holds no public key") from error
    if not isinstance(key, Ed25519PublicKey):
        raise Malformed(f"{path} holds no Ed25519 key")
    return Trust(key)


def _private(pem: str) -> Ed25519PrivateKey:
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise Malformed("the log's key can't be read: it must be an Ed25519 key in PEM") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise Malformed("the log's key is no Ed25519 key")
    return key
