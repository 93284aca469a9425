"""A held push becomes an item, is decided, and is sent once."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from entrance.decision import Allow, Deny
from entrance.errors import Conflict, NotFound, Unavailable
from entrance.git.standing import Stand
from entrance.ports import Moved
from entrance.session import RepoGrant, RunId
from orchestrator.approvals.handling import Decision
from orchestrator.approvals.items import MOST_A_RUN
from orchestrator.approvals.pushes import MOST_BYTES_A_TASK, unsettled
from orchestrator.domain.access import Edits
from orchestrator.domain.approval import Approval, ApprovalState, Verb
from orchestrator.domain.kinds import OWED
from orchestrator.domain.run import Cause, Outcome, Run, RunState
from orchestrator.domain.team import Grants, Repository
from tests.fakes.approvals import Inbox
from tests.fakes.pushes import (
    NEW,
    OLD,
    OTHER,
    REASON,
    REF,
    ZERO,
    PushHouse,
    a_push,
    decide,
    releasing,
)
from tests.fakes.world import AGENT, ENGAGEMENT, REPOSITORY, TASK, FakeWorld
from tests.waiting import until


@pytest.fixture
def house(tmp_path: Path) -> PushHouse:
    return PushHouse(Inbox(FakeWorld(tmp_path)))


def now(house: PushHouse, item: str) -> Approval:
    return house.inbox.store.items[item]


async def end(house: PushHouse, run: Run, outcome: Outcome) -> None:
    ended = replace(run, state=RunState.ENDED, outcome=outcome, version=run.version + 1)
    await house.inbox.fakes.runs.replace(ended)


def said(house: PushHouse) -> str:
    return "\n".join(one.text for one in house.inbox.fakes.tracker.comments[TASK.id])


async def test_the_agent_is_told_that_it_is_held_and_people_what_and_why(house: PushHouse) -> None:
    run = await house.running()
    push = a_push(run)
    house.kept.keep(push)
    told = await house.pushes.ask(push)
    (item,) = house.inbox.store.items.values()
    assert item.id in told
    assert "nothing needs to be pushed again" in told
    assert "\n" not in told
    assert (item.kind, item.state, item.run) == ("push", ApprovalState.WAITING, run.id)
    assert "agent/DEMO-7/fix" in item.title
    assert item.wanted["moved"] == [{"ref": REF, "old": ZERO, "new": NEW}]
    assert (item.wanted["sha256"], item.wanted["decision"]) == (push.sha256, 41)
    assert REPOSITORY in item.happens
    for words in (REASON, item.id, "agent/DEMO-7/fix"):
        assert words in said(house)


async def test_the_same_push_again_tells_how_it_stands(house: PushHouse) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    again = replace(a_push(run), id="e" * 32, decision=50)
    house.kept.keep(again)
    assert item in await house.pushes.ask(again)
    assert len(house.inbox.store.items) == 1
    assert set(house.kept.pushes) == {"f" * 32}, "the second bytes are dropped"
    await decide(house, item, Verb.DENY, "not this file")
    told = await house.pushes.ask(again)
    assert not house.kept.pushes, "nobody will allow it"
    assert "denied" in told
    assert "lead says: not this file" in told


async def test_the_next_run_that_pushes_the_same_is_told_of_the_item_that_is_open(
    house: PushHouse,
) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    await end(house, run, Outcome.FAILED)
    following = await house.running()
    assert item in await house.pushes.ask(replace(a_push(following), id="e" * 32))
    assert len(house.inbox.store.items) == 1


async def test_a_run_asks_so_often_and_a_task_has_so_much_kept(house: PushHouse) -> None:
    run = await house.running()
    large = replace(a_push(run), size_bytes=MOST_BYTES_A_TASK)
    await house.held(large)
    other = replace(a_push(run), id="e" * 32, moved=(Moved(REF, ZERO, OTHER),))
    with pytest.raises(Conflict, match="too much is held"):
        await house.pushes.ask(other)
    for number in range(MOST_A_RUN - 1):
        await house.inbox.asking.ask(run.id, f"https://a.example/{number}", "GET", "x")
    with pytest.raises(Conflict, match="wait for what people decide"):
        await house.pushes.ask(replace(other, size_bytes=1))


async def test_what_is_allowed_is_sent_once_vouched_for_said_and_dropped(house: PushHouse) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    done = await decide(house, item)
    after = now(house, item)
    assert (done.item.state, done.in_force) == (ApprovalState.RELEASED, True)
    assert (after.state, after.decided_by, OWED in after.came) == ("released", "lead", False)
    assert house.hosts.refs == {REF: NEW}
    assert house.hosts.posts == [b"the very bytes"]
    (pushed,) = house.witness.told
    assert (pushed.approval, pushed.approved_by, pushed.held) == (item, "lead", 41)
    assert pushed.commits == (NEW,)
    assert not house.kept.pushes
    assert "at the host now" in said(house)
    (record,) = house.audit.decisions("git_push")
    assert isinstance(record.decision, Allow)
    assert (record.of_run, record.rule) == (run.id, f"approval/{item}")
    assert (record.detail["by"], record.detail["held"]) == ("lead", 41)
    outcome = house.audit.outcome_of(record)
    assert outcome
    assert (outcome.result, pushed.decision) == ("ok", outcome.of)


@pytest.mark.parametrize(
    ("verb", "state"), [(Verb.DENY, ApprovalState.DENIED), (Verb.EXPIRE, ApprovalState.EXPIRED)]
)
async def test_what_is_not_allowed_is_dropped_and_said_and_the_host_hears_nothing(
    house: PushHouse, verb: Verb, state: ApprovalState
) -> None:
    item = await house.held(a_push(await house.running()))
    if verb is Verb.DENY:
        await decide(house, item, verb, "no")
    else:
        house.inbox.fakes.clock.advance(timedelta(days=8).total_seconds())
        await house.inbox.keeping.expire()
        await house.releasing.look()
    assert now(house, item).state is state
    assert not house.kept.pushes
    assert (house.hosts.asked, house.hosts.posts) == (0, [])
    (record,) = house.audit.decisions("git_push")
    assert isinstance(record.decision, Deny)
    assert item in "".join(one.title for one in house.inbox.fakes.tracker.comments[TASK.id])
    assert ("denied by lead" if verb is Verb.DENY else "in time") in said(house)


@pytest.mark.parametrize("verb", [Verb.RUN, Verb.RULE])
async def test_a_push_is_not_allowed_for_longer(house: PushHouse, verb: Verb) -> None:
    item = await house.held(a_push(await house.running()))
    with pytest.raises(Conflict, match="no standing rule for pushes"):
        await house.inbox.deciding.decide(item, Decision(verb))
    with pytest.raises(ValueError, match="as it was pushed"):
        await house.inbox.deciding.decide(item, Decision(Verb.ONCE, edits=Edits("a.example")))
    with pytest.raises(ValueError, match="no standing rule for pushes"):
        await house.inbox.deciding.try_on_record(item, Edits())
    assert now(house, item).state is ApprovalState.WAITING


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
    assert f"agent/DEMO-7/fix is at {OTHER[:12]} already" in said(house)
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


async def test_an_answer_that_is_lost_is_settled_by_asking(house: PushHouse) -> None:
    item = await house.held(a_push(await house.running()))
    house.hosts.does = "lose"
    done = await decide(house, item)
    assert (done.item.state, len(house.hosts.posts)) == (ApprovalState.RELEASED, 1)
    (record,) = house.audit.decisions("git_push")
    outcome = house.audit.outcome_of(record)
    assert outcome
    assert (outcome.result, outcome.detail["refs"]) == ("ok", {REF: "ok"})


async def test_what_was_moved_on_after_it_was_claimed_is_not_told_as_pushed(
    house: PushHouse,
) -> None:
    item = await house.held(a_push(await house.running()))
    house.hosts.does = "drop"
    await allow(house, item)
    await house.releasing.look()
    house.hosts.refs[REF] = OTHER
    house.inbox.fakes.clock.advance(60)
    await house.releasing.look()
    assert now(house, item).state is ApprovalState.CONFLICT
    (record,) = house.audit.decisions("git_push")
    outcome = house.audit.outcome_of(record)
    assert outcome
    assert outcome.result == "conflict"
    assert str(outcome.detail["refs"][REF]).startswith("ng ")
    assert "can't be told" in said(house)


async def test_what_got_lost_on_its_way_is_sent_again_but_not_while_it_may_be_on_its_way(
    house: PushHouse,
) -> None:
    item = await house.held(a_push(await house.running()))
    house.hosts.does = "drop"
    await allow(house, item)
    await house.releasing.look()
    assert now(house, item).state is ApprovalState.RELEASING
    house.hosts.does = "take"
    house.inbox.fakes.clock.advance(10)
    await house.releasing.look()
    assert len(house.hosts.posts) == 1
    house.inbox.fakes.clock.advance(25)
    await house.releasing.look()
    assert (now(house, item).state, len(house.hosts.posts)) == (ApprovalState.RELEASED, 2)
    assert len(house.audit.decisions("git_push")) == 1


async def allow(house: PushHouse, item: str) -> None:
    """As it is stored once a person has allowed it, before anything is sent."""
    handling = house.inbox.more["push"]
    house.inbox.more["push"] = replace(handling, patience_s=0)  # type: ignore[type-var]
    await house.inbox.deciding.decide(item, Decision(Verb.ONCE))
    house.inbox.more["push"] = handling


async def test_while_the_host_is_away_it_waits_and_may_be_taken_back(house: PushHouse) -> None:
    item = await house.held(a_push(await house.running()))
    house.hosts.down = True
    await allow(house, item)
    await house.releasing.look()
    assert now(house, item).state is ApprovalState.ALLOWED
    assert "nothing was sent yet" in str(now(house, item).came["words"])
    await house.releasing.look()
    assert house.hosts.asked == 1, "it waits a while before it asks again"
    done = await decide(house, item, Verb.REVOKE)
    assert done.item.state is ApprovalState.REVOKED
    assert not house.kept.pushes


async def test_what_was_allowed_is_not_sent_days_later(house: PushHouse) -> None:
    item = await house.held(a_push(await house.running()))
    house.hosts.down = True
    await allow(house, item)
    house.inbox.fakes.clock.advance(timedelta(days=1, seconds=1).total_seconds())
    house.hosts.down = False
    await house.releasing.look()
    assert now(house, item).state is ApprovalState.FAILED
    assert house.hosts.posts == []


async def test_unknown_is_said_when_it_is_unknown_and_settled_when_the_host_is_back(
    house: PushHouse,
) -> None:
    item = await house.held(a_push(await house.running()))
    await allow(house, item)
    send, house.hosts.does = house.hosts.send, "lose"

    async def sent_and_gone(*args: object) -> object:
        sent = await send(*args)  # type: ignore[arg-type]
        house.hosts.down = True
        return sent

    house.hosts.send = sent_and_gone  # type: ignore[method-assign,assignment]
    await house.releasing.look()
    assert now(house, item).state is ApprovalState.UNKNOWN
    assert "not known" in said(house)
    house.hosts.down = False
    house.inbox.fakes.clock.advance(60)
    await house.releasing.look()
    assert (now(house, item).state, len(house.hosts.posts)) == (ApprovalState.RELEASED, 1)


@pytest.mark.parametrize("verb", [Verb.ONCE, Verb.DENY])
async def test_a_task_that_waits_for_it_goes_on_once_it_is_known_what_came_of_it(
    house: PushHouse, verb: Verb
) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    await end(house, run, Outcome.ASKED)
    done = await decide(house, item, verb, "well")
    assert done.woken
    ((task, words, user),) = house.inbox.woken
    assert (task, user) == (TASK.id, "lead")
    assert ("at the host now" if verb is Verb.ONCE else "denied") in words


async def test_a_task_does_not_go_on_while_its_push_is_on_its_way(house: PushHouse) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    await end(house, run, Outcome.ASKED)
    house.hosts.down = True
    await allow(house, item)
    await house.releasing.look()
    assert house.inbox.woken == []
    house.hosts.down = False
    house.inbox.fakes.clock.advance(3600)
    await house.releasing.look()
    assert len(house.inbox.woken) == 1


async def test_whoever_pushes_what_failed_asks_anew_and_its_bytes_stay(house: PushHouse) -> None:
    run = await house.running()
    first = await house.held(a_push(run))
    house.hosts.refs[REF] = OTHER
    house.kept.down = True
    await decide(house, first)
    assert now(house, first).came[OWED]
    house.kept.down = False
    del house.hosts.refs[REF]
    told = await house.pushes.ask(a_push(run))
    assert first not in told
    assert len(house.inbox.store.items) == 2
    house.start()
    await house.releasing.look()
    assert OWED not in now(house, first).came
    assert set(house.kept.pushes) == {"f" * 32}, "the new item needs them"


async def test_what_no_open_item_needs_is_dropped(house: PushHouse) -> None:
    run = await house.running()
    await house.held(a_push(run))
    stray = a_push(run, id="d" * 32)
    house.kept.keep(stray)
    house.kept.old = [stray.id, "f" * 32]
    await house.releasing.look()
    assert set(house.kept.pushes) == {"f" * 32}


async def test_the_reviewer_of_what_is_handed_in_is_told_what_is_not_there(
    house: PushHouse,
) -> None:
    run = await house.running()
    assert await house.pushes.not_there(TASK.id) == []
    item = await house.held(a_push(run))
    (told,) = await house.pushes.not_there(TASK.id)
    assert "waits for a decision" in told
    assert item in told
    assert item in await unsettled(house.inbox.store, TASK.id)
    await decide(house, item)
    assert await house.pushes.not_there(TASK.id) == []
    assert await unsettled(house.inbox.store, TASK.id) == ""


async def test_nobody_is_asked_about_a_run_that_is_not_there(house: PushHouse) -> None:
    with pytest.raises(NotFound):
        await house.pushes.ask(a_push(replace(await house.running(), id=RunId("nobody"))))
    assert AGENT.bot not in house.inbox.store.items
    assert OLD not in house.hosts.refs


async def test_what_can_not_be_recorded_is_not_sent(house: PushHouse) -> None:
    item = await house.held(a_push(await house.running()))
    await allow(house, item)
    house.audit.down = True
    await house.releasing.look()
    assert (now(house, item).state, house.hosts.posts) == (ApprovalState.ALLOWED, [])
    house.audit.down = False
    house.inbox.fakes.clock.advance(60)
    await house.releasing.look()
    assert now(house, item).state is ApprovalState.RELEASED


async def test_an_outcome_that_could_not_be_recorded_is_recorded_later_and_nothing_sent_twice(
    house: PushHouse,
) -> None:
    item = await house.held(a_push(await house.running()))
    await allow(house, item)
    send = house.hosts.send

    async def sent_as_the_disk_fills(*args: object) -> object:
        house.audit.down = True
        return await send(*args)  # type: ignore[arg-type]

    house.hosts.send = sent_as_the_disk_fills  # type: ignore[method-assign,assignment]
    await house.releasing.look()
    assert now(house, item).state is ApprovalState.RELEASING
    house.audit.down = False
    house.start()
    await house.releasing.look()
    assert (now(house, item).state, len(house.hosts.posts)) == (ApprovalState.RELEASED, 1)
    (record,) = house.audit.decisions("git_push")
    assert house.audit.outcome_of(record)


async def test_what_may_have_been_sent_is_settled_when_nothing_is_granted_any_more(
    house: PushHouse,
) -> None:
    item = await house.held(a_push(await house.running()))
    house.hosts.does = "lose"
    await allow(house, item)
    stand, grants = house.hosts.stand, []

    async def away_at_first(grant: RepoGrant, moved: Sequence[Moved]) -> Stand:
        grants.append(grant)
        if len(grants) == 2:
            raise Unavailable("the git host can't be reached")
        return await stand(grant, moved)

    house.hosts.stand = away_at_first  # type: ignore[method-assign]
    await house.releasing.look()
    assert now(house, item).state is ApprovalState.UNKNOWN
    house.inbox.fakes.tracker.hired.clear()
    house.inbox.fakes.clock.advance(60)
    await house.releasing.look()
    assert now(house, item).state is ApprovalState.RELEASED
    by_which_it_was_sent = replace(grants[0], pull_requests=False)
    assert grants[-1] == by_which_it_was_sent


async def test_a_witness_or_a_board_that_is_away_is_told_later(house: PushHouse) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    await end(house, run, Outcome.ASKED)
    house.witness.down = True
    done = await decide(house, item)
    assert done.item.state is ApprovalState.RELEASED
    assert now(house, item).came[OWED]
    assert house.kept.pushes, "what is vouched for is there until then"
    house.witness.down = False
    house.inbox.fakes.clock.advance(61)
    await house.releasing.look()
    assert OWED not in now(house, item).came
    assert (len(house.witness.told), house.kept.pushes) == (1, {})


async def test_an_outage_of_the_store_ends_no_loop(house: PushHouse) -> None:
    item = await house.held(a_push(await house.running()))
    house.inbox.store.down = True
    async with releasing(house):
        await until(lambda: house.inbox.store.refused > 1)
        house.inbox.store.down = False
        done = await house.inbox.deciding.decide(item, Decision(Verb.ONCE))
    assert done.item.state is ApprovalState.RELEASED


async def test_an_item_that_can_not_be_read_keeps_no_other_from_being_sent(
    house: PushHouse,
) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    await allow(house, item)
    allowed = now(house, item)
    broken = {
        "of another form": replace(allowed, wanted={"kept": "x"}),
        "claimed by another": replace(
            allowed, state=ApprovalState.RELEASING, came={"grant": {"strange": 1}, "sent_at": "?"}
        ),
        "owed": replace(allowed, state=ApprovalState.DENIED, wanted={}, came={OWED: True}),
    }
    broken = {name: replace(one, id=name) for name, one in broken.items()}
    house.inbox.store.items = {**broken, **house.inbox.store.items}
    other = a_push(run, id="e" * 32, moved=(Moved(f"{REF}2", ZERO, OTHER),))
    house.kept.keep(other)
    assert "held as" in await house.pushes.ask(other)
    await house.releasing.look()
    assert now(house, item).state is ApprovalState.RELEASED
    assert {name: now(house, name).state for name in broken} == {
        name: one.state for name, one in broken.items()
    }
