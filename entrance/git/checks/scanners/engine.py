"""Finds all kinds of secrets at once, in a stream [pure].

Hyperscan takes all patterns in one pass, in time that no input can stretch, and goes on over the border
of two pieces. It tells where a match ends; which text it was, and whether to believe it, is looked at
here.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version

import hyperscan

from entrance.git.checks.scanners.base64_forms import Form, forms_of
from entrance.git.checks.scanners.keys import ENCODED, KEYS
from entrance.git.checks.scanners.kinds import Kind
from entrance.git.checks.scanners.likely import LIKELY_KINDS
from entrance.git.checks.scanners.tokens import TOKENS

KINDS: tuple[Kind, ...] = (*KEYS, *TOKENS, *LIKELY_KINDS)
_FLAGS = {
    re.IGNORECASE: hyperscan.HS_FLAG_CASELESS,
    re.MULTILINE: hyperscan.HS_FLAG_MULTILINE,
}

_MODE = hyperscan.HS_MODE_STREAM

OnMatch = Callable[[int, int, int, int, object], None]


@dataclass(frozen=True, slots=True)
class Hit:
    """A secret that was found: its first byte's place in what was looked at, and a mark of its value.

    Marks are of use in one process only, and tell nothing of the value.
    """

    what: str
    start: int
    mark: int


@dataclass(frozen=True, slots=True)
class _Look:
    """A pattern of the engine's, and what its match truly is."""

    what: str
    pattern: bytes
    flags: int
    read: Callable[[bytes], tuple[int, bytes] | None]
    """Given all up to a match's end: where it starts, and its value; None when it isn't believed."""


class Engine:
    """Made once a process: all patterns, compiled, which takes a second."""

    def __init__(self, compiled: bytes | None = None) -> None:
        """`compiled`: an engine's on this machine; that of other patterns is of no use, and not used."""
        self._looks = tuple(_looks())
        self._mark = _mark(self._looks)
        if compiled and compiled.startswith(self._mark):
            self._patterns = _loaded(compiled[len(self._mark) :])
        else:
            self._patterns = _compiled(self._looks)

    @property
    def compiled(self) -> bytes:
        """The patterns, for another engine."""
        return self._mark + hyperscan.dumpb(self._patterns)

    def open(self, matched: OnMatch) -> hyperscan.Stream:
        """A stream that is open; `matched` must live as long, the engine doesn't hold it.

        It is called with a look's number, and, as its third argument, the place behind the match.
        """
        stream = self._patterns.stream(match_event_handler=matched)
        stream.__enter__()
        return stream

    def what(self, look: int) -> str:
        """The kind that a look is for."""
        return self._looks[look].what

    def read(self, look: int, before: bytes) -> Hit | None:
        """What a match is that ends at the end of `before`; None when it isn't believed."""
        read = self._looks[look].read(before)
        return Hit(self._looks[look].what, read[0], hash(read[1])) if read else None


_own: list[Engine] = []


def engine(compiled: bytes | None = None) -> Engine:
    """The process's own, made when it is first asked for; see `Engine`."""
    if not _own:
        _own.append(Engine(compiled))
    return _own[0]


def _mark(looks: Sequence[_Look]) -> bytes:
    """Of all that a compiled form depends on, but for the machine."""
    patterns = [(look.pattern, look.flags) for look in looks]
    return sha256(repr((version("hyperscan"), patterns)).encode()).digest()


def _loaded(compiled: bytes) -> hyperscan.Database:
    patterns = hyperscan.loadb(compiled, _MODE)
    patterns.scratch = hyperscan.Scratch(patterns)
    return patterns


def _compiled(looks: Sequence[_Look]) -> hyperscan.Database:
    patterns = hyperscan.Database(mode=_MODE)
    patterns.compile(
        expressions=[look.pattern for look in looks],
        ids=list(range(len(looks))),
        elements=len(looks),
        flags=[_engine_flags(look.flags) for look in looks],
    )
    return patterns


def _looks() -> Iterator[_Look]:
    for kind in KINDS:
        yield _Look(kind.what, kind.pattern, kind.flags, _reader(kind))
        if kind.begins:
            yield from _encoded(kind)
    for head in ENCODED:
        yield from _encoded(
            Kind("a private key", re.escape(head), head, len(head), believed=lambda _: True)
        )


def _reader(kind: Kind) -> Callable[[bytes], tuple[int, bytes] | None]:
    pattern = (kind.strictly or kind.pattern).replace(rb"|\z)", rb"|)")
    last = re.compile(rb"(?<![A-Za-z0-9])(?:" + pattern + rb")\Z", kind.flags | re.DOTALL)

    def read(before: bytes) -> tuple[int, bytes] | None:
        found = last.search(before)
        if found is None:
            return None
        value = found["value"] if "value" in last.groupindex else found[0]
        return (found.start(), value) if kind.believed(value) else None

    return read


def _encoded(kind: Kind) -> Iterator[_Look]:
    inside = re.compile(kind.pattern.split(rb"(?:[^A-Za-z0-9_-]|\z)")[0])
    for form in forms_of(kind.begins, kind.length):

        def read(before: bytes, form: Form = form) -> tuple[int, bytes] | None:
            found = inside.match(form.text(before[-form.letters :]))
            if found is None or not kind.believed(found[0]):
                return None
            return len(before) - form.letters, found[0]

        yield _Look(kind.what, form.pattern, 0, read)


def _engine_flags(flags: int) -> int:
    return sum(theirs for ours, theirs in _FLAGS.items() if flags & ours) | hyperscan.HS_FLAG_DOTALL
