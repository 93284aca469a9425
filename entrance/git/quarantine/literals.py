"""Finds any of some byte strings, at the speed at which memory is read [pure].

For the looker only: the door itself looks at small things, with an automaton that is written in Rust.
"""

from collections.abc import Sequence

import hyperscan

from entrance.honeytokens.traps import Find


def literals(forms: Sequence[bytes]) -> Find:
    """Finds the one that ends first."""
    if not forms:
        return lambda _: None
    patterns = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    patterns.compile(
        expressions=[_spelled(form) for form in forms],
        ids=list(range(len(forms))),
        elements=len(forms),
        flags=[hyperscan.HS_FLAG_SINGLEMATCH] * len(forms),
    )

    def find(data: bytes) -> int | None:
        hits: list[int] = []

        def matched(number: int, _start: int, _end: int, _flags: int, _: object) -> None:
            hits.append(number)

        patterns.scan(data, match_event_handler=matched)
        return hits[0] if hits else None

    return find


def _spelled(form: bytes) -> bytes:
    """As a pattern in which no byte means anything but itself."""
    return b"".join(b"\\x%02x" % byte for byte in form)
