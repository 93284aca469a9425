"""The SQL functions that query conditions call."""

import re
import sqlite3

_WORDS = re.compile(r"\w+")


def register(connection: sqlite3.Connection) -> None:
    """Make `has_words` known to the connection."""
    connection.create_function("has_words", 3, has_words, deterministic=True)


def has_words(text: str | None, wanted: str, prefix: int) -> bool:
    """Whether `wanted`'s words stand side by side in `text`, whatever their case.

    With `prefix` the last one may go on, as in `foo*`.
    """
    have, want = _words(text or ""), _words(wanted)
    if not want or len(want) > len(have):
        return False
    return any(
        _same(have[start : start + len(want)], want, prefix=bool(prefix))
        for start in range(len(have) - len(want) + 1)
    )


def _same(have: list[str], want: list[str], *, prefix: bool) -> bool:
    last_fits = have[-1].startswith(want[-1]) if prefix else have[-1] == want[-1]
    return last_fits and have[:-1] == want[:-1]


def _words(text: str) -> list[str]:
    return _WORDS.findall(text.casefold())
