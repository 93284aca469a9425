import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entrance.errors import Malformed
from entrance.ports import Usage
from entrance.push_policy import Mode, PushPolicy
from entrance.session import Authorship, RunId, Session
from orchestrator.adapters.pocketbase.ids import new_id, new_run_id
from orchestrator.adapters.pocketbase.rows import (
    EVENT_BYTES,
    bounded,
    cost_of,
    event_row,
    events_of,
    run_of,
    run_row,
    stored_time,
    usage_of,
    usage_row,
)
from orchestrator.domain.run import Ending, Exit, Outcome, Run, RunState
from orchestrator.ports import Event
from tests.fakes.clock import START
from tests.fakes.run import a_run

TIMES = st.datetimes(min_value=datetime(2020, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - hypothesis wants it bare
TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=10,
)
OBJECTS = st.dictionaries(TEXTS, JSON)
COSTS = st.decimals(0, 10**6, allow_nan=False, places=12)


def through_json(row: Any) -> Any:
    return orjson.loads(orjson.dumps(row))


RUNS = st.builds(
    lambda at, text, facts, cost, state, code: replace(
        a_run(),
        created_at=at,
        since={text: at},
        state=state,
        evidence=facts,
        ending=Ending(Outcome.SUBMITTED, text, at),
        exit=Exit(code, None, text),
        usage=Usage(cost_usd=cost),
    ),
    TIMES,
    TEXTS,
    OBJECTS,
    COSTS,
    st.sampled_from(RunState),
    st.none() | st.integers(0, 255),
)


@settings(max_examples=30)
@given(run=RUNS)
def test_a_run_survives_its_row(run: Run) -> None:
    assert run_of(through_json(run_row(run))) == run


@settings(max_examples=30)
@given(at=TIMES, data=OBJECTS)
def test_an_event_survives_its_row(at: datetime, data: dict[str, Any]) -> None:
    event = Event(3, at, "text", data)
    assert events_of([through_json(event_row(a_run().id, event))]) == [event]


@given(costs=st.lists(COSTS, max_size=5))
def test_usage_adds_up_without_rounding(costs: list[Decimal]) -> None:
    calls = [Usage(1, 2, 3, 4, cost, 1) for cost in costs]
    rows = [through_json(usage_row(new_id(), a_run().id, "e", call)) for call in calls]
    assert usage_of(rows) == sum(calls, start=Usage())
    assert cost_of(rows) == sum(costs)


@given(first=TIMES, second=TIMES)
def test_stored_times_sort_as_the_times_do(first: datetime, second: datetime) -> None:
    assert (stored_time(first) < stored_time(second)) == (first < second)


def test_a_time_is_stored_in_utc_with_microseconds() -> None:
    local = datetime(2026, 1, 31, 23, 30, tzinfo=timezone(timedelta(hours=-1)))
    assert stored_time(local) == "2026-02-01T00:30:00.000000Z"


def test_fields_of_a_newer_version_are_left_out() -> None:
    run = a_run()
    body = {**run_row(run)["body"], "new": 1, "usage": {"input_tokens": 7, "newer": 2}}
    assert run_of({"id": run.id, "body": body}) == replace(run, usage=Usage(7))


def test_a_session_that_was_kept_before_pushes_were_judged_is_read() -> None:
    """Nothing is known of whose commits its are, so none may be pushed."""
    run = a_run()
    session = Session(run.id, run.task, run.project, run.agent, "10.0.0.2", "0" * 64)
    row = through_json(run_row(replace(run, session=session)))
    for field in ("authorship", "harness", "image", "push_policy", "continues"):
        del row["body"]["session"][field]
    assert run_of(row).session == session


def test_whose_commits_a_run_may_push_survives_its_row() -> None:
    run = a_run()
    session = Session(
        run.id, run.task, run.project, run.agent, "10.0.0.2", "0" * 64,
        authorship=Authorship("Rex", "rex@x", run.model, frozenset({run.id, RunId("before")})),
        push_policy=PushPolicy({"secrets": Mode.HOLD}, ("*.tf",), 7),
        continues=frozenset({"DEMO-6"}),
    )  # fmt: skip
    assert run_of(through_json(run_row(replace(run, session=session)))).session == session


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"state": "dreaming"}, id="a state that we don't know"),
        pytest.param({"version": "1"}, id="a number that is text"),
        pytest.param({"created_at": None}, id="no time"),
        pytest.param({"usage": {"cost_usd": "much"}}, id="money that is no number"),
    ],
)
def test_a_run_that_we_would_misread_is_malformed(change: dict[str, Any]) -> None:
    run = a_run()
    body = {**run_row(run)["body"], **change}
    with pytest.raises(Malformed, match=f"run {run.id} can't be read: {next(iter(change))}"):
        run_of({"id": run.id, "body": body})


@pytest.mark.parametrize("row", [{}, {"body": None}, {"body": []}, {"body": "text"}])
def test_a_row_without_a_run_is_malformed(row: dict[str, Any]) -> None:
    with pytest.raises(Malformed):
        run_of(row)


def test_data_within_the_limit_is_left_as_it_is() -> None:
    data = {"text": "x" * (EVENT_BYTES - 100), "n": [1, None]}
    assert bounded(data) is data


@pytest.mark.parametrize(
    "data",
    [
        pytest.param({"text": "x" * 10**6, "name": "bash"}, id="one long text"),
        pytest.param({"list": ["\x01" * 5000] * 100, "name": "bash"}, id="many texts, escaped"),
        pytest.param({"deep": {"er": [{"text": "ü" * 10**6}]}, "name": "bash"}, id="deep inside"),
    ],
)
def test_data_that_is_too_long_keeps_its_shape_and_says_how_long_it_was(
    data: dict[str, Any],
) -> None:
    cut = bounded(data)
    assert len(orjson.dumps(cut)) <= EVENT_BYTES
    assert cut["cut_from_bytes"] == len(orjson.dumps(data))
    assert cut["name"] == "bash"
    assert cut.keys() == {*data, "cut_from_bytes"}


def test_data_that_is_too_long_whatever_is_cut_is_dropped_and_says_so() -> None:
    numbers = {"numbers": list(range(100_000))}
    assert bounded(numbers) == {"cut_from_bytes": len(orjson.dumps(numbers))}


def test_half_characters_do_not_stop_an_event() -> None:
    event = Event(0, START, "raw", {"te\udcffxt": ["a\ud800b", 1]})
    assert event_row(a_run().id, event)["data"] == {"te?xt": ["a?b", 1]}


def test_ids_are_fifteen_small_letters_and_digits_and_never_twice_the_same() -> None:
    ids = {new_id() for _ in range(1000)} | {new_run_id() for _ in range(1000)}
    assert len(ids) == 2000
    assert all(re.fullmatch("[a-z0-9]{15}", id_) for id_ in ids)
