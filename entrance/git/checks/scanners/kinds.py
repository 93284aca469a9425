"""What a kind of secret is, and when something that looks like one is believed [pure]."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import log2

LONGEST = 1024
"""Bytes that any pattern may take: what a scan keeps of what went before."""
SHORTEST = 3
"""Bytes that a kind must begin with to be looked for in base64."""
_FEWEST = 8
"""Different letters in a secret that nobody made up; in a random one there are more."""
_IN_ORDER = 8
_WORDS = re.compile(rb"example|placeholder|redacted|changeme|change_me|xxxxx|\*\*\*", re.IGNORECASE)


def by_chance(value: bytes) -> bool:
    """Whether a value can have come from a source of chance, and isn't one for a manual."""
    return (
        len(set(value)) >= _FEWEST and not _WORDS.search(value) and _longest_row(value) < _IN_ORDER
    )


def bits_a_letter(value: bytes) -> float:
    """How surprising its letters are, on average."""
    counts = Counter(value).values()
    return -sum(n / len(value) * log2(n / len(value)) for n in counts)


def _longest_row(value: bytes) -> int:
    """The most letters that follow each other as they do in the alphabet: `abcdef`, `123456`."""
    longest = row = 1
    for one, following in pairwise(value):
        row = row + 1 if following == one + 1 else 1
        longest = max(longest, row)
    return longest


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind. `what` names it to people; `pattern` is a regular expression over bytes.

    Of what a pattern matches, the group `value` is the secret, or else all of it. Where it ends must
    not depend on what comes later, but for one byte: a stream is told of each possible end.
    """

    what: str
    pattern: bytes
    begins: bytes = b""
    """How every secret of the kind begins, at least `SHORTEST`; then it is found in base64, too."""
    length: int = 0
    """And how many bytes of one tell it."""
    sure: bool = True
    """Whether it can hardly be anything else."""
    strictly: bytes = b""
    """A pattern that takes less, where the other is only what can be looked for in a stream."""
    flags: int = 0
    """Those of `re`: IGNORECASE, MULTILINE."""
    believed: Callable[[bytes], bool] = by_chance
