"""The pull request for what an agent submitted, with the review packet: a part of Settle.

It is opened once: a crash after the host has made it, and before that is noted, finds it again by its
branches. What can't be opened doesn't keep the run from ending: that is said, and can be tried again.
"""

import asyncio
from pathlib import Path

import structlog

from entrance.errors import Conflict, SandgateError, Unavailable
from entrance.session import RepoGrant
from orchestrator.domain.ledger import ledger
from orchestrator.domain.review_packet import Facts, packet_title, review_packet
from orchestrator.domain.run import Outcome, PullRequest, Run, changed
from orchestrator.domain.submitted import Pushes, pushes_of, submitted_branch
from orchestrator.domain.task import Task
from orchestrator.ports import Proposal
from orchestrator.runner.world import World

log = structlog.get_logger()


class HostAway(Unavailable):
    """It is the git host that can't be reached, or is busy."""

    def __init__(self, error: Unavailable, branch: str) -> None:
        super().__init__(str(error), retry_after_s=error.retry_after_s)
        self.branch = branch


PATIENCE_S = 600.0
"""So long a run waits in settling for a host that can't be reached."""
EARLIER_RUNS = 50


async def propose(world: World, run: Run) -> Run:
    """Open the pull request of a run that is being settled, unless that is done; note what came of it.

    Raises: Unavailable while its host is given time; then it is done again.
    """
    if run.outcome is not Outcome.SUBMITTED or run.pull_request is not None:
        return run
    try:
        came = await _proposed(world, run)
    except HostAway as error:
        left_s = PATIENCE_S - _waited_s(world, run)
        if left_s > 0:
            wait_s = error.retry_after_s
            raise Unavailable(
                str(error), retry_after_s=None if wait_s is None else min(wait_s, left_s)
            ) from error
        came = PullRequest(error.branch, none=str(error), failed=True)
    return await _noted(world, run, came)


async def propose_again(world: World, run: Run) -> Run:
    """Open the pull request of a run that is over, or bring it up to date.

    For a push that was let through later, and for a host that could not be reached before.
    Raises: Conflict when nothing was submitted; Unavailable.
    """
    if run.outcome is not Outcome.SUBMITTED or run.active:
        raise Conflict(f"run {run.id} is not over, or nothing was submitted by it")
    return await _noted(world, run, await _proposed(world, run))


def packet_path(world: World, run: Run) -> Path:
    """Where a run's review packet is; there is no file where nothing was submitted."""
    return world.transcripts / f"{run.id}.review.md"


async def _proposed(world: World, run: Run) -> PullRequest | None:
    """What came of it; None: there is no repository that it could be in. Raises: Unavailable."""
    task = await world.tracker.task(run.task)
    grant = _grant_of(run, task) if task else None
    if task is None or grant is None:
        return None
    lines = await world.trail(run)
    pushes = pushes_of(lines)
    branch = await _branch(world, run, grant, pushes)
    facts = Facts(run, task, grant.name, branch, pushes, ledger(lines))
    packet = review_packet(facts)
    await asyncio.to_thread(_keep, packet_path(world, run), packet)
    if why := _not_there(pushes, grant, branch) or await world.githosts.why_not(grant):
        return PullRequest(branch, none=why)
    wanted = Proposal(branch, task.base_branch, packet_title(task), packet)
    try:
        made = await world.githosts.propose(grant, wanted)
    except Unavailable as error:
        raise HostAway(error, branch) from error
    except SandgateError as error:
        log.warning("pull_request_not_opened", run=run.id, branch=branch, error=str(error))
        return PullRequest(branch, none=str(error), failed=True)
    log.info("pull_request_opened", run=run.id, branch=branch, url=made.url)
    return PullRequest(branch, made.number, made.url)


def _grant_of(run: Run, task: Task) -> RepoGrant | None:
    """The grant of the task's own repository, as the run had it."""
    url = task.repository.rstrip("/")
    grants = run.session.repositories if run.session and url else ()
    return next((one for one in grants if one.url.rstrip("/") == url), None)


async def _branch(world: World, run: Run, grant: RepoGrant, pushes: Pushes) -> str:
    work, session = run.ending.work if run.ending else None, run.session
    items = (session.item, *session.continues) if session else ()
    earlier = await world.runs.recent(EARLIER_RUNS, run.task)
    before = next((r.pull_request.branch for r in earlier if r.id != run.id and r.pull_request), "")
    return submitted_branch(work.branch if work else "", pushes, grant.name, items, before)


def _not_there(pushes: Pushes, grant: RepoGrant, branch: str) -> str:
    """Why the branch isn't at the host, as far as the door knows; empty when it may be."""
    if not branch:
        return "nothing was pushed"
    states = [r.state for r in pushes.refs if (r.repository, r.branch) == (grant.name, branch)]
    if states and states[-1] == "held":
        return f"the push of {branch} waits for a person; it is opened once that is let through"
    return ""


def _keep(path: Path, packet: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(packet, encoding="utf-8")


def _waited_s(world: World, run: Run) -> float:
    since = run.since.get("settling", run.created_at)
    return (world.clock.now() - since).total_seconds()


async def _noted(world: World, run: Run, came: PullRequest | None) -> Run:
    if came is None or came == run.pull_request:
        return run
    return await world.amend(run.id, lambda r: changed(r, pull_request=came))
