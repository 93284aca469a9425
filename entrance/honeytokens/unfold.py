"""Undoes what wraps or escapes a text on its way, so that it is found in one piece [pure].

Base64 and hex come in lines and groups, a URL may spell any letter as `%41`, JSON as `\\u0041`. None
of it is part of a canary.
"""

import re
from collections.abc import Mapping

LONGEST = 64
"""Bytes of an escape that may be waiting for its end; a longer run of backslashes is no escape."""
_BLANKS = b" \t\r\n\v\f\\"
_SPELLED = b"\\u00"
_LETTERS: Mapping[bytes, bytes] = {
    f"{high}{low}".encode(): bytes.fromhex(f"{high}{low}")
    for high in "234567"
    for low in "0123456789abcdefABCDEF"
}
_ESCAPED = re.compile(rb"%[0-9a-fA-F]{2}")
_BEGUN = re.compile(rb"(?:%[2-7]?|\\{1,60}(?:u(?:0(?:0[2-7]?)?)?)?)\Z")


def unfolded(data: bytes) -> tuple[bytes, bytes]:
    """The text without blanks and escapes, and what is to go before the next piece: a begun escape."""
    end = data[-LONGEST:]
    begun = _BEGUN.search(data, len(data) - len(end)) if b"%" in end or b"\\" in end else None
    rest = data[begun.start() :] if begun else b""
    if begun:
        data = data[: begun.start()]
    if _SPELLED in data:
        data = _with_letters(data)
    if b"%" in data:
        data = _ESCAPED.sub(_unescaped, data)
    return data.translate(None, _BLANKS), rest


def _unescaped(found: re.Match[bytes]) -> bytes:
    return bytes((int(found[0][1:], 16),))


def _with_letters(data: bytes) -> bytes:
    first, *others = data.split(_SPELLED)
    return first + b"".join(_LETTERS.get(one[:2], one[:2]) + one[2:] for one in others)
