"""What a repository calls its commits, read from its files: git would read its settings, too.

What is no plain file of a moderate size is passed over, and names of the newer `reftable` aren't known.
"""

import re
from collections.abc import Iterator
from pathlib import Path

MOST_BYTES = 256 << 20
"""A longer list of names is not read."""
_DEEPEST = 5
_OID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\b")
_PLAIN = re.compile(r"[A-Za-z0-9_][^\x00-\x20\x7f:?*\[\\^~]{0,255}")
_SHA256 = re.compile(r"^\s*objectformat\s*=\s*sha256\s*$", re.IGNORECASE | re.MULTILINE)
_PLACES = (
    "{}",
    "refs/{}",
    "refs/tags/{}",
    "refs/heads/{}",
    "refs/remotes/{}",
    "refs/remotes/{}/HEAD",
)
"""Where a name is looked for, in git's order."""


def named(work: Path, there: Path, name: str) -> str:
    """The object that a name stands for; empty when there is none.

    `work` has what belongs to what is checked out (HEAD), `there` the branches of the repository.
    """
    if not _PLAIN.fullmatch(name) or ".." in name:
        return ""
    packed = dict(_packed(there))
    found = (_followed(work, there, packed, place.format(name)) for place in _PLACES)
    return next(filter(None, found), "")


def replaced(there: Path) -> frozenset[str]:
    """The objects in whose place git shows something else: by `git replace`, or by a graft."""
    folder = there / "refs" / "replace"
    loose = {path.name for path in folder.iterdir()} if folder.is_dir() else set[str]()
    packed = {
        ref.rpartition("/")[2] for ref, _ in _packed(there) if ref.startswith("refs/replace/")
    }
    grafts = _text(there / "info" / "grafts").splitlines()
    return frozenset(loose | packed | {line.split(" ")[0] for line in grafts})


def has_sha256(there: Path) -> bool:
    """Whether its objects are named by SHA-256."""
    return bool(_SHA256.search(_text(there / "config")))


def _followed(work: Path, there: Path, packed: dict[str, str], ref: str) -> str:
    for _ in range(_DEEPEST):
        text = _text(work / ref) or _text(there / ref) or packed.get(ref, "")
        if found := _OID.match(text):
            return found[0]
        target = text.removeprefix("ref: ").strip()
        if target == text.strip() or not target.startswith("refs/") or ".." in target:
            return ""
        ref = target
    return ""


def _packed(there: Path) -> Iterator[tuple[str, str]]:
    for line in _text(there / "packed-refs").splitlines():
        oid, _, ref = line.partition(" ")
        if _OID.fullmatch(oid):
            yield ref, oid


def _text(path: Path) -> str:
    try:
        if path.is_file() and path.stat().st_size <= MOST_BYTES:
            return path.read_text("utf-8", "surrogateescape")
    except OSError:
        pass
    return ""
