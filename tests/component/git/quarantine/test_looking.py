"""The process that reads pushes: it dies, and the next one reads; what it can't read is not let through."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from entrance.errors import Unavailable
from entrance.git.quarantine.frames import Job
from entrance.git.quarantine.looking import Looking
from tests.component.git.test_push import OWN, push
from tests.servers.git import Door, Git


@pytest.fixture
async def looking() -> AsyncIterator[Looking]:
    opened = Looking(seconds=60)
    yield opened
    await opened.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def job(tmp_path_factory: pytest.TempPathFactory) -> Job:
    """Everything in a repository, as if it had been pushed to one that has nothing."""
    folder = tmp_path_factory.mktemp("pushed")
    git, work, bare = Git(folder), folder / "work", folder / "bare.git"
    await git.ok("init", "-q", "-bmain", work)
    await git.ok("init", "-q", "--bare", bare)
    (work / "large.bin").write_bytes(os.urandom(30 << 20))
    (work / "link").symlink_to("large.bin")
    await git.ok("add", "-A", cwd=work)
    await git.ok("commit", "-qm", "One", cwd=work)
    await git.ok("repack", "-adq", cwd=work)
    [index] = (work / ".git/objects/pack").glob("*.idx")
    new = await git.ok("rev-parse", "HEAD", cwd=work)
    return Job(
        id=0,
        repository=str(bare),
        objects=str(work / ".git/objects"),
        oid_bytes=20,
        index=str(index),
        count=4,
        moves=(("0" * 40, new, "refs/heads/x"),),
    )


async def test_all_of_a_push_is_told(looking: Looking, job: Job) -> None:
    seen = await looking.look(job)

    assert seen.trouble == ""
    assert [commit.message for commit in seen.commits] == ["One\n"]
    assert [change.path for change in seen.changes] == [b"large.bin", b"link"]
    assert sorted(one.kind for one in seen.objects) == ["blob", "blob", "commit", "tree"]
    assert list(seen.links.values()) == [b"large.bin"]
    assert (seen.stray, seen.forward) == (frozenset(), (True,))


async def test_a_push_is_read_by_the_next_looker_when_one_dies_over_it(
    looking: Looking, job: Job
) -> None:
    await looking.warm()
    first = looking.pid
    assert first is not None
    reading = asyncio.ensure_future(looking.look(job))
    await asyncio.sleep(0)
    os.kill(first, signal.SIGKILL)

    assert (await reading).trouble == ""
    assert looking.pid not in {None, first}


async def test_when_every_looker_dies_nothing_is_let_through(looking: Looking, job: Job) -> None:
    over = asyncio.Event()

    async def kill_each() -> None:
        killed: set[int] = set()
        while not over.is_set():
            if looking.pid and looking.pid not in killed:
                killed.add(looking.pid)
                with suppress(ProcessLookupError):
                    os.kill(looking.pid, signal.SIGKILL)
            await asyncio.sleep(0)

    killing = asyncio.ensure_future(kill_each())
    try:
        with pytest.raises(Unavailable, match="nothing was pushed"):
            await looking.look(job)
    finally:
        over.set()
        await killing


async def test_a_push_that_nothing_is_prepared_for_fails_alone(looking: Looking, job: Job) -> None:
    """Else whoever finds such a one keeps everybody's from being read."""
    await looking.warm()
    first = looking.pid
    odd = replace(job, repository="no\0path")

    fails, works = await asyncio.gather(looking.look(odd), looking.look(job))

    assert "can't be looked through" in fails.trouble
    assert works.trouble == ""
    assert looking.pid == first


async def test_one_that_takes_too_long_is_ended(job: Job) -> None:
    impatient = Looking(seconds=0.001)
    try:
        with pytest.raises(Unavailable):
            await impatient.look(job)
    finally:
        await impatient.close()


async def test_jobs_are_done_in_turns(looking: Looking, job: Job) -> None:
    """A small one that comes after a large one is not kept waiting for it."""
    done: list[str] = []

    async def look(name: str, wanted: Job) -> None:
        await looking.look(wanted)
        done.append(name)

    small = Job(0, job.repository, job.objects, 20, job.index, count=0, moves=job.moves[:0])
    await looking.warm()
    assert looking.pid
    os.kill(looking.pid, signal.SIGSTOP)  # it finds both when it goes on
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(look("large", job))
        tasks.create_task(look("small", small))
        await asyncio.sleep(0)  # both are in its pipe now
        os.kill(looking.pid, signal.SIGCONT)

    assert done == ["small", "large"]


async def test_a_push_after_the_looker_died_is_taken(at_door: Door) -> None:
    clone = await at_door.clone()
    for name in ("one", "two"):
        await at_door.commit(clone, content=name.encode())
        said = await push(at_door, clone, f"HEAD:{OWN}/{name}")
        assert said.code == 0, said.text
        for process in Path("/proc").glob("[0-9]*"):
            if _is_looker_of_ours(process):
                os.kill(int(process.name), signal.SIGKILL)


def _is_looker_of_ours(process: Path) -> bool:
    with suppress(OSError):
        parent = (process / "stat").read_text().rpartition(")")[2].split()[1]
        command = (process / "cmdline").read_bytes()
        return int(parent) == os.getpid() and b"entrance.git.quarantine.looker" in command
    return False
