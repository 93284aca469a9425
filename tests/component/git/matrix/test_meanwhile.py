"""What a run may do changes while its push comes in, slowly: what holds then is what counts."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import aiohttp
import pytest

from entrance.push_policy import Mode, PushPolicy
from tests.component.git.matrix.acts import OWN
from tests.component.git.matrix.promises import left_behind, pushes_at_host
from tests.component.git.matrix.test_leaving import body
from tests.fakes.push_inbox import FakePushInbox
from tests.servers.git import RUN_TOKEN, Door
from tests.waiting import until

Act = Callable[[Door], None]
OVER = b"this run was over before its push was here"


def is_over(at_door: Door) -> None:
    at_door.registry.close(at_door.session.run)


def goes_on_with_another_token(at_door: Door) -> None:
    at_door.registry.open(replace(at_door.session, token_sha256="0" * 64))


def loses_its_grant(at_door: Door) -> None:
    at_door.registry.open(replace(at_door.session, repositories=()))


def may_only_fetch(at_door: Door) -> None:
    grants = tuple(replace(one, push=False) for one in at_door.session.repositories)
    at_door.registry.open(replace(at_door.session, repositories=grants))


def has_another_repository_by_that_name(at_door: Door) -> None:
    grants = tuple(replace(one, url=f"{one.url}/x") for one in at_door.session.repositories)
    at_door.registry.open(replace(at_door.session, repositories=grants))


def has_a_stricter_policy(at_door: Door) -> None:
    policy = PushPolicy({"trailers": Mode.DENY})
    at_door.registry.open(replace(at_door.session, push_policy=policy))


def stays_as_it_is(at_door: Door) -> None:
    at_door.registry.open(replace(at_door.session))


async def pushed(at_door: Door, act: Act) -> bytes:
    """The answer to a push in the middle of which `act` is done."""
    whole = await body(at_door)
    half = asyncio.Event()

    async def slowly() -> AsyncIterator[bytes]:
        yield whole[: len(whole) // 2]
        await half.wait()
        yield whole[len(whole) // 2 :]

    headers = {
        "Authorization": aiohttp.encode_basic_auth("run", RUN_TOKEN),
        "Content-Type": "application/x-git-receive-pack-request",
    }
    url = f"{at_door.address}/git/host/small.git/git-receive-pack"
    timeout = aiohttp.ClientTimeout(total=30)
    async with aiohttp.ClientSession(timeout=timeout) as http:
        asking = asyncio.ensure_future(_said(http, url, slowly(), headers))
        await until(lambda: bool(left_behind(at_door)), 20)
        act(at_door)
        half.set()
        return await asking


async def _said(
    http: aiohttp.ClientSession, url: str, sent: AsyncIterator[bytes], headers: dict[str, str]
) -> bytes:
    async with http.post(url, data=sent, headers=headers) as answer:
        return await answer.read()


@pytest.mark.parametrize("mode", [Mode.NOTE, Mode.HOLD])
@pytest.mark.parametrize(
    ("act", "told"),
    [
        (is_over, OVER),
        (goes_on_with_another_token, OVER),
        (loses_its_grant, b"is not granted to this run"),
        (may_only_fetch, b"for fetching, not for pushing"),
        (has_another_repository_by_that_name, b"was changed while its push came in"),
        (has_a_stricter_policy, b"was changed while its push came in"),
    ],
)
async def test_nothing_goes_on_of_a_push_that_may_no_more(
    at_door: Door,
    inbox: FakePushInbox,
    policy: Callable[..., None],
    *,
    mode: Mode,
    act: Act,
    told: bytes,
) -> None:
    policy({"trailers": mode})

    said = await pushed(at_door, act)

    assert told in said
    assert b"ng " + OWN.encode() in said
    assert not pushes_at_host(at_door)
    assert not inbox.asked
    assert at_door.audit.decisions("git_push")[-1].decision.word == "deny"


async def test_a_session_that_is_opened_again_as_it_was_is_the_same(
    at_door: Door, policy: Callable[..., None]
) -> None:
    policy({})
    at_door.session = next(iter(at_door.registry.sessions()))

    assert b"ok " + OWN.encode() in await pushed(at_door, stays_as_it_is)
