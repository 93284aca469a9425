"""The private key of a GitHub App, and what it signs: a token that says who the App is [pure].

The token is a JWT (RS256) of at most ten minutes, which is as long as GitHub takes one. It begins a
minute ago, since the two clocks may differ.
"""

import base64
from datetime import datetime

import orjson
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from entrance.errors import Malformed

SMALLEST_BITS = 2048
LARGEST_CHARS = 16 * 1024
BEFORE_S, AFTER_S = 60, 540
_HEADER = {"alg": "RS256", "typ": "JWT"}


def check_key(name: str, pem: str) -> None:
    """Raises: ValueError unless it is an RSA private key in PEM, without a password."""
    if len(pem) > LARGEST_CHARS:
        raise ValueError(f"the value of {name} is too long to be a private key")
    try:
        _key(pem)
    except Malformed as error:
        raise ValueError(f"the value of {name}: {error}") from None


def app_token(app: str, pem: str, now: datetime) -> str:
    """What the App shows to be let in. Raises: Malformed when the key can't be read."""
    second = int(now.timestamp())
    claims = {"iat": second - BEFORE_S, "exp": second + AFTER_S, "iss": app}
    said = b".".join(_packed(orjson.dumps(part)) for part in (_HEADER, claims))
    signature = _key(pem).sign(said, padding.PKCS1v15(), SHA256())
    return (said + b"." + _packed(signature)).decode()


def _key(pem: str) -> rsa.RSAPrivateKey:
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # Not `from`: what the library says may show a part of the key.
        raise Malformed("it is no private key in PEM without a password") from None
    if not isinstance(key, rsa.RSAPrivateKey) or key.key_size < SMALLEST_BITS:
        raise Malformed(f"it is no RSA key of {SMALLEST_BITS} bits or more")
    return key


def _packed(data: bytes) -> bytes:
    return base64.urlsafe_b64encode(data).rstrip(b"=")
