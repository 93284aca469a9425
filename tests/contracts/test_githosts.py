"""What every `orchestrator.ports.GitHosts` promises: the fake, and each host's own API."""

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace

import pytest

from entrance.session import RepoGrant, RunId
from orchestrator.ports import GitHosts, Proposal
from tests.fakes.githosts import FakeGitHosts
from tests.servers.githosts.places import PLACES, WANTED, Place, a_place

GRANT = RepoGrant("h/team/thing.git", "https://h/team/thing.git", push=True, pull_requests=True)


@dataclass(frozen=True, slots=True)
class Hosted:
    """A host under test, and what is open there: title and body."""

    hosts: GitHosts
    grant: RepoGrant
    open: Callable[[], list[tuple[str, str]]]


@pytest.fixture(params=["fake", *PLACES])
async def hosted(request: pytest.FixtureRequest) -> AsyncIterator[Hosted]:
    if request.param == "fake":
        fake = FakeGitHosts()
        yield Hosted(fake, GRANT, lambda: [(p.title, p.body) for p in fake.open.values()])
        return
    async with a_place(request.param) as place:
        yield Hosted(place.hosts, place.grant, lambda: _open(place))


def _open(place: Place) -> list[tuple[str, str]]:
    return [(pull.title, pull.body) for pull in place.repo.pulls if pull.state == "open"]


async def test_a_pull_request_is_opened_and_people_can_see_it(hosted: Hosted) -> None:
    assert await hosted.hosts.why_not(hosted.grant) == ""
    made = await hosted.hosts.propose(hosted.grant, WANTED)
    assert made.number == 1
    assert made.url.startswith("https://")
    assert hosted.open() == [(WANTED.title, WANTED.body)]


async def test_done_twice_there_is_one_with_the_first_title_and_the_last_body(
    hosted: Hosted,
) -> None:
    first = await hosted.hosts.propose(hosted.grant, WANTED)
    again = await hosted.hosts.propose(
        hosted.grant, replace(WANTED, title="Another", body="What came later.")
    )
    assert again == first
    assert hosted.open() == [(WANTED.title, "What came later.")]


async def test_another_branch_is_another_one(hosted: Hosted) -> None:
    await hosted.hosts.propose(hosted.grant, WANTED)
    other = Proposal("b1", "main", "Other", "Words.")
    assert (await hosted.hosts.propose(hosted.grant, other)).number == 2
    assert len(hosted.open()) == 2


async def test_a_run_without_credentials_of_its_own_is_forgotten_all_the_same(
    hosted: Hosted,
) -> None:
    for _ in range(2):
        await hosted.hosts.forget(RunId("a-run-that-made-none"))
    await hosted.hosts.propose(hosted.grant, WANTED)
    await hosted.hosts.forget(hosted.grant.run)
    assert (await hosted.hosts.propose(hosted.grant, WANTED)).number == 1
