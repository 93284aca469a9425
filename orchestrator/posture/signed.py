"""Something that the installation has signed, to be verified without us [pure].

What is signed is its JSON without the signature: keys sorted, no blanks, UTF-8.
"""

from typing import Any, Protocol, Self

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from pydantic import BaseModel, ConfigDict


class Signer(Protocol):
    """Signs with the installation's key."""

    @property
    def key_id(self) -> str:
        """Which key it is."""
        ...

    def sign(self, payload: bytes) -> bytes:
        """The payload's Ed25519 signature."""
        ...


class Form(BaseModel):
    """What a report and its parts share."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class Signed(Form):
    """Something that carries a signature over all the rest of it."""

    key_id: str = ""
    """The id of the installation's key."""
    signature: str = ""
    """Ed25519, hex, over the JSON of all other fields."""

    def payload(self) -> bytes:
        """What is signed."""
        fields = self.model_dump(mode="json", exclude={"signature"})
        return orjson.dumps(fields, option=orjson.OPT_SORT_KEYS)

    def signed(self, signer: Signer) -> Self:
        """The same, signed."""
        named = self.model_copy(update={"key_id": signer.key_id, "signature": ""})
        return named.model_copy(update={"signature": signer.sign(named.payload()).hex()})

    def verify(self, key: Ed25519PublicKey) -> None:
        """Return when the signature is the key's. Raises: ValueError."""
        try:
            key.verify(bytes.fromhex(self.signature), self.payload())
        except (InvalidSignature, ValueError) as error:
            raise ValueError("the signature is not the installation's: it was changed") from error


def as_json(signed: Signed) -> bytes:
    """A report or an acceptance as its file has it."""
    fields: dict[str, Any] = signed.model_dump(mode="json")
    return orjson.dumps(fields, option=orjson.OPT_INDENT_2) + b"\n"
