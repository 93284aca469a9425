"""The forms in which a secret may be told back by whoever was shown it [pure].

As it is; escaped for a URL, for HTML, for JSON inside JSON; in hex; in base64, wherever it stands
in what was packed. Not a secret that is cut up or turned round: that is nobody's accident.
"""

import base64
import html
import re
from collections.abc import Iterator
from urllib.parse import quote

import orjson

SHORTEST = 8
"""What is shorter is found in ordinary words."""
_PLAIN = re.compile(r"[A-Za-z0-9._~-]*")
"""Nobody escapes these."""
_URLSAFE = bytes.maketrans(b"+/", b"-_")


def forms_of(value: str) -> tuple[bytes, ...]:
    """All of them. The longest must be looked for first: it may have another in it."""
    return tuple({*_escaped(value), *_packed(value.encode())})


def _escaped(value: str) -> Iterator[bytes]:
    raw = value.encode()
    yield raw
    if not _PLAIN.fullmatch(value):
        yield quote(value, safe="").encode()
        yield html.escape(value).encode()
        yield orjson.dumps(value)[1:-1]
    yield raw.hex().encode()
    yield raw.hex().upper().encode()


def _packed(raw: bytes) -> Iterator[bytes]:
    """What base64 makes of it after no, one or two other bytes, without what these have a part in."""
    for before in range(3):
        first = -(-before * 8 // 6)
        last = (before + len(raw)) * 8 // 6
        form = base64.b64encode(bytes(before) + raw)[first:last]
        if len(form) >= SHORTEST:
            yield form
            yield form.translate(_URLSAFE)
