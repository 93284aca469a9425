"""Texts that a regular expression takes, their letters chosen by chance; for the patterns of the tables."""

from collections.abc import Callable, Mapping
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from tests.unit.entrance.git.checks.scanners.samples import LETTERS, Chance


def spelled(chance: Chance, pattern: bytes) -> str:
    """One such text."""
    return _all(chance, _parser.parse(pattern.replace(rb"|\z)", rb"|)").decode("latin-1")))


def _all(chance: Chance, parts: Any) -> str:
    return "".join(_PARTS[str(kind)](chance, what) for kind, what in parts)


def _repeated(chance: Chance, what: Any) -> str:
    least, most, again = what
    times = chance.randint(least, min(most, least + 3))
    return "".join(_all(chance, again) for _ in range(times))


_PARTS: Mapping[str, Callable[[Chance, Any], str]] = {
    "LITERAL": lambda _, what: chr(what),
    "NOT_LITERAL": lambda _, what: "y" if chr(what) == "x" else "x",
    "ANY": lambda _chance, _what: " ",
    "AT": lambda _chance, _what: "",
    "IN": lambda chance, what: chance.choice(_letters(what)),
    "SUBPATTERN": lambda chance, what: _all(chance, what[-1]),
    "BRANCH": lambda chance, what: _all(chance, chance.choice(what[1])),
    "MAX_REPEAT": _repeated,
    "MIN_REPEAT": _repeated,
}


def _letters(what: Any) -> str:
    negated = str(what[0][0]) == "NEGATE"
    taken = {chr(code) for kind, value in what[negated:] for code in _codes(str(kind), value)}
    if negated:
        return "".join(one for one in LETTERS + "!$" if one not in taken)
    return "".join(sorted(taken))


def _codes(kind: str, value: Any) -> list[int]:
    if kind == "RANGE":
        return list(range(value[0], value[1] + 1))
    if kind == "LITERAL":
        return [value]
    return list(map(ord, " \t" if str(value).endswith("SPACE") else LETTERS))
