"""Finds a sandbox's canaries in bytes, whole or in pieces [pure].

In every form of `vault.forms` (as it is, hex, base64 wherever it stands in what was packed), escaped
or not. A part of a canary is enough: what comes in lines, or is cut short, is found as well. Not a
canary that is encrypted, compressed, turned round or spelled with other letters.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from ahocorasick_rs import BytesAhoCorasick, Implementation

from entrance.honeytokens.canaries import Canary
from entrance.honeytokens.unfold import unfolded
from entrance.vault.forms import forms_of

SHORTEST, LONGEST = 12, 15
"""Letters of a canary that are looked for together: so many are nothing else (70 random bits), and of
lines of 60 hex digits, which are 30 letters, one always has a part of a long canary whole."""


type Find = Callable[[bytes], int | None]
"""The number of one of the forms that it was made for, if there is any in these bytes."""


def aho_corasick(forms: Sequence[bytes]) -> Find:
    """Finds the first of them."""
    automaton = BytesAhoCorasick(list(forms), implementation=Implementation.DFA)

    def find(data: bytes) -> int | None:
        hits = automaton.find_matches_as_indexes(data)
        return hits[0][0] if hits else None

    return find


class Traps:
    """The canaries of one sandbox, ready to be looked for; for any number of streams at once."""

    def __init__(
        self,
        canaries: Iterable[Canary],
        finding: Callable[[Sequence[bytes]], Find] = aho_corasick,
    ) -> None:
        """`finding` makes of the forms, of which there may be none, what finds them."""
        found: dict[bytes, Canary] = {}
        for canary in canaries:
            for part in parts_of(canary.secret):
                found |= dict.fromkeys(forms_of(part), canary)
        self._canaries = list(found.values())
        self._find = finding(list(found))
        self.overlap = max(map(len, found), default=2) - 1
        """So much of what went before may be the beginning of a form."""

    def within(self, data: bytes) -> Canary | None:
        """The first of them in these bytes, which are all there are."""
        text, begun = unfolded(data)
        return self.first_in(text + begun)

    def stream(self) -> "Stream":
        """Looks for them in pieces that belong together."""
        return Stream(self)

    def first_in(self, unfolded: bytes) -> Canary | None:
        """The first of them in bytes that are unfolded already."""
        number = self._find(unfolded)
        return None if number is None else self._canaries[number]


class Stream:
    """One stream of bytes; it remembers what may be the beginning of a canary."""

    def __init__(self, traps: Traps) -> None:
        self._traps = traps
        self._begun = b""
        self._before = b""

    def feed(self, data: bytes, *, last: bool = False) -> Canary | None:
        """The first canary that ends in this piece, if one does."""
        text, self._begun = unfolded(self._begun + data if self._begun else data)
        if last:
            text += self._begun
        text = self._before + text
        found = self._traps.first_in(text)
        self._before = b"" if found else text[-self._traps.overlap :]
        return found


def parts_of(secret: str) -> Iterator[str]:
    """The secret in equal parts, each long enough to be nothing else: a line's end cuts one of them."""
    count = -(-len(secret) // LONGEST) if len(secret) >= 2 * SHORTEST else 1
    ends = [len(secret) * number // count for number in range(count + 1)]
    return (secret[start:end] for start, end in pairwise(ends))
