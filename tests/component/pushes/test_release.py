"""A held push at a real git host: the very bytes arrive, once, or nothing does."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from entrance.errors import Conflict, Forbidden, NotFound, Unavailable
from entrance.git.preview import preview
from entrance.git.release import Release, Wanted
from entrance.git.standing import Place
from entrance.git.upstream import GitHost, client_session
from entrance.ports import Moved
from entrance.session import RepoGrant
from tests.component.pushes.conftest import Held
from tests.component.pushes.packing import REF, ZERO
from tests.servers.git import FakeCredentials

RECEIVE = "/small.git/git-receive-pack"


@pytest.fixture
async def release(held: Held) -> AsyncIterator[Release]:
    async with client_session() as http:
        yield Release(GitHost(http, FakeCredentials()), held.packs)


def wanted(held: Held) -> Wanted:
    return Wanted(held.push.id, held.push.sha256, held.push.moved)


async def test_the_branch_appears_with_the_very_objects_that_were_pushed(
    held: Held, release: Release
) -> None:
    grant = held.push.repository
    assert (await release.stand(grant, held.push.moved)).place is Place.BEFORE
    sent = await release.send(grant, wanted(held))
    assert (sent.report.result, sent.report.refs, sent.trouble) == ("ok", {REF: "ok"}, "")
    assert sent.traffic.bytes_out == len(held.body)
    assert (await held.refs())[REF] == held.commit
    assert (await release.stand(grant, held.push.moved)).place is Place.AFTER
    assert held.posts.count(RECEIVE) == 1


async def test_a_branch_that_another_has_moved_is_seen_and_an_alias_too(
    held: Held, release: Release
) -> None:
    grant = held.push.repository
    await held.git.ok("-C", held.repository, "update-ref", REF, held.base)
    stand = await release.stand(grant, held.push.moved)
    assert stand.place is Place.ELSEWHERE
    assert held.base[:12] in stand.words
    await held.git.ok("-C", held.repository, "symbolic-ref", REF, "refs/heads/main")
    moved = (Moved(REF, held.base, held.commit),)
    assert "alias of main" in (await release.stand(grant, moved)).words


async def test_the_host_itself_keeps_a_second_sending_from_doing_anything(
    held: Held, release: Release
) -> None:
    grant = held.push.repository
    await release.send(grant, wanted(held))
    main = (await held.refs())["refs/heads/main"]
    await held.git.ok("-C", held.repository, "update-ref", REF, main)
    sent = await release.send(grant, wanted(held))
    assert sent.report.result == "refused"
    assert (await held.refs())[REF] == main


@pytest.mark.parametrize("place", ["command", "pack", "end"])
async def test_bytes_that_were_changed_on_the_disk_are_not_sent(
    held: Held, release: Release, place: str
) -> None:
    body = held.packs.get(held.push.id).body
    raw = bytearray(body.read_bytes())
    at = {"command": 45, "pack": len(raw) // 2, "end": len(raw) - 1}[place]
    raw[at] ^= 1
    body.write_bytes(raw)
    with pytest.raises(Conflict, match="not those that were held"):
        await release.check(wanted(held))
    with pytest.raises(Conflict, match="not those that were held"):
        await release.send(held.push.repository, wanted(held))
    assert held.posts == []


async def test_bytes_for_another_branch_than_was_allowed_are_not_sent(
    held: Held, release: Release
) -> None:
    other = replace(wanted(held), moved=(Moved("refs/heads/main", ZERO, held.commit),))
    with pytest.raises(Conflict, match="not those that were held"):
        await release.send(held.push.repository, other)
    assert held.posts == []


async def test_bytes_that_are_gone_are_said_to_be(held: Held, release: Release) -> None:
    held.packs.drop(held.push.id)
    with pytest.raises(NotFound):
        await release.check(wanted(held))
    with pytest.raises(NotFound):
        await release.send(held.push.repository, wanted(held))


async def test_a_host_that_does_not_let_us_in_or_is_away_is_said(
    held: Held, release: Release
) -> None:
    wrong = replace(held.push.repository, credential="wrong")
    with pytest.raises(Forbidden):
        await release.stand(wrong, held.push.moved)
    away = RepoGrant("away", "http://127.0.0.1:9/small.git", push=True)
    with pytest.raises(Unavailable):
        await release.stand(away, held.push.moved)
    sent = await release.send(away, wanted(held))
    assert sent.report.result == "unknown"
    assert "can't be reached" in sent.trouble


async def test_two_who_send_at_once_make_one_branch(held: Held, release: Release) -> None:
    both = await asyncio.gather(
        *(release.send(held.push.repository, wanted(held)) for _ in range(2))
    )
    assert sorted(one.report.result for one in both) == ["ok", "refused"]
    assert (await held.refs())[REF] == held.commit


async def test_what_it_would_change_is_shown_from_the_kept_objects(
    held: Held,
) -> None:
    pack = held.packs.get(held.push.id)
    index = ["index-pack", "--stdin", "--fix-thin"]
    raw = held.body[held.body.index(b"PACK") :]
    await unpacked(held, pack.objects, index, raw)
    shown = await preview(pack)
    (commit,) = shown.commits
    assert (commit.oid, commit.subject) == (held.commit, "Change .github/workflows/ci.yml")
    assert [(one.path, one.added) for one in shown.files] == [(".github/workflows/ci.yml", 1)]
    assert "+on: push" in shown.patch
    assert not shown.cut
    cut = await preview(pack, most_bytes=40)
    assert (len(cut.patch), cut.cut) == (40, True)


async def unpacked(held: Held, objects: Path, command: list[str], raw: bytes) -> None:
    """The kept objects, as git makes them of the pack."""
    process = await asyncio.create_subprocess_exec(
        "git", *command,
        env={
            "PATH": "/usr/bin:/bin",
            "GIT_DIR": str(held.repository),
            "GIT_OBJECT_DIRECTORY": str(objects),
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(held.repository / "objects"),
        },
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    await process.communicate(raw)
    assert process.returncode == 0
