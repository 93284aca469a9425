"""What rules find in a push, and how it is said [pure]. Never a secret's value."""

from collections.abc import Sequence
from dataclasses import dataclass

from entrance.push_policy import Mode

MOST_PLACES = 3
"""So many places of a rule are told."""
_SHORT = 10
_LONGEST_PATH = 120


@dataclass(frozen=True, slots=True)
class Found:
    """One place that breaks a rule. Empty where it has no such part.

    `ref` is given where a ref itself is at fault, `oid` where neither path nor commit is known.
    """

    what: str = ""
    commit: str = ""
    path: bytes = b""
    line: int = 0
    ref: bytes = b""
    oid: str = ""

    @property
    def place(self) -> str:
        """Where it is, in a phrase of one line."""
        path = printable(self.path)
        if self.line:
            path += f":{self.line}" if path else f"line {self.line}"
        commit = f"commit {self.commit[:_SHORT]}" if self.commit else ""
        where = f"{path} ({commit})" if path and commit else path or commit
        return where or (f"object {self.oid[:_SHORT]}" if self.oid else "")

    def __str__(self) -> str:
        return (
            f"{self.what} in {self.place}" if self.what and self.place else self.what or self.place
        )


@dataclass(frozen=True, slots=True)
class Finding:
    """All that one rule found, and what that means for the push."""

    rule: str
    mode: Mode
    told: str
    """What is wrong."""
    mend: str
    """What an agent may do about it."""
    found: tuple[Found, ...]

    def said(self, found: Sequence[Found], places: int = MOST_PLACES) -> str:
        """What is wrong, with the first of the places given."""
        first = ", ".join(text for one in found[:places] if (text := str(one)))
        more = f" and {len(found) - places} more" if len(found) > places else ""
        return f"{self.told} ({first}{more})" if first else self.told

    def __str__(self) -> str:
        return f"{self.said(self.found)} [{self.rule}]"


def printable(path: bytes) -> str:
    """A path as it may stand in a sentence: what shows nothing or turns the text round is escaped."""
    text = path.decode("utf-8", "backslashreplace")
    shown = "".join(
        one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text
    )
    return shown if len(shown) <= _LONGEST_PATH else f"{shown[:_LONGEST_PATH]}..."
