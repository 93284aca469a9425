"""Private keys, in text and in DER [pure]. A key's head without a key behind it is none: code names them."""

import re

from entrance.git.checks.scanners.kinds import Kind, by_chance

_HEAD = rb"-----BEGIN (?:[A-Z0-9]{1,10} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
_BETWEEN = (
    rb"(?:\s|\\[rnt]|[\"'`+,>|#*\\]"
    rb"|[A-Z][A-Za-z-]{2,30}: [\x20-\x5b\x5d-\x7e]{1,100}(?:\r?\n|\\n)){1,60}?"
)
"""Line ends, spelled or not, quotes and whatever puts lines together, heads such as `DEK-Info`."""
_MATERIAL = rb"[A-Za-z0-9+/]{40}"
_LAST = re.compile(_MATERIAL + rb"\Z")


def _has_material(text: bytes) -> bool:
    found = _LAST.search(text)
    return found is not None and by_chance(found[0])


def _der(_: bytes) -> bool:
    return True


_RSA = rb"\x02\x01\x00\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00\x04\x82"
_EC = rb"\x02\x01\x00\x30[\x10-\x20]\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06[\x05-\x09]"
_ED25519 = rb"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65[\x6e-\x71]\x04\x22\x04\x20"

KEYS: tuple[Kind, ...] = (
    Kind(
        "a private key",
        _HEAD + rb"[\x00-\x7f]{1,300}?" + _MATERIAL,
        strictly=_HEAD + _BETWEEN + _MATERIAL,
        believed=_has_material,
    ),
    Kind(
        "a private key",
        rb"PuTTY-User-Key-File-[0-9]: [\x00-\x7f]{1,900}?Private-Lines: [0-9]",
        believed=_der,
    ),
    Kind(
        "a private key",
        rb"---- BEGIN SSH2 (?:[A-Z]{1,12} ){0,2}PRIVATE KEY ----[\x00-\x7f]{1,300}?" + _MATERIAL,
        believed=_has_material,
    ),
    Kind("a private key", _RSA, believed=_der),
    Kind("a private key", _EC, believed=_der),
    Kind("a private key", _ED25519, believed=_der),
    # The same without a head, in base64: PKCS #8 of RSA and Ed25519, PKCS #1.
    Kind(
        "a private key",
        rb"MII[A-Za-z0-9+/]{3}IBADANBgkqhkiG9w0BAQEFAASC" + _MATERIAL,
        believed=_has_material,
    ),
    Kind("a private key", rb"MC4CAQAwBQYDK2VwBCIEI[A-Za-z0-9+/]{40}", believed=_has_material),
    Kind(
        "a private key",
        rb"MII[A-Za-z0-9+/]{3}IBAAKC(?:AQE|AgE|AYE)A" + _MATERIAL,
        believed=_has_material,
    ),
)

_HEADS = ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ")
ENCODED: tuple[bytes, ...] = (
    *(f"-----BEGIN {head}PRIVATE KEY-----".encode() for head in _HEADS),
    b"-----BEGIN PGP PRIVATE KEY BLOCK-----",
)
"""Heads that nobody puts into base64 but with the key."""
