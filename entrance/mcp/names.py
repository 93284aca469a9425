"""Names that every client takes: at most 64 of `[A-Za-z0-9_-]`, with what harnesses put before them [pure].

A name that fits stays as it is. One that doesn't is made to, and ends in a hash of what it was, so
that it is the same tomorrow and two of them never become one.
"""

import hashlib
import re

PREFIX = "mcp__sandgate__"
"""Before a tool's name, where a harness tells its model of it."""
LONGEST = 64 - len(PREFIX)
_FITS = re.compile(rf"[A-Za-z0-9_-]{{1,{LONGEST}}}")
_ODD = re.compile(r"[^A-Za-z0-9_-]+")
_HASH = 8


def fitting(name: str) -> str:
    """The name, or what is shown in its place."""
    return name if _FITS.fullmatch(name) else marked(name, name)


def marked(name: str, of: str) -> str:
    """The name with a hash of `of` behind it, short enough."""
    mark = hashlib.sha256(of.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    return f"{_ODD.sub('_', name)[: LONGEST - _HASH - 1]}_{mark}"
