"""The states of a run: nothing but the table moves it, and it always ends."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.domain.run import (
    CAUSES,
    STATES,
    TRANSITIONS,
    Cause,
    Run,
    RunEvent,
    RunState,
    after,
    phases,
)
from tests.fakes.clock import START
from tests.fakes.run import a_run


@given(st.lists(st.sampled_from(list(RunEvent)), max_size=12))
def test_a_run_never_leaves_the_table(events: list[RunEvent]) -> None:
    run = a_run()
    for event in events:
        if (run.state, event) not in TRANSITIONS:
            with pytest.raises(ValueError, match="can't follow"):
                after(run, event, START)
            continue
        before = run
        run = after(run, event, START)
        assert run.state is TRANSITIONS[before.state, event]
        assert run.version == before.version + 1


def test_nothing_follows_an_ended_run() -> None:
    assert all(state is not RunState.ENDED for state, _ in TRANSITIONS)


def test_every_state_can_reach_the_end() -> None:
    for start in RunState:
        reached, new = {start}, {start}
        while new:
            new = {to for (state, _), to in TRANSITIONS.items() if state in new} - reached
            reached |= new
        assert RunState.ENDED in reached


def test_every_state_and_cause_is_explained() -> None:
    assert set(STATES) == set(RunState)
    assert set(CAUSES) == set(Cause)


def test_phases_are_the_seconds_between_first_entries() -> None:
    run: Run = a_run(since={"queued": START})
    run = after(run, RunEvent.PREPARE, START + timedelta(seconds=2))
    run = after(run, RunEvent.PREPARE, START + timedelta(seconds=3))
    run = after(run, RunEvent.HARNESS_STARTED, START + timedelta(seconds=5))
    assert phases(run) == {"queued": 2.0, "preparing": 3.0}
