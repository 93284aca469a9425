"""How a run ended, and of what [pure].

What the harness says of itself decides nothing: what the gateway recorded, what we did, and the
host's own counters do, in this order. An exit code alone proves nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass

from orchestrator.domain.run import Cause, Ending, Exit, Outcome

DISK_FULL_BYTES = 1 << 20
"""A task's disk with less than this free counts as full."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the host's counters said when the harness was over. Sizes in bytes; -1: not known."""

    oom_kills: int = 0
    pids_refused: int = 0
    disk_free_bytes: int = -1
    over_budget: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that a verdict rests on."""

    exit: Exit
    ending: Ending | None
    evidence: Evidence


_FATAL: tuple[tuple[Callable[[Case], bool], Outcome, Cause], ...] = (
    (
        lambda c: c.exit.cause is Cause.SANDBOX_LOST and c.evidence.oom_kills > 0,
        Outcome.FAILED,
        Cause.OOM,
    ),
    (lambda c: c.exit.cause is Cause.SANDBOX_LOST, Outcome.FAILED, Cause.SANDBOX_LOST),
    (lambda c: c.exit.cause is Cause.PREPARATION, Outcome.FAILED, Cause.PREPARATION),
    (lambda c: c.exit.cause is Cause.SILENT, Outcome.FAILED, Cause.SILENT),
    (lambda c: c.evidence.over_budget, Outcome.STOPPED, Cause.BUDGET),
    (lambda c: c.evidence.oom_kills > 0 and c.exit.code != 0, Outcome.FAILED, Cause.OOM),
    (lambda c: c.evidence.pids_refused > 0 and c.exit.code != 0, Outcome.FAILED, Cause.PIDS),
    (
        lambda c: 0 <= c.evidence.disk_free_bytes < DISK_FULL_BYTES and c.exit.code != 0,
        Outcome.FAILED,
        Cause.DISK,
    ),
    (lambda c: c.exit.code == 0, Outcome.FAILED, Cause.NO_HANDOVER),
)
"""First match wins; consulted only when the agent didn't hand over and nobody stopped the run."""

_STOPPED = frozenset({Cause.CANCELLED, Cause.DEADLINE})


def verdict(case: Case) -> tuple[Outcome, Cause]:
    """The outcome and the cause. A recorded handover counts, whatever happened after it."""
    if case.ending is not None:
        return case.ending.outcome, Cause.HANDED_OVER
    if case.exit.cause in _STOPPED:
        return Outcome.STOPPED, case.exit.cause
    for applies, outcome, cause in _FATAL:
        if applies(case):
            return outcome, cause
    return Outcome.FAILED, Cause.HARNESS_ERROR
