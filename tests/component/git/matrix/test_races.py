"""Pushes at the same time."""

import asyncio
import shutil
from pathlib import Path

import pytest

from entrance.git.pktline import FLUSH
from tests.component.git.matrix import acts, packs
from tests.component.git.matrix.acts import OWN, Act, to, write
from tests.component.git.matrix.conftest import CLONED
from tests.component.git.matrix.test_heads_by_hand import NONE, command
from tests.servers.git import Door, Said

AT_ONCE = 6


async def copies(at_door: Door, clone: Path) -> list[Path]:
    """The clone so many times, each with a commit of its own."""
    made = [at_door.git.home / f"copy-{number}" for number in range(AT_ONCE)]
    for number, copy in enumerate(made):
        shutil.copytree(clone, copy)
        await write(f"{number}.txt", b"%d\n" % number)(at_door, copy)
    return made


async def push_all(at_door: Door, clones: list[Path], *refspecs: str) -> list[Said]:
    return await asyncio.gather(
        *(
            at_door.git("push", "origin", refspec, cwd=clone)
            for clone, refspec in zip(clones, refspecs, strict=True)
        )
    )


@pytest.mark.parametrize(
    "before",
    [
        pytest.param(acts.nothing, id="a new branch"),
        pytest.param(acts.publish, id="a branch that is there"),
    ],
)
async def test_of_six_pushes_to_one_branch_one_wins_and_the_others_are_told(
    at_door: Door, clone: Path, before: Act
) -> None:
    await before(at_door, clone)
    clones = await copies(at_door, clone)

    said = await push_all(at_door, clones, *[to("fix")] * AT_ONCE)

    [winner] = [number for number, each in enumerate(said) if each.code == 0]
    new = await at_door.git.ok("rev-parse", "HEAD", cwd=clones[winner])
    assert (await at_door.refs())[f"{OWN}/fix"] == new
    for number, each in enumerate(said):
        if number != winner:
            assert "rejected]" in each.text
            assert "RPC failed" not in each.text
            assert "up-to-date" not in each.text


async def test_of_six_that_all_saw_the_same_one_wins_by_the_hosts_own_comparison(
    at_door: Door,
) -> None:
    main = (await at_door.refs())["refs/heads/main"]
    file = packs.blob(b"x\n")
    tree = packs.tree((b"100644", b"x.txt", file.oid))
    new = [packs.commit(tree.oid, main, message=b"%d\n" % number) for number in range(AT_ONCE)]
    bodies = [
        command(old=NONE, new=each.oid)
        + FLUSH
        + packs.pack([packs.whole(one) for one in (each, tree, file)])
        for each in new
    ]

    said = await asyncio.gather(*(at_door.post("git-receive-pack", body) for body in bodies))

    won = [each for each, (_, told) in zip(new, said, strict=True) if b"ok refs" in told]
    assert [each.oid for each in won] == [(await at_door.refs())[f"{OWN}/x"]]
    assert sum(b"ng " + OWN.encode() in told for _, told in said) == AT_ONCE - 1
    assert {status for status, _ in said} == {200}


async def test_pushes_to_branches_of_their_own_all_arrive(at_door: Door, clone: Path) -> None:
    clones = await copies(at_door, clone)

    said = await push_all(at_door, clones, *(to(f"b{number}") for number in range(AT_ONCE)))

    assert [each.code for each in said] == [0] * AT_ONCE, said
    refs = await at_door.refs()
    assert {f"{OWN}/b{number}" for number in range(AT_ONCE)} <= set(refs)


async def test_clones_and_pushes_at_once_do_not_keep_each_other(at_door: Door, clone: Path) -> None:
    clones = await copies(at_door, clone)
    fetched = [at_door.git.home / f"fetched-{number}" for number in range(AT_ONCE)]

    async with asyncio.TaskGroup() as tasks:
        for folder in fetched:
            tasks.create_task(at_door.git.ok("clone", "-q", at_door.url(CLONED), folder))
        said = await push_all(at_door, clones, *(to(f"b{number}") for number in range(AT_ONCE)))

    assert [each.code for each in said] == [0] * AT_ONCE
