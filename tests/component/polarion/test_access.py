"""An agent asks for a place on the internet: what it is told, and what people get to see."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.approvals.items import MOST_A_RUN
from orchestrator.domain.approval import ApprovalState, Verb, Verdict
from orchestrator.domain.kinds import decided
from tests.component.polarion.office import Office, an_office
from tests.servers.polarion import PolarionServer

URL = "https://docs.example/x?y=1"


@pytest.fixture
async def office(strict_server: PolarionServer, tmp_path: Path) -> AsyncIterator[Office]:
    async with an_office(strict_server, tmp_path) as office:
        yield office


async def test_it_is_told_at_once_that_a_person_decides_and_the_task_says_so(
    office: Office,
) -> None:
    result = await office.call("request_access", url=URL, why="the manual is <there>")
    (item,) = office.inbox.items.values()
    assert not result.is_error
    assert item.id in result.text
    assert "A person has been asked" in result.text
    assert result.touched == (office.task,)
    assert (item.title, item.run, item.state) == (f"GET {URL}", office.run, ApprovalState.WAITING)
    ((author, title, text),) = await office.said()
    assert author != office.rex
    assert item.id in title
    assert URL in text
    assert "the manual is <there>" in text


async def test_asking_again_tells_what_was_decided(office: Office) -> None:
    await office.call("request_access", host="docs.example", why="x")
    (item,) = office.inbox.items.values()
    verdict = Verdict(Verb.DENY, "lead", office.world.clock.now(), "use the copy in the repository")
    await office.inbox.replace(decided(item, verdict))
    result = await office.call("request_access", host="docs.example", why="please")
    assert "denied" in result.text
    assert "lead says: use the copy in the repository" in result.text
    assert len(office.inbox.items) == 1


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"why": "x"}, "say one of url, host"),
        ({"url": "https://10.0.0.1/", "why": "x"}, "address"),
        ({"url": "ftp://docs.example/", "why": "x"}, "http"),
        ({"host": "docs.example"}, "why is missing"),
    ],
)
async def test_what_can_not_be_asked_for_is_said(
    office: Office, arguments: dict[str, str], word: str
) -> None:
    result = await office.call("request_access", **arguments)
    assert result.is_error
    assert word in result.text
    assert not office.inbox.items


async def test_who_asks_too_often_is_told_to_wait(office: Office) -> None:
    for number in range(MOST_A_RUN):
        await office.call("request_access", host=f"h{number}.example", why="x")
    result = await office.call("request_access", host="one.more.example", why="x")
    assert result.is_error
    assert "wait for what people decide" in result.text


async def test_where_nothing_is_open_nobody_is_asked(office: Office) -> None:
    tools = replace(office.tools, access=None)
    result = await tools.call(office.session, "request_access", {"url": URL, "why": "x"})
    assert result.is_error
    assert "nobody can open it" in result.text
    assert not await office.said()
