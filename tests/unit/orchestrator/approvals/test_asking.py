"""Wishes become items: one a run and wish."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from entrance.errors import Conflict
from entrance.ports import Cause
from entrance.session import RunId
from orchestrator.approvals.handling import Decision
from orchestrator.approvals.items import MOST_A_RUN
from orchestrator.domain.approval import Approval, ApprovalState, Verb
from orchestrator.domain.run import Run, RunState
from tests.fakes.approvals import FakeApprovals, Inbox
from tests.fakes.run import a_run
from tests.fakes.world import ENGAGEMENT, TASK, FakeWorld

URL = "https://a.example/x"


@dataclass
class Doing:
    """`entrance.ports.Causes`."""

    runs: Mapping[RunId, Cause]

    def of(self, run: RunId) -> Cause | None:
        return self.runs.get(run)


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(FakeWorld(tmp_path))


async def running(inbox: Inbox) -> Run:
    run = a_run(task=TASK.id, engagement=ENGAGEMENT.id, agent="bot-rex", state=RunState.RUNNING)
    await inbox.fakes.runs.create(run)
    return run


async def test_a_wish_is_an_item_with_all_that_a_person_needs(inbox: Inbox) -> None:
    run = await running(inbox)
    item = await inbox.asking.ask(run.id, URL, "GET", " the docs ")
    assert inbox.store.items == {item.id: item}
    assert (item.run, item.task, item.agent) == (run.id, run.task, "bot-rex")
    assert (item.title, item.why, item.state) == (f"GET {URL}", "the docs", ApprovalState.WAITING)
    assert "a.example" in item.happens
    (said,) = inbox.fakes.tracker.comments[run.task]
    assert item.id in said.title
    assert all(part in said.text for part in (URL, "the docs", item.happens))


async def test_the_same_wish_is_the_same_item(inbox: Inbox) -> None:
    run = await running(inbox)
    both = await asyncio.gather(*(inbox.asking.ask(run.id, URL, "GET", "x") for _ in range(2)))
    assert both[0] == both[1]
    held = await inbox.asking.held(run.id, URL, "GET", {"tool": "Bash"})
    assert held == both[0]
    other = await inbox.asking.ask(run.id, URL, "POST", "x")
    assert other.id != held.id
    assert len(inbox.store.items) == 2


async def test_what_a_rule_held_has_its_cause(inbox: Inbox) -> None:
    run = await running(inbox)
    open_now = Cause(4, "Bash", "call-1", "2026-01-05T09:00:00Z")
    asking = replace(inbox.asking, items=replace(inbox.items, causes=Doing({run.id: open_now})))
    item = await asking.held(run.id, URL, "GET", {"asked_by": "the rule a"})
    assert item.cause == {
        "step": 4, "tool": "Bash", "call": "call-1", "since": "2026-01-05T09:00:00Z",
        "asked_by": "the rule a",
    }  # fmt: skip
    unknown = await inbox.asking.ask(run.id, URL + "/2", "GET", "x")
    assert unknown.cause == {"asked_by": "request_access"}


@pytest.mark.parametrize("verb", [Verb.DENY, Verb.RUN, Verb.RULE])
async def test_what_is_decided_is_told_to_whoever_asks_again(inbox: Inbox, verb: Verb) -> None:
    run = await running(inbox)
    item = await inbox.asking.ask(run.id, URL, "GET", "x")
    decided = await inbox.deciding.decide(item.id, Decision(verb))
    assert await inbox.asking.ask(run.id, URL, "GET", "x") == decided.item
    assert len(inbox.store.items) == 1


async def test_what_was_allowed_once_is_told_once_and_then_asked_anew(inbox: Inbox) -> None:
    run = await running(inbox)
    item = await inbox.asking.ask(run.id, URL, "GET", "x")
    await inbox.deciding.decide(item.id, Decision(Verb.ONCE))
    told = await inbox.asking.ask(run.id, URL, "GET", "x")
    assert (told.id, told.state) == (item.id, ApprovalState.ALLOWED_ONCE)
    again = await inbox.asking.ask(run.id, URL, "GET", "x")
    assert (again.state, len(inbox.store.items)) == (ApprovalState.WAITING, 2)


async def test_a_request_that_is_held_after_it_was_allowed_once_has_used_that_up(
    inbox: Inbox,
) -> None:
    run = await running(inbox)
    item = await inbox.asking.held(run.id, URL, "GET", {})
    await inbox.deciding.decide(item.id, Decision(Verb.ONCE))
    again = await inbox.asking.held(run.id, URL, "GET", {})
    assert again.id != item.id


async def test_a_run_can_not_flood_the_inbox(inbox: Inbox) -> None:
    run = await running(inbox)
    for number in range(MOST_A_RUN):
        await inbox.asking.held(run.id, f"{URL}/{number}", "GET", {})
    with pytest.raises(Conflict, match="has asked"):
        await inbox.asking.ask(run.id, URL, "GET", "x")
    known = await inbox.asking.ask(run.id, f"{URL}/0", "GET", "x")
    assert known.id in inbox.store.items
    other = a_run()
    await inbox.fakes.runs.create(other)
    assert (await inbox.asking.ask(other.id, URL, "GET", "x")).run == other.id


async def test_nor_by_asking_for_everything_at_once(inbox: Inbox) -> None:
    class Slow(FakeApprovals):
        async def of_run(self, run: RunId) -> Sequence[Approval]:
            found = await super().of_run(run)
            await asyncio.sleep(0)
            return found

    inbox.store = Slow()
    run, asking = await running(inbox), inbox.asking
    urls = [f"{URL}/{number}" for number in range(2 * MOST_A_RUN)]
    came = await asyncio.gather(
        *(asking.ask(run.id, url, "GET", "x") for url in urls), return_exceptions=True
    )
    assert len(inbox.store.items) == MOST_A_RUN
    assert sum(isinstance(one, Conflict) for one in came) == MOST_A_RUN


async def test_an_outage_of_polarion_loses_no_wish(inbox: Inbox) -> None:
    run = await running(inbox)
    inbox.fakes.tracker.down = True
    item = await inbox.asking.ask(run.id, URL, "GET", "x")
    assert item.id in inbox.store.items
