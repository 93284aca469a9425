"""Sealing: AES-256-GCM with the row's own identity as associated data [pure].

A sealed value opens only under the name, version and binding that it was sealed with: a row that is
renamed, rolled into another, or whose hosts are edited in the database does not open at all.
"""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from entrance.errors import Malformed

KEY_BYTES = 32
_NONCE_BYTES = 12


@dataclass(frozen=True, slots=True)
class Keyring:
    """The keys by their ids; `current` seals, any of them opens. Its repr shows ids only."""

    current: str
    keys: Mapping[str, bytes] = field(repr=False)

    def __post_init__(self) -> None:
        if self.current not in self.keys:
            raise ValueError(f"the keyring has no key {self.current}")
        if any(len(key) != KEY_BYTES for key in self.keys.values()):
            raise ValueError(f"every key must have {KEY_BYTES} bytes")

    def __reduce__(self) -> NoReturn:
        raise TypeError("a keyring is never pickled or copied")


def bound_to(collection: str, name: str, version: int, meta: Mapping[str, Any]) -> bytes:
    """The associated data of one row: everything about it that must not be changed unnoticed."""
    return orjson.dumps([collection, name, version, meta], option=orjson.OPT_SORT_KEYS)


def seal(keyring: Keyring, value: bytes, bound: bytes) -> bytes:
    """Nonce and ciphertext of `value`, under the current key."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(keyring.keys[keyring.current]).encrypt(nonce, value, bound)


def unseal(keyring: Keyring, kid: str, blob: bytes, bound: bytes) -> bytes:
    """The value. Raises: Malformed when the key is not ours, or anything of the row was changed."""
    key = keyring.keys.get(kid)
    if key is None:
        raise Malformed(f"sealed with the key {kid}, which this installation does not have")
    try:
        return AESGCM(key).decrypt(blob[:_NONCE_BYTES], blob[_NONCE_BYTES:], bound)
    except (InvalidTag, ValueError) as error:
        raise Malformed("the sealed row was changed since it was sealed; set it again") from error
