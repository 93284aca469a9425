"""What an agent's own tools may know of and do to its run: its record, and the handover that ends it."""

from dataclasses import dataclass

from entrance.errors import Conflict
from entrance.session import RunId
from orchestrator.domain.run import Ending, Run, RunState, changed
from orchestrator.runner.world import World


@dataclass(frozen=True, slots=True)
class Desk:
    """The Polarion tools' way to the run; the tools themselves know nothing of runs."""

    world: World

    async def record_of(self, run: RunId) -> str:
        """The run's agentRun work item. Raises: NotFound."""
        return (await self.world.runs.get(run)).record

    async def hand_over(self, run: RunId, ending: Ending) -> None:
        """Note how the agent ends its run. Raises: Conflict when it has done so before, or it is over."""

        def ended(now: Run) -> Run:
            if now.ending is not None:
                raise Conflict(f"this run was {now.ending.outcome} already; nothing can follow")
            if now.state is not RunState.RUNNING:
                raise Conflict("this run is over")
            return changed(now, ending=ending)

        await self.world.amend(run, ended)

    async def take_back(self, run: RunId) -> None:
        """Forget the handover: what it announced could not be done."""
        await self.world.amend(run, lambda now: changed(now, ending=None))
