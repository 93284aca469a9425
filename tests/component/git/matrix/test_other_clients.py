"""dulwich and libgit2 clone, fetch and push as git does, and show their user why they may not."""

import os
from asyncio import to_thread

import pytest

from tests.component.git.matrix.acts import OWN, to
from tests.component.git.matrix.clients import CLIENTS, Client
from tests.component.git.matrix.conftest import CLONED
from tests.component.git.matrix.promises import Host, pushes_at_host
from tests.component.git.matrix.template import COMMITS
from tests.servers.git import Door


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, at_door: Door) -> Client:
    return CLIENTS[request.param](at_door.url(CLONED), at_door.git.home / "theirs")


async def test_it_clones_all(client: Client) -> None:
    """CASE-40."""
    await to_thread(client.clone)
    assert await to_thread(client.count) == COMMITS


async def test_it_clones_a_part(client: Client) -> None:
    """Neither takes that for a wish for one branch, as git does: others have commits of it, too."""
    await to_thread(client.clone, depth=3)
    assert 3 <= await to_thread(client.count) < COMMITS


async def test_it_fetches_what_is_new(host: Host, client: Client) -> None:
    await to_thread(client.clone)
    assert await to_thread(client.fetch) == host.refs["refs/heads/main"]
    moved = await host.moves_on()
    assert await to_thread(client.fetch) == moved


@pytest.mark.parametrize("size", [10, 3 << 20])
async def test_it_pushes_a_branch_and_then_again(at_door: Door, client: Client, size: int) -> None:
    """CASE-39, CASE-50, CASE-51."""
    await to_thread(client.clone)
    for number in range(2):
        new = await to_thread(client.commit, f"{number}.bin", os.urandom(size))
        told = await to_thread(client.push, to("theirs"))
        assert (await at_door.refs())[f"{OWN}/theirs"] == new, told
    assert pushes_at_host(at_door) == 2


async def test_it_pushes_a_branch_at_a_commit_that_the_host_has(
    at_door: Door, client: Client
) -> None:
    """CASE-54."""
    await to_thread(client.clone)
    told = await to_thread(client.push, to("at-main"))
    refs = await at_door.refs()
    assert refs[f"{OWN}/at-main"] == refs["refs/heads/main"], told


@pytest.mark.parametrize(
    ("refspec", "reason"),
    [
        pytest.param("HEAD:refs/heads/main", "only branches under agent/TASK-7/", id="main"),
        pytest.param("HEAD:refs/tags/v2", "tags may not be pushed", id="a tag"),
        pytest.param("HEAD:refs/heads/agent/TASK-8/x", "belongs to another task", id="theirs"),
        pytest.param("HEAD:refs/pull/1/head", "only branches may be pushed", id="a pull request"),
        pytest.param(f":{OWN}/earlier", "branches may not be deleted", id="a deletion"),
    ],
)
async def test_it_shows_why_a_push_was_refused(
    at_door: Door, client: Client, refspec: str, reason: str
) -> None:
    """CASE-48, CASE-52: a report with `ng`, which each client reads in its own way."""
    await to_thread(client.clone)
    if refspec.startswith("HEAD"):
        await to_thread(client.commit, "x.txt", b"x\n")

    told = await to_thread(client.push, refspec)

    assert reason in told
    assert not pushes_at_host(at_door)


async def test_it_shows_which_ref_of_several_was_at_fault(at_door: Door, client: Client) -> None:
    """CASE-43."""
    await to_thread(client.clone)
    await to_thread(client.commit, "x.txt", b"x\n")

    told = await to_thread(client.push, to("fine"), "HEAD:refs/heads/main")

    assert "only branches under" in told
    assert "another ref of this push was refused" in told
    assert not pushes_at_host(at_door)
