from io import StringIO

import pytest
from rich.console import Console

from orchestrator.stack.steps import StepFailed, Steps


def shown(steps: Steps) -> str:
    assert isinstance(steps.console.file, StringIO)
    return steps.console.file.getvalue()


@pytest.fixture
def steps() -> Steps:
    ticks = iter(range(100))
    return Steps(Console(file=StringIO(), width=40), clock=lambda: float(next(ticks)))


def test_a_step_with_nothing_to_do_is_one_short_line(steps: Steps) -> None:
    with steps.step("Docker engine") as step:
        step.note("20.10")
    assert shown(steps) == "ok     Docker engine 20.10 1.0 s\n"


def test_a_step_that_works_says_what_it_does_and_how_long_it_took(steps: Steps) -> None:
    with steps.step("Images") as step:
        step.doing("building [execd]")
    assert shown(steps) == "       Images: building [execd]\ndone   Images 1.0 s\n"


def test_a_failed_step_is_shown_as_failed_and_raised_on(steps: Steps) -> None:
    with pytest.raises(StepFailed), steps.step("Images"):
        raise StepFailed("No image", why="the disk is full")
    assert shown(steps) == "failed Images 1.0 s\n"


def test_a_failure_reads_as_what_why_and_what_to_do() -> None:
    failure = StepFailed("No image", why="the disk is full\n", what_to_do="Free some space.")
    assert str(failure) == "No image: the disk is full\nFree some space."
    assert str(StepFailed("No image", why="the disk is full")) == "No image: the disk is full"
