"""verdict(): how a run ended, from what the door, we and the host know."""

import pytest

from orchestrator.domain.run import Cause, Ending, Exit, Outcome
from orchestrator.domain.verdict import Case, Evidence, Trouble, verdict
from tests.fakes.clock import START

SUBMITTED = Ending(Outcome.SUBMITTED, "done", START)
CALM = Evidence()


@pytest.mark.parametrize(
    ("exit_", "ending", "evidence", "outcome", "cause"),
    [
        pytest.param(
            Exit(0), SUBMITTED, CALM, Outcome.SUBMITTED, Cause.HANDED_OVER, id="submitted"
        ),
        pytest.param(
            Exit(1), SUBMITTED, CALM, Outcome.SUBMITTED, Cause.HANDED_OVER, id="a bad exit after it"
        ),
        pytest.param(
            Exit(None, Cause.HONEYTOKEN),
            SUBMITTED,
            CALM,
            Outcome.FAILED,
            Cause.HONEYTOKEN,
            id="a honeytoken was touched, whatever was handed over",
        ),
        pytest.param(
            Exit(None, Cause.CANCELLED),
            SUBMITTED,
            CALM,
            Outcome.SUBMITTED,
            Cause.HANDED_OVER,
            id="cancelled too late",
        ),
        pytest.param(
            Exit(0, Cause.CANCELLED),
            None,
            CALM,
            Outcome.STOPPED,
            Cause.CANCELLED,
            id="CASE-98 exit 0 after a cancel is no success",
        ),
        pytest.param(
            Exit(None, Cause.DEADLINE),
            None,
            Evidence(oom_kills=1),
            Outcome.STOPPED,
            Cause.DEADLINE,
            id="a deadline is a deadline, whatever was killed before",
        ),
        pytest.param(
            Exit(None, Cause.SANDBOX_LOST),
            None,
            CALM,
            Outcome.FAILED,
            Cause.SANDBOX_LOST,
            id="lost",
        ),
        pytest.param(
            Exit(None, Cause.FIREWALL, "nft table sg1: it is missing"),
            None,
            Evidence(oom_kills=2),
            Outcome.FAILED,
            Cause.FIREWALL,
            id="ended by us, whatever was killed before",
        ),
        pytest.param(
            Exit(None, Cause.SANDBOX_LOST),
            None,
            Evidence(oom_kills=2),
            Outcome.FAILED,
            Cause.OOM,
            id="lost for memory",
        ),
        pytest.param(
            Exit(137),
            None,
            CALM,
            Outcome.FAILED,
            Cause.HARNESS_ERROR,
            id="CASE-76 exit 137 without the counter is no oom",
        ),
        pytest.param(Exit(137), None, Evidence(oom_kills=1), Outcome.FAILED, Cause.OOM, id="oom"),
        pytest.param(
            Exit(0),
            None,
            Evidence(oom_kills=1),
            Outcome.FAILED,
            Cause.NO_HANDOVER,
            id="a killed child that the harness lived with",
        ),
        pytest.param(
            Exit(1), None, Evidence(pids_refused=9), Outcome.FAILED, Cause.PIDS, id="pids"
        ),
        pytest.param(
            Exit(1), None, Evidence(disk_free_bytes=0), Outcome.FAILED, Cause.DISK, id="disk full"
        ),
        pytest.param(
            Exit(1),
            None,
            Evidence(disk_free_bytes=-1),
            Outcome.FAILED,
            Cause.HARNESS_ERROR,
            id="an unknown disk isn't a full one",
        ),
        pytest.param(
            Exit(1), None, Evidence(over_budget=True), Outcome.STOPPED, Cause.BUDGET, id="budget"
        ),
        pytest.param(Exit(0), None, CALM, Outcome.FAILED, Cause.NO_HANDOVER, id="just stopped"),
        pytest.param(
            Exit(None),
            None,
            CALM,
            Outcome.FAILED,
            Cause.HARNESS_ERROR,
            id="CASE-85 an unknown exit code is never success",
        ),
        pytest.param(
            Exit(None, Cause.PREPARATION),
            None,
            Evidence(over_budget=True),
            Outcome.FAILED,
            Cause.PREPARATION,
            id="what never started spent nothing",
        ),
    ],
)
def test_a_verdict_rests_on_what_we_know(
    exit_: Exit, ending: Ending | None, evidence: Evidence, outcome: Outcome, cause: Cause
) -> None:
    assert verdict(Case(exit_, ending, evidence)) == (outcome, cause)


@pytest.mark.parametrize(
    ("exit_", "trouble", "said", "cause"),
    [
        (Exit(1), "rate_limit", "error", Cause.RATE_LIMIT),
        (Exit(1), "overloaded", "error", Cause.MODEL_UNAVAILABLE),
        (Exit(1), "provider_error", "", Cause.MODEL_UNAVAILABLE),
        (Exit(1), "unreachable", "", Cause.MODEL_UNAVAILABLE),
        (Exit(1), "cut", "", Cause.MODEL_UNAVAILABLE),
        (Exit(1), "stalled", "", Cause.MODEL_UNAVAILABLE),
        (Exit(1), "credential", "error", Cause.CREDENTIAL),
        (Exit(1), "context_overflow", "context", Cause.CONTEXT_OVERFLOW),
        (Exit(1), "bad_request", "error", Cause.HARNESS_ERROR),
        (Exit(1), "", "context", Cause.CONTEXT_OVERFLOW),
        (Exit(1), "", "loop", Cause.LOOP),
        (Exit(1), "", "tools", Cause.TOOLS),
        (Exit(1), "", "max_turns", Cause.NO_HANDOVER),
        (Exit(1), "", "whatever it likes", Cause.HARNESS_ERROR),
        (Exit(0), "", "error", Cause.HARNESS_ERROR),
        (Exit(0), "", "submitted", Cause.NO_HANDOVER),
        (Exit(0), "rate_limit", "completed", Cause.NO_HANDOVER),
        (Exit(None, Cause.SILENT), "stalled", "", Cause.SILENT),
        (Exit(None, Cause.HUNG), "", "completed", Cause.HUNG),
        (Exit(None, Cause.TOOLS), "", "tools", Cause.TOOLS),
    ],
)
def test_a_failure_is_told_by_the_gateways_record_before_the_harnesss_words(
    exit_: Exit, trouble: str, said: str, cause: Cause
) -> None:
    case = Case(exit_, None, CALM, Trouble(trouble) if trouble else None, said)
    assert verdict(case) == (Outcome.FAILED, cause)


@pytest.mark.parametrize("said", ["completed", "submitted", "asked", "delegated"])
def test_no_word_of_the_harness_makes_a_run_succeed(said: str) -> None:
    for code in (0, 1, None):
        assert verdict(Case(Exit(code), None, CALM, None, said))[0] is Outcome.FAILED


@pytest.mark.parametrize("trouble", ["rate_limit", "credential", "cut"])
def test_what_the_host_counted_comes_first(trouble: str) -> None:
    case = Case(Exit(1), None, Evidence(oom_kills=1), Trouble(trouble), "error")
    assert verdict(case) == (Outcome.FAILED, Cause.OOM)
