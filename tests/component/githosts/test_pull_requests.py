"""Pull requests at stand-ins of the hosts: the same promises, whichever it is."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace

import aiohttp
import pytest

from entrance.errors import Forbidden, Malformed, NotFound, SandgateError, Unavailable
from entrance.session import RepoGrant
from entrance.vault.repositories import VaultRepositories
from entrance.vault.seal import Keyring
from entrance.vault.vault import Vault
from orchestrator.adapters.githosts.hosts import RestGitHosts
from tests.fakes.secrets import FakeSecretStore
from tests.servers.githosts.gitlab import GitLab, gitlab
from tests.servers.githosts.places import BRANCH, PLACES, TOKEN, WANTED, Place, a_place
from tests.servers.githosts.serving import Repo, Trouble, said


@pytest.fixture(params=PLACES)
async def place(request: pytest.FixtureRequest) -> AsyncIterator[Place]:
    async with a_place(request.param) as place:
        yield place


async def test_one_is_opened_from_the_branch_into_the_base(place: Place) -> None:
    made = await place.hosts.propose(place.grant, WANTED)
    (pull,) = place.repo.pulls
    assert (pull.head, pull.base) == (BRANCH, "main")
    assert (pull.title, pull.body) == (WANTED.title, WANTED.body)
    assert made.number == pull.number
    assert made.url.startswith("https://")
    assert made.url.endswith("/1")


async def test_done_again_it_is_the_same_one_with_the_new_body_and_a_persons_title(
    place: Place,
) -> None:
    first = await place.hosts.propose(place.grant, WANTED)
    place.repo.pulls[0].title = "As a person called it"
    again = await place.hosts.propose(place.grant, replace(WANTED, body="New words.", title="x"))
    assert again == first
    (pull,) = place.repo.pulls
    assert (pull.title, pull.body) == ("As a person called it", "New words.")


async def test_the_same_body_is_not_sent_again(place: Place) -> None:
    await place.hosts.propose(place.grant, WANTED)
    place.repo.pulls[0].body = WANTED.body.replace("\n", "\r\n")
    await place.hosts.propose(place.grant, WANTED)
    assert not {"PATCH", "PUT"} & {one.method for one in place.host.came}


async def test_one_whose_answer_was_lost_is_found_and_not_doubled(place: Place) -> None:
    lost = Trouble(
        lambda r: r.method == "POST" and "access_tokens" not in r.path,
        lambda: said(502),
        after=True,
    )
    place.host.troubles.append(lost)
    with pytest.raises(Unavailable):
        await place.hosts.propose(place.grant, WANTED)
    await place.hosts.propose(place.grant, WANTED)
    assert len(place.repo.pulls) == 1


async def test_two_at_the_same_time_are_one(place: Place) -> None:
    both = await asyncio.gather(*(place.hosts.propose(place.grant, WANTED) for _ in range(4)))
    assert len(set(both)) == 1
    assert len(place.repo.pulls) == 1


async def test_one_that_was_closed_or_goes_elsewhere_is_another(place: Place) -> None:
    place.repo.add(BRANCH, "next", "t", "b")
    place.repo.add(BRANCH, "main", "t", "b").state = "closed"
    made = await place.hosts.propose(place.grant, WANTED)
    assert made.number == 3


async def test_one_is_found_behind_a_hundred_others(place: Place) -> None:
    first = await place.hosts.propose(place.grant, WANTED)
    for number in range(120):
        place.repo.add(f"b{number}", "main", "t", "b")
    assert await place.hosts.propose(place.grant, WANTED) == first
    assert len(place.repo.pulls) == 121


async def test_a_credential_that_may_not_is_for_a_person(place: Place) -> None:
    poor = replace(place.grant, credential="poor")
    assert await place.hosts.why_not(poor) == ""
    with pytest.raises(Forbidden, match="credential"):
        await place.hosts.propose(poor, WANTED)
    assert not place.repo.pulls


async def test_a_repository_that_the_credential_does_not_see_is_not_found(place: Place) -> None:
    other = replace(place.grant, full_name="team/other")
    with pytest.raises((NotFound, Forbidden)):
        await place.hosts.propose(other, WANTED)


async def test_a_branch_that_is_not_there_is_told_in_the_hosts_words(place: Place) -> None:
    with pytest.raises((Malformed, NotFound), match="answered 4"):
        await place.hosts.propose(place.grant, replace(WANTED, branch="agent/DEMO-7/gone"))


@pytest.mark.parametrize(
    ("status", "headers", "kind", "wait"),
    [
        (429, {"Retry-After": "17"}, Unavailable, 17),
        (503, {}, Unavailable, None),
        (401, {}, Forbidden, None),
        (301, {"Location": "https://evil.example/"}, Malformed, None),
        (200, {}, Malformed, None),
    ],
)
async def test_what_a_host_answers_is_one_of_the_kinds_of_errors(
    place: Place,
    status: int,
    headers: dict[str, str],
    kind: type[SandgateError],
    wait: float | None,
) -> None:
    place.host.troubles.append(
        Trouble(lambda r: "ulls" in r.path or "merge" in r.path, lambda: said(status, headers), 9)
    )
    with pytest.raises(kind) as caught:
        await place.hosts.propose(place.grant, WANTED)
    assert getattr(caught.value, "retry_after_s", None) == wait
    assert TOKEN not in str(caught.value)


async def test_why_there_can_be_none_is_a_sentence(place: Place) -> None:
    hosts, grant = place.hosts, place.grant
    assert await hosts.why_not(grant) == ""
    reasons = {
        "wants no pull requests": replace(grant, pull_requests=False),
        "plain git host": replace(grant, host="plain", api=""),
        "no credential": replace(grant, credential=None),
        "not for the path": replace(grant, credential="git-only"),
        "no secret 'gone'": replace(grant, credential="gone"),
    }
    for words, changed in reasons.items():
        assert words in await hosts.why_not(changed)
    assert not place.host.came


async def test_every_request_carries_the_credential_and_nothing_goes_past_the_paths_of_its_kind(
    place: Place,
) -> None:
    await place.hosts.propose(place.grant, WANTED)
    assert all(one.authorization.startswith("Bearer ") for one in place.host.came)
    for method, path in (
        ("PUT", "repos/team/thing/pulls/1/merge"),
        ("PUT", "projects/100/merge_requests/1/merge"),
        ("DELETE", "repos/team/thing"),
        ("POST", "repos/team/thing/hooks"),
        ("GET", "user"),
    ):
        with pytest.raises(Forbidden):
            await place.hosts.credentials.headers_for_api(
                place.grant, method, f"{place.grant.api}/{path}"
            )


async def test_a_host_that_cannot_be_reached_is_tried_again_later(place: Place) -> None:
    await place.vault.put("down", TOKEN, ["http://127.0.0.1:9"], "gitea")
    down = replace(place.grant, credential="down", host="gitea", api="http://127.0.0.1:9/api/v1")
    with pytest.raises(Unavailable, match="can't be reached"):
        await place.hosts.propose(down, WANTED)


async def test_a_gitlab_project_is_found_behind_others_of_its_name() -> None:
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(aiohttp.ClientSession(trust_env=False))
        lab = GitLab(repos={"group/sub/thing": Repo({"main", BRANCH})}, others=70)
        lab.member(TOKEN, "group/sub/thing")
        base = await stack.enter_async_context(gitlab(lab))
        vault = Vault(FakeSecretStore(), Keyring("k", {"k": b"k" * 32}))
        await vault.put("host", TOKEN, [lab.base], "gitlab")
        grant = RepoGrant("n", "u", credential="host", host="gitlab", api=base)
        grant = replace(grant, full_name="group/sub/thing", pull_requests=True)
        hosts = RestGitHosts(http, VaultRepositories(vault))
        assert (await hosts.propose(grant, WANTED)).number == 1
