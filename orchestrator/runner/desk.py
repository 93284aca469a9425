"""What an agent's own tools may know of and do to its run: its record, and the handover that ends it."""

from contextlib import suppress
from dataclasses import dataclass

from entrance.errors import Conflict
from entrance.session import RunId
from orchestrator.domain.grants import after_handover
from orchestrator.domain.run import Ending, Run, RunState, changed
from orchestrator.runner.world import World


@dataclass(frozen=True, slots=True)
class Desk:
    """The Polarion tools' way to the run; the tools themselves know nothing of runs."""

    world: World

    async def record_of(self, run: RunId) -> str:
        """The run's agentRun work item. Raises: NotFound."""
        return (await self.world.runs.get(run)).record

    async def may_hand_over(self, run: RunId) -> None:
        """Raises: Conflict when the agent has ended its run before, or it is over; NotFound."""
        _require_open(await self.world.runs.get(run))

    async def hand_over(self, run: RunId, ending: Ending) -> None:
        """Note how the agent ends its run; it can push nothing from then on.

        Raises: Conflict when it has done so before, or it is over.
        """

        def ended(now: Run) -> Run:
            _require_open(now)
            return changed(now, ending=ending)

        noted = await self.world.amend(run, ended)
        if noted.session:
            self.world.door.open(after_handover(noted.session))

    async def take_back(self, run: RunId) -> None:
        """Forget the handover: Polarion refused it. A run that is settled by it already keeps it."""

        def open_again(now: Run) -> Run | None:
            if now.ending is None or now.state is not RunState.RUNNING:
                return None
            return changed(now, ending=None)

        again = await self.world.amend(run, open_again)
        if again.session and again.ending is None and again.state is RunState.RUNNING:
            with suppress(Conflict):  # it is settled by now
                self.world.door.open(again.session)


def _require_open(run: Run) -> None:
    if run.ending is not None:
        raise Conflict(f"this run was {run.ending.outcome} already; nothing can follow")
    if run.state is not RunState.RUNNING:
        raise Conflict("this run is over")
