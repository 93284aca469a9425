"""The files of a commit as they lie in a repository: each folder and file must be what its id says."""

import hashlib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO

from entrance.attestation.objects import Objects, reading
from entrance.errors import Unavailable

_SUBMODULE = b"160000"
_FOLDERS = frozenset({b"40000", b"040000"})
_PIECE = 1 << 20
_RAW = {40: 20, 64: 32}
_HASHES = {40: "sha1", 64: "sha256"}


@dataclass(frozen=True, slots=True)
class Files:
    """So many files. `wrong` is the first object that is missing or is something else, if any."""

    count: int
    objects: frozenset[str] = frozenset()
    """All of them, folders too."""
    wrong: str = ""


def files_of(objects: Objects, tree: str) -> Files:
    """Look at all that a commit's tree leads to, but not into submodules. Raises: Unavailable."""
    folders, files = {tree}, set[str]()
    ahead = [tree]
    while ahead:
        found: list[str] = []
        for oid, whole, body in _hashed(objects, "tree", ahead, keep=True):
            if not whole:
                return Files(len(files), wrong=oid)
            for mode, entry in _entries(body, _RAW[len(tree)]):
                known = folders if mode in _FOLDERS else files
                if mode == _SUBMODULE or entry in known:
                    continue
                known.add(entry)
                found += [entry] if mode in _FOLDERS else []
        ahead = found
    for oid, whole, _ in _hashed(objects, "blob", sorted(files), keep=False):
        if not whole:
            return Files(len(files), wrong=oid)
    return Files(len(files), frozenset(files | folders))


def _hashed(
    objects: Objects, kind: str, oids: Sequence[str], *, keep: bool
) -> Iterator[tuple[str, bool, bytes]]:
    """Each object, whether it is there and is what its id says, and its bytes if they are kept."""
    if not oids:
        return
    with tempfile.TemporaryFile() as asked:
        asked.write("".join(f"{oid}\n" for oid in oids).encode())
        asked.seek(0)
        with reading(objects, asked) as told:
            for oid in oids:
                words = told.readline().decode("ascii", "replace").split()
                if words[:2] != [oid, kind] or not words[-1].isdigit():
                    yield oid, False, b""
                    return  # what comes after it can't be told apart
                digest, body = _read(told, kind, int(words[-1]), oid, keep=keep)
                yield oid, digest == oid, body


def _read(told: IO[bytes], kind: str, size: int, like: str, *, keep: bool) -> tuple[str, bytes]:
    whole = hashlib.new(_HASHES[len(like)], usedforsecurity=False)
    whole.update(f"{kind} {size}\0".encode())
    kept = bytearray()
    while size:
        piece = told.read(min(size, _PIECE))
        if not piece:
            raise Unavailable("git gave up in the middle of an object")
        whole.update(piece)
        kept += piece if keep else b""
        size -= len(piece)
    told.read(1)
    return whole.hexdigest(), bytes(kept)


def _entries(tree: bytes, raw: int) -> Iterator[tuple[bytes, str]]:
    """The modes and ids in a tree, whose hash was found to be right."""
    at = 0
    while at < len(tree):
        end = tree.index(b"\0", at)
        yield tree[at:end].split(b" ", 1)[0], tree[end + 1 : end + 1 + raw].hex()
        at = end + 1 + raw
