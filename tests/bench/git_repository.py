"""Repositories for the git proxy's bench: one with a long history, and ones to push to.

The long history is made up once by `git fast-import`, and kept in the machine's folder for temporary
files. What is in it is neither all the same nor all random: lines of words, of which each commit
changes some.
"""

import base64
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from entrance.git.pktline import FLUSH, encode

ITEM = "B-1"
RUN = "benchbenchbench"
MODEL = "anthropic:bench"
NAME, MAIL = "Bench Agent", "bench-agent@example.org"
COMMITS = 12_000
LONG, TWIN = "long.git", "twin.git"
"""Two with the long history: what is pushed direct to one is no news to the door's copy of the other."""
_FILES = 400
_LINES = 40
_LINE_BYTES = 81
_CHANCE = random.Random(7)  # noqa: S311 - the same each time
_PART = 1 << 20
"""The size of each file of a large push."""
_AS_HOSTS_DO = ("receive.unpackLimit", "1")
"""A pack stays one: unpacked object by object, it would be the host that is measured."""
_AS_IT_IS = ("core.bigFileThreshold", "512k")
"""Nor is it the client: it looks for no deltas between large files."""
_EPOCH = 1_700_000_000
_ENV = {"PATH": os.defpath, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
_TRAILERS = f"Agent-Run: {RUN}\nAgent-Task: BENCH/{ITEM}\nAgent-Model: {MODEL}\n"


def git(*arguments: str | Path, given: Iterable[bytes] = ()) -> str:
    """What git says; `given` is its standard input. Raises: CalledProcessError."""
    with tempfile.TemporaryFile() as file:
        for piece in given:
            file.write(piece)
        file.seek(0)
        done = subprocess.run(
            ("git", *map(str, arguments)), env=_ENV, stdin=file, stdout=subprocess.PIPE, check=True
        )
    return done.stdout.decode().strip()


def long_history(commits: int = COMMITS) -> Path:
    """A bare repository with so many commits on `main`; made when it isn't there."""
    folder = Path(tempfile.gettempdir()) / f"sandgate-bench-history-1-{commits}.git"
    if not folder.exists():
        part = Path(tempfile.mkdtemp(dir=folder.parent, prefix=folder.name))
        git("init", "--quiet", "--bare", "--template=", "-bmain", part)
        git("-C", part, "fast-import", "--quiet", given=_made_up(commits))
        git("-C", part, "repack", "-q", "-a", "-d", "--window=5")
        part.rename(folder)
    return folder


def _made_up(commits: int) -> Iterator[bytes]:
    chance = random.Random(7)  # noqa: S311 - the same each time
    words = [base64.b64encode(chance.randbytes(6)).decode() for _ in range(50_000)]
    files: dict[int, list[str]] = {}
    for number in range(commits):
        yield _commit("main", f"Number {number}\n", _EPOCH + number * 60)
        for _ in range(3):
            which = chance.randrange(_FILES)
            lines = files.setdefault(which, [""] * _LINES)
            for line in range(_LINES) if not lines[0] else chance.sample(range(_LINES), 12):
                lines[line] = " ".join(chance.choices(words, k=9))
            yield _file(f"src/{which % 20}/{which}.txt", "\n".join(lines).encode())


def _commit(branch: str, message: str, at: int, parent: str = "") -> bytes:
    start = f"from {parent}\n" if parent else ""
    who = f"committer {NAME} <{MAIL}> {at} +0000\n"
    said = f"data {len(message.encode())}\n{message}\n"
    return f"commit refs/heads/{branch}\n{who}{said}{start}".encode()


def _file(path: str, content: bytes) -> bytes:
    return f"M 100644 inline {path}\ndata {len(content)}\n".encode() + content + b"\n"


@dataclass(frozen=True, slots=True)
class Repositories:
    """`root`: what the host serves. `client`: where pushes come from; its branches are pushed."""

    root: Path
    client: Path
    sinks: tuple[str, ...]
    """Repositories that take one large push each, and have little else."""

    def wants(self) -> bytes:
        """The body of a request for all that the long history's branches and tags lead to."""
        told = git("-C", self.root / LONG, "for-each-ref", "--format=%(objectname)")
        first, *more = dict.fromkeys(told.split())
        head = encode(f"want {first} side-band-64k ofs-delta no-progress\n".encode())
        return (
            head
            + b"".join(encode(f"want {oid}\n".encode()) for oid in more)
            + FLUSH
            + encode(b"done\n")
        )


def lay_out(work: Path, history: Path, sinks: int, pushes: int, large: int) -> Repositories:
    """Put all of it below `work`; `history` itself stays as it is. `large`: bytes of a large push."""
    root, client = work / "root", work / "client.git"
    root.mkdir()
    for name in (LONG, TWIN):
        git("clone", "--quiet", "--bare", "--shared", history, root / name)
        git("-C", root / name, "config", "http.receivepack", "true")
    first = git("-C", root / LONG, "for-each-ref", "--count=1", "--format=%(objectname)")
    git("clone", "--quiet", "--bare", "--shared", root / LONG, client)
    git("-C", client, "config", *_AS_IT_IS)
    git("-C", client, "fast-import", "--quiet", given=_small(pushes, first))
    git("-C", client, "fast-import", "--quiet", given=_large("random", large, _random))
    git("-C", client, "fast-import", "--quiet", given=_large("text", large, _text))
    names = tuple(f"sink-{number}.git" for number in range(sinks))
    git("init", "--quiet", "--bare", "--template=", "-bmain", work / "sink")
    git("-C", work / "sink", "config", "http.receivepack", "true")
    git("-C", work / "sink", "config", *_AS_HOSTS_DO)
    git("-C", work / "sink", "fast-import", "--quiet", given=_large("main", 1000, _text))
    for name in names:
        shutil.copytree(work / "sink", root / name)
    return Repositories(root, client, names)


def _small(pushes: int, parent: str) -> Iterator[bytes]:
    for number in range(pushes):
        yield _commit(f"small-{number}", f"Number {number}\n\n{_TRAILERS}", _EPOCH, parent)
        yield _file(f"bench/{number}.txt", f"{number}\n".encode() * 20)


def _large(branch: str, size: int, make: Callable[[int], bytes]) -> Iterator[bytes]:
    yield _commit(branch, f"Much\n\n{_TRAILERS}", _EPOCH)
    for number, start in enumerate(range(0, size, _PART)):
        yield _file(f"bench/{number}.bin", make(min(_PART, size - start)))


def _random(size: int) -> bytes:
    return os.urandom(size)


def _text(size: int) -> bytes:
    """Lines of words, as source has them, in an order of their own."""
    return "".join(_CHANCE.choices(_lines(), k=size // _LINE_BYTES)).encode()


@cache
def _lines() -> tuple[str, ...]:
    words = [_CHANCE.randbytes(4).hex() for _ in range(50_000)]
    return tuple(" ".join(_CHANCE.choices(words, k=9)) + "\n" for _ in range(20_000))
