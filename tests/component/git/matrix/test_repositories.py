"""Repositories that are not like most: empty, with SHA-256, with thousands of refs, large."""

import os
import shutil
from pathlib import Path

import pytest

from tests.component.git.matrix import acts
from tests.component.git.matrix.acts import OWN, to
from tests.component.git.matrix.conftest import CLONED
from tests.component.git.matrix.promises import Host
from tests.component.git.matrix.test_refused import UNDER, assert_refused
from tests.component.git.matrix.test_refused import Row as Refused
from tests.component.git.matrix.test_taken import Row, assert_taken
from tests.component.git.matrix.ways import PROTOCOLS
from tests.servers.git import Door

MANY = 2_500


async def give_up(host: Host) -> Path:
    """Where the host's repository was, and another is to be."""
    small = host.at_door.root / host.repository
    shutil.rmtree(small)
    return small


async def is_there(host: Host, small: Path) -> None:
    for name, value in (("http.receivepack", "true"), ("uploadpack.allowFilter", "true")):
        await host.at_door.git.ok("-C", small, "config", name, value)
    host.refs = await host.at_door.refs()


async def make_many_refs(host: Host) -> None:
    """Each at a commit of its own, so that a client must ask for each."""
    tree = await host.git("rev-parse", "main^{tree}")
    stream = host.at_door.git.home / "stream"
    stream.write_text(
        "".join(
            f"commit refs/heads/many/{number:04}\ncommitter agent <agent@localhost> "
            f"{1_700_000_000 + number} +0000\ndata 1\nxM 040000 {tree} \n"
            for number in range(MANY)
        )
    )
    await host.git("-c", f"alias.import=!git fast-import --quiet <{stream}", "import")


@pytest.mark.parametrize("way", ["in protocol v0", "in protocol v2"])
async def test_thousands_of_refs_are_cloned_and_pushed_to(
    at_door: Door, host: Host, way: str
) -> None:
    """CASE-34, CASE-35, CASE-36: what is wanted is packed by git, and sent after a probe."""
    await make_many_refs(host)
    target = at_door.git.home / "many"

    small = ("-c", "http.postBuffer=100000")
    await at_door.git.ok(*PROTOCOLS[way], *small, "clone", "-q", at_door.url(CLONED), target)

    listed = await at_door.git.ok("branch", "--remotes", cwd=target)
    assert listed.count("origin/many/") == MANY
    await at_door.commit(target)
    await assert_taken(at_door, target, Row("one more", acts.nothing), PROTOCOLS[way])


@pytest.mark.parametrize("way", PROTOCOLS)
async def test_an_empty_repository_is_cloned_and_takes_a_first_branch_that_is_no_main(
    at_door: Door, host: Host, way: str
) -> None:
    small, target = await give_up(host), at_door.git.home / "empty"
    await at_door.git.ok("init", "-q", "--bare", "-bmain", small)
    await is_there(host, small)

    await at_door.git.ok(*PROTOCOLS[way], "clone", "-q", at_door.url(CLONED), target)
    await at_door.commit(target)
    await assert_refused(at_door, target, Refused("", ("HEAD:main",), (UNDER,)), PROTOCOLS[way])
    await assert_taken(at_door, target, Row("first", acts.nothing), PROTOCOLS[way])
    await at_door.commit(target, "second.txt")
    await assert_taken(at_door, target, Row("second", acts.nothing), PROTOCOLS[way])


@pytest.mark.parametrize("way", PROTOCOLS)
async def test_a_repository_with_sha256_is_cloned_and_pushed_to(
    at_door: Door, host: Host, way: str
) -> None:
    small = await give_up(host)
    seed, target = at_door.git.home / "seed", at_door.git.home / "sha256"
    await at_door.git.ok("init", "-q", "--object-format=sha256", "-bmain", seed)
    await at_door.commit(seed, "long.txt", b"".join(b"line %d \n" % line for line in range(2000)))
    await at_door.git.ok("clone", "-q", "--bare", seed, small)
    await is_there(host, small)

    await at_door.git.ok(*PROTOCOLS[way], "clone", "-q", at_door.url(CLONED), target)
    await acts.change_a_long_file(at_door, target)
    await assert_taken(at_door, target, Row("first", acts.nothing), PROTOCOLS[way])
    await acts.make_deltas_in_the_pack(at_door, target)
    await assert_taken(at_door, target, Row("second", acts.nothing), PROTOCOLS[way])
    await assert_refused(at_door, target, Refused("", ("HEAD:main",), (UNDER,)), PROTOCOLS[way])
    await acts.amend(at_door, target)
    force = ("--force", to("fix"))
    await assert_refused(at_door, target, Refused("", force, ("others may have seen",)), ())


async def test_a_host_that_hides_refs_is_served_as_it_is(at_door: Door, host: Host) -> None:
    """Such as pull requests of people: hidden they are by the host, not by the door."""
    await host.git("update-ref", "refs/pull/1/head", "main~2")
    await host.git("config", "transfer.hideRefs", "refs/pull")
    assert "refs/pull" not in await at_door.git.ok("ls-remote", at_door.url(CLONED))


async def test_a_branch_at_work_of_people_that_only_a_pull_request_has_is_a_new_one(
    at_door: Door, host: Host, clone: Path
) -> None:
    """The door's copy has branches and tags; what else the host has is looked at as new."""
    tree = await host.git("rev-parse", "main^{tree}")
    theirs = await host.git("commit-tree", "-p", "main", "-m", "Theirs", tree)
    await host.git("update-ref", "refs/pull/1/head", theirs)
    await at_door.git.ok("fetch", "-q", "origin", "refs/pull/1/head:pulled", cwd=clone)

    await assert_taken(
        at_door, clone, Row("", acts.nothing, (to("fix", "pulled"),), (("fix", "pulled"),)), ()
    )


async def test_a_push_of_much_is_taken_whole(at_door: Door, clone: Path) -> None:
    """CASE-49, CASE-51."""
    for number in range(300):
        (clone / f"{number}.bin").write_bytes(os.urandom(20_000))
    await at_door.commit(clone)
    await assert_taken(at_door, clone, Row("much", acts.nothing), ())
    assert f"{OWN}/fix" in await at_door.refs()
