"""What people decide, and what comes of it."""

import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from entrance.errors import Conflict, Forbidden, NotFound, Unavailable
from orchestrator.approvals.deciding import LOOKED_BACK
from orchestrator.approvals.handling import Decision
from orchestrator.domain.access import Attempt, Edits, approved_rules
from orchestrator.domain.approval import Approval, ApprovalState, Scope, Verb
from orchestrator.domain.run import Outcome, Run, RunState
from tests.fakes.approvals import Inbox
from tests.fakes.clock import START
from tests.fakes.egress import answer
from tests.fakes.run import a_run
from tests.fakes.world import AGENT, ENGAGEMENT, TASK, FakeWorld

URL = "https://a.example/x"
OPENED = {
    Verb.ONCE: ApprovalState.ALLOWED_ONCE,
    Verb.RUN: ApprovalState.ALLOWED_RUN,
    Verb.RULE: ApprovalState.STANDING,
}


@pytest.fixture
def inbox(tmp_path: Path) -> Inbox:
    return Inbox(FakeWorld(tmp_path))


async def asked(inbox: Inbox, **changes: object) -> tuple[Run, Approval]:
    run = a_run(
        task=TASK.id,
        engagement=ENGAGEMENT.id,
        agent=AGENT.bot,
        **{"state": RunState.RUNNING, **changes},
    )
    await inbox.fakes.runs.create(run)
    return run, await inbox.asking.ask(run.id, URL, "GET", "the docs")


@pytest.mark.parametrize("verb", OPENED)
async def test_what_is_allowed_is_stored_put_into_force_and_said(inbox: Inbox, verb: Verb) -> None:
    run, item = await asked(inbox)
    done = await inbox.deciding.decide(item.id, Decision(verb, note="go on"))
    assert inbox.store.items[item.id] == done.item
    assert (done.item.state, done.item.decided_by, done.in_force) == (OPENED[verb], "lead", True)
    assert inbox.applied == 1
    assert answer(approved_rules([done.item]), URL) == "allow"
    said = inbox.fakes.tracker.comments[run.task][-1]
    assert all(part in said.text for part in (URL, "lead", "go on"))


async def test_what_is_denied_opens_nothing(inbox: Inbox) -> None:
    _, item = await asked(inbox)
    done = await inbox.deciding.decide(item.id, Decision(Verb.DENY, note="not needed"))
    assert (done.item.state, done.item.granted, inbox.applied) == (ApprovalState.DENIED, {}, 0)
    assert "not needed" in inbox.fakes.tracker.comments[TASK.id][-1].text


async def test_nothing_is_decided_twice(inbox: Inbox) -> None:
    _, item = await asked(inbox)
    decisions = (Decision(Verb.DENY), Decision(Verb.RUN))
    results = await asyncio.gather(
        *(inbox.deciding.decide(item.id, one) for one in decisions), return_exceptions=True
    )
    assert [type(one) for one in results].count(Conflict) == 1
    with pytest.raises(Conflict, match="can't follow"):
        await inbox.deciding.decide(item.id, Decision(Verb.ONCE))
    with pytest.raises(NotFound):
        await inbox.deciding.decide("nothing", Decision(Verb.ONCE))


@pytest.mark.parametrize("user", [AGENT.bot, "bot-other"])
async def test_no_agent_decides(inbox: Inbox, user: str) -> None:
    _, item = await asked(inbox)
    with pytest.raises(Forbidden):
        await inbox.deciding.decide(item.id, Decision(Verb.RUN, user=user))
    assert inbox.store.items[item.id] == item


async def test_who_decides_is_said_when_the_engagement_is_over(inbox: Inbox) -> None:
    _, item = await asked(inbox)
    inbox.fakes.tracker.hired.clear()
    with pytest.raises(Conflict, match="say as whom"):
        await inbox.deciding.decide(item.id, Decision(Verb.RUN))
    done = await inbox.deciding.decide(item.id, Decision(Verb.RUN, user="boss"))
    assert done.item.decided_by == "boss"


async def test_a_person_opens_more_and_for_whom_and_how_long(inbox: Inbox) -> None:
    _, item = await asked(inbox)
    until = START + timedelta(days=7)
    edits = Edits("*.a.example", ("/docs/**",))
    done = await inbox.deciding.decide(
        item.id, Decision(Verb.RULE, edits=edits, scope="project", until=until)
    )
    assert (done.item.scope, done.item.until) == (Scope("project", "DEMO"), until)
    rules = approved_rules([done.item])
    assert answer(rules, "https://b.a.example/docs/1") == "allow"
    assert answer(rules, URL) == "deny"


async def test_edits_that_mean_nothing_decide_nothing(inbox: Inbox) -> None:
    _, item = await asked(inbox)
    with pytest.raises(ValueError, match="address"):
        await inbox.deciding.decide(item.id, Decision(Verb.RULE, edits=Edits("10.0.0.1")))
    assert inbox.store.items[item.id] == item


async def test_what_is_allowed_to_a_live_run_is_for_it_and_to_an_ended_one_for_the_next(
    inbox: Inbox,
) -> None:
    run, item = await asked(inbox)
    done = await inbox.deciding.decide(item.id, Decision(Verb.RUN))
    assert done.item.granted_to == run.id
    other = await inbox.asking.ask(run.id, "https://b.example/", "GET", "x")
    ended = replace(run, state=RunState.ENDED, outcome=Outcome.FAILED, version=1)
    await inbox.fakes.runs.replace(ended)
    later = await inbox.deciding.decide(other.id, Decision(Verb.RUN))
    assert later.item.granted_to == ""
    assert not inbox.woken


async def test_the_last_decision_wakes_a_task_that_waits_for_it(inbox: Inbox) -> None:
    run, item = await asked(inbox)
    other = await inbox.asking.ask(run.id, "https://b.example/", "GET", "x")
    ended = replace(run, state=RunState.ENDED, outcome=Outcome.ASKED, version=1)
    await inbox.fakes.runs.replace(ended)
    first = await inbox.deciding.decide(item.id, Decision(Verb.DENY))
    assert (first.woken, inbox.woken) == (False, [])
    last = await inbox.deciding.decide(other.id, Decision(Verb.RUN, note="fine"))
    assert last.woken
    ((task, words, user),) = inbox.woken
    assert (task, user) == (run.task, "lead")
    assert "b.example" in words


async def test_a_policy_that_is_not_taken_up_in_time_is_said_and_the_decision_stays(
    inbox: Inbox,
) -> None:
    _, item = await asked(inbox)
    inbox.in_time = False
    done = await inbox.deciding.decide(item.id, Decision(Verb.RUN))
    assert not done.in_force
    assert inbox.store.items[item.id].state is ApprovalState.ALLOWED_RUN


async def test_what_was_allowed_is_taken_back(inbox: Inbox) -> None:
    _, item = await asked(inbox)
    await inbox.deciding.decide(item.id, Decision(Verb.RULE))
    done = await inbox.deciding.decide(item.id, Decision(Verb.REVOKE, user="boss"))
    assert (done.item.state, done.item.decided_by) == (ApprovalState.REVOKED, "boss")
    assert inbox.applied == 2
    assert not inbox.woken


async def test_an_outage_of_polarion_undoes_no_decision(inbox: Inbox) -> None:
    _, item = await asked(inbox)
    inbox.fakes.tracker.down = True
    with pytest.raises(Unavailable):
        await inbox.deciding.decide(item.id, Decision(Verb.RUN))
    assert inbox.store.items[item.id] == item


async def test_a_rule_is_tried_on_what_was_recorded_lately(inbox: Inbox) -> None:
    _, item = await asked(inbox)
    inbox.record.tried = [
        Attempt(START, "GET", URL, "deny", "r1"),
        Attempt(START, "GET", "https://a.example/y", "deny", "r2"),
    ]
    found = await inbox.deciding.try_on_record(item.id, Edits())
    assert (found.would_allow, found.denied_by_people) == (1, 0)
    await inbox.deciding.decide(item.id, Decision(Verb.DENY))
    other = await inbox.asking.ask(item.run, "a.example", "GET", "x")
    wider = await inbox.deciding.try_on_record(other.id, Edits())
    assert (wider.would_allow, wider.denied_by_people, wider.runs) == (2, 1, 2)
    assert inbox.record.since == inbox.fakes.clock.now() - LOOKED_BACK


class Roles:
    """`orchestrator.approvals.ports.Rights`: these have a role in DEMO."""

    async def may_decide(self, user: str, project: str) -> bool:
        return (user, project) == ("second", "DEMO")


async def test_only_the_supervisor_and_whoever_has_a_role_in_the_project_decide(
    inbox: Inbox,
) -> None:
    _, item = await asked(inbox)
    deciding = replace(inbox.deciding, rights=Roles())
    with pytest.raises(Forbidden, match="stranger has no role in"):
        await deciding.decide(item.id, Decision(Verb.ONCE, "stranger"))
    assert inbox.store.items[item.id].state is ApprovalState.WAITING
    await deciding.decide(item.id, Decision(Verb.ONCE, "lead"))
    await deciding.decide(item.id, Decision(Verb.REVOKE, "second"))
