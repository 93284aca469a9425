"""The private key of a GitHub App, and what it signs: a token that says who the App is [pure].

The token is a JWT (RS256) of at most ten minutes, which is as long as GitHub takes one. It begins a
minute ago, since the two clocks may differ.
"""

from datetime import datetime

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

from entrance.errors import Malformed
from entrance.vault.private_key import SMALLEST_BITS, check, loaded

BEFORE_S, AFTER_S = 60, 540


def check_key(name: str, pem: str) -> None:
    """Raises: ValueError unless it is an RSA private key in PEM, without a password."""
    check(name, pem, _key)


def app_token(app: str, pem: str, now: datetime) -> str:
    """What the App shows to be let in. Raises: Malformed when the key can't be read."""
    second = int(now.timestamp())
    claims = {"iat": second - BEFORE_S, "exp": second + AFTER_S, "iss": app}
    return jwt.encode(claims, _key(pem), algorithm="RS256")


def _key(pem: str) -> rsa.RSAPrivateKey:
    key = loaded(pem)
    if not isinstance(key, rsa.RSAPrivateKey) or key.key_size < SMALLEST_BITS:
        raise Malformed(f"it is no RSA key of {SMALLEST_BITS} bits or more")
    return key
