"""Reads a commit's own bytes: what it says of its parents, its people and itself [pure].

git's printing of them would go by the repository's mail map and encodings; this is what was signed off.
"""

from entrance.git.checks.facts import Commit, Person

_ONCE = frozenset({b"tree", b"author", b"committer"})
_FIRST = _ONCE | {b"parent"}


class CommitBrokenError(ValueError):
    """It says two things at once, of which readers take one or the other."""


def commit_of(oid: str, raw: bytes) -> Commit:
    """The commit. Lines that are missing are empty; git's own check has refused what is malformed.

    git doesn't look at what stands behind the committer: a second author there would be the one that
    some programs show, and the first the one that others do. Raises: CommitBrokenError.
    """
    head, _, message = raw.partition(b"\n\n")
    parents: list[str] = []
    people = {b"author": Person("", ""), b"committer": Person("", "")}
    seen = set[bytes]()
    for line in head.split(b"\n"):
        word, _, rest = line.partition(b" ")
        if (word in _ONCE and word in seen) or (word in _FIRST and b"committer" in seen):
            raise CommitBrokenError(f"commit {oid} has a second {word.decode()} in its head")
        seen.add(word)
        if word == b"parent":
            parents.append(_text(rest))
        elif word in people:
            people[word] = _person(rest)
    return Commit(oid, tuple(parents), people[b"author"], people[b"committer"], _text(message))


def _person(line: bytes) -> Person:
    """`NAME <MAIL> SECONDS ZONE`."""
    name, _, rest = line.partition(b"<")
    return Person(_text(name.removesuffix(b" ")), _text(rest.partition(b">")[0]))


def _text(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")
