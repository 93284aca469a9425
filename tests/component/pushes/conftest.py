"""A git host, and a push to it that is held: a real pack of a real clone."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from entrance.git.held import HeldPacks
from entrance.ports import HeldPush, Moved
from orchestrator.stack.githost import GitHost, serving
from tests.component.pushes.packing import REF, ZERO, Clone, keep
from tests.component.pushes.releaser import RUN
from tests.servers.git import REAL_CREDENTIAL, Git, put_small_repository


@dataclass
class Held:
    """The host with its repository, and a commit that waits to be pushed there."""

    folder: Path
    url: str
    git: Git
    clone: Clone
    base: str
    commit: str
    body: bytes
    push: HeldPush
    packs: HeldPacks
    posts: list[str] = field(default_factory=list)
    """The requests that would change something, as the host saw them."""

    @property
    def repository(self) -> Path:
        return self.folder / "host" / "small.git"

    async def refs(self) -> dict[str, str]:
        """What the host has: ref to object."""
        form = "--format=%(refname) %(objectname)"
        lines = await self.git.ok("-C", self.repository, "for-each-ref", form)
        return dict(line.split(" ", 1) for line in lines.splitlines())


@pytest.fixture
async def held(tmp_path: Path) -> AsyncIterator[Held]:
    root, home = tmp_path / "host", tmp_path / "home"
    for each in (root, home):
        each.mkdir()
    put_small_repository(root / "small.git")
    posts: list[str] = []
    host = GitHost(
        root,
        REAL_CREDENTIAL,
        seen=lambda asked: posts.append(asked.path) if asked.method == "POST" else None,
    )
    async with AsyncExitStack() as stack:
        base_url = await stack.enter_async_context(serving(host))
        url, git = f"{base_url}/small.git", Git(home)
        folder = home / "clone"
        await git.ok("clone", "--quiet", str(root / "small.git"), folder)
        clone = Clone(git, folder)
        base = await git.ok("rev-parse", "HEAD", cwd=folder)
        commit = await clone.commit(".github/workflows/ci.yml", "on: push\n")
        moved = Moved(REF, ZERO, commit)
        body = await clone.body(moved, base)
        packs = HeldPacks(tmp_path / "held")
        mirror = str(root / "small.git")
        push = keep(packs, tmp_path, url, moved, body, run=RUN, mirror=mirror, onto=(base,))
        found = Held(tmp_path, url, git, clone, base, commit, body, push, packs)
        found.posts = posts
        yield found
