"""How a client proves to its authorization server who it is [pure].

By its secret (RFC 6749, 2.3.1), in a header or in the form, or by what its private key signs (RFC
7523): which of the two a value is, it says itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal
from urllib.parse import quote

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from entrance.errors import Forbidden, Malformed
from entrance.vault.credentials import SecretHeaders, basic_of
from entrance.vault.discovery import IssuerMetadata
from entrance.vault.private_key import SMALLEST_BITS, check, loaded

_PEM = "-----BEGIN "
_LASTS = timedelta(minutes=5)
_SIGNED = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
type _Key = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey
_CURVES: Mapping[str, Literal["ES256", "ES384"]] = {"secp256r1": "ES256", "secp384r1": "ES384"}


@dataclass(frozen=True, slots=True)
class Proof:
    """What goes with a request for a token. It shows itself to nobody."""

    headers: SecretHeaders
    form: Mapping[str, str] = field(repr=False)


def is_key(value: str) -> bool:
    """Whether a client's secret is a private key."""
    return value.startswith(_PEM)


def check_client_key(name: str, pem: str) -> None:
    """Raises: ValueError unless a token can be asked for with it."""
    check(name, pem, _key)


def proof_of(client: str, value: str, metadata: IssuerMetadata, now: datetime, nonce: str) -> Proof:
    """The proof that an authorization server takes. `nonce` makes what is signed good for once.

    Raises: Forbidden when it takes none that can be made with the value; Malformed.
    """
    methods = metadata.token_endpoint_auth_methods_supported
    if is_key(value):
        if "private_key_jwt" not in methods:
            raise Forbidden(f"{metadata.issuer} doesn't take a private key's signature")
        signed = _signed(client, value, metadata.issuer, now, nonce)
        form = {"client_assertion_type": _SIGNED, "client_assertion": signed, "client_id": client}
        return Proof(SecretHeaders({}, signed), form)
    if "client_secret_basic" in methods:
        return Proof(basic_of(quote(client, safe=""), quote(value, safe=""), value), {})
    if "client_secret_post" in methods:
        return Proof(SecretHeaders({}, value), {"client_id": client, "client_secret": value})
    raise Forbidden(f"{metadata.issuer} doesn't take a client's secret")


def _signed(client: str, pem: str, audience: str, now: datetime, nonce: str) -> str:
    key, algorithm = _key(pem)
    claims = {
        "iss": client,
        "sub": client,
        "aud": audience,
        "iat": now,
        "exp": now + _LASTS,
        "jti": nonce,
    }
    return jwt.encode(claims, key, algorithm=algorithm)


def _key(pem: str) -> tuple[_Key, str]:
    """A private key, and the algorithm that it signs by. Raises: Malformed."""
    key = loaded(pem)
    match key:
        case rsa.RSAPrivateKey() if key.key_size >= SMALLEST_BITS:
            return key, "RS256"
        case ec.EllipticCurvePrivateKey() if key.curve.name in _CURVES:
            return key, _CURVES[key.curve.name]
        case ed25519.Ed25519PrivateKey():
            return key, "EdDSA"
        case _:
            raise Malformed(f"it is none of RSA ({SMALLEST_BITS} bits), P-256, P-384 and Ed25519")
