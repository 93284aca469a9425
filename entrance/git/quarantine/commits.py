"""Reads a commit's own bytes: what it says of its parents, its people and itself [pure].

git's printing of them would go by the repository's mail map and encodings; this is what was signed off.
"""

from entrance.git.checks.facts import Commit, Person


def commit_of(oid: str, raw: bytes) -> Commit:
    """The commit. Lines that are missing are empty; git's own check has refused what is malformed."""
    head, _, message = raw.partition(b"\n\n")
    parents: list[str] = []
    people = {b"author": Person("", ""), b"committer": Person("", "")}
    for line in head.split(b"\n"):
        word, _, rest = line.partition(b" ")
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
