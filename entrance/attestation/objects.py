"""Commits as they lie in a repository, of which nothing is run or obeyed.

git reads them from a repository of our own that has nothing but the other's objects: no settings, no
hooks, no replaced objects, no grafts, no commit-graph, which may say anything of who a commit's parents
are, and nobody to fetch what is missing from. Names are read by us.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import IO, cast

from entrance.attestation.names import has_sha256, named, replaced
from entrance.errors import Malformed, NotFound, Unavailable

TIMEOUT_S = 120
READ_S = 1800
"""So long all files of a commit may take to be read."""
MOST_BYTES = 4 << 20
"""A larger commit is taken for one that can't be read."""
_LONGEST_PATH = 4096
_HEX = re.compile(r"[0-9a-f]{4,64}")
_BACK = re.compile(r"[~^][~^0-9]{0,20}$")
"""How a commit is named by one that comes after it."""
_OID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_CONFIG = """\
[core]
	repositoryFormatVersion = 1
	bare = true
	commitGraph = false
[extensions]
	objectFormat = {}
"""


@dataclass(frozen=True, slots=True)
class Objects:
    """A repository's commits. `own` is our repository, `there` the folder that theirs is in."""

    own: Path
    there: Path
    work: Path
    """The folder of the branch that is checked out; that of the repository where it has one only."""

    def resolve(self, name: str) -> str:
        """The commit's whole id, of an id, a part of one, or a name. Raises: NotFound, Unavailable."""
        if _OID.fullmatch(name):
            return name
        base = _BACK.sub("", name)
        start = named(self.work, self.there, base) or base
        told = ""
        if _HEX.fullmatch(start):
            self._use(has_sha256(self.there))
            back = name.removeprefix(base)
            told = self._git("rev-parse", "--verify", "-q", f"{start}{back}^{{commit}}").decode()
        if not _OID.fullmatch(told.strip()):
            raise NotFound(f"{name!r} names no commit of this repository")
        return told.strip()

    def commits(self, oids: Collection[str]) -> Mapping[str, bytes | None]:
        """Their bytes, in the order asked; None for one that isn't there, empty for one that is broken."""
        wanted = list(dict.fromkeys(oids))
        self._use(any(len(oid) == 64 for oid in wanted))  # noqa: PLR2004 - hex digits
        there = dict(_asked(self._git("cat-file", "--batch-check", said=wanted), bodies=False))
        whole = [oid for oid in wanted if there.get(oid)]
        bodies = dict(_asked(self._git("cat-file", "--batch", said=whole), bodies=True))
        # Where git gave up, it was about to read a broken one.
        return {
            oid: bodies.get(oid, b"") if there.get(oid, b"") is not None else None for oid in wanted
        }

    def replaced(self, oids: Collection[str]) -> str:
        """One of them in whose place git shows something else here; empty when there is none."""
        return min(replaced(self.there) & set(oids), default="")

    def command(self, *argv: str) -> list[str]:
        """git, as it is called here."""
        git = shutil.which("git") or "git"
        return [git, "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", *argv]

    def environment(self) -> dict[str, str]:
        """Its environment: our own repository, with the other's objects."""
        return {
            "PATH": os.defpath,
            "HOME": "/nonexistent",
            "LC_ALL": "C",
            "GIT_DIR": str(self.own),
            "GIT_OBJECT_DIRECTORY": str(self.there / "objects"),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_GRAFT_FILE": os.devnull,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_ALLOW_PROTOCOL": "none",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_OPTIONAL_LOCKS": "0",
        }

    def _use(self, sha256: bool) -> None:  # noqa: FBT001 - one of the two hashes
        (self.own / "config").write_text(_CONFIG.format("sha256" if sha256 else "sha1"))

    def _git(self, *argv: str, said: Collection[str] = ()) -> bytes:
        asked = "".join(f"{oid}\n" for oid in said).encode()
        try:
            return subprocess.run(
                self.command(*argv), env=self.environment(), cwd=self.own, input=asked,
                capture_output=True, check=False, timeout=TIMEOUT_S,
            ).stdout  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Unavailable(f"git could not read the repository: {error}") from error


@contextmanager
def objects_of(repository: Path) -> Iterator[Objects]:
    """The objects of the repository at `repository`, or that it lies in. Raises: NotFound."""
    work, there = _found(repository.resolve())
    with tempfile.TemporaryDirectory(prefix="sandgate-verify-") as folder:
        own = Path(folder)
        (own / "refs").mkdir()
        (own / "objects").mkdir()
        (own / "HEAD").write_text("ref: refs/heads/none\n")
        yield Objects(own, there, work)


@contextmanager
def reading(objects: Objects, asked: IO[bytes]) -> Iterator[IO[bytes]]:
    """What `git cat-file --batch` says of the ids in a file, as it says it. Raises: Unavailable."""
    try:
        child = subprocess.Popen(
            objects.command("cat-file", "--batch", "--buffer"), env=objects.environment(),
            cwd=objects.own, stdin=asked, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    except OSError as error:
        raise Unavailable(f"git could not read the repository: {error}") from error
    late = Timer(READ_S, child.kill)
    late.start()
    with child:
        try:
            yield cast(IO[bytes], child.stdout)
        finally:
            late.cancel()
            child.kill()


def _found(folder: Path) -> tuple[Path, Path]:
    """The folder of what is checked out, and the one with the objects."""
    for place in (folder, *folder.parents):
        git = place / ".git"
        if git.is_dir():
            return git, git
        if git.is_file():
            own = place / _line(git).removeprefix("gitdir: ")
            common = own / "commondir"
            return own, (own / _line(common)) if common.is_file() else own
        if (place / "objects").is_dir() and (place / "HEAD").is_file():
            return place, place
    raise NotFound(f"{folder} is no git repository")


def _line(file: Path) -> str:
    with file.open("rb") as opened:
        return opened.read(_LONGEST_PATH).decode("utf-8", "surrogateescape").strip()


def _asked(told: bytes, *, bodies: bool) -> Iterator[tuple[str, bytes | None]]:
    """What `git cat-file` says of each, as far as it got: `id kind size`, then the bytes if wanted."""
    at = 0
    while at < len(told):
        end = told.find(b"\n", at)
        if end < 0:
            return
        words = told[at:end].decode("ascii", "replace").split(" ")
        at = end + 1
        match words:
            case [oid, "missing"]:
                yield oid, None
            case [oid, kind, digits] if digits.isdigit():
                size = int(digits)
                body = told[at : at + size] if bodies else b"-"
                fits = (
                    kind == "commit" and size <= MOST_BYTES and len(body) == (size if bodies else 1)
                )
                yield oid, body if fits else b""
                at += size + 1 if bodies else 0
            case _:
                raise Malformed("git says something else than it was asked")
