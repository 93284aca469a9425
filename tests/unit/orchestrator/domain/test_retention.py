"""What a task has on this machine is kept as long as somebody may still want it."""

from dataclasses import replace
from datetime import timedelta

import pytest

from orchestrator.domain.retention import Fate, fate_of
from orchestrator.domain.run import RunState
from orchestrator.domain.task import Task, TaskStatus
from tests.fakes.clock import START
from tests.fakes.run import a_run
from tests.fakes.world import TASK

DONE = replace(TASK, status=TaskStatus.DONE)
DAY, WEEK = timedelta(days=1), timedelta(days=7)


@pytest.mark.parametrize("status", [each for each in TaskStatus if each is not TaskStatus.DONE])
def test_the_disk_of_a_task_that_is_not_done_is_needed_however_old(status: TaskStatus) -> None:
    task = replace(TASK, status=status)
    old = START - 100 * WEEK
    assert fate_of(task, None, over_since=old, now=START, keep=WEEK) is Fate.NEEDED


@pytest.mark.parametrize("task", [DONE, None], ids=["done", "gone"])
@pytest.mark.parametrize(
    ("age", "fate"),
    [(None, Fate.KEPT), (WEEK - timedelta(seconds=1), Fate.KEPT), (WEEK, Fate.DUE)],
    ids=["seen just now", "not yet", "after a week"],
)
def test_the_disk_of_one_that_is_over_is_kept_for_a_while(
    task: Task | None, age: timedelta | None, fate: Fate
) -> None:
    since = None if age is None else START - age
    run = a_run(state=RunState.ENDED)
    assert fate_of(task, run, over_since=since, now=START, keep=WEEK) is fate


def test_as_long_as_a_run_goes_on_the_disk_is_needed() -> None:
    run = a_run(state=RunState.SETTLING)
    assert fate_of(None, run, over_since=START - WEEK, now=START, keep=DAY) is Fate.NEEDED


def test_nothing_is_kept_when_that_is_wished() -> None:
    assert fate_of(DONE, None, over_since=None, now=START, keep=timedelta(0)) is Fate.DUE
