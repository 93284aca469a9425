"""What became of a push is found out, whatever got lost on the way, and told to all who wait."""

from collections.abc import Sequence
from dataclasses import replace

from entrance.errors import Unavailable
from entrance.git.standing import Stand
from entrance.ports import Moved
from entrance.session import RepoGrant
from orchestrator.domain.approval import ApprovalState
from orchestrator.domain.kinds import OWED
from orchestrator.domain.run import Outcome
from tests.fakes.pushes import (
    OTHER,
    REF,
    PushHouse,
    a_push,
    allow,
    decide,
)
from tests.unit.orchestrator.approvals.looking import end, now, said


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
    assert now(house.inbox, item).state is ApprovalState.CONFLICT
    (record,) = house.audit.decisions("git_push")
    outcome = house.audit.outcome_of(record)
    assert outcome
    assert outcome.result == "conflict"
    assert str(outcome.detail["refs"][REF]).startswith("ng ")
    assert "can't be told" in said(house.inbox)


async def test_what_got_lost_on_its_way_is_sent_again_but_not_while_it_may_be_on_its_way(
    house: PushHouse,
) -> None:
    item = await house.held(a_push(await house.running()))
    house.hosts.does = "drop"
    await allow(house, item)
    await house.releasing.look()
    assert now(house.inbox, item).state is ApprovalState.RELEASING
    house.hosts.does = "take"
    house.inbox.fakes.clock.advance(10)
    await house.releasing.look()
    assert len(house.hosts.posts) == 1
    house.inbox.fakes.clock.advance(25)
    await house.releasing.look()
    assert (now(house.inbox, item).state, len(house.hosts.posts)) == (ApprovalState.RELEASED, 2)
    assert len(house.audit.decisions("git_push")) == 1


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
    assert now(house.inbox, item).state is ApprovalState.UNKNOWN
    assert "not known" in said(house.inbox)
    house.hosts.down = False
    house.inbox.fakes.clock.advance(60)
    await house.releasing.look()
    assert (now(house.inbox, item).state, len(house.hosts.posts)) == (ApprovalState.RELEASED, 1)


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
    assert now(house.inbox, item).state is ApprovalState.RELEASING
    house.audit.down = False
    house.start()
    await house.releasing.look()
    assert (now(house.inbox, item).state, len(house.hosts.posts)) == (ApprovalState.RELEASED, 1)
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
    assert now(house.inbox, item).state is ApprovalState.UNKNOWN
    house.inbox.fakes.tracker.hired.clear()
    house.inbox.fakes.clock.advance(60)
    await house.releasing.look()
    assert now(house.inbox, item).state is ApprovalState.RELEASED
    by_which_it_was_sent = replace(grants[0], pull_requests=False)
    assert grants[-1] == by_which_it_was_sent


async def test_a_witness_or_a_board_that_is_away_is_told_later(house: PushHouse) -> None:
    run = await house.running()
    item = await house.held(a_push(run))
    await end(house.inbox, run, Outcome.ASKED)
    house.witness.down = True
    done = await decide(house, item)
    assert done.item.state is ApprovalState.RELEASED
    assert now(house.inbox, item).came[OWED]
    assert house.kept.pushes, "what is vouched for is there until then"
    house.witness.down = False
    house.inbox.fakes.clock.advance(61)
    await house.releasing.look()
    assert OWED not in now(house.inbox, item).came
    assert (len(house.witness.told), house.kept.pushes) == (1, {})
