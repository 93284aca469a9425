"""Whose conversation a run goes on with [pure]."""

from collections.abc import Sequence

from orchestrator.domain.run import Cause, Run

BROKEN_BY = frozenset({Cause.CONTEXT_OVERFLOW, Cause.LOOP, Cause.HARNESS_ERROR, Cause.TOOLS})
"""What a run died of that would end one with the same conversation, too: that one begins anew."""


def to_go_on_with(run: Run, earlier: Sequence[Run]) -> Run | None:
    """The newest earlier run of the task whose conversation `run` can go on with, if any.

    It must be the same agent in the same harness. `earlier` is newest first.
    """
    for other in earlier:
        same = (other.agent, other.harness) == (run.agent, run.harness)
        if other.id != run.id and same and other.conversation:
            return None if other.cause in BROKEN_BY else other
    return None
