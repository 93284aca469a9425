"""What comes out of the real door is vouched for: pushed by git, taken by the host, verified offline."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from entrance.attestation.refusals import Word
from entrance.attestation.statement import Push
from entrance.attestation.verify import attested
from entrance.git.proxy import GitProxy, Keeping
from entrance.git.quarantine.quarantine import INCOMING
from entrance.git.upstream import client_session
from entrance.honeytokens.watch import Watch
from entrance.ports import AcceptedPush, HeldPush
from entrance.registry import SessionRegistry
from entrance.session import RepoGrant, Session, hash_token
from orchestrator.stack.githost import GitHost, serving
from tests.fakes.alarm import HONEY, FakeAlarm
from tests.fakes.attested import SESSION
from tests.servers.attested import House, Repository, looked, refused
from tests.servers.git import (
    REAL_CREDENTIAL,
    RUN_TOKEN,
    FakeCredentials,
    Git,
    put_small_repository,
    running,
)
from tests.servers.log import lines_in, signer
from tests.waiting import until

BRANCH = "agent/DEMO-7/fix"


class Asked:
    """Implements `PushInbox`: keeps what it was asked."""

    def __init__(self) -> None:
        self.pushes: list[HeldPush] = []

    async def ask(self, push: HeldPush) -> str:
        self.pushes.append(push)
        return "wait"


@dataclass
class Door:
    """The door of an installation, and a clone through it."""

    house: House
    git: Git
    host: Path
    clone: Repository
    asked: Asked
    kept: Path
    """Where the door keeps pushes and mirrors."""
    registry: SessionRegistry
    session: Session

    async def push(self, *branches: str) -> str:
        refs = [f"HEAD:refs/heads/{name}" for name in branches or (BRANCH,)]
        return (await self.git("push", "-v", "origin", *refs, cwd=self.clone.folder)).text

    async def commit(self, *names: str, trailers: str | None = None) -> str:
        made = ""
        for name in names:
            more = {} if trailers is None else {"trailers": trailers}
            made = await asyncio.to_thread(self.clone.commit, name, **more)
        return made

    async def verified(self, commit: str) -> object:
        files = self.house.store.of_commit(commit)
        found = [
            await asyncio.to_thread(looked, file, self.clone.folder, commit, self.house.log_folder)
            for file in files
        ]
        return [refused(one) for one in found]


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Door]:
    home = tmp_path / "home"
    home.mkdir()
    put_small_repository(tmp_path / "host" / "thing.git")
    house, git = House(tmp_path / "house"), Git(home)
    async with AsyncExitStack() as stack:
        host = await stack.enter_async_context(serving(GitHost(tmp_path / "host", REAL_CREDENTIAL)))
        grant = RepoGrant("host/thing.git", f"{host}/thing.git", push=True, credential="host")
        session = replace(
            SESSION,
            address="127.0.0.1",
            token_sha256=hash_token(RUN_TOKEN),
            repositories=(grant,),
        )
        registry = SessionRegistry()
        registry.open(session)
        http = await stack.enter_async_context(client_session())
        watch = Watch(HONEY, house.log, FakeAlarm())
        asked = Asked()
        kept = tmp_path / "kept"
        keeping = Keeping(kept, asked, house.attestor())
        proxy = GitProxy(http, house.log, FakeCredentials(), watch, keeping, sessions=registry)
        address = await stack.enter_async_context(running(proxy, registry, house.log))
        clone = Repository(home / "clone")
        url = f"{address.replace('://', f'://run:{RUN_TOKEN}@')}/git/host/thing.git"
        await git.ok("clone", "-q", url, clone.folder)
        bare = tmp_path / "host" / "thing.git"
        yield Door(house, git, bare, clone, asked, kept, registry, session)
        await house.log.close()


async def test_a_pushed_commit_is_vouched_for(door: Door) -> None:
    await door.commit("one")
    tip = await door.commit("two")
    assert "new branch" in await door.push()
    assert await door.verified(tip) == [None]
    assert await door.verified(door.clone.git("rev-parse", "HEAD^")) == [None]
    assert await door.verified(door.clone.git("rev-parse", "HEAD^^")) == []


async def test_each_push_has_its_own_attestation_and_each_commit_is_in_one(door: Door) -> None:
    first = await door.commit("one")
    await door.push()
    second = await door.commit("two")
    await door.push()
    assert (await door.verified(first), await door.verified(second)) == ([None], [None])
    (file,) = door.house.store.of_commit(second)
    said = attested(file.read_bytes(), signer().trust)
    assert isinstance(said, Push)
    assert [(one.old, one.new) for one in said.refs] == [(first, second)]


async def test_a_merge_of_what_the_host_has_is_no_part_of_it(door: Door) -> None:
    git = door.clone.git
    await door.commit("mine")
    await door.push()
    git("checkout", "-q", "main")
    base = await door.commit("others", trailers="")
    await door.git.ok("push", "-q", str(door.host), "HEAD:main", cwd=door.clone.folder)
    git("checkout", "-q", "-b", "fix", "HEAD^")
    await door.commit("more")
    git("merge", "-q", "-m", "Merge main\n\n" + git("log", "-1", "--format=%(trailers)"), "main")
    await door.push("agent/DEMO-7/other")
    assert await door.verified(git("rev-parse", "HEAD")) == [None]
    assert await door.verified(base) == []


async def test_a_second_branch_at_the_same_commit_says_nothing_new_of_it(door: Door) -> None:
    tip = await door.commit("one")
    await door.push()
    await door.push("agent/DEMO-7/again")
    assert await door.verified(tip) == [None, Word.NOT_ATTESTED]


async def test_a_branch_at_anothers_commit_makes_it_nobodys_work_but_theirs(door: Door) -> None:
    """Else a run could have the installation say that what it never looked at came from there."""
    theirs = await door.commit("others", trailers="")
    await door.git.ok("push", "-q", str(door.host), "HEAD:main", cwd=door.clone.folder)
    assert "new branch" in await door.push()
    assert await door.verified(theirs) == [Word.NOT_ATTESTED]


async def test_a_refused_push_is_vouched_for_by_nobody(door: Door) -> None:
    await door.commit("one", trailers="")
    said = await door.push()
    assert "[trailers]" in said
    assert "main" in await door.push("main")
    assert door.house.store.of_commit(door.clone.git("rev-parse", "HEAD")) == []
    assert not [one for one in lines_in(door.house.log_folder) if one.get("kind") == "attestation"]


async def test_a_held_push_brings_along_what_will_be_said_of_it(door: Door) -> None:
    """Once a person has allowed it, nothing but that is missing."""
    base = door.clone.git("rev-parse", "HEAD")
    (door.clone.folder / "run.sh").write_text("echo")
    (door.clone.folder / "run.sh").chmod(0o755)
    tip = await door.commit("run.sh", "Jenkinsfile")
    assert "wait" in await door.push()
    assert await door.verified(tip) == []
    (held,) = door.asked.pushes
    assert held.onto == (base,)
    assert {one.rpartition("[")[2] for one in held.findings} == {"gate-path]", "executable-bit]"}
    pushed = AcceptedPush(
        held.session, held.repository, held.moved, held.commits, 0, "A-1", "lead",
        held.decision, held.onto, held.findings,
    )  # fmt: skip
    await door.house.attestor().accepted(await door.house.decided(pushed))
    assert await door.verified(tip) == [None]


async def test_a_push_that_only_tries_the_door_is_logged_and_nobody_vouches_for_it(
    door: Door,
) -> None:
    door.registry.open(replace(door.session, trial=True))
    await door.git.ok("fetch", "-q", "origin", cwd=door.clone.folder)
    tip = await door.commit("one")

    assert "new branch" in await door.push()

    def kept() -> list[Path]:
        return list((door.kept / INCOMING).iterdir())

    await until(lambda: not kept())  # git has its answer before all is tidy
    assert door.house.store.of_commit(tip) == []
    kinds = {str(one.get("kind")) for one in lines_in(door.house.log_folder)}
    assert "git_push" in kinds
    assert "attestation" not in kinds
