"""Private keys in PEM, as people seal them [pure]."""

from collections.abc import Callable

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.types import PrivateKeyTypes
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from entrance.errors import Malformed

SMALLEST_BITS = 2048
"""Of an RSA key."""
LARGEST_CHARS = 16 * 1024


def loaded(pem: str) -> PrivateKeyTypes:
    """The key. Raises: Malformed."""
    try:
        return load_pem_private_key(pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        # Not `from`: what the library says may show a part of the key.
        raise Malformed("it is no private key in PEM without a password") from None


def check(name: str, pem: str, read: Callable[[str], object]) -> None:
    """Raises: ValueError unless the value of the secret `name` can be read."""
    if len(pem) > LARGEST_CHARS:
        raise ValueError(f"the value of {name} is too long to be a private key")
    try:
        read(pem)
    except Malformed as error:
        raise ValueError(f"the value of {name}: {error}") from None
