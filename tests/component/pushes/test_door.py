"""The real git client pushes, is held at the door, and a person's word sends what it pushed."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from entrance.errors import Conflict
from entrance.git.held import HeldPacks
from entrance.git.proxy import HELD
from entrance.git.release import Release
from entrance.git.upstream import GitHost, client_session
from entrance.session import RunId, TaskId
from orchestrator.adapters.held_pushes import HeldPushFiles
from orchestrator.approvals.handling import Decision
from orchestrator.approvals.pushes import HeldPushes
from orchestrator.domain.approval import Approval, ApprovalState, Verb
from orchestrator.domain.run import RunState
from orchestrator.domain.team import Grants, Repository
from tests.fakes.approvals import Inbox
from tests.fakes.pushes import PushHouse, decide, releasing
from tests.fakes.run import a_run
from tests.fakes.world import ENGAGEMENT, TASK, FakeWorld
from tests.servers.git import ITEM, KEPT, Door, FakeCredentials, door

WORKFLOW = ".github/workflows/ci.yml"
BRANCH = f"agent/{ITEM}/fix"
REF = f"refs/heads/{BRANCH}"


@dataclass
class AtDoor:
    """The door, with an inbox that people decide in."""

    door: Door
    house: PushHouse
    kept: HeldPushFiles

    @property
    def items(self) -> list[Approval]:
        return list(self.house.inbox.store.items.values())

    @property
    def posts(self) -> int:
        """How often something was pushed to the host."""
        return sum(path.endswith("/git-receive-pack") for path, _ in self.door.host_saw)

    async def commit(self, path: str, text: str) -> tuple[Path, str]:
        """A clone with one commit that nobody has pushed."""
        clone = await self.door.clone()
        (clone / path).parent.mkdir(parents=True, exist_ok=True)
        return clone, await self.door.commit(clone, path, text.encode())


@pytest.fixture
async def at(tmp_path: Path) -> AsyncIterator[AtDoor]:
    house = PushHouse(Inbox(FakeWorld(tmp_path)))
    packs = HeldPacks(tmp_path / KEPT / HELD)
    kept = HeldPushFiles(packs, house.inbox.fakes.clock)
    inbox = HeldPushes(house.inbox.items, kept)
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(door(tmp_path, inbox))
        http = await stack.enter_async_context(client_session())
        house.start(Release(GitHost(http, FakeCredentials()), packs), kept)
        task, url = TaskId(f"DEMO/{ITEM}"), f"{opened.host}/small.git"
        tracker = house.inbox.fakes.tracker
        tracker.tasks[task] = replace(TASK, id=task, repository=url)
        grants = Grants(repositories=(Repository(url, credential="host"),))
        tracker.hired[ENGAGEMENT.id] = replace(ENGAGEMENT, grants=grants)
        who = {"task": task, "project": "DEMO", "engagement": ENGAGEMENT.id, "agent": "bot-rex"}
        run = a_run(**who, id=RunId("run-1"), state=RunState.RUNNING)
        await house.inbox.fakes.runs.create(run)
        yield AtDoor(opened, house, kept)


async def test_a_held_push_is_sent_once_as_it_was_pushed_when_a_person_allows_it(
    at: AtDoor,
) -> None:
    clone, commit = await at.commit(WORKFLOW, "on: push\n")
    said = await at.door.git("push", "origin", f"HEAD:{REF}", cwd=clone)
    (item,) = at.items
    assert said.code != 0
    assert item.id in said.text
    assert "nothing needs to be pushed again" in " ".join(said.text.split())
    assert (at.posts, REF in await at.door.refs()) == (0, False)
    assert WORKFLOW in " ".join(item.wanted["reasons"])
    assert item.wanted["commits"] == [commit]

    shown = await at.kept.preview(item.wanted["kept"])
    assert "+on: push" in shown.patch
    assert [one.oid for one in shown.commits] == [commit]

    done = await decide(at.house, item.id)
    assert done.item.state is ApprovalState.RELEASED
    assert (at.posts, (await at.door.refs())[REF]) == (1, commit)
    assert await at.kept.left_over() == []
    again = await at.door.git("push", "origin", f"HEAD:{REF}", cwd=clone)
    assert "Everything up-to-date" in again.text
    await at.door.git.ok("fetch", "origin", cwd=clone)


async def test_of_a_denied_push_the_host_hears_nothing_and_the_agent_is_told_why(
    at: AtDoor,
) -> None:
    clone, _ = await at.commit(WORKFLOW, "on: push\n")
    await at.door.git("push", "origin", f"HEAD:{REF}", cwd=clone)
    (item,) = at.items
    await decide(at.house, item.id, Verb.DENY, "not the workflows")
    said = await at.door.git("push", "origin", f"HEAD:{REF}", cwd=clone)
    assert "denied" in said.text
    assert "lead says: not the workflows" in " ".join(said.text.split())
    assert len(at.items) == 1
    assert (at.posts, REF in await at.door.refs()) == (0, False)
    assert list((at.door.kept / HELD).iterdir()) == []


async def test_a_branch_that_was_pushed_meanwhile_is_a_conflict_and_stays_as_it_is(
    at: AtDoor,
) -> None:
    clone, _ = await at.commit(WORKFLOW, "on: push\n")
    await at.door.git("push", "origin", f"HEAD:{REF}", cwd=clone)
    (item,) = at.items
    first = await at.door.git.ok("rev-parse", "HEAD~1", cwd=clone)
    await at.door.git.ok("push", "origin", f"{first}:{REF}", cwd=clone)
    done = await decide(at.house, item.id)
    assert done.item.state is ApprovalState.CONFLICT
    assert first[:12] in str(done.item.came["words"])
    assert (at.posts, (await at.door.refs())[REF]) == (1, first)


async def test_what_was_held_goes_forward_from_where_the_branch_is(at: AtDoor) -> None:
    clone, first = await at.commit("a.txt", "a\n")
    await at.door.git.ok("push", "origin", f"HEAD:{REF}", cwd=clone)
    (clone / ".github" / "workflows").mkdir(parents=True)
    second = await at.door.commit(clone, WORKFLOW, b"on: push\n")
    await at.door.git("push", "origin", f"HEAD:{REF}", cwd=clone)
    (item,) = at.items
    assert item.wanted["moved"] == [{"ref": REF, "old": first, "new": second}]
    await decide(at.house, item.id)
    assert (at.posts, (await at.door.refs())[REF]) == (2, second)


async def test_of_two_who_allow_it_at_once_one_does_and_the_host_sees_it_once(at: AtDoor) -> None:
    clone, commit = await at.commit(WORKFLOW, "on: push\n")
    await at.door.git("push", "origin", f"HEAD:{REF}", cwd=clone)
    (item,) = at.items
    async with releasing(at.house):
        both = await asyncio.gather(
            *(at.house.inbox.deciding.decide(item.id, Decision(Verb.ONCE)) for _ in range(2)),
            return_exceptions=True,
        )
    assert [type(one) for one in both].count(Conflict) == 1
    assert (at.posts, (await at.door.refs())[REF]) == (1, commit)


async def test_when_the_repository_is_not_granted_any_more_nothing_reaches_the_host(
    at: AtDoor,
) -> None:
    clone, _ = await at.commit(WORKFLOW, "on: push\n")
    await at.door.git("push", "origin", f"HEAD:{REF}", cwd=clone)
    (item,) = at.items
    asked = len(at.door.host_saw)
    hired = at.house.inbox.fakes.tracker.hired
    hired[ENGAGEMENT.id] = replace(hired[ENGAGEMENT.id], grants=Grants())
    done = await decide(at.house, item.id)
    assert done.item.state is ApprovalState.FAILED
    assert len(at.door.host_saw) == asked
    assert list((at.door.kept / HELD).iterdir()) == []


async def test_what_is_kept_for_nobody_is_seen_once_it_is_old(at: AtDoor) -> None:
    clone, _ = await at.commit(WORKFLOW, "on: push\n")
    await at.door.git("push", "origin", f"HEAD:{REF}", cwd=clone)
    (item,) = at.items
    assert await at.kept.left_over() == []
    os.utime(at.door.kept / HELD / item.wanted["kept"], (0, 0))
    assert await at.kept.left_over() == [item.wanted["kept"]]


async def test_a_repository_whose_objects_are_named_by_sha256_is_no_exception(at: AtDoor) -> None:
    git, bare = at.door.git, at.door.root / "demo" / "parse.git"
    seed = git.home / "seed"
    await git.ok("init", "--quiet", "-b", "main", "--object-format=sha256", seed)
    await at.door.commit(seed, "readme.txt", b"hello\n")
    await git.ok("clone", "--quiet", "--bare", seed, bare)
    await git.ok("-C", bare, "config", "http.receivepack", "true")
    url, task = f"{at.door.host}/demo/parse.git", TaskId(f"DEMO/{ITEM}")
    tracker = at.house.inbox.fakes.tracker
    tracker.tasks[task] = replace(tracker.tasks[task], repository=url)
    grants = Grants(repositories=(Repository(url, credential="host"),))
    tracker.hired[ENGAGEMENT.id] = replace(ENGAGEMENT, grants=grants)

    clone = await at.door.clone("host/parse.git")
    (clone / ".github" / "workflows").mkdir(parents=True)
    commit = await at.door.commit(clone, WORKFLOW, b"on: push\n")
    await git("push", "origin", f"HEAD:{REF}", cwd=clone)
    (item,) = at.items
    assert "+on: push" in (await at.kept.preview(item.wanted["kept"])).patch
    await decide(at.house, item.id)
    assert len(commit) == 64
    assert (await at.door.refs("demo/parse.git"))[REF] == commit
