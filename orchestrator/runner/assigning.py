"""What a harness is told to do: its briefing, in a new conversation or in the one that goes on."""

from orchestrator.domain.authors import authorship_of, environment_of
from orchestrator.domain.briefing import Briefing, brief
from orchestrator.domain.conversation import to_go_on_with
from orchestrator.domain.run import Run, changed
from orchestrator.ports import Assignment, Sandbox, Start
from orchestrator.runner.cloning import clone
from orchestrator.runner.order import EARLIER_RUNS, Order, PreparationFailed
from orchestrator.runner.world import World

ANY_FILE = 'IFS=; for each in $0; do [ -f "$each" ] && exit 0; done; exit 1'
"""Whether a file fits the pattern."""


async def assign(world: World, order: Order, sandbox: Sandbox, token: str) -> Start:
    """Clone, brief, and put what the harness needs into the sandbox; how it is started.

    Raises: Unavailable, PreparationFailed.
    """
    harness = world.harnesses.get(order.run.harness)
    if harness is None:
        known = ", ".join(sorted(world.harnesses))
        raise PreparationFailed(
            f"the harness {order.run.harness!r} is not known here ({known} are)"
        )
    workdir = await clone(world, order.task, sandbox, token)
    earlier = await _earlier(world, order.run, sandbox, workdir)
    briefing = await _briefing(world, order, earlier)
    start = harness.start(
        Assignment(
            model=order.run.model,
            system=briefing.system,
            prompt=briefing.follow_up or briefing.prompt,
            entrance=world.entrance,
            run_token=token,
            workdir=workdir,
            dialect=world.dialects.get(order.run.model.partition(":")[0], ""),
            resume=earlier.conversation if earlier else "",
            env={
                **environment_of(authorship_of(order.agent, order.run), order.run),
                **world.egress.way_out(token),
            },
        )
    )
    for path, content in start.files.items():
        await world.sandboxes.write(sandbox, path, content)
    return start


async def _earlier(world: World, run: Run, sandbox: Sandbox, workdir: str) -> Run | None:
    """The run whose conversation goes on: its file must still be on the task's disk."""
    earlier = to_go_on_with(run, await world.runs.recent(EARLIER_RUNS, run.task))
    if earlier is None:
        return None
    pattern = world.harnesses[run.harness].kept_at(earlier.conversation, workdir)
    found = await world.sandboxes.execute(sandbox, ["sh", "-c", ANY_FILE, pattern])
    if found.exit_code != 0:
        return None
    # Known before the harness says it: one that can't read its conversation says nothing, and the
    # next run must not try the same again.
    await world.amend(run.id, lambda r: changed(r, conversation=earlier.conversation))
    return earlier


async def _briefing(world: World, order: Order, earlier: Run | None) -> Briefing:
    return brief(
        agent=order.agent,
        engagement=order.engagement,
        task=order.task,
        thread=await world.tracker.thread(order.task.id),
        memories=await world.tracker.memories(order.task.project, order.agent.bot),
        trigger=order.run.trigger,
        since=earlier.created_at if earlier else None,
        internet=world.egress.reaches(order.run.id),
    )
