"""Tokens of a GitHub App: narrow, kept for a run, renewed, revoked."""

import asyncio
import base64
from dataclasses import replace
from datetime import timedelta

import pytest

from entrance.errors import Forbidden, Malformed, Unavailable
from entrance.session import RepoGrant, RunId
from tests.component.githosts.conftest import FULL_NAME, Opened
from tests.servers.githosts.github import Token
from tests.servers.githosts.serving import Trouble, said


async def shown(opened: Opened, grant: RepoGrant | None = None) -> str:
    """The token that a request of git carries."""
    headers = await opened.repositories.headers_for(grant or opened.grant, "GET")
    pair = base64.b64decode(headers["authorization"].removeprefix("Basic ")).decode()
    user, _, token = pair.partition(":")
    assert user == "x-access-token"
    return token


async def test_a_token_is_for_one_repository_and_may_do_the_least(opened: Opened) -> None:
    token = await shown(opened)
    made = opened.host.tokens[token]
    assert made.repositories == frozenset({FULL_NAME})
    assert made.permissions == {"contents": "write", "metadata": "read"}
    reading = await shown(opened, replace(opened.grant, push=False))
    assert opened.host.tokens[reading].permissions == {"contents": "read", "metadata": "read"}
    url = f"{opened.grant.api}/repos/{FULL_NAME}/pulls"
    headers = await opened.repositories.headers_for_api(opened.grant, "GET", url)
    proposing = opened.host.tokens[headers["authorization"].removeprefix("Bearer ")]
    assert proposing.permissions == {"pull_requests": "write", "metadata": "read"}


async def test_what_a_person_let_through_may_change_workflows_where_the_app_may(
    opened: Opened,
) -> None:
    released = replace(opened.grant, released=True, run=RunId("push-1"))
    without = opened.host.tokens[await shown(opened, released)]
    assert without.permissions == {"contents": "write", "metadata": "read"}
    opened.host.grants = {**opened.host.grants, "workflows": "write"}
    again = replace(released, run=RunId("push-2"))
    having = opened.host.tokens[await shown(opened, again)]
    assert having.permissions == {"contents": "write", "workflows": "write", "metadata": "read"}
    agents_own = opened.host.tokens[await shown(opened)]
    assert "workflows" not in agents_own.permissions


async def test_one_is_made_a_run_and_repository_however_many_ask_at_once(opened: Opened) -> None:
    tokens = await asyncio.gather(*(shown(opened) for _ in range(8)))
    assert len(set(tokens)) == 1
    assert opened.host.methods("access_tokens") == ["POST"]
    other = await shown(opened, replace(opened.grant, run=RunId("run-2")))
    assert other not in tokens


async def test_a_token_that_is_about_to_end_is_renewed_in_the_middle_of_a_run(
    opened: Opened,
) -> None:
    first = await shown(opened)
    opened.seconds.at += 49 * 60
    assert await shown(opened) == first
    opened.seconds.at += 2 * 60
    opened.host.now += timedelta(minutes=51)
    assert await shown(opened) != first


async def test_how_long_it_lasts_is_read_from_the_hosts_own_clock(opened: Opened) -> None:
    opened.host.now += timedelta(seconds=500)  # ours is behind, but by less than the JWT bears
    ours = opened.host.now - timedelta(seconds=500)
    opened.vault._now = lambda: ours + timedelta(seconds=30)
    first = await shown(opened)
    opened.seconds.at += 49 * 60
    assert await shown(opened) == first


async def test_the_end_of_a_run_revokes_its_tokens_and_no_others(opened: Opened) -> None:
    own, others = await shown(opened), await shown(opened, replace(opened.grant, run=RunId("b")))
    await opened.tokens.revoke(opened.grant.run)
    assert opened.host.revoked == [own]
    assert others in opened.host.tokens
    await opened.tokens.revoke(opened.grant.run)
    assert opened.host.revoked == [own]
    assert await shown(opened) != own


async def test_a_host_that_cannot_be_told_does_not_keep_a_run_from_ending(opened: Opened) -> None:
    token = await shown(opened)
    opened.host.troubles.append(Trouble(lambda r: r.method == "DELETE", lambda: said(500)))
    await opened.tokens.revoke(opened.grant.run)
    assert token in opened.host.tokens
    assert await shown(opened) != token


async def test_an_app_that_is_not_installed_or_may_not_is_for_a_person(opened: Opened) -> None:
    opened.host.installations.clear()
    with pytest.raises(Forbidden, match="404"):
        await shown(opened)
    opened.host.installations[FULL_NAME] = 77
    opened.host.grants = {"metadata": "read"}
    with pytest.raises(Forbidden, match="not granted to this installation"):
        await shown(opened)


@pytest.mark.parametrize("more", ["widen", "everywhere"])
async def test_a_token_for_more_than_was_asked_is_not_used(opened: Opened, more: str) -> None:
    setattr(opened.host, more, True)
    with pytest.raises(Malformed, match="more than was asked"):
        await shown(opened, replace(opened.grant, push=False))


async def test_the_apps_key_and_its_tokens_go_only_where_the_key_is_for(opened: Opened) -> None:
    for grant in (
        replace(opened.grant, url="https://evil.example/team/thing.git"),
        replace(opened.grant, api="https://evil.example/api/v3", run=RunId("x")),
    ):
        with pytest.raises(Forbidden, match="not for"):
            await shown(opened, grant)
    url = f"{opened.grant.api}/repos/{FULL_NAME}/pulls/1/merge"
    with pytest.raises(Forbidden, match="not for the path"):
        await opened.repositories.headers_for_api(opened.grant, "POST", url)


async def test_a_key_that_was_taken_back_opens_nothing_though_a_token_is_left(
    opened: Opened,
) -> None:
    await shown(opened)
    await opened.vault.delete("app")
    with pytest.raises(Forbidden, match="no secret"):
        await shown(opened)


async def test_a_clock_that_is_wrong_is_told_in_the_hosts_words(opened: Opened) -> None:
    ahead = opened.host.now + timedelta(hours=1)
    opened.vault._now = lambda: ahead
    with pytest.raises(Forbidden, match="too far in the future"):
        await shown(opened)


async def test_a_busy_host_says_how_long_it_wants_to_be_left_alone(opened: Opened) -> None:
    opened.host.troubles.append(
        Trouble(
            lambda r: "access_tokens" in r.path,
            lambda: said(
                403,
                {"x-ratelimit-remaining": "0", "Retry-After": "42"},
                message="You have exceeded a secondary rate limit.",
            ),
        )
    )
    with pytest.raises(Unavailable) as busy:
        await shown(opened)
    assert busy.value.retry_after_s == 42
    assert await shown(opened)


async def test_neither_key_nor_token_is_in_an_error_or_a_repr(opened: Opened) -> None:
    token = await shown(opened)
    for thing in (opened.tokens, opened.repositories, opened.vault, opened.grant):
        assert token not in repr(thing)
    echo = Trouble(
        lambda r: r.method == "DELETE",
        lambda: said(400, message=f"no such token: {token}"),
    )
    opened.host.troubles.append(echo)
    opened.host.tokens["other"] = Token({}, None)
    await opened.tokens.revoke(opened.grant.run)
    assert not echo.times
