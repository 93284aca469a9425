"""Metrics count what the log says, under labels of which there is an end."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from entrance.ports import Usage
from orchestrator.domain.run import Cause, Outcome, RunState
from orchestrator.telemetry.metrics import Metrics, Now
from tests.fakes.egress_log import ATTEMPT, CAME
from tests.fakes.run import a_run

QUIET = Now(active=[], holds=0, closed=False, log_bytes=0, log_segments=0, log_vouched_seq=0)
AT = "2026-11-30T12:00:07+00:00"


def values(metrics: Metrics, now: Now = QUIET) -> dict[tuple[str, ...], float]:
    """Every sample of ours, by its name and its labels' values, in the order of the labels' names."""
    text = metrics.render(now).decode()
    return {
        (
            sample.name.removeprefix("sandgate_"),
            *(sample.labels[one] for one in sorted(sample.labels)),
        ): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("sandgate_") and not sample.name.endswith("_created")
    }


def decided(metrics: Metrics, seq: int, **fields: Any) -> None:
    metrics.hear({"seq": seq, "at": AT, "type": "decided", **ATTEMPT, **fields})


def came(metrics: Metrics, seq: int, of: int, **fields: Any) -> None:
    metrics.hear({"seq": seq, "at": AT, "type": "outcome", "of": of, **CAME, **fields})


def test_attempts_are_counted_by_door_and_decision() -> None:
    metrics = Metrics()
    for seq, decision in enumerate(("allow", "allow", "deny", "hold"), start=1):
        decided(metrics, seq, decision=decision)
    decided(metrics, 5, door="git")
    found = values(metrics)
    assert found["attempts_total", "allow", "egress"] == 2
    assert found["attempts_total", "deny", "egress"] == 1
    assert found["attempts_total", "hold", "egress"] == 1
    assert found["attempts_total", "allow", "git"] == 1


def test_an_outcome_counts_for_the_door_of_its_decision() -> None:
    metrics = Metrics()
    decided(metrics, 1, door="model")
    came(metrics, 2, 1, status=503)
    came(metrics, 3, 99)
    found = values(metrics)
    assert found["attempts_ended_total", "model", "5xx"] == 1
    assert found["attempts_ended_total", "other", "2xx"] == 1
    assert found["traffic_bytes_total", "out", "model"] == 312
    assert found["traffic_bytes_total", "in", "model"] == 4096
    assert found["attempt_seconds_sum", "model"] == 0.034
    assert found["attempt_seconds_bucket", "model", "0.05"] == 1
    assert found["attempt_seconds_bucket", "model", "0.025"] == 0


def test_money_and_tokens_are_counted() -> None:
    metrics = Metrics()
    decided(metrics, 1, door="model")
    detail = {"cost_usd": "0.25", "input_tokens": 100, "cache_read_tokens": 7, "ms": 1200}
    came(metrics, 2, 1, detail=detail, ms=None)
    found = values(metrics)
    assert found["spend_usd_total",] == 0.25
    assert found["model_tokens_total", "input"] == 100
    assert found["model_tokens_total", "cache_read"] == 7
    assert found["model_tokens_total", "output"] == 0


def test_the_log_s_state_is_told() -> None:
    metrics = Metrics()
    decided(metrics, 41)
    now = Now(active=[], holds=0, closed=True, log_bytes=500, log_segments=2, log_vouched_seq=38)
    found = values(metrics, now)
    assert found["log_newest_seq",] == 41
    assert found["log_unvouched_records",] == 3
    assert found["log_newest_timestamp_seconds",] == 1796040007
    assert (found["log_bytes",], found["log_segments",], found["closed",]) == (500, 2, 1)


def test_runs_are_told_by_state_and_holds_by_number() -> None:
    metrics = Metrics()
    active = [a_run(), a_run(state=RunState.RUNNING), a_run(state=RunState.RUNNING)]
    found = values(
        metrics, Now(active, 3, closed=False, log_bytes=0, log_segments=0, log_vouched_seq=0)
    )
    assert found["runs", "running"] == 2
    assert found["runs", "queued"] == 1
    assert found["runs", "settling"] == 0
    assert (found["holds",], found["store_up",]) == (3, 1)


def test_while_the_store_is_away_its_numbers_stay_and_that_is_told() -> None:
    metrics = Metrics()
    values(metrics, Now([a_run()], 3, closed=False, log_bytes=0, log_segments=0, log_vouched_seq=0))
    away = Now(None, 0, closed=False, log_bytes=0, log_segments=0, log_vouched_seq=0)
    found = values(metrics, away)
    assert (found["runs", "queued"], found["holds",], found["store_up",]) == (1, 3, 0)


def test_runs_that_ended_are_counted_by_outcome_and_cause() -> None:
    metrics = Metrics()
    usage = Usage(cost_usd=Decimal(1))
    metrics.ended(a_run(outcome=Outcome.FAILED, cause=Cause.OOM, usage=usage))
    metrics.ended(a_run())
    found = values(metrics)
    assert found["runs_ended_total", "oom", "failed"] == 1
    assert found["runs_ended_total", "other", "other"] == 1


ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
FIELDS = st.sampled_from([*ATTEMPT, *CAME, "seq", "of", "at", "type"])
LINE: st.SearchStrategy[Mapping[str, Any]] = st.dictionaries(FIELDS, ANYTHING)


@given(lines=st.lists(LINE, max_size=8), kind=st.sampled_from(["decided", "outcome", "opened"]))
def test_whatever_a_line_says_there_are_no_new_labels(
    lines: list[Mapping[str, Any]], kind: str
) -> None:
    metrics = Metrics()
    for seq, line in enumerate(lines):
        metrics.hear({"seq": seq, "of": 0, **line, "type": kind})
    for name, *labels in values(metrics):
        if name.startswith(("attempts", "traffic")):
            assert set(labels) <= {
                *("egress", "model", "mcp", "git", "fence", "entrance", "other"),
                *("allow", "hold", "deny", "in", "out", "none"),
                *("1xx", "2xx", "3xx", "4xx", "5xx"),
            }
