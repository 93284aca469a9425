"""The git host: who is served, what is refused, and that it leaves nothing behind."""

import asyncio
import os
import signal
import socket
import sys
from asyncio.subprocess import PIPE
from pathlib import Path

import aiohttp
import pytest

from orchestrator.stack.bare_repository import create_bare_repository
from orchestrator.stack.githost import GitHost, serving
from orchestrator.stack.steps import StepFailed
from tests.servers.git import Git


@pytest.fixture
def git(tmp_path: Path) -> Git:
    (tmp_path / "home").mkdir()
    return Git(tmp_path / "home")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "readme.txt").write_text("hello\n")
    (tmp_path / "files" / ".gitignore").write_text("*.txt\n")
    return tmp_path / "files"


def with_credential(address: str) -> str:
    return address.replace("://", "://user:pass@")


async def test_clone_and_push_with_the_credential(tmp_path: Path, files: Path, git: Git) -> None:
    create_bare_repository(files, tmp_path / "root/a/b.git", message="First")
    async with serving(GitHost(tmp_path / "root", "user:pass")) as address:
        url = f"{with_credential(address)}/a/b.git"
        await git.ok("clone", "-q", url, "clone")
        clone = git.home / "clone"
        (clone / "large.bin").write_bytes(os.urandom(3 << 20))
        await git.ok("add", "--all", cwd=clone)
        await git.ok("commit", "-qm", "Second", cwd=clone)
        await git.ok("push", "-q", "origin", "HEAD:refs/heads/x", cwd=clone)
        head = await git.ok("rev-parse", "HEAD", cwd=clone)

        assert head in await git.ok("ls-remote", url)
        assert (clone / "readme.txt").read_text() == "hello\n"


@pytest.mark.parametrize("user", ["", "user:wrong@", "user@"])
async def test_without_the_credential_nothing_is_served(
    tmp_path: Path, files: Path, git: Git, user: str
) -> None:
    create_bare_repository(files, tmp_path / "root/a.git", message="First")
    async with serving(GitHost(tmp_path / "root", "user:pass")) as address:
        said = await git("ls-remote", address.replace("://", f"://{user}") + "/a.git")
        assert said.code != 0


async def test_a_path_outside_the_root_is_not_served(tmp_path: Path, files: Path) -> None:
    create_bare_repository(files, tmp_path / "a.git", message="First")
    (tmp_path / "root").mkdir()
    async with serving(GitHost(tmp_path / "root")) as address, aiohttp.ClientSession() as http:
        for path in ("/..%2Fa.git/HEAD", "/x/..%2F..%2Fa.git/HEAD", "/nothing.git/HEAD"):
            async with http.get(f"{address}{path}") as answer:
                assert answer.status in {403, 404, 500}
                assert b"refs/heads" not in await answer.read()


async def test_a_repository_that_forbids_nothing_is_not_rewritten_and_its_hooks_stay_silent(
    tmp_path: Path, git: Git
) -> None:
    """What agents push must neither start anything here nor undo anything."""
    bare, clone = tmp_path / "root" / "own.git", git.home / "clone"
    await git.ok("init", "-q", "--bare", "-bmain", bare)
    hook = bare / "hooks" / "post-receive"
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hook-ran\n")
    hook.chmod(0o755)
    await git.ok("init", "-q", "-bmain", clone)
    async with serving(GitHost(tmp_path / "root")) as address:
        url = f"{address}/own.git"
        await git.ok("commit", "-q", "--allow-empty", "-m", "First", cwd=clone)
        await git.ok("push", "-q", url, "main", cwd=clone)
        first = await git.ok("rev-parse", "HEAD", cwd=clone)
        await git.ok("commit", "-q", "--allow-empty", "--amend", "-m", "Rewritten", cwd=clone)

        for refused in (("--force", url, "main"), (url, ":main")):
            assert (await git("push", *refused, cwd=clone)).code != 0

        assert first in await git.ok("ls-remote", url)
    assert not (tmp_path / "hook-ran").exists()


async def test_a_client_that_leaves_takes_its_git_with_it(
    tmp_path: Path, files: Path, git: Git
) -> None:
    """The fixture's warnings-as-errors would show a child that was left."""
    (files / "large.bin").write_bytes(os.urandom(8 << 20))
    create_bare_repository(files, tmp_path / "root/a.git", message="First")
    async with serving(GitHost(tmp_path / "root")) as address, aiohttp.ClientSession() as http:
        pack = await git.ok("-C", tmp_path / "root/a.git", "rev-parse", "main")
        body = f"0032want {pack}\n00000009done\n".encode()
        headers = {"Content-Type": "application/x-git-upload-pack-request"}
        url = f"{address}/a.git/git-upload-pack"
        async with http.post(url, data=body, headers=headers) as answer:
            assert answer.status == 200
            await answer.content.readany()
    async with asyncio.timeout(10):
        while _children():  # noqa: ASYNC110 - the kernel has no event for it
            await asyncio.sleep(0.02)


def _children() -> list[str]:
    tasks = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = " ".join(file.read_text() for file in tasks).split()
    names = [Path(f"/proc/{pid}/comm") for pid in pids]
    return [name for name in (file.read_text().strip() for file in names) if name == "git"]


async def test_it_runs_as_a_program_until_it_is_told_to_stop(tmp_path: Path, files: Path) -> None:
    create_bare_repository(files, tmp_path / "root/a.git", message="First")
    (tmp_path / "credential").write_text("user:pass\n")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "orchestrator.stack.githost"),
        *("--root", tmp_path / "root", "--port", str(port)),
        *("--credential-file", tmp_path / "credential"),
        cwd=Path(__file__).parents[3],
        env={"PATH": os.defpath},
        stderr=PIPE,
    )
    try:
        async with asyncio.timeout(30), aiohttp.ClientSession() as http:
            base = f"http://127.0.0.1:{port}"
            assert await _status(http, f"{base}/healthz") == 200
            assert await _status(http, f"{base}/a.git/HEAD") == 401
            assert await _status(http, f"{with_credential(base)}/a.git/HEAD") == 200
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _status(http: aiohttp.ClientSession, url: str) -> int:
    while True:
        try:
            async with http.get(url) as answer:
                return answer.status
        except aiohttp.ClientConnectorError:
            await asyncio.sleep(0.05)


def test_the_same_files_make_the_same_commit_once(tmp_path: Path, files: Path) -> None:
    first = create_bare_repository(files, tmp_path / "a.git", message="First")
    assert create_bare_repository(files, tmp_path / "b.git", message="First") == first
    (files / "more.txt").write_text("more\n")
    assert create_bare_repository(files, tmp_path / "a.git", message="First") == first


def test_a_repository_that_can_not_be_made_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(StepFailed, match="git commit failed"):
        create_bare_repository(tmp_path / "empty", tmp_path / "a.git", message="First")
    assert not (tmp_path / "a.git").exists()
