"""Items after they were decided."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from orchestrator.approvals.handling import Decision
from orchestrator.approvals.keeping import KEPT
from orchestrator.domain.approval import ApprovalState, Verb
from orchestrator.domain.run import Outcome, Run, RunState
from tests.fakes.approvals import Inbox
from tests.fakes.run import a_run
from tests.fakes.world import AGENT, ENGAGEMENT, TASK, FakeWorld

URL = "https://a.example/x"


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(FakeWorld(tmp_path))


async def running(inbox: Inbox) -> Run:
    run = a_run(task=TASK.id, engagement=ENGAGEMENT.id, agent=AGENT.bot, state=RunState.RUNNING)
    await inbox.fakes.runs.create(run)
    return run


async def end(inbox: Inbox, run: Run) -> None:
    ended = replace(run, state=RunState.ENDED, outcome=Outcome.FAILED, version=run.version + 1)
    await inbox.fakes.runs.replace(ended)


async def test_the_next_run_of_the_task_gets_what_was_allowed_too_late(inbox: Inbox) -> None:
    run = await running(inbox)
    item = await inbox.asking.ask(run.id, URL, "GET", "x")
    await end(inbox, run)
    await inbox.deciding.decide(item.id, Decision(Verb.ONCE))
    stranger = a_run()
    await inbox.keeping.claim(stranger)
    assert inbox.store.items[item.id].granted_to == ""
    following = await running(inbox)
    await inbox.keeping.claim(following)
    assert inbox.store.items[item.id].granted_to == following.id
    await inbox.keeping.claim(a_run(task=TASK.id))
    assert inbox.store.items[item.id].granted_to == following.id


async def test_what_nobody_decides_expires(inbox: Inbox) -> None:
    run = await running(inbox)
    item = await inbox.asking.ask(run.id, URL, "GET", "x")
    await inbox.keeping.expire()
    assert inbox.store.items[item.id].state is ApprovalState.WAITING
    inbox.fakes.clock.advance((KEPT + timedelta(seconds=1)).total_seconds())
    await inbox.keeping.expire()
    assert inbox.store.items[item.id].state is ApprovalState.EXPIRED


async def test_a_standing_rule_expires_on_its_day(inbox: Inbox) -> None:
    run = await running(inbox)
    item = await inbox.asking.ask(run.id, URL, "GET", "x")
    until = inbox.fakes.clock.now() + timedelta(hours=1)
    await inbox.deciding.decide(item.id, Decision(Verb.RULE, until=until))
    await end(inbox, run)
    await inbox.keeping.expire()
    assert inbox.store.items[item.id].state is ApprovalState.STANDING
    inbox.fakes.clock.advance(3600)
    before = inbox.applied
    await inbox.keeping.expire()
    assert inbox.store.items[item.id].state is ApprovalState.EXPIRED
    assert inbox.applied == before + 1


@pytest.mark.parametrize("verb", [Verb.ONCE, Verb.RUN])
async def test_what_was_allowed_to_a_run_is_over_with_it(inbox: Inbox, verb: Verb) -> None:
    run = await running(inbox)
    item = await inbox.asking.ask(run.id, URL, "GET", "x")
    await inbox.deciding.decide(item.id, Decision(verb))
    await inbox.keeping.expire()
    assert inbox.store.items[item.id].state is not ApprovalState.EXPIRED
    await end(inbox, run)
    await inbox.keeping.expire()
    assert inbox.store.items[item.id].state is ApprovalState.EXPIRED
