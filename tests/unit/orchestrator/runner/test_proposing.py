"""The pull request for what an agent submitted: once, and never in the way of the run's end."""

from dataclasses import replace
from pathlib import Path

import pytest

from entrance.errors import Conflict, Forbidden, Unavailable
from entrance.session import RunId
from orchestrator.domain.grants import session_for
from orchestrator.domain.run import Ending, Outcome, Run, RunState, Work, changed
from orchestrator.runner.proposing import PATIENCE_S, packet_path, propose
from orchestrator.runner.settle import proposed_later, push_arrived, settle
from tests.fakes.clock import START
from tests.fakes.githosts import FakeGitHosts
from tests.fakes.run import a_run
from tests.fakes.world import AGENT, ENGAGEMENT, TASK, FakeWorld
from tests.unit.orchestrator.domain.test_submitted import decided, outcome

NAME = "git.example:9000/team/thing.git"
BRANCH = "agent/DEMO-7/fix"
URL = f"https://{NAME}/pull/1"


@pytest.fixture
def world(tmp_path: Path) -> FakeWorld:
    world = FakeWorld(tmp_path, githosts=FakeGitHosts())
    world.trail = [{**decided(1), "subject": NAME}, outcome(1)]
    return world


async def settling(world: FakeWorld, **changes: object) -> Run:
    """A run whose agent has submitted, stored."""
    run = a_run(
        task=TASK.id,
        agent=AGENT.bot,
        model=AGENT.model,
        engagement=ENGAGEMENT.id,
        state=RunState.SETTLING,
        since={"settling": world.clock.now()},
        ending=Ending(Outcome.SUBMITTED, "Done.", START, work=Work("Done.", BRANCH)),
    )
    session = session_for(run, TASK, ENGAGEMENT, address="10.0.0.2", token_sha256="0" * 64)
    run = replace(run, session=session, **changes)  # type: ignore[arg-type]
    await world.runs.create(run)
    return run


def said(world: FakeWorld) -> dict[str, str]:
    return {one.title: one.text for one in world.tracker.comments[TASK.id]}


async def test_what_was_submitted_is_proposed_with_its_packet_and_the_task_says_where(
    world: FakeWorld,
) -> None:
    run = await settling(world)
    await settle(world.world(), run)
    ended = await world.runs.get(run.id)
    assert ended.pull_request
    assert (ended.pull_request.url, ended.pull_request.branch) == (URL, BRANCH)
    proposal = world.githosts.open[NAME, BRANCH]
    assert (proposal.base, proposal.title) == ("main", "DEMO-7: Fix it")
    assert "> Done." in proposal.body
    assert URL in said(world)[f"Pull request of run {run.id}"]
    attached = world.tracker.attached[ended.record, "review-packet.md"]
    assert attached.decode() == proposal.body
    assert world.githosts.forgotten == [run.id]


async def test_a_host_that_is_away_is_waited_for_and_the_run_is_not_lost(world: FakeWorld) -> None:
    run = await settling(world)
    world.githosts.troubles = [Unavailable("the host is away", retry_after_s=5)] * 2
    for _ in range(2):
        with pytest.raises(Unavailable):
            await settle(world.world(), await world.runs.get(run.id))
        assert (await world.runs.get(run.id)).state is RunState.SETTLING
    await settle(world.world(), await world.runs.get(run.id))
    ended = await world.runs.get(run.id)
    assert ended.state is RunState.ENDED
    assert ended.pull_request
    assert ended.pull_request.url == URL


async def test_a_host_that_stays_away_is_given_up_said_and_tried_again_by_a_person(
    world: FakeWorld,
) -> None:
    run = await settling(world)
    world.clock.advance(PATIENCE_S + 1)
    world.githosts.troubles = [Unavailable("the host is away")]
    await settle(world.world(), run)
    ended = await world.runs.get(run.id)
    assert ended.state is RunState.ENDED
    assert ended.pull_request
    assert ended.pull_request.failed
    told = said(world)[f"No pull request of run {run.id}"]
    assert "the host is away" in told
    assert f"sandgate run propose {run.id}" in told
    again = await proposed_later(world.world(), ended)
    assert again.pull_request
    assert again.pull_request.url == URL
    assert URL in said(world)[f"Pull request of run {run.id}"]


async def test_a_busy_host_is_not_waited_for_beyond_the_runs_patience(world: FakeWorld) -> None:
    run = await settling(world)
    world.clock.advance(PATIENCE_S - 20)
    world.githosts.troubles = [Unavailable("a rate limit", retry_after_s=3600)]
    with pytest.raises(Unavailable) as busy:
        await settle(world.world(), run)
    assert busy.value.retry_after_s == 20


async def test_it_is_the_git_host_alone_whose_absence_is_given_up(world: FakeWorld) -> None:
    run = await settling(world)
    world.clock.advance(PATIENCE_S + 1)
    world.tracker.down = True
    with pytest.raises(Unavailable):
        await settle(world.world(), run)
    world.tracker.down = False
    await settle(world.world(), await world.runs.get(run.id))
    ended = await world.runs.get(run.id)
    assert ended.pull_request
    assert ended.pull_request.url == URL


async def test_a_credential_that_may_not_is_said_at_once(world: FakeWorld) -> None:
    run = await settling(world)
    world.githosts.troubles = [Forbidden("our credential may not do this")]
    await settle(world.world(), run)
    assert "may not do this" in said(world)[f"No pull request of run {run.id}"]
    assert (await world.runs.get(run.id)).state is RunState.ENDED


async def test_done_after_a_crash_it_is_still_one(world: FakeWorld) -> None:
    run = await settling(world, outcome=Outcome.SUBMITTED)
    first = await propose(world.world(), run)
    again = await propose(world.world(), await world.runs.get(run.id))
    assert first.pull_request == again.pull_request
    assert world.githosts.asked == 1
    lost = replace(again, pull_request=None, version=again.version + 1)
    await world.runs.replace(lost)
    assert (await propose(world.world(), lost)).pull_request == first.pull_request
    assert len(world.githosts.open) == 1


async def test_nothing_is_opened_for_a_push_that_is_held_until_it_is_let_through(
    world: FakeWorld,
) -> None:
    world.trail = [{**decided(1, "hold"), "subject": NAME}]
    run = await settling(world)
    await settle(world.world(), run)
    ended = await world.runs.get(run.id)
    assert ended.pull_request
    assert "waits for a person" in ended.pull_request.none
    assert not world.githosts.asked
    assert set(said(world)) == {f"Run {run.id} submitted"}
    world.trail += [{**decided(2), "subject": NAME}, outcome(2)]
    for _ in range(2):
        await push_arrived(world.world(), run.id)
    later = await world.runs.get(run.id)
    assert len(world.githosts.open) == 1
    assert later.pull_request
    assert later.pull_request.url == URL
    assert world.githosts.forgotten == [run.id] * 3
    assert [one.title for one in world.tracker.comments[TASK.id]].count(
        f"Pull request of run {run.id}"
    ) == 1


@pytest.mark.parametrize("why", ["a plain git host has none", "the engagement wants none"])
async def test_where_there_can_be_none_the_record_says_why_and_the_packet_is_there(
    world: FakeWorld, why: str
) -> None:
    world.githosts.none = why
    run = await settling(world)
    await settle(world.world(), run)
    ended = await world.runs.get(run.id)
    assert ended.pull_request
    assert (ended.pull_request.none, ended.pull_request.failed) == (why, False)
    assert set(said(world)) == {f"Run {run.id} submitted"}
    assert packet_path(world.world(), run).exists()


async def test_nothing_is_proposed_where_nothing_was_pushed_or_submitted(world: FakeWorld) -> None:
    world.trail = []
    ending = Ending(Outcome.SUBMITTED, "Nothing to do.", START, work=Work("Nothing to do."))
    run = await settling(world, ending=ending)
    await settle(world.world(), run)
    ended = await world.runs.get(run.id)
    assert ended.pull_request
    assert ended.pull_request.none == "nothing was pushed"
    asked = await settling(world, ending=Ending(Outcome.ASKED, "What?", START))
    await settle(world.world(), asked)
    ended = await world.runs.get(asked.id)
    assert ended.pull_request is None
    with pytest.raises(Conflict, match="nothing was submitted"):
        await proposed_later(world.world(), ended)
    assert not world.githosts.asked


async def test_a_later_run_that_pushes_nothing_brings_the_same_one_up_to_date(
    world: FakeWorld,
) -> None:
    run = await settling(world)
    await settle(world.world(), run)
    world.trail = []
    ending = Ending(Outcome.SUBMITTED, "Explained.", START, work=Work("Explained."))
    again = await settling(world, ending=ending)
    await settle(world.world(), again)
    ended = await world.runs.get(again.id)
    assert ended.pull_request
    assert ended.pull_request.url == URL
    assert "> Explained." in world.githosts.open[NAME, BRANCH].body


async def test_a_push_that_arrives_while_its_run_goes_on_is_not_proposed_too_early(
    world: FakeWorld,
) -> None:
    run = await settling(world, ending=None, state=RunState.RUNNING)
    await push_arrived(world.world(), run.id)
    await push_arrived(world.world(), RunId("gone"))
    ending = Ending(Outcome.SUBMITTED, "Done.", START)
    await world.runs.replace(changed(run, ending=ending, state=RunState.SETTLING))
    with pytest.raises(Conflict, match="being settled"):
        await push_arrived(world.world(), run.id)
    assert not world.githosts.asked
