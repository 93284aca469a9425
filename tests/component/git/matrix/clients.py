"""Clients that share no code with git: dulwich, in Python, and libgit2, in C."""

import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import pygit2
from dulwich import porcelain
from dulwich.repo import Repo

MAIN = b"refs/heads/main"
NAME, MAIL = "agent", "agent@localhost"


class Client(Protocol):
    """A clone at a folder. Its methods block."""

    def clone(self, *, depth: int = 0) -> None:
        """`depth`: so many commits; 0 for all."""
        ...

    def count(self) -> int:
        """How many commits HEAD has."""
        ...

    def commit(self, path: str, content: bytes) -> str:
        """A new commit on HEAD; its id."""
        ...

    def push(self, *refspecs: str) -> str:
        """All that a person would be told."""
        ...

    def fetch(self) -> str:
        """What the host's `main` is then known to be."""
        ...


class Dulwich:
    def __init__(self, url: str, folder: Path) -> None:
        self._url, self._folder = url, folder

    def clone(self, *, depth: int = 0) -> None:
        err = io.BytesIO()
        porcelain.clone(self._url, self._folder, depth=depth or None, errstream=err).close()

    def count(self) -> int:
        with Repo(str(self._folder)) as repo:
            return sum(1 for _ in repo.get_walker())

    def commit(self, path: str, content: bytes) -> str:
        (self._folder / path).write_bytes(content)
        who = f"{NAME} <{MAIL}>".encode()
        with Repo(str(self._folder)) as repo:
            tree = repo.get_worktree()
            tree.stage([path])
            new = tree.commit(message=b"By dulwich", author=who, committer=who)
            return bytes(new).decode()

    def push(self, *refspecs: str) -> str:
        out, err = io.BytesIO(), io.BytesIO()
        porcelain.push(self._folder, self._url, list(refspecs), outstream=out, errstream=err)
        return (out.getvalue() + err.getvalue()).decode()

    def fetch(self) -> str:
        refs = porcelain.fetch(self._folder, self._url, errstream=io.BytesIO()).refs
        return next(str(new, "ascii") for ref, new in refs.items() if new and ref == MAIN)


class _Told(pygit2.RemoteCallbacks):
    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def push_update_reference(self, refname: str, message: str | None) -> None:
        self.text += f"{refname}: {message or 'updated'}\n"

    def sideband_progress(self, string: str) -> None:
        self.text += string


class Libgit2:
    def __init__(self, url: str, folder: Path) -> None:
        self._url, self._folder = url, folder

    def clone(self, *, depth: int = 0) -> None:
        pygit2.clone_repository(self._url, str(self._folder), depth=depth)

    def count(self) -> int:
        repo = self._repo()
        return sum(1 for _ in repo.walk(repo.head.target))

    def commit(self, path: str, content: bytes) -> str:
        (self._folder / path).write_bytes(content)
        repo, who = self._repo(), pygit2.Signature(NAME, MAIL)
        repo.index.add(path)
        repo.index.write()
        tree = repo.index.write_tree()
        return str(repo.create_commit("HEAD", who, who, "By libgit2", tree, [repo.head.target]))

    def push(self, *refspecs: str) -> str:
        told = _Told()
        # It knows no HEAD on the left of a refspec.
        named = [spec.replace("HEAD:", "refs/heads/main:") for spec in refspecs]
        self._repo().remotes["origin"].push(named, callbacks=told)
        return told.text

    def fetch(self) -> str:
        repo = self._repo()
        repo.remotes["origin"].fetch()
        return str(repo.references["refs/remotes/origin/main"].target)

    def _repo(self) -> pygit2.Repository:
        return pygit2.Repository(str(self._folder))


CLIENTS: Mapping[str, Callable[[str, Path], Client]] = {"dulwich": Dulwich, "libgit2": Libgit2}
