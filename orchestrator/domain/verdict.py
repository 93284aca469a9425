"""How a run ended, and of what [pure].

What the harness says of itself decides nothing: what the gateway recorded, what we did, and the
host's own counters do, in this order. An exit code alone proves nothing.
"""

from collections.abc import Callable, Mapping
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
class Trouble:
    """What was wrong with a run's last model call, as the gateway recorded it.

    `lifts_at`: when the provider wants to be asked again (ISO 8601, UTC), or empty.
    """

    kind: str
    status: int = 0
    message: str = ""
    lifts_at: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """Everything that a verdict rests on. `said`: the harness's own word for its end, or empty."""

    exit: Exit
    ending: Ending | None
    evidence: Evidence
    trouble: Trouble | None = None
    said: str = ""


_ENDED_BY_US = frozenset(
    {
        *(Cause.PREPARATION, Cause.FIREWALL, Cause.DISK),
        *(Cause.SILENT, Cause.TOOLS, Cause.HUNG),
    }
)

_TROUBLES: Mapping[str, Cause] = {
    "rate_limit": Cause.RATE_LIMIT,
    "overloaded": Cause.MODEL_UNAVAILABLE,
    "provider_error": Cause.MODEL_UNAVAILABLE,
    "unreachable": Cause.MODEL_UNAVAILABLE,
    "cut": Cause.MODEL_UNAVAILABLE,
    "stalled": Cause.MODEL_UNAVAILABLE,
    "credential": Cause.CREDENTIAL,
    "context_overflow": Cause.CONTEXT_OVERFLOW,
}
"""The gateway's word for what was wrong with a model call, and what a run dies of by it."""

_SAID: Mapping[str, Cause] = {
    "tools": Cause.TOOLS,
    "loop": Cause.LOOP,
    "context": Cause.CONTEXT_OVERFLOW,
    "max_turns": Cause.NO_HANDOVER,
    "error": Cause.HARNESS_ERROR,
}
"""The harness's own word, believed for want of a better one: it only tells failures apart."""


_FATAL: tuple[tuple[Callable[[Case], bool], Outcome, Cause], ...] = (
    (
        lambda c: c.exit.cause is Cause.SANDBOX_LOST and c.evidence.oom_kills > 0,
        Outcome.FAILED,
        Cause.OOM,
    ),
    (lambda c: c.exit.cause is Cause.SANDBOX_LOST, Outcome.FAILED, Cause.SANDBOX_LOST),
    (lambda c: c.evidence.over_budget, Outcome.STOPPED, Cause.BUDGET),
    (lambda c: c.evidence.oom_kills > 0 and c.exit.code != 0, Outcome.FAILED, Cause.OOM),
    (lambda c: c.evidence.pids_refused > 0 and c.exit.code != 0, Outcome.FAILED, Cause.PIDS),
    (
        lambda c: 0 <= c.evidence.disk_free_bytes < DISK_FULL_BYTES and c.exit.code != 0,
        Outcome.FAILED,
        Cause.DISK,
    ),
)
"""First match wins; consulted only when the agent didn't hand over and nobody stopped the run."""

_STOPPED = frozenset({Cause.CANCELLED, Cause.DEADLINE})


def verdict(case: Case) -> tuple[Outcome, Cause]:
    """The outcome and the cause. A recorded handover counts, whatever happened after it.

    But for a honeytoken: what such a run handed over is not to be taken for work well done.
    """
    if case.exit.cause is Cause.HONEYTOKEN:
        return Outcome.FAILED, case.exit.cause
    if case.ending is not None:
        return case.ending.outcome, Cause.HANDED_OVER
    if case.exit.cause in _STOPPED:
        return Outcome.STOPPED, case.exit.cause
    if case.exit.cause in _ENDED_BY_US:
        return Outcome.FAILED, case.exit.cause
    for applies, outcome, cause in _FATAL:
        if applies(case):
            return outcome, cause
    return Outcome.FAILED, _of_its_own(case)


def _of_its_own(case: Case) -> Cause:
    """Why a harness that nobody and nothing ended was over without a handover."""
    if case.exit.code != 0 and case.trouble and case.trouble.kind in _TROUBLES:
        return _TROUBLES[case.trouble.kind]
    if case.said in _SAID:
        return _SAID[case.said]
    return Cause.NO_HANDOVER if case.exit.code == 0 else Cause.HARNESS_ERROR
