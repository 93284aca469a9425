"""Every kind of fetch that git knows, in every protocol version, through the door."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.component.git.matrix.promises import Host
from tests.component.git.matrix.template import COMMITS, EARLIER, EPOCH, THEIRS
from tests.component.git.matrix.ways import PROTOCOLS, Options
from tests.servers.git import ITEM, Door, Git

Fetch = Callable[[Host, "Client"], Awaitable[None]]


class Client:
    """git, set in one way, with a folder to clone to."""

    def __init__(self, git: Git, options: Options, url: str) -> None:
        self._git, self._options, self.url = git, options, url
        self.folder = git.home / "fetched"

    async def __call__(self, *arguments: str | Path, there: bool = True) -> str:
        """What it prints; `there`: it runs in the clone. Fails the test when it fails."""
        cwd = self.folder if there else None
        return await self._git.ok(*self._options, *arguments, cwd=cwd)

    async def clone(self, *arguments: str) -> None:
        await self("clone", "--quiet", *arguments, self.url, self.folder, there=False)

    async def count(self, *revisions: str) -> int:
        return int(await self("rev-list", "--count", *(revisions or ("HEAD",))))

    async def missing(self) -> int:
        """How many objects it was not given."""
        listed = await self("rev-list", "--objects", "--all", "--missing=print")
        return sum(line.startswith("?") for line in listed.splitlines())


async def a_whole_clone(_: Host, client: Client) -> None:
    await client.clone()
    assert await client.count() == COMMITS
    await client("fsck", "--strict")


async def a_bare_clone(_: Host, client: Client) -> None:
    await client.clone("--bare")
    assert await client.count() == COMMITS


async def a_mirror(host: Host, client: Client) -> None:
    await client.clone("--mirror")
    mine = await client("for-each-ref", "--format=%(refname) %(objectname)")
    assert dict(line.split(" ") for line in mine.splitlines()) == host.refs


async def a_clone_of_one_branch(_: Host, client: Client) -> None:
    await client.clone("--single-branch", "--branch", f"agent/{ITEM}/earlier")
    assert await client.count() == 10
    assert "theirs" not in await client("branch", "--remotes")


async def a_clone_of_one_tag(_: Host, client: Client) -> None:
    await client.clone("--branch", "v1")
    assert await client.count() == 6


async def a_clone_without_tags(_: Host, client: Client) -> None:
    await client.clone("--no-tags")
    assert not await client("tag")


async def a_shallow_clone(_: Host, client: Client) -> None:
    await client.clone("--depth", "3")
    assert await client.count() == 3


async def a_shallow_clone_that_is_deepened(_: Host, client: Client) -> None:
    await client.clone("--depth", "2")
    await client("fetch", "--quiet", "--deepen", "4")
    assert await client.count() == 6


async def a_shallow_clone_that_is_made_whole(_: Host, client: Client) -> None:
    await client.clone("--depth", "1")
    await client("fetch", "--quiet", "--unshallow")
    assert await client.count() == COMMITS
    await client("fsck", "--strict")


async def a_clone_since_a_date(_: Host, client: Client) -> None:
    await client.clone(f"--shallow-since={EPOCH + 9 * 3600}")
    assert await client.count() == 4


async def a_clone_without_what_a_tag_has(_: Host, client: Client) -> None:
    await client.clone("--shallow-exclude=v1")
    assert await client.count() == 6


async def a_shallow_clone_that_follows_the_host(host: Host, client: Client) -> None:
    await client.clone("--depth", "1")
    moved = await host.moves_on()
    await client("fetch", "--quiet", "--depth", "1")
    assert await client("rev-parse", "origin/main") == moved


async def a_clone_without_files_that_fetches_one_when_it_is_wanted(_: Host, client: Client) -> None:
    await client.clone("--filter=blob:none")
    missing = await client.missing()
    assert missing > 0
    assert await client("show", f"main~{COMMITS - 1}:folder/1.txt") == "1"
    await client("checkout", "--quiet", "main~4")
    assert await client.missing() < missing


async def a_clone_without_trees_that_fetches_them_when_they_are_wanted(
    _: Host, client: Client
) -> None:
    await client.clone("--filter=tree:0", "--no-checkout")
    assert await client("show", "main~6:folder/3.txt") == "3"


async def a_clone_without_large_files(_: Host, client: Client) -> None:
    await client.clone("--filter=blob:limit=1k", "--no-checkout")
    assert await client.missing() == COMMITS
    await client("checkout", "--quiet", "main")
    assert (client.folder / "long.txt").exists()


async def a_fetch_of_what_is_new(host: Host, client: Client) -> None:
    await client.clone()
    moved = await host.moves_on()
    await client("pull", "--quiet", "--rebase")
    assert await client("rev-parse", "HEAD") == moved


async def a_fetch_of_nothing_new(_: Host, client: Client) -> None:
    await client.clone()
    assert not await client("fetch")


async def a_fetch_that_prunes(host: Host, client: Client) -> None:
    await client.clone("--mirror")
    await client("update-ref", "refs/heads/gone", "HEAD")
    await client("fetch", "--quiet", "--prune")
    assert "refs/heads/gone" not in await client("for-each-ref")
    assert THEIRS in host.refs


async def a_fetch_of_one_branch_by_its_whole_name(_: Host, client: Client) -> None:
    await client("init", "--quiet", client.folder, there=False)
    await client("fetch", "--quiet", client.url, f"+{EARLIER}:refs/heads/mine")
    assert await client.count("mine") == 10


async def a_fetch_of_what_a_ref_has_by_its_id(host: Host, client: Client) -> None:
    await client("init", "--quiet", client.folder, there=False)
    oid = host.refs[EARLIER]
    await client("fetch", "--quiet", client.url, f"{oid}:refs/heads/mine")
    assert await client("rev-parse", "mine") == oid


async def a_fetch_after_much_work_of_ones_own(host: Host, client: Client) -> None:
    """So many commits that git packs what it says it has."""
    await client.clone()
    parent = await client("rev-parse", "HEAD")
    for _ in range(40):
        parent = await client("commit-tree", "-p", parent, "-m", "mine", "HEAD^{tree}")
    await client("update-ref", "refs/heads/mine", parent)
    moved = await host.moves_on()
    await client("fetch", "--quiet")
    assert await client("rev-parse", "origin/main") == moved
    assert "gzip" not in {headers.get("Content-Encoding") for _, headers in host.at_door.host_saw}


async def a_list_of_the_refs(host: Host, client: Client) -> None:
    listed = await client("ls-remote", client.url, there=False)
    assert host.refs["refs/heads/main"] in listed
    assert "refs/tags/v1^{}" in listed


async def a_list_of_the_refs_with_what_head_is(_: Host, client: Client) -> None:
    assert "ref: refs/heads/main\tHEAD" in await client(
        "ls-remote", "--symref", client.url, "HEAD", there=False
    )


async def a_fetch_of_everything_again(_: Host, client: Client) -> None:
    await client.clone("--filter=blob:none")
    await client("fetch", "--quiet", "--refetch", "--no-filter")
    assert await client.missing() == 0


FETCHES = (
    a_whole_clone,
    a_bare_clone,
    a_mirror,
    a_clone_of_one_branch,
    a_clone_of_one_tag,
    a_clone_without_tags,
    a_shallow_clone,
    a_shallow_clone_that_is_deepened,
    a_shallow_clone_that_is_made_whole,
    a_clone_since_a_date,
    a_clone_without_what_a_tag_has,
    a_shallow_clone_that_follows_the_host,
    a_clone_without_files_that_fetches_one_when_it_is_wanted,
    a_clone_without_trees_that_fetches_them_when_they_are_wanted,
    a_clone_without_large_files,
    a_fetch_of_what_is_new,
    a_fetch_of_nothing_new,
    a_fetch_that_prunes,
    a_fetch_of_one_branch_by_its_whole_name,
    a_fetch_of_what_a_ref_has_by_its_id,
    a_fetch_after_much_work_of_ones_own,
    a_list_of_the_refs,
    a_list_of_the_refs_with_what_head_is,
    a_fetch_of_everything_again,
)


@pytest.fixture
def repository() -> str:
    """One that may not be pushed to: for such the door makes nothing ready for pushes."""
    return "read.git"


@pytest.mark.parametrize(
    ("fetch", "way"),
    [
        pytest.param(fetch, way, id=f"{fetch.__name__} {way}")
        for number, fetch in enumerate(FETCHES)
        for way in PROTOCOLS
        if way != "in protocol v1" or number % 3 == 0  # but for a word it is v0
    ],
)
async def test_through_the_door_works(at_door: Door, host: Host, fetch: Fetch, way: str) -> None:
    """CASE-36, CASE-40."""
    client = Client(at_door.git, PROTOCOLS[way], at_door.url(f"host/{host.repository}"))

    await fetch(host, client)

    decisions = at_door.audit.decisions("git_fetch")
    assert {each.decision.word for each in decisions} == {"allow"}
    results = {outcome.result for each in decisions if (outcome := at_door.audit.outcome_of(each))}
    assert results == {"ok"}
