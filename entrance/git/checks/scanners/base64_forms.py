"""How a text looks inside of base64 [pure]. It can begin at any of three places of a group of letters."""

import base64
from dataclasses import dataclass

_GROUP_BYTES, _GROUP_LETTERS = 3, 4
_EITHER = {ord("+"): rb"[+-]", ord("/"): rb"[/_]"}
_URL_SAFE = bytes.maketrans(b"-_", b"+/")


@dataclass(frozen=True, slots=True)
class Form:
    """One of the three ways: a pattern, and how its match is read again."""

    pattern: bytes
    letters: int
    """That the pattern takes, always."""
    begins: bytes
    shift: int
    """Bytes of its first group that are before the text."""

    def text(self, match: bytes) -> bytes:
        """What a match of the pattern says, as far as the pattern takes it."""
        letters = b"A" * _first(self.shift) + match.translate(_URL_SAFE)
        whole = base64.b64decode(letters + b"A" * (-len(letters) % _GROUP_LETTERS))
        # Of the first byte only a part may be told; the pattern knows it.
        behind = whole[self.shift + len(self.begins) : len(letters) * 6 // 8]
        return self.begins + behind


def forms_of(begins: bytes, length: int) -> tuple[Form, ...]:
    """The three forms of a text of at least `length` bytes that begins so."""
    forms = []
    for shift in range(_GROUP_BYTES):
        first, told = _first(shift), 8 * (shift + len(begins)) // 6
        end = -(-8 * (shift + length) // 6)
        letters = base64.b64encode(b"\0" * shift + begins + b"\0" * _GROUP_BYTES)[first:told]
        literal = b"".join(_EITHER.get(one, bytes([one])) for one in letters)
        rest = rb"[A-Za-z0-9+/_-]{%d}" % (end - told) if end > told else b""
        forms.append(Form(literal + rest, end - first, begins, shift))
    return tuple(forms)


def _first(shift: int) -> int:
    """The first letter that tells nothing but the text."""
    return -(-8 * shift // 6)
