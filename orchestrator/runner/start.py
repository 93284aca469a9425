"""The step StartRun: a run record is made; it owns the task and the agent from then on."""

from dataclasses import dataclass
from datetime import timedelta

from entrance.session import RunId
from orchestrator.domain.grants import budget_of
from orchestrator.domain.run import Run, RunState, Trigger
from orchestrator.domain.task import Task
from orchestrator.domain.team import Agent, Engagement
from orchestrator.runner.world import World


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run is wanted for."""

    task: Task
    agent: Agent
    engagement: Engagement
    trigger: Trigger


async def start_run(world: World, wanted: Wanted, run_id: RunId) -> Run:
    """Make the record. Raises: Conflict when the task or the agent has an active run already."""
    task, agent, engagement = wanted.task, wanted.agent, wanted.engagement
    now = world.clock.now()
    run = Run(
        id=run_id,
        task=task.id,
        project=task.project,
        agent=engagement.bot,
        engagement=engagement.id,
        trigger=wanted.trigger,
        harness=agent.harness,
        model=agent.model,
        created_at=now,
        deadline_at=now + timedelta(seconds=world.limits.deadline_s),
        since={str(RunState.QUEUED): now},
        budget_usd=budget_of(engagement, world.limits.limit_usd),
    )
    await world.runs.create(run)
    return await world.note(
        run.id, "phase", {"state": str(RunState.QUEUED), "trigger": str(run.trigger)}
    )
