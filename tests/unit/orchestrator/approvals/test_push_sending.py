"""What was allowed is sent once, and only what may be sent then."""

import asyncio
from dataclasses import replace

import pytest

from entrance.decision import Allow, Deny
from entrance.errors import Conflict
from orchestrator.approvals.handling import Decision
from orchestrator.domain.approval import ApprovalState, Verb
from orchestrator.domain.kinds import OWED
from orchestrator.domain.run import Cause, Outcome, RunState
from orchestrator.domain.team import Grants, Repository
from tests.fakes.pushes import (
    NEW,
    OTHER,
    REF,
    PushHouse,
    a_push,
    allow,
    decide,
    releasing,
)
from tests.fakes.world import ENGAGEMENT, REPOSITORY
from tests.unit.orchestrator.approvals.looking import now, said


async def test_what_is_allowed_is_sent_once_vouched_for_said_and_dropped(house: PushHouse) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    done = await decide(house, item)
    after = now(house.inbox, item)
    assert (done.item.state, done.in_force) == (ApprovalState.RELEASED, True)
    assert (after.state, after.decided_by, OWED in after.came) == ("released", "lead", False)
    assert house.hosts.refs == {REF: NEW}
    assert house.hosts.posts == [b"the very bytes"]
    (pushed,) = house.witness.told
    assert (pushed.approval, pushed.approved_by, pushed.held) == (item, "lead", 41)
    assert pushed.commits == (NEW,)
    assert not house.kept.pushes
    assert "at the host now" in said(house.inbox)
    (record,) = house.audit.decisions("git_push")
    assert isinstance(record.decision, Allow)
    assert (record.of_run, record.rule) == (run.id, f"approval/{item}")
    assert (record.detail["by"], record.detail["held"]) == ("lead", 41)
    outcome = house.audit.outcome_of(record)
    assert outcome
    assert (outcome.result, pushed.decision) == ("ok", outcome.of)


async def test_of_two_who_decide_at_once_one_does_and_it_is_sent_once(house: PushHouse) -> None:
    item = await house.held(a_push(await house.running()))
    async with releasing(house):
        results = await asyncio.gather(
            *(house.inbox.deciding.decide(item, Decision(Verb.ONCE)) for _ in range(3)),
            return_exceptions=True,
        )
    assert [type(one) for one in results].count(Conflict) == 2
    assert len(house.hosts.posts) == 1


async def test_a_host_that_has_moved_on_is_a_conflict_and_nothing_is_sent(house: PushHouse) -> None:
    item = await house.held(a_push(await house.running()))
    house.hosts.refs[REF] = OTHER
    done = await decide(house, item)
    assert done.item.state is ApprovalState.CONFLICT
    assert house.hosts.posts == []
    assert f"agent/DEMO-7/fix is at {OTHER[:12]} already" in said(house.inbox)
    assert not house.kept.pushes


async def test_what_is_at_the_host_already_is_not_sent_again(house: PushHouse) -> None:
    item = await house.held(a_push(await house.running()))
    house.hosts.refs[REF] = NEW
    done = await decide(house, item)
    assert (done.item.state, house.hosts.posts) == (ApprovalState.RELEASED, [])
    assert len(house.witness.told) == 1


REVOKED = {
    "the engagement is over": lambda house: house.inbox.fakes.tracker.hired.clear(),
    "is no agent any more": lambda house: house.inbox.fakes.tracker.agents.clear(),
    "the task is gone": lambda house: house.inbox.fakes.tracker.tasks.clear(),
    "not granted for pushing": lambda house: house.inbox.fakes.tracker.hired.update(
        {
            ENGAGEMENT.id: replace(
                ENGAGEMENT, grants=Grants(repositories=(Repository(REPOSITORY, push=False),))
            )
        }
    ),
    "bytes of the push are gone": lambda house: house.kept.bodies.clear(),
    "not those that were held": lambda house: house.kept.bodies.update({"f" * 32: b"others"}),
}


@pytest.mark.parametrize("why", REVOKED)
async def test_what_may_not_be_sent_any_more_is_not_sent_and_the_host_hears_nothing(
    house: PushHouse, why: str
) -> None:
    item = await house.held(a_push(await house.running()))
    REVOKED[why](house)
    async with releasing(house):
        done = await house.inbox.deciding.decide(item, Decision(Verb.ONCE, "boss"))
    assert done.item.state is ApprovalState.FAILED
    assert why in str(done.item.came["words"])
    assert (house.hosts.asked, house.hosts.posts) == (0, [])
    (record,) = house.audit.decisions("git_push")
    assert isinstance(record.decision, Deny)


async def test_nothing_is_sent_of_a_run_in_which_a_honeytoken_was_touched(
    house: PushHouse,
) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    ended = replace(
        run, state=RunState.ENDED, outcome=Outcome.FAILED, cause=Cause.HONEYTOKEN, version=1
    )
    await house.inbox.fakes.runs.replace(ended)
    done = await decide(house, item)
    assert done.item.state is ApprovalState.FAILED
    assert "honeytoken" in str(done.item.came["words"])
    assert (house.hosts.asked, house.hosts.posts) == (0, [])


async def test_what_the_host_refuses_has_failed_with_its_reason(house: PushHouse) -> None:
    item = await house.held(a_push(await house.running()))
    house.hosts.does = "refuse"
    done = await decide(house, item)
    assert done.item.state is ApprovalState.FAILED
    assert "hook declined" in str(done.item.came["words"])
    assert not house.kept.pushes


async def test_what_can_not_be_recorded_is_not_sent(house: PushHouse) -> None:
    item = await house.held(a_push(await house.running()))
    await allow(house, item)
    house.audit.down = True
    await house.releasing.look()
    assert (now(house.inbox, item).state, house.hosts.posts) == (ApprovalState.ALLOWED, [])
    house.audit.down = False
    house.inbox.fakes.clock.advance(60)
    await house.releasing.look()
    assert now(house.inbox, item).state is ApprovalState.RELEASED
