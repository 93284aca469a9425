"""The one commit that the battery pushes, and the pack that it comes in [pure].

It is as the door wants a run's commits: in the agent's name, with trailers that name the run. Its
tree is empty, and it has no parent.
"""

import hashlib
import zlib
from collections.abc import Sequence

from entrance.session import Authorship, RunId, TaskId

_COMMIT, _TREE = 1, 2
_KINDS = {_COMMIT: b"commit", _TREE: b"tree"}
_SMALL = 0x0F
_WHEN = "1577836800 +0000"


def authorship(run: RunId) -> Authorship:
    """Whose commits the battery's sandbox may push."""
    return Authorship(
        "Posture", "posture@agents.sandgate.invalid", "none:none", runs=frozenset({run})
    )


def commit_of(run: RunId, task: TaskId) -> tuple[str, bytes]:
    """The commit's id, and a pack of it and its tree."""
    whose = authorship(run)
    person = f"{whose.name} <{whose.mail}> {_WHEN}"
    trailers = f"Agent-Run: {run}\nAgent-Task: {task}\nAgent-Model: {whose.model}\n"
    head = f"tree {_oid(_TREE, b'')}\nauthor {person}\ncommitter {person}\n"
    commit = f"{head}\nFind out what the door lets through\n\n{trailers}".encode()
    return _oid(_COMMIT, commit), _pack([(_COMMIT, commit), (_TREE, b"")])


def _oid(kind: int, data: bytes) -> str:
    return hashlib.sha1(b"%b %d\0%b" % (_KINDS[kind], len(data), data)).hexdigest()  # noqa: S324 - git's


def _pack(objects: Sequence[tuple[int, bytes]]) -> bytes:
    """See gitformat-pack: a header, each object behind its kind and size, and the SHA-1 of it all."""
    written = b"".join(_size(kind, len(data)) + zlib.compress(data) for kind, data in objects)
    body = b"PACK" + (2).to_bytes(4) + len(objects).to_bytes(4) + written
    return body + hashlib.sha1(body).digest()  # noqa: S324 - git's own


def _size(kind: int, size: int) -> bytes:
    """Four bits of the size beside the kind, then seven in each byte, the lowest first."""
    out = bytearray([kind << 4 | size & _SMALL])
    size >>= 4
    while size:
        out[-1] |= 0x80
        out.append(size & 0x7F)
        size >>= 7
    return bytes(out)
